// A guess is judged by what came, and what was answered is kept. Without this, questions and answers are there all the same.
import { isDone, judge, mark, marks, next, shown, summary } from "./learn-marks.js";

const chapter = document.querySelector("[data-chapter]")?.dataset.chapter;
const questions = [...document.querySelectorAll(".asked")];
let isPrinting = false; // which opens every answer, and answers nothing

function showMarks() {
  const { chapters } = marks();
  for (const link of document.querySelectorAll("[data-mark]"))
    link.classList.toggle("done", isDone(chapters[link.dataset.mark]));
  const place = document.getElementById("chapter-marks");
  if (place) place.textContent = summary(chapters[chapter]);
}

for (const [place, asked] of questions.entries()) {
  const input = asked.querySelector(".guess input");
  const fold = asked.querySelector("details");
  let isGuessed = false;
  const { words, answer, low, high } = input?.dataset ?? {};
  const step = Number(input?.step);
  const show = () =>
    (asked.querySelector(".guess output").textContent = words.replace("{}", shown(Number(input.value), step)));
  if (input) show();
  input?.addEventListener("input", () => {
    isGuessed = true;
    show();
  });
  fold.addEventListener("toggle", () => {
    if (!fold.open) return;
    let isClose = null;
    if (input && isGuessed && !input.disabled) {
      const about = { answer: Number(answer), least: Number(input.min), most: Number(input.max), step, words };
      if (low) Object.assign(about, { low: Number(low), high: Number(high) });
      const judged = judge(Number(input.value), about);
      isClose = judged.isClose;
      asked.querySelector(".said").textContent = judged.words;
    }
    if (input) input.disabled = true; // what is known is no longer a guess
    if (isPrinting) return;
    mark(chapter, questions.length, place, isClose);
    showMarks();
  });
}

addEventListener("beforeprint", () => {
  isPrinting = true;
  for (const asked of questions) asked.querySelector("details").open = true;
});
addEventListener("afterprint", () => (isPrinting = false));

// The first page of Learn leads to where one was.
const begin = document.getElementById("chapters-begin");
if (begin) {
  const links = [...document.querySelectorAll(".chapters [data-mark]")];
  const name = next(links.map((link) => link.dataset.mark));
  const link = links.find((one) => one.dataset.mark === name);
  if (link) {
    const to = begin.querySelector("a");
    const place = links.indexOf(link);
    begin.firstChild.textContent = "Continue where you were: ";
    to.href = link.href;
    to.textContent = `${place + 1} ${link.dataset.short}`;
  }
}
showMarks();
