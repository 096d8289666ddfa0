// The daily question: two ranges of Bitcoin's move set by four sliders, signed with this browser's key, and their score.
// What was answered is kept here, and looked up in what the site publishes.
import { element, percent, picture, rangeInput, say } from "./practice-draw.js";
import { howFarScore, isInside } from "./practice-scores.js";
import { reminder, save } from "./reminder.js";
import { keyOfThisBrowser, relay, Said, signed, voterOf } from "./vote-key.js";

const KEPT = "emi-daily";
const MOST_KEPT = 400;
const QUESTIONS = "/arena/daily.json";
const ENDS = ["low_90", "low_50", "high_50", "high_90"];
const LABELS = {
  low_90: "90% range, low end",
  low_50: "50% range, low end",
  high_50: "50% range, high end",
  high_90: "90% range, high end",
};
const LATE = "Too late: this question takes no more answers. The next one is asked at 13:00 UTC.";
const CHANGES = 20;

const ask = document.getElementById("daily-ask");
const about = ask.dataset;
const form = document.getElementById("daily-form");
const button = document.getElementById("daily-answer");
const state = document.getElementById("daily-state");
const sliders = document.getElementById("daily-sliders");
const item = {
  prices: JSON.parse(about.prices),
  most: Number(about.most) / 100,
  ahead: "the 25 hours",
};

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

const valueOf = (name) => Number(form.elements[name].value);
const ends = () => Object.fromEntries(ENDS.map((name) => [name, valueOf(name)]));
const inPercent = (ranges) => Object.fromEntries(ENDS.map((name) => [name, ranges[name] / 100]));
const words = (hundredths) => percent(hundredths / 100);

// The four ends stay in order: one that is moved takes the others along.
function moved(name) {
  const place = ENDS.indexOf(name);
  ENDS.forEach((other, at) => {
    const push = at < place ? Math.min : Math.max;
    if (at !== place) form.elements[other].value = push(valueOf(other), valueOf(name));
  });
  refresh();
}

function refresh() {
  for (const row of sliders.children) row.refresh();
  say(document.getElementById("daily-picture"), picture(item, inPercent(ends()), null));
}

function showSliders() {
  const most = Number(about.most);
  const begin = { low_90: -most / 2, low_50: -most / 4, high_50: most / 4, high_90: most / 2 };
  const from = mine(about.question)?.ends ?? begin;
  const rows = ENDS.map((name) => {
    const slider = { name, label: LABELS[name], value: Math.round(from[name]), least: -most, most, step: 1, words };
    return rangeInput(slider, () => moved(name));
  });
  say(sliders, ...rows);
  refresh();
}

// ----- the answer

async function send() {
  const said = ends();
  const before = mine(about.question);
  const same = before && ENDS.every((name) => before.ends[name] === said[name]);
  const change = before ? before.change + (same ? 0 : 1) : 0;
  if (change >= CHANGES) throw new Said(`You changed your answer ${CHANGES - 1} times. The last one counts.`);

  const key = await keyOfThisBrowser();
  const voter = await voterOf(key);
  const query = new URLSearchParams({
    voter,
    daily: about.question,
    r50: `${said.low_50},${said.high_50}`,
    r90: `${said.low_90},${said.high_90}`,
    change,
  });
  const { transaction } = await relay(`?${query}`, {}, LATE);
  keep({ question: about.question, ends: said, change, txid: before?.txid }); // before anything is signed
  const { txid } = await relay("", { "X-Ballot": await signed(key, transaction) }, LATE);
  keep({ question: about.question, ends: said, change, txid });
}

const rangeWords = ({ low_50, high_50, low_90, high_90 }) =>
  `${words(low_50)} to ${words(high_50)} for half, ${words(low_90)} to ${words(high_90)} for nine in ten`;

async function answer() {
  button.disabled = true;
  say(state, element("p", "Sending \u2026"));
  try {
    await send();
    showState();
  } catch (error) {
    if (!(error instanceof Said)) console.error(error);
    const text = error instanceof Said ? error.message : "Something failed in this page. Reload it and press again.";
    say(state, element("p", text));
  }
  button.disabled = false;
}

function showState() {
  const said = mine(about.question);
  if (!said?.txid) return;
  const text = `You said ${rangeWords(said.ends)}. It is counted when answers close at ${about.closed}. To change it, move a slider and press again.`;
  say(state, element("p", text));
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

function result(row, said) {
  const brain = inPercent(row.forecast.brain);
  const usual = inPercent(row.forecast.usual_day);
  const own = inPercent(said.ends);
  const inOrOut = (low, high) => (isInside(low, high, row.move) ? "inside" : "outside");
  const scores = [own, brain, usual].map((ranges) => howFarScore(ranges, row.move).toFixed(3));
  const people = row.answers > 1 ? `, the mean of ${row.answers} answers ${row.scores.people.toFixed(3)}` : "";
  const made = element("article", "", { className: "result" });
  made.append(
    element("p", `Your last result: ${row.question_id}`, { className: "kicker" }),
    element(
      "p",
      `It ended ${percent(row.move)}: ${inOrOut(own.low_50, own.high_50)} your 50% range, ${inOrOut(own.low_90, own.high_90)} your 90% range.`,
    ),
    element(
      "p",
      `Your score ${scores[0]}, the brain ${scores[1]}, a usual day ${scores[2]}${people}; smaller is better.`,
    ),
  );
  return made;
}

async function showResults() {
  const past = answers.filter((one) => one.txid && one.question !== about.question).reverse();
  if (!past.length) return;
  const { questions } = await fetched(QUESTIONS);
  const where = document.getElementById("daily-mine");
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
          `Your answer to ${said.question} counts: ${rangeWords(said.ends)}. The result comes at ${due} UTC.`,
        ),
      );
    }
    return say(where, result(row, said));
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  answer();
});
document.getElementById("daily-remind").addEventListener("click", () => {
  const begin = new Date(about.next);
  save(reminder("daily", "Where will Bitcoin be at 13:00?", begin), "daily.ics");
});
for (const part of document.querySelectorAll("main .needs-script")) part.hidden = false;
form.hidden = !about.question;
if (about.question) showSliders();
else if (item.prices.length)
  say(document.getElementById("daily-picture"), picture(item, { low_90: 0, low_50: 0, high_50: 0, high_90: 0 }, null));
showState();
showResults().catch(() => {}); // offline: asked again when the page is opened
