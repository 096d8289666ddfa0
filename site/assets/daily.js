// The daily question: two ranges of Bitcoin's move set on its picture, signed with this browser's key, and their score.
// What was answered is kept here, and looked up in what the site publishes.
import { ownHour } from "./clock.js";
import { Column, dollars, ENDS, priceAt } from "./daily-column.js";
import { element, percent, say } from "./practice-draw.js";
import { howFarScore, isInside } from "./practice-scores.js";
import { laterOfTheYear, reminder, save } from "./reminder.js";
import { keyOfThisBrowser, relay, Said, signed, voterOf } from "./vote-key.js";

const KEPT = "emi-daily";
const MOST_KEPT = 400;
const QUESTIONS = "/arena/daily.json";
const BRAIN = "/arena/daily-brain.json";
const LATE = "Too late: this question takes no more answers. The next one is asked at 13:00 UTC.";
const CHANGES = 20;
const SVG = "http://www.w3.org/2000/svg";

// The part with the picture is renewed with each release: it is looked up each time.
const about = () => document.getElementById("day-part").dataset;
const form = document.getElementById("daily-form");
const button = document.getElementById("daily-answer");
const state = document.getElementById("daily-state"); // says how to answer until something else is to be said

let column = null;
let set = null; // what is set and not sent: the question and its ends

// ----- what was answered here

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT));
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

let answers = kept();

function keep(answer) {
  answers = [...answers.filter((one) => one.question !== answer.question), answer].slice(-MOST_KEPT);
  try {
    localStorage.setItem(KEPT, JSON.stringify(answers));
  } catch {
    // this browser keeps nothing: what this page knows must do
  }
}

const mine = (question) => answers.find((one) => one.question === question);

// ----- the ranges, in hundredths of a percent

const inPercent = (ranges) => Object.fromEntries(ENDS.map((name) => [name, ranges[name] / 100]));
const between = (base, low, high) => `${dollars(priceAt(base, low))} and ${dollars(priceAt(base, high))}`;
const rangeWords = (base, { low_50, high_50, low_90, high_90 }) =>
  `50% sure between ${between(base, low_50, high_50)}, 90% between ${between(base, low_90, high_90)}`;

function endsNow() {
  const { question } = about();
  if (set?.question === question) return set.ends;
  const begin = about().begin.split(" ").map(Number);
  return mine(question)?.ends ?? Object.fromEntries(ENDS.map((name, place) => [name, begin[place]]));
}

function showColumn() {
  const place = document.querySelector("#day-part .daily-column");
  if (!form || !about().question || !about().column || place?.childElementCount) return;
  column = new Column(place, about(), endsNow(), (ends) => {
    set = { question: about().question, ends };
    showSet();
  });
  showSet();
  if (mine(about().question)?.txid) showBrain();
}

function showSet() {
  const words = rangeWords(column.base, column.ends);
  const { question } = about();
  const isOwn = set?.question === question || mine(question);
  say(document.getElementById("daily-said"), isOwn ? `Yours: ${words}.` : `Drag the bands: ${words}.`);
}

// ----- the answer

async function send() {
  const { question } = about();
  const said = column.ends;
  const before = mine(question);
  const same = before && ENDS.every((name) => before.ends[name] === said[name]);
  const change = before ? before.change + (same ? 0 : 1) : 0;
  if (change >= CHANGES) throw new Said(`You changed your answer ${CHANGES - 1} times. The last one counts.`);

  const key = await keyOfThisBrowser();
  const voter = await voterOf(key);
  const query = new URLSearchParams({
    voter,
    daily: question,
    r50: `${said.low_50},${said.high_50}`,
    r90: `${said.low_90},${said.high_90}`,
    change,
  });
  const { transaction } = await relay(`?${query}`, {}, LATE);
  keep({ question, ends: said, change, txid: before?.txid }); // before anything is signed
  const { txid } = await relay("", { "X-Ballot": await signed(key, transaction) }, LATE);
  keep({ question, ends: said, change, txid });
}

async function answer() {
  button.disabled = true;
  say(state, "Sending \u2026");
  try {
    await send();
    showState();
    await showBrain();
  } catch (error) {
    if (!(error instanceof Said)) console.error(error);
    const text = error instanceof Said ? error.message : "Something failed in this page. Reload it and press again.";
    say(state, text);
  }
  button.disabled = false;
}

const own = () => ownHour(about().closes);
const counted = () => `Your answer counts at ${about().closed}${own() && ` (${own()})`}. To change it, press again.`;

function showState() {
  if (mine(about().question)?.txid) say(state, counted());
}

// What the brain sealed when it was asked, in a file of its own: nothing of it is in the page, or loaded, before.
async function showBrain() {
  const { question_id, forecast } = await fetched(BRAIN).catch(() => ({}));
  if (!column || !forecast || question_id !== about().question) return;
  const ends = forecast.brain;
  column.showBrain(ends);
  say(
    state,
    `${counted()} The brain when asked (dashed): nine in ten between ${between(column.base, ends.low_90, ends.high_90)}.`,
  );
}

// ----- what came

async function fetched(path) {
  const received = await fetch(path, { cache: "no-cache", signal: AbortSignal.timeout(15000) });
  if (!received.ok) throw new Error(`${path}: status ${received.status}`);
  return received.json();
}

// Whether an answer is among the counted ones, which are published when the question closes; of many in parts.
async function isCounted(said) {
  for (let part = 1, of = 1; part <= of; part += 1) {
    const sheet = await fetched(`/files/ballots/${said.question}${part === 1 ? "" : `.${part}`}.json`);
    if (sheet.ballots.some((row) => row.txid === said.txid)) return true;
    of = sheet.parts || 1;
  }
  return false;
}

// One's own answer in the picture of the last question.
function drawMine() {
  const last = document.getElementById("last-part");
  const group = document.getElementById("daily-mine-row");
  const said = group && mine(last.dataset.question);
  if (!said?.txid) return;
  const [left, right, top, height] = last.dataset.row.split(" ").map(Number);
  const [low, high] = [Number(last.dataset.low), Number(last.dataset.high)];
  const x = (end) => left + (right - left) * Math.max(0, Math.min(1, (end - low) / (high - low)));
  const bars = [
    ["far90", said.ends.low_90, said.ends.high_90],
    ["far50", said.ends.low_50, said.ends.high_50],
  ].map(([kind, from, to]) => {
    const bar = document.createElementNS(SVG, "rect");
    const place = { class: kind, x: x(from), y: top, width: Math.max(1.5, x(to) - x(from)), height };
    for (const [name, value] of Object.entries(place)) bar.setAttribute(name, value);
    return bar;
  });
  group.replaceChildren(...bars);
}

function result(row, said) {
  const compared = row.closing ?? row.forecast; // without a base: the sealed ones
  const brain = inPercent(compared.brain);
  const usual = inPercent(compared.usual_day);
  const own = inPercent(said.ends);
  const inOrOut = (low, high) => (isInside(low, high, row.move) ? "inside" : "outside");
  const scores = [own, brain, usual].map((ranges) => howFarScore(ranges, row.move).toFixed(3));
  const people = row.answers > 1 ? `, the mean of ${row.answers} answers ${row.scores.people.toFixed(3)}` : "";
  const made = element("article", "", { className: "result" });
  made.append(
    element(
      "p",
      `It ended ${percent(row.move)} from ${dollars(row.base ?? row.start_price)}: ${inOrOut(own.low_50, own.high_50)} your 50% range, ${inOrOut(own.low_90, own.high_90)} your 90% range.`,
    ),
    element(
      "p",
      `Your score ${scores[0]}, the brain ${scores[1]}, a usual day ${scores[2]}${people}; smaller is better.`,
    ),
  );
  return made;
}

async function showResults() {
  const past = answers.filter((one) => one.txid && one.question !== about().question).reverse();
  const where = document.getElementById("daily-mine");
  if (!past.length || !where) return;
  const { questions } = await fetched(QUESTIONS);
  for (const said of past) {
    const row = questions.find((one) => one.question_id === said.question);
    if (!row || row.phase === "open") continue;
    if (row.phase === "void") return say(where, element("p", `${said.question} is void: ${row.void_reason}.`));
    if (said.counted === undefined) keep({ ...said, counted: row.answers > 0 && (await isCounted(said)) });
    if (!mine(said.question).counted)
      return say(
        where,
        element("p", `Your answer to ${said.question} is not among the answers that were counted at the close.`),
      );
    if (row.phase === "live") {
      const due = row.measured.slice(0, 16).replace("T", " ");
      return say(
        where,
        element(
          "p",
          `Your answer to ${said.question} counts: ${rangeWords(row.base ?? row.start_price, said.ends)}. The result comes at ${due} UTC.`,
        ),
      );
    }
    return say(where, result(row, said));
  }
}

const begun = about().question;

// Another question, or none any more, is another page.
function show() {
  if (about().question !== begun) return location.reload();
  showColumn();
  drawMine();
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  answer();
});
const remind = document.getElementById("daily-remind");
if (remind) {
  remind.disabled = false;
  remind.addEventListener("click", () => {
    const begin = laterOfTheYear(new Date(about().next)); // by then the question is asked, in winter and in summer
    save(reminder("daily", "Where will Bitcoin be at 13:00?", begin), "daily.ics");
  });
}
document.addEventListener("emi:renewed", show);
showState();
show();
showResults().catch(() => {}); // offline: asked again when the page is opened
