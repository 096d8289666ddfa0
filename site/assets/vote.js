// One tap votes: with a key of this browser, which never leaves it. The gateway of this site prepares the ballot and takes
// it signed. What was voted is kept here, and looked up in what the site publishes. A wallet can vote instead.
import { addTo100 } from "./chances.js";
import { inOrder, keptVotes, lookUp, remember, sentence, SIDES, WORDS } from "./kept-votes.js";
import { isCopyDue, saveKey } from "./keep-copy.js";
import { keyOfThisBrowser, off, RELAY, relay, Said, signed, voterOf, WordsAlone } from "./vote-key.js";

const CHANGES = "emi-changes";
const FEW = 30; // fewer rounds say nothing about skill
const WORST = 2; // the Brier score of who was sure and wrong

function element(name, words, about = {}) {
  const made = Object.assign(document.createElement(name), about);
  if (words) made.textContent = words;
  return made;
}

let changed = {};

// How often the vote in this round was changed before this one: it makes a return to an earlier vote another ballot.
// The same vote again is the same ballot, which counts once. It is noted before anything is signed.
function changesOf(round, choice) {
  try {
    changed = JSON.parse(localStorage.getItem(CHANGES)) || changed;
  } catch {
    // this browser keeps nothing: what this page knows must do
  }
  if (changed.round !== round) changed = { round, choice, change: 0 };
  else if (changed.choice !== choice) changed = { round, choice, change: changed.change + 1 };
  try {
    localStorage.setItem(CHANGES, JSON.stringify(changed));
  } catch {
    // as above
  }
  return changed.change;
}

// What a vote says is its chances, [up, small move, down] in percent, or its word where there are none.
function prepared(voter, round, { choice, chances }, way) {
  const said = chances ? { chances: chances.join() } : { choice };
  const change = changesOf(round, chances ? said.chances : choice);
  return relay(`?${new URLSearchParams({ voter, round, ...said, way, change })}`);
}

// What is said

function remembered(...vote) {
  remember(...vote);
  show();
}

// Of the round that takes votes.
const changeable = (vote) => `${sentence(vote)} To change it, press another answer.`;

// The brain next to the voter: what it had said, whether that came, and the chances it gave.
function opponent({ brain, came }) {
  if (!brain || came === "VOID") return "";
  const late = lateChances(brain);
  const atClose = late
    ? `When votes closed it gave ${inWords(late)}; your chances are compared with these.`
    : "What it would have said when votes closed is not known, so you are not compared with it.";
  const chances = `at opening ${inWords(brain.chances)}`;
  if (!brain.said) return `The brain made no call: ${chances}. ${atClose}`;
  const verdict = brain.said === came ? "right" : "wrong";
  return `The brain called ${WORDS[brain.said]}: ${verdict} (${chances}). ${atClose}`;
}

// A vote that an earlier page kept has one forecast of the brain.
const lateChances = ({ late, chances }) => (late === undefined ? chances : late);

function inWords({ up, neutral, down }) {
  const [rise, small, fall] = [up, neutral, down].map((chance) => `${Math.round(100 * chance)}%`);
  return `up ${rise}, small move ${small}, down ${fall}`;
}

const brier = (chances, came) =>
  chances.reduce((sum, chance, side) => sum + (chance - (SIDES[side] === came ? 1 : 0)) ** 2, 0);

// The Brier scores of a round: the voter's, null for a word; the brain's, null where it cannot be compared; the base rate's.
function scoresOf({ chances, brain, came }) {
  if (!brain?.base || !came || came === "VOID") return null;
  const given = chances?.map((chance) => chance / 100);
  const late = lateChances(brain);
  return {
    you: given ? brier(given, came) : null,
    brain: late ? brier(inOrder(late), came) : null,
    base: brier(inOrder(brain.base), came),
  };
}

// Chances are judged by their score next to the base rate's, a word by whether it came.
function verdictOf(vote) {
  if (vote.came === "VOID") return ["", "Void round"];
  const scores = scoresOf(vote);
  if (scores?.you === undefined || scores.you === null)
    return vote.came === vote.choice ? ["right", "✓ You were right"] : ["wrong", "✗ You were wrong"];
  if (scores.you < scores.base) return ["right", "✓ Better than the base rate"];
  return scores.you > scores.base ? ["wrong", "✗ Worse than the base rate"] : ["", "As good as the base rate"];
}

const MARKS = {
  you: (x) => `<circle class="you" cx="${x}" cy="16" r="7"/>`,
  brain: (x) => `<circle class="brain" cx="${x}" cy="16" r="6"/>`,
  base: (x) => `<path class="base" d="M${x - 6} 16 ${x} 10 ${x + 6} 16 ${x} 22Z"/>`,
};

// Three dots on one line: the scores of one round. The key is a list, so that dots may lie on each other.
function dots(scores, { chances }) {
  const named = [
    ["you", "You"],
    ["brain", "The brain"],
    ["base", "The base rate"],
  ].filter(([who]) => scores[who] !== null);
  const words = named.map(([who, name]) => `${name} ${scores[who].toFixed(3)}`);
  const made = element("figure", "", { className: "dots" });
  const place = (score) => (10 + (300 * score) / WORST).toFixed(1);
  const drawn = [...named].reverse().map(([who]) => MARKS[who](Number(place(scores[who]))));
  // Numbers alone go into the drawing.
  made.innerHTML =
    `<svg viewBox="0 0 320 32" role="img"><line x1="10" x2="310" y1="16" y2="16"/>${drawn.join("")}</svg>` +
    `<p class="ends small" aria-hidden="true"><span>0: sure and right</span><span>2: sure and wrong</span></p>`;
  made.firstChild.setAttribute("aria-label", `Brier scores from 0, best, to 2: ${words.join(", ")}.`);
  const key = element("ul", "", { className: "keys" });
  key.append(element("li", "Brier score, smaller is better:"));
  for (const [at, [who]] of named.entries()) {
    const row = element("li", "");
    row.innerHTML = `<svg viewBox="0 8 16 16" width="16" height="16" aria-hidden="true">${MARKS[who](8)}</svg>`;
    row.append(words[at]);
    key.append(row);
  }
  made.append(key);
  if (!chances) made.append(element("p", "A word has no score, since it says no chance.", { className: "small" }));
  return made;
}

// What the round teaches, with the chapter that says more.
function lessonOf({ lesson, chapter }) {
  const made = element("p", "");
  made.append(element("strong", "The lesson. "), lesson);
  if (chapter?.startsWith("/")) made.append(" ", element("a", "The chapter", { href: chapter }));
  return made;
}

// The newest result, large enough to read: the verdict, the voter's side and the brain's.
function card(vote) {
  const [mark, verdict] = verdictOf(vote);
  const made = element("article", "", { className: "result" });
  made.append(
    element("p", "Your last result", { className: "kicker" }),
    element("p", verdict, { className: `verdict ${mark}` }),
    element("p", sentence(vote).replace(/: (right|wrong)\.$/, ".")),
  );
  const scores = scoresOf(vote);
  if (scores) made.append(dots(scores, vote));
  const brain = opponent(vote);
  if (brain) made.append(element("p", brain));
  if (vote.lesson) made.append(lessonOf(vote));
  const more = element("a", "The round in the list", { href: `/arena/history/#${vote.round}` });
  made.append(element("p", "", { className: "small" }));
  made.lastChild.append(more);
  return made;
}

const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// The chances of all rounds together: the mean scores, and from thirty rounds on the difference with its interval.
function scored(all) {
  const rows = all.filter((vote) => vote.counted).map(scoresOf);
  const own = rows.filter((row) => row && row.you !== null);
  const n = own.length;
  if (!n) return "";
  const [you, base] = ["you", "base"].map((who) => meanOf(own.map((row) => row[who])).toFixed(3));
  const compared = own.filter((row) => row.brain !== null);
  const brain = compared.length ? meanOf(compared.map((row) => row.brain)).toFixed(3) : "not known";
  const apart = compared.length && compared.length < n ? ` in ${compared.length} of them` : "";
  const said =
    `Your chances, ${n} ${n === 1 ? "round" : "rounds"}: mean Brier score ${you}, ` +
    `the base rate ${base}, the brain ${brain}${apart} (smaller is better).`;
  if (n < FEW) return `${said} Fewer than ${FEW} say nothing about skill.`;
  const saved = own.map((row) => row.base - row.you);
  const mean = meanOf(saved);
  const variance = saved.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1);
  const half = 1.96 * Math.sqrt(variance / n);
  const side = mean < 0 ? "above" : "below";
  const ends = [mean - half, mean + half].map((end) => (mean < 0 ? -end : end)).sort((one, other) => one - other);
  return (
    `${said} Yours is ${Math.abs(mean).toFixed(3)} ${side} the base rate's ` +
    `(95% interval ${ends[0].toFixed(3)} to ${ends[1].toFixed(3)}).`
  );
}

function tally(all) {
  const scored = all.filter((vote) => vote.counted && vote.came && vote.came !== "VOID");
  const n = scored.length,
    right = scored.filter((vote) => vote.came === vote.choice).length;
  if (!n) return "";
  const count = `Your votes so far: right in ${right} of ${n} ${n === 1 ? "round" : "rounds"}.`;
  if (n < FEW) return `${count} Fewer than ${FEW} say nothing about skill.`;
  const came = (outcome) => scored.filter((vote) => vote.came === outcome).length,
    most = Math.max(...SIDES.map(came));
  const z = 1.96 ** 2,
    mid = (right + z / 2) / (n + z),
    half = (1.96 / (n + z)) * Math.sqrt((right * (n - right)) / n + z / 4);
  return `${count} 95% interval: ${(100 * (mid - half)).toFixed(1)} to ${(100 * (mid + half)).toFixed(1)}%. The most frequent outcome was that of ${most}.`;
}

function state(words) {
  const place = document.getElementById("vote-state");
  if (place.textContent !== words) place.textContent = words; // what is said again is not read aloud again
}

let shown; // the round whose buttons are shown
let known = ""; // why a vote would not be taken, as far as it is known before a press
let asked = ""; // the round that was asked about
let pressed = ""; // the round in which a button was pressed: what was said after that stays

function show() {
  const all = keptVotes(),
    box = document.getElementById("votes"),
    place = document.getElementById("my-votes");
  const open = box && all.find((vote) => vote.round === box.dataset.round);
  box?.querySelectorAll("button").forEach((button) => {
    button.disabled = false;
    const isPressed = open?.chances ? open.chances.join() === button.dataset.chances : open?.choice === button.value;
    button.setAttribute("aria-pressed", String(isPressed));
  });
  if (open) state(changeable(open));
  else if (shown !== box?.dataset.round) state(known);
  shown = box?.dataset.round;
  const others = all.filter((vote) => vote !== open).reverse();
  const last = others.find((vote) => vote.counted && vote.came);
  const lines = [
    ...others
      .filter((vote) => vote !== last)
      .slice(0, 3)
      .map(sentence),
    scored(all),
    tally(all),
  ].filter(Boolean);
  const rest = lines.map((words) => element("p", words, { className: "small" }));
  const offer = isCopyDue("key", all.length) ? [copyOffer()] : [];
  place.replaceChildren(...(last ? [card(last)] : []), ...rest, ...offer);
}

// A key that a browser deletes is a record that no one can continue.
function copyOffer() {
  const made = element("p", "Keep a copy of your key: a browser may delete it, Safari after a week without a visit. ");
  const button = element("button", "Save key", { type: "button" });
  button.addEventListener("click", () => saveKey().then(show));
  made.append(button);
  return made;
}

// What one press says. A round that opened before the service took chances is voted in by the word alone.
const pressedVote = (button) => ({ choice: button.value, chances: button.dataset.chances.split(",").map(Number) });

async function send(key, { round, asset, start, end }, said) {
  const voter = await voterOf(key);
  const { transaction } = await prepared(voter, round, said, "free");
  const sent = await relay("", { "X-Ballot": await signed(key, transaction) });
  remembered({ round, asset, start, end }, said, sent);
}

async function cast(said, isTap) {
  const box = document.getElementById("votes");
  if (!box) return state("No round takes votes at the moment.");
  const round = { ...box.dataset };
  const buttons = document.querySelectorAll("#votes button, #own-send");
  pressed = round.round;
  buttons.forEach((one) => one.setAttribute("aria-disabled", "true"));
  state("Voting …");
  try {
    const key = await keyOfThisBrowser();
    try {
      await send(key, round, said);
    } catch (error) {
      if (!(isTap && error instanceof WordsAlone)) throw error;
      await send(key, round, { choice: said.choice });
    }
  } catch (error) {
    if (!(error instanceof Said)) console.error(error);
    state(error instanceof Said ? error.message : "Something failed in this page. Reload it and press again.");
  }
  buttons.forEach((one) => one.removeAttribute("aria-disabled"));
}

function follow() {
  show();
  lookUp()
    .then(show)
    .catch(() => {}); // offline: asked again with the next release
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("#votes button");
  if (button && !button.hasAttribute("aria-disabled")) cast(pressedVote(button), true);
});

// Three chances of the voter's own

const own = document.getElementById("own-form");
const inputs = ["own-up", "own-even", "own-down"].map((id) => document.getElementById(id));

// The word that three chances count for is that of the largest.
function ownVote() {
  const chances = inputs.map((input) => Number(input.value));
  const most = Math.max(...chances);
  const largest = SIDES.filter((_, side) => chances[side] === most);
  return { choice: largest.length === 1 ? largest[0] : "NEUTRAL", chances };
}

function showOwn() {
  inputs.forEach((input) => (document.getElementById(`${input.id}-said`).textContent = `${input.value}%`));
}

if (own) {
  document.getElementById("own-chances").hidden = false;
  inputs.forEach((input, moved) =>
    input.addEventListener("input", () => {
      const chances = addTo100(ownVote().chances, moved);
      inputs.forEach((each, side) => (each.value = chances[side]));
      showOwn();
    }),
  );
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!document.getElementById("own-send").hasAttribute("aria-disabled")) cast(ownVote(), false);
  });
  showOwn();
}

document.addEventListener("emi:clock", follow);
document.addEventListener("emi:renewed", () => {
  if (known) [asked, known, shown] = ["", "", undefined]; // it may not hold any more
  follow();
});
// Asked when somebody reaches for the buttons: a site without a gateway answers 404, which a browser logs as an error.
function ask(event) {
  const box = event.target.closest("#votes");
  if (!box || asked === box.dataset.round) return;
  asked = box.dataset.round;
  fetch(RELAY, { cache: "no-store" })
    .then((answer) => answer.json())
    .then((answer) => {
      if (answer.free_vote === "on" || pressed === box.dataset.round) return;
      known = answer.free_vote === "full" || answer.reason === "stale" ? answer.detail : off();
      shown = undefined;
      show();
    })
    .catch(() => {}); // said after a press
}
document.addEventListener("pointerover", ask);
document.addEventListener("focusin", ask);
const wallet = document.getElementById("wallet-vote");
wallet?.parentElement.addEventListener(
  "toggle",
  async () => {
    (await import("./vote-wallet.js")).start(wallet, { prepared, relay, remember: remembered, element, ownVote, Said });
  },
  { once: true },
);
follow();
