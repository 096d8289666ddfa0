// A guess next to what came. Without this the questions and their answers are there all the same.
const number = (input) => {
  const digits = Math.max(0, -Math.floor(Math.log10(Number(input.step))));
  const value = Number(input.value);
  const shown = Math.abs(value).toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return value < 0 ? `\u2212${shown}` : shown;
};
const inWords = (input) => input.dataset.words.replace("{}", number(input));

for (const guess of document.querySelectorAll(".guess")) {
  const input = guess.querySelector("input");
  const output = guess.querySelector("output");
  const fold = guess.nextElementSibling;
  const said = fold.querySelector(".said");
  let guessed = false;
  output.textContent = inWords(input);
  input.addEventListener("input", () => {
    guessed = true;
    output.textContent = inWords(input);
  });
  fold.addEventListener("toggle", () => {
    if (fold.open && guessed) said.textContent = `You said ${inWords(input)}.`;
    if (fold.open) input.disabled = true; // what is known is no longer a guess
  });
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll(".asked details")) fold.open = true;
});
