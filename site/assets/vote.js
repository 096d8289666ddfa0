// One tap votes: with a key of this browser, which never leaves it. The gateway of this site prepares the ballot and takes
// it signed. What was voted is kept here, and looked up in what the site publishes. A wallet can vote instead.
import { keyOfThisBrowser, off, RELAY, relay, Said, signed, voterOf } from "./vote-key.js";

const CONSENSUS = "/api/human-consensus.php";
const KEPT = "emi-votes";
const CHANGES = "emi-changes";
const MOST_KEPT = 500;
const FEW = 30; // fewer rounds say nothing about skill
const WORDS = { BULLISH: "up", NEUTRAL: "small move", BEARISH: "down" };
const CAME = { BULLISH: "up", NEUTRAL: "small move", BEARISH: "down" };

function element(name, words, about = {}) {
  const made = Object.assign(document.createElement(name), about);
  if (words) made.textContent = words;
  return made;
}

const at = (time) => time.slice(11, 16);

let changed = {};

// How often the vote in this round was changed before this choice: it makes a return to an earlier choice another ballot.
// The same choice again is the same ballot, which counts once. It is noted before anything is signed.
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

const prepared = (voter, round, choice, way) =>
  relay(`?${new URLSearchParams({ voter, round, choice, way, change: changesOf(round, choice) })}`);

// What was voted here

function votes() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) || [];
  } catch {
    return [];
  }
}

function keep(all) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(all.slice(-MOST_KEPT)));
  } catch {
    unkeptVotes = all;
  }
}

let unkeptVotes = [];
const mine = () => (unkeptVotes.length ? unkeptVotes : votes());

function remember({ round, asset, start, end }, choice, txid) {
  keep([...mine().filter((one) => one.round !== round), { round, asset, start, end, choice, txid }]);
  show();
}

const json = async (path) => (await fetch(path, { cache: "no-cache" })).json();

// Whether a vote is among the counted ballots, which are published when its round goes live; of many ballots in parts.
async function isCounted(vote) {
  for (let part = 1, of = 1; part <= of; part += 1) {
    const sheet = await json(`/files/ballots/${vote.round}${part === 1 ? "" : `.${part}`}.json`);
    if (sheet.ballots.some((row) => row.txid === vote.txid)) return true;
    of = sheet.parts || 1;
  }
  return false;
}

const total = (counts) => counts.bullish + counts.neutral + counts.bearish;

// What the brain had sealed of a round: its word where it made a call, else none, and the chances it gave.
function brainOf(forecast) {
  if (!forecast) return null;
  const { call, prediction, probabilities } = forecast;
  return { said: call === "none" ? null : prediction, chances: probabilities };
}

async function look() {
  const due = mine().filter((vote) => (!vote.came || vote.brain === undefined) && Date.now() > Date.parse(vote.start));
  if (!due.length) return;
  const { round, human_consensus: live, simulated_votes: simulated } = await json(CONSENSUS);
  const over = due.some((vote) => vote.round !== round?.round_id && Date.now() > Date.parse(vote.end));
  const { rounds: rows = [] } = over ? await json("/arena/rounds.json") : {};
  for (const vote of due) {
    const row = rows.find((one) => one.round_id === vote.round);
    const real = row
      ? total(row.votes) - total(row.simulated_votes)
      : round?.round_id === vote.round
        ? live.total - simulated
        : null;
    if (real !== null && vote.counted === undefined) vote.counted = real > 0 && (await isCounted(vote));
    if (row) Object.assign(vote, { came: row.outcome || "VOID", moved: row.change_bps, brain: brainOf(row.forecast) });
  }
  keep(mine().map((vote) => due.find((one) => one.round === vote.round) || vote));
}

// What is said

function outcome(vote) {
  if (vote.came === "VOID") return "The round is void: its prices could not be settled.";
  const moved = `${vote.moved > 0 ? "+" : ""}${(vote.moved / 100).toFixed(3)}%`;
  return `${CAME[vote.came][0].toUpperCase()}${CAME[vote.came].slice(1)} (${moved}): ${vote.came === vote.choice ? "right" : "wrong"}.`;
}

function sentence(vote) {
  const said = `You said ${WORDS[vote.choice]} for ${vote.asset}, ${at(vote.start)} to ${at(vote.end)} UTC.`;
  if (vote.counted === false)
    return `${said} It was not counted: it came too late, or a later vote of yours replaced it.`;
  if (vote.came) return `${said} ${outcome(vote)}`;
  if (vote.counted) return `${said} Counted. The result comes at ${at(vote.end)}.`;
  if (Date.now() > Date.parse(vote.start)) return `${said} Votes are closed; the count is published within a minute.`;
  return `${said} It is counted when votes close at ${at(vote.start)}. To change it, press another answer.`;
}

// The brain next to the voter: what it had said, whether that came, and the chances it gave.
function opponent({ brain, came }) {
  if (!brain || came === "VOID") return "";
  const { up, neutral, down } = brain.chances;
  const [rise, small, fall] = [up, neutral, down].map((chance) => `${Math.round(100 * chance)}%`);
  const chances = `up ${rise}, small move ${small}, down ${fall}`;
  if (!brain.said) return `The brain made no call: ${chances}.`;
  return `The brain called ${WORDS[brain.said]}: ${brain.said === came ? "right" : "wrong"} (${chances}).`;
}

// The newest result, large enough to read: the verdict, the voter's side and the brain's.
function card(vote) {
  const isVoid = vote.came === "VOID";
  const isRight = vote.came === vote.choice;
  const verdict = isVoid ? "Void round" : isRight ? "✓ You were right" : "✗ You were wrong";
  const made = element("article", "", { className: "result" });
  made.append(
    element("p", "Your last result", { className: "kicker" }),
    element("p", verdict, { className: `verdict ${isVoid ? "" : isRight ? "right" : "wrong"}` }),
    element("p", sentence(vote).replace(/: (right|wrong)\.$/, ".")),
  );
  const brain = opponent(vote);
  if (brain) made.append(element("p", brain));
  const more = element("a", "The round in the list", { href: `/arena/#${vote.round}` });
  made.append(element("p", "", { className: "small" }));
  made.lastChild.append(more);
  return made;
}

function tally(all) {
  const scored = all.filter((vote) => vote.counted && vote.came && vote.came !== "VOID");
  const n = scored.length,
    right = scored.filter((vote) => vote.came === vote.choice).length;
  if (!n) return "";
  const count = `Your votes so far: right in ${right} of ${n} ${n === 1 ? "round" : "rounds"}.`;
  if (n < FEW) return `${count} Fewer than ${FEW} say nothing about skill.`;
  const came = (outcome) => scored.filter((vote) => vote.came === outcome).length,
    most = Math.max(...Object.keys(CAME).map(came));
  const z = 1.96 ** 2,
    mid = (right + z / 2) / (n + z),
    half = (1.96 / (n + z)) * Math.sqrt((right * (n - right)) / n + z / 4);
  return `${count} 95% interval: ${(100 * (mid - half)).toFixed(1)} to ${(100 * (mid + half)).toFixed(1)}%. The most frequent outcome came in ${most} of them.`;
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
  const all = mine(),
    box = document.getElementById("votes"),
    place = document.getElementById("my-votes");
  const open = box && all.find((vote) => vote.round === box.dataset.round);
  box?.querySelectorAll("button").forEach((button) => {
    button.disabled = false;
    button.setAttribute("aria-pressed", String(open?.choice === button.value));
  });
  if (open) state(sentence(open));
  else if (shown !== box?.dataset.round) state(known);
  shown = box?.dataset.round;
  const others = all.filter((vote) => vote !== open).reverse();
  const last = others.find((vote) => vote.counted && vote.came);
  const lines = [
    ...others
      .filter((vote) => vote !== last)
      .slice(0, 3)
      .map(sentence),
    tally(all),
  ].filter(Boolean);
  const rest = lines.map((words) => element("p", words, { className: "small" }));
  place.replaceChildren(...(last ? [card(last)] : []), ...rest);
}

async function tap(button) {
  const { round, asset, start, end } = button.parentElement.dataset,
    choice = button.value;
  const buttons = [...button.parentElement.children];
  pressed = round;
  buttons.forEach((one) => one.setAttribute("aria-disabled", "true"));
  state("Voting …");
  try {
    const key = await keyOfThisBrowser();
    const voter = await voterOf(key);
    const { transaction } = await prepared(voter, round, choice, "free");
    const { txid } = await relay("", { "X-Ballot": await signed(key, transaction) });
    remember({ round, asset, start, end }, choice, txid);
  } catch (error) {
    if (!(error instanceof Said)) console.error(error);
    state(error instanceof Said ? error.message : "Something failed in this page. Reload it and press again.");
  }
  buttons.forEach((one) => one.removeAttribute("aria-disabled"));
}

function follow() {
  show();
  look()
    .then(show)
    .catch(() => {}); // offline: asked again with the next release
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("#votes button");
  if (button && !button.hasAttribute("aria-disabled")) tap(button);
});
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
    (await import("./vote-wallet.js")).start(wallet, { prepared, relay, remember, element, Said });
  },
  { once: true },
);
follow();
