// What this browser voted: kept here, and looked up in what the site publishes.
import { hour, now } from "./clock.js";

const CONSENSUS = "/api/human-consensus.php";
const LESSONS = "/api/teacher-lessons.php";
const ROUNDS = "/arena/rounds.json";
const KEPT = "emi-votes";
const MOST_KEPT = 500;
const COUNT_MS = 120_000; // after the close, by when the count of a round that runs is published
const LEANING = {
  BULLISH: "a little more likely up",
  NEUTRAL: "a small move a little more likely",
  BEARISH: "a little more likely down",
}; // what one tap says
const TAPS = new Set(["40,33,27", "30,40,30", "27,33,40"]); // what one tap sends

export const WORDS = { BULLISH: "up", NEUTRAL: "small move", BEARISH: "down" };
export const SIDES = ["BULLISH", "NEUTRAL", "BEARISH"]; // in the order of every vote's chances

// ----- what is kept

let unkept = []; // where the browser keeps nothing

export function keptVotes() {
  if (unkept.length) return unkept;
  try {
    const found = JSON.parse(localStorage.getItem(KEPT));
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

function keep(all) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(all.slice(-MOST_KEPT)));
  } catch {
    unkept = all;
  }
}

export function remember({ round, asset, start, end }, { choice, chances }, { txid, voter }) {
  const others = keptVotes().filter((one) => one.round !== round);
  keep([...others, { round, asset, start, end, choice, chances, txid, voter }]);
}

// ----- what is published

async function json(path) {
  const answer = await fetch(path, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return answer.json();
}

// Whether a vote is among the counted ballots, of which a voter has one; else whether another one of its voter is.
async function counting(vote) {
  let instead = false;
  for (let part = 1, of = 1; part <= of; part += 1) {
    const sheet = await json(`/files/ballots/${vote.round}${part === 1 ? "" : `.${part}`}.json`);
    if (sheet.ballots.some((row) => row.txid === vote.txid)) return { counted: true };
    instead ||= sheet.ballots.some((row) => vote.voter && row.voter === vote.voter);
    of = sheet.parts || 1;
  }
  return { counted: false, instead };
}

const total = (counts) => counts.bullish + counts.neutral + counts.bearish;

export const inOrder = ({ up, neutral, down }) => [up, neutral, down];

// What the brain had sealed of a round: its word where it made a call, else none, the chances it gave and the base rate;
// and `late`, what it gave when votes closed, which people are compared with: null where that is not known.
function brainOf({ forecast, closing }) {
  if (!forecast) return null;
  const { call, prediction, probabilities, base_rate: base } = forecast;
  const late = closing?.void_reason ? null : (closing?.forecast?.probabilities ?? probabilities);
  return { said: call === "none" ? null : prediction, chances: probabilities, late, base };
}

// What came of a vote, as far as it is published; what cannot be read stays unknown, and is looked up again.
async function judged(vote, row, real, lesson) {
  if (real !== null && vote.counted === undefined) {
    const found = real > 0 ? await counting(vote).catch(() => ({})) : { counted: false, none: true };
    Object.assign(vote, found);
  }
  if (!row) return;
  Object.assign(vote, {
    came: row.outcome || "VOID",
    reason: row.void_reason,
    moved: row.change_bps,
    brain: brainOf(row),
    lesson: lesson?.point,
    chapter: lesson?.chapter,
  });
}

const isKnown = (vote) => vote.came && vote.brain !== undefined && (vote.counted !== undefined || vote.came === "VOID");

export async function lookUp() {
  const due = keptVotes().filter((vote) => !isKnown(vote) && !vote.past && now() > Date.parse(vote.start));
  if (!due.length) return;
  const { round, human_consensus: live, simulated_votes: simulated } = await json(CONSENSUS);
  const over = due.some((vote) => vote.round !== round?.round_id && now() - Date.parse(vote.start) > COUNT_MS);
  const { rounds: rows = [] } = over ? await json(ROUNDS) : {};
  const { latest_lessons: lessons = [] } = over ? await json(LESSONS) : {};

  const oldest = Math.min(...rows.map((row) => Date.parse(row.start)));
  for (const vote of due) {
    const row = rows.find((one) => one.round_id === vote.round);
    let real = null;
    if (row) real = total(row.votes) - total(row.simulated_votes);
    else if (round?.round_id === vote.round) real = live.total - simulated;
    await judged(
      vote,
      row,
      real,
      lessons.find((one) => one.round_id === vote.round),
    );
    if (!row && rows.length && Date.parse(vote.start) < oldest) vote.past = true;
  }
  keep(keptVotes().map((vote) => due.find((one) => one.round === vote.round) || vote));
}

// ----- what is said

function outcome(vote) {
  if (vote.came === "VOID") return `The round is void: ${vote.reason}.`;
  const moved = `${vote.moved > 0 ? "+" : ""}${(vote.moved / 100).toFixed(3)}%`;
  const came = `${WORDS[vote.came][0].toUpperCase()}${WORDS[vote.came].slice(1)} (${moved})`;
  if (vote.chances) return `${came}: you had given it ${vote.chances[SIDES.indexOf(vote.came)]}%.`;
  return `${came}: ${vote.came === vote.choice ? "right" : "wrong"}.`;
}

// Why a vote did not count, where that is known: of refused ballots only their number is published.
function notCounted(vote) {
  if (vote.instead) return "A later vote with the same key counted in its place.";
  if (vote.none) return "No vote was counted in this round.";
  return "It is not among the votes that were counted at the close; why is not published.";
}

// The word of one tap and its chances, or the chances alone: where two are largest, no word says what was meant.
function saidBy({ choice, chances, asset }) {
  if (!chances) return `You said ${WORDS[choice]} for ${asset}`;
  const [up, small, down] = chances;
  const given = `up ${up}%, small move ${small}%, down ${down}%`;
  return TAPS.has(chances.join())
    ? `You said “${LEANING[choice]}” for ${asset} (${given})`
    : `You gave ${asset} ${given}`;
}

function when({ start, end }) {
  const hours = `${start.slice(11, 16)} to ${end.slice(11, 16)} UTC`;
  const day = (time) => new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
  return day(start) === day(now()) ? hours : `${hours} on ${day(start)}`;
}

// Whether what came of a vote is still to be published.
export const isPending = (vote) => !vote.came && !vote.past && vote.counted !== false;

export function sentence(vote) {
  const said = `${saidBy(vote)}, ${when(vote)}.`;
  if (vote.came === "VOID") return `${said} ${outcome(vote)}`;
  if (vote.counted === false) return `${said} ${notCounted(vote)}`;
  if (vote.came) return `${said} ${outcome(vote)}`;
  if (vote.past) return `${said} It is older than the rounds that are listed.`;
  if (vote.counted) return `${said} Counted. The result follows at ${hour(vote.end)}.`;
  const closed = now() - Date.parse(vote.start);
  if (closed > COUNT_MS) return `${said} Votes are closed, and no count has been published: it may never have begun.`;
  if (closed > 0) return `${said} Votes are closed; the count is published within a minute.`;
  return `${said} It is counted when votes close at ${hour(vote.start)}; the result follows at ${hour(vote.end)}.`;
}
