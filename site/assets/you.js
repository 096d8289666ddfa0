// What this browser said, at once; then the record of its address, or of another, from the files of what voters said; and
// the key of this browser as a file.
import { sha512_256 } from "./buyer-hash.js";
import { diagram, element, mean, percent, say, wilson } from "./practice-draw.js";
import { hour, now } from "./clock.js";
import { isPending, keptVotes, lookUp, sentence } from "./kept-votes.js";
import { isCopyDue, saveKey } from "./keep-copy.js";
import { keptKey, takeKey, voterOf } from "./vote-key.js";

const LIST = "/arena/voters.json";
const TEACHER = "/api/teacher-lessons.php";
const FEW = 30; // fewer rounds say nothing about skill
const SHOWN = 10;
const Z_95 = 1.959963984540054;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SIDES = ["BULLISH", "NEUTRAL", "BEARISH"];
const WORDS = { BULLISH: "up", NEUTRAL: "small move", BEARISH: "down" };
const ADDRESS = /^[A-Z2-7]{58}$/;

const state = document.getElementById("you-state");
const figures = document.getElementById("you-figures");
const form = document.getElementById("you-form");
const about = document.getElementById("you-key");

// An address is the public key and the last four bytes of its SHA-512/256, in base 32.
function addressOf(publicKeyHex) {
  const bytesOf = (text) => text.match(/../g).map((pair) => Number.parseInt(pair, 16));
  const key = bytesOf(publicKeyHex);
  const bytes = [...key, ...bytesOf(sha512_256(Uint8Array.from(key))).slice(-4)];
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits
    .match(/.{1,5}/g)
    .map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)])
    .join("");
}

// ----- what this browser said

const DAILY = "emi-daily";
const DAY_MS = 86_400_000;

function dailyAnswers() {
  try {
    const found = JSON.parse(localStorage.getItem(DAILY));
    return Array.isArray(found) ? found.filter((one) => one.txid) : [];
  } catch {
    return [];
  }
}

// The question of a day, BTC-DAILY-20261124, closes at 12:00 of the next day and is measured at 13:00 of the day after.
function dailyLine({ question, ends, counted }) {
  const asked = Date.parse(question.slice(-8).replace(/(....)(..)(..)/, "$1-$2-$3T12:00:00Z"));
  const [closes, measured] = [asked + DAY_MS, asked + 2 * DAY_MS + DAY_MS / 24];
  const day = (time) => new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
  const at = (time) => `${hour(time)} on ${day(time)}`;
  const range = (low, high) => `${percent(ends[low] / 100)} to ${percent(ends[high] / 100)}`;

  const said = `The daily question of ${day(asked)}: half ${range("low_50", "high_50")}, nine in ten ${range("low_90", "high_90")}.`;
  let came = `Answers close at ${at(closes)}; the result follows at ${at(measured)}.`;
  if (now() > closes) came = `The result follows at ${at(measured)}.`;
  if (now() > measured) came = "It has ended.";
  if (counted === false) came = "It is not among the answers that were counted at the close; why is not published.";
  return { time: measured, isPending: counted !== false && now() <= measured, words: `${said} ${came}` };
}

// What is pending first, the next result before the others; then what has ended, the newest first.
function saidHere() {
  const votes = keptVotes().map((vote) => ({
    time: Date.parse(vote.end),
    isPending: isPending(vote),
    words: sentence(vote),
  }));
  const all = [...votes, ...dailyAnswers().map(dailyLine)];
  const pending = all.filter((one) => one.isPending).sort((one, other) => one.time - other.time);
  const ended = all.filter((one) => !one.isPending).sort((one, other) => other.time - one.time);
  return { pending, ended };
}

function listOf(lines) {
  const list = element("ul", "");
  list.append(...lines.map(({ words }) => element("li", words)));
  return list;
}

function showHere() {
  const { pending, ended } = saidHere();
  const parts = [];
  if (pending.length) parts.push(element("h3", "Waiting for a result"), listOf(pending));
  if (ended.length) parts.push(element("h3", "Ended"), listOf(ended.slice(0, SHOWN)));
  if (ended.length > SHOWN) parts.push(element("p", `The newest ${SHOWN} of ${ended.length}.`, { className: "small" }));
  if (parts.length) say(document.getElementById("you-here"), ...parts);
  const isDue = isCopyDue("key", pending.length + ended.length);
  if (isDue) say(about, "Keep a copy: a browser may delete the key, Safari after a week without a visit.");
}

async function fetched(path) {
  const answer = await fetch(path, { cache: "no-cache", signal: AbortSignal.timeout(15000) });
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return answer.json();
}

// All rows of an address, the oldest month first.
async function rowsOf(address, list) {
  const prefix = address.slice(0, 2);
  const rows = [];
  for (const month of list.months) {
    const { files } = await fetched(month.list);
    if (files[prefix])
      rows.push(...((await fetched(`/files/voters/${month.month}/${prefix}.json`)).voters[address] ?? []));
  }
  if (list.files.includes(prefix))
    rows.push(...((await fetched(`/arena/voters/${prefix}.json`)).voters[address] ?? []));
  const seen = new Map(rows.map((row) => [row[0], row])); // a month that just closed may be in both
  return [...seen.values()].map(([subject, said, came, score, usual, brain]) => ({
    subject,
    said,
    came,
    score,
    usual,
    brain,
  }));
}

// ----- figures

const inFull = (hits, n) => {
  if (n < FEW) return `${hits} of ${n}`;
  const [low, high] = wilson(hits, n).map((share) => (100 * share).toFixed(1));
  return `${hits} of ${n}, ${((100 * hits) / n).toFixed(1)}% (${low} to ${high}%)`;
};

function savedWords(own, other) {
  const saved = own.map((score, place) => other[place] - score);
  const n = saved.length;
  const average = mean(saved);
  const points = `${Math.abs(average).toFixed(4)} ${average >= 0 ? "better" : "worse"}`;
  if (n < FEW) return `${points}; an interval comes with ${FEW}`;
  const variance = saved.reduce((sum, one) => sum + (one - average) ** 2, 0) / (n - 1);
  const half = Z_95 * Math.sqrt(variance / n);
  return `${points} (95% interval ${(average - half).toFixed(4)} to ${(average + half).toFixed(4)}; above 0 is better)`;
}

// The score that was to be expected by the chances themselves, and how far chance alone moves its mean.
function luck(rows) {
  let expected = 0;
  let variance = 0;
  for (const { said } of rows) {
    const chances = said.map((whole) => whole / 100);
    const scores = chances.map((_, came) =>
      chances.reduce((sum, chance, side) => sum + (chance - (side === came ? 1 : 0)) ** 2, 0),
    );
    const average = chances.reduce((sum, chance, side) => sum + chance * scores[side], 0);
    expected += average;
    variance += chances.reduce((sum, chance, side) => sum + chance * (scores[side] - average) ** 2, 0);
  }
  const n = rows.length;
  return { expected: expected / n, half: (Z_95 * Math.sqrt(variance)) / n };
}

function luckWords(rows) {
  if (rows.length < FEW) return `Too early: ${FEW - rows.length} more rounds with chances.`;
  const own = mean(rows.map((row) => row.score));
  const { expected, half } = luck(rows);
  const range = `By your own chances ${expected.toFixed(4)} was to be expected, up to ${half.toFixed(4)} more or less by luck; yours is ${own.toFixed(4)}.`;
  if (own > expected + half) return `${range} Worse than luck explains: the chances were too sure.`;
  if (own < expected - half) return `${range} Better than luck explains: the chances were not sure enough.`;
  return `${range} Luck alone explains the difference.`;
}

function line(name, value) {
  const row = element("div", "");
  row.append(element("dt", name), element("dd", value));
  return row;
}

function saidWords(row) {
  if (typeof row.said === "string") return WORDS[row.said];
  if (row.said.length === 3) return `up ${row.said[0]}, small move ${row.said[1]}, down ${row.said[2]}`;
  const [low90, low50, high50, high90] = row.said.map((end) => percent(end / 100));
  return `${low50} to ${high50}; ${low90} to ${high90}`;
}

const COLUMNS = ["Round or question", "Said", "Outcome", "Score", "Usual", "Brain"];

function table(rows) {
  const made = element("table", "", { className: "fold" });
  made.append(element("caption", "The newest: Brier scores of chances, interval scores of ranges; smaller is better"));
  const head = element("tr", "");
  for (const name of COLUMNS) head.append(element("th", name, { scope: "col" }));
  made.append(element("thead", ""), element("tbody", ""));
  made.tHead.append(head);
  for (const row of rows) {
    const one = element("tr", "");
    const came = typeof row.came === "string" ? WORDS[row.came] : percent(row.came);
    const scores = [row.score, row.usual, row.brain].map((score) => (score === null ? "no score" : score.toFixed(3)));
    one.append(element("th", row.subject, { scope: "row" }));
    [saidWords(row), came, ...scores].forEach((value, place) => {
      const cell = element("td", value);
      cell.dataset.label = COLUMNS[place + 1];
      one.append(cell);
    });
    made.tBodies[0].append(one);
  }
  return made;
}

// The scoreboard has the ends of addresses; chances come before hits.
function placeOf(address, leaderboard) {
  const voter = `${address.slice(0, 6)}…${address.slice(-4)}`;
  const [byChances, byHits] = [leaderboard?.by_score, leaderboard?.places].map((places) =>
    places?.find((one) => one.voter === voter),
  );
  const found = byChances ?? byHits;
  if (!found) return "No place yet";
  const luck = found.beyond_luck ? "beyond luck" : "which may be luck";
  return `Place ${found.place} by ${byChances ? "chances" : "hits"}, ${luck}`;
}

function shown(address, rows, list, place) {
  const rounds = rows.filter((row) => typeof row.came === "string");
  const given = rounds.filter((row) => row.score !== null);
  const answers = rows.filter((row) => typeof row.came !== "string");
  const word = (row) => (typeof row.said === "string" ? row.said : largest(row.said));
  const right = rounds.filter((row) => word(row) === row.came).length;

  const facts = element("dl", "", { className: "facts" });
  const texts = [];
  if (rounds.length) facts.append(line("Largest chance or word was right in", inFull(right, rounds.length)));
  if (given.length) {
    const [own, usual] = ["score", "usual"].map((name) => given.map((row) => row[name]));
    // Where the brain's chances at the close are not known, no one is compared with it.
    const compared = given.filter((row) => row.brain !== null);
    const [ownCompared, brain] = ["score", "brain"].map((name) => compared.map((row) => row[name]));
    facts.append(line(`Mean Brier score over ${given.length}`, mean(own).toFixed(4)));
    facts.append(line("Base rate, the same rounds", mean(usual).toFixed(4)));
    const which = compared.length < given.length ? `${compared.length} of these rounds` : "the same rounds";
    if (compared.length) facts.append(line(`Brain when votes closed, ${which}`, mean(brain).toFixed(4)));
    texts.push(`Next to the base rate: ${savedWords(own, usual)}.`);
    if (compared.length) texts.push(`Next to the brain when votes closed: ${savedWords(ownCompared, brain)}.`);
    texts.push(luckWords(given));
  }
  if (answers.length) {
    const [own, usual, brain] = ["score", "usual", "brain"].map((name) =>
      mean(answers.map((row) => row[name])).toFixed(3),
    );
    texts.push(
      `Daily questions: mean interval score ${own} over ${answers.length}; a usual day ${usual}, the brain ${brain}.`,
    );
  }
  const others = `${list.voters} ${list.voters === 1 ? "address has" : "addresses have"} a vote or answer that ended this month`;
  texts.push(`${place}; ${others}.`);

  const parts = [facts, ...texts.map((text) => element("p", text))];
  if (given.length >= FEW) {
    const pairs = given.flatMap((row) => row.said.map((whole, side) => [whole / 100, SIDES[side] === row.came]));
    parts.push(element("h3", "Calibration"), diagram(pairs));
  }
  parts.push(table(rows.slice(-SHOWN).reverse()));
  say(figures, ...parts);
  say(state, `${rows.length} votes and answers of ${address}.`);
}

function largest([up, neutral, down]) {
  if (up > Math.max(neutral, down)) return "BULLISH";
  return down > Math.max(neutral, up) ? "BEARISH" : "NEUTRAL";
}

async function show(address) {
  say(figures);
  document.getElementById("you-record").hidden = false;
  if (!ADDRESS.test(address)) return say(state, "An address has 58 capital letters and digits from 2 to 7.");
  try {
    const list = await fetched(LIST);
    const rows = await rowsOf(address, list);
    if (!rows.length) return say(state, `Nothing of ${address} has ended yet. A vote is added once its round has.`);
    const { leaderboard } = await fetched(TEACHER).catch(() => ({}));
    shown(address, rows, list, placeOf(address, leaderboard));
  } catch {
    say(state, "The record cannot be read now. Try again once you are online.");
  }
}

// ----- whose, and the key

async function mine() {
  const key = await keptKey();
  return key ? addressOf(await voterOf(key)) : null;
}

// The record of the address after the #, else of this browser's own.
async function follow() {
  const other = decodeURIComponent(location.hash.slice(1));
  if (other) {
    document.getElementById("you-other").open = true;
    form.elements.address.value = other;
    return show(other);
  }
  const own = await mine().catch(() => null);
  if (own) return show(own);
  document.getElementById("you-record").hidden = true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const address = form.elements.address.value.trim();
  if (location.hash.slice(1) === address) show(address);
  else location.hash = address;
});
document.getElementById("you-mine").addEventListener("click", () => {
  form.elements.address.value = "";
  history.pushState(null, "", location.pathname);
  follow();
});
document.getElementById("you-keep").addEventListener("click", async () => {
  const text = (await keptKey())
    ? "This key was made before keys could be kept as files; it stays in this browser."
    : "This browser has no key yet.";
  say(about, (await saveKey()) ? "Saved. Who has the file votes as you." : text);
});
const picked = document.getElementById("you-file");
document.getElementById("you-bring").addEventListener("click", () => picked.click());
picked.addEventListener("change", async () => {
  try {
    await takeKey(await picked.files[0].text());
    say(about, "This browser votes with that key now.");
    history.pushState(null, "", location.pathname);
    await follow();
  } catch {
    say(about, "This file holds no such key. Nothing was changed.");
  }
  picked.value = "";
});
window.addEventListener("hashchange", follow);
for (const part of document.querySelectorAll("main .needs-script")) part.hidden = part.id === "you-record";
showHere();
document.addEventListener("emi:clock", showHere);
lookUp()
  .then(showHere)
  .catch(() => {}); // offline: what is kept stays as it is
follow();
