// What a class answered, for its teacher: from the records that pupils saved, or from the votes of the last round, as a
// table and a file of comma-separated values. The records are read here and sent nowhere.
import { brier, isInside } from "./practice-scores.js";
import { element, mean, say } from "./practice-draw.js";
import { save } from "./reminder.js";

const FORMAT = "emi-practice-record/1";
const SIDES = ["BULLISH", "NEUTRAL", "BEARISH"];
const SHORT = 6; // letters by which a pupil knows the own address

const state = document.getElementById("class-state");
const place = document.getElementById("class-answers");
const picked = document.getElementById("class-files");

// ----- rows

// A cell as text; a spreadsheet takes what begins like a formula for one.
function cell(value) {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csv = (rows) => rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");

const ANSWER = ["low_90", "low_50", "high_50", "high_90", "chance", "up", "small_move", "down"];

// A row for each answer of each pupil.
export function answersOf(pupils) {
  const head = ["pupil", "given", "question", "item", ...ANSWER, "score", "brain_score", "usual_score"];
  const rows = pupils.flatMap(({ name, answers }) =>
    answers.map((one) => [
      name,
      one.given,
      one.question,
      one.item,
      ...ANSWER.map((part) => one.answer[part]),
      one.score,
      one.brain_score,
      one.usual_score,
    ]),
  );
  return [head, ...rows];
}

// A row for each pupil: how many ranges held, and the mean scores of the ranges.
export function summaryOf(pupils, moves) {
  const rows = pupils.map(({ name, answers }) => {
    const ranges = answers.filter((one) => one.question === "how_far" && moves.has(one.item));
    const held = (level) =>
      ranges.filter((one) => isInside(one.answer[`low_${level}`], one.answer[`high_${level}`], moves.get(one.item)))
        .length;
    const scores = ["score", "usual_score"].map((kind) =>
      ranges.length ? mean(ranges.map((one) => one[kind])).toFixed(3) : "",
    );
    return [name, answers.length, `${held(50)} of ${ranges.length}`, `${held(90)} of ${ranges.length}`, ...scores];
  });
  return [["Pupil", "Answers", "50% ranges held", "90% ranges held", "Mean score", "A usual hour"], ...rows];
}

// A row for each vote of a round.
export function votesOf(sheet, outcome) {
  const rows = sheet.ballots.map(({ voter, choice, chances }) => {
    const given = chances && [chances.up, chances.neutral, chances.down];
    const score =
      given && outcome
        ? brier(
            given.map((one) => one / 100),
            SIDES.indexOf(outcome),
          ).toFixed(3)
        : "";
    return [voter.slice(0, SHORT), ...(given ?? ["", "", ""]), choice, outcome ?? "", score];
  });
  return [["Address begins", "Up", "Small move", "Down", "Counts as", "Outcome", "Brier score"], ...rows];
}

// ----- the page

async function fetched(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(15000) });
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return answer.json();
}

function show(caption, [head, ...rows], file, name) {
  const table = element("table", "");
  table.append(element("caption", caption), element("thead", ""), element("tbody", ""));
  const titles = element("tr", "");
  titles.append(...head.map((title) => element("th", title, { scope: "col" })));
  table.tHead.append(titles);
  for (const [first, ...others] of rows) {
    const row = element("tr", "");
    row.append(element("th", first, { scope: "row" }), ...others.map((value) => element("td", String(value))));
    table.tBodies[0].append(row);
  }
  const scroll = element("div", "", { className: "scroll", tabIndex: 0 });
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", caption);
  scroll.append(table);
  const button = element("button", "Save as CSV", { type: "button" });
  button.addEventListener("click", () => save(new Blob([`\ufeff${csv(file)}`], { type: "text/csv" }), name));
  const buttons = element("p", "", { className: "practice-buttons" });
  buttons.append(button);
  say(place, scroll, buttons);
}

async function readRecord(file) {
  const { format, answers } = JSON.parse(await file.text());
  if (format !== FORMAT || !Array.isArray(answers)) throw new Error(file.name);
  return { name: file.name.replace(/\.json$/i, ""), answers };
}

async function movesOf(pupils) {
  const months = JSON.parse(document.getElementById("practice").dataset.months);
  const used = new Set(pupils.flatMap(({ answers }) => answers.map((one) => one.month)));
  const files = await Promise.all(months.filter((one) => used.has(one.items)).map((one) => fetched(one.truths)));
  return new Map(files.flatMap((file) => file.truths.map((truth) => [truth.item, truth.move])));
}

picked.addEventListener("change", async () => {
  const read = await Promise.allSettled([...picked.files].map(readRecord));
  const pupils = read.filter((one) => one.status === "fulfilled").map((one) => one.value);
  const others = read.length - pupils.length;
  picked.value = "";
  const left = others ? ` ${others} ${others === 1 ? "file is not a record" : "files are not records"}.` : "";
  say(state, `${pupils.length} records.${left}`);
  if (!pupils.length) return;
  const moves = await movesOf(pupils).catch(() => new Map());
  show("What the class answered", summaryOf(pupils, moves), answersOf(pupils), "class-answers.csv");
});
document.getElementById("class-records").addEventListener("click", () => picked.click());
const total = (votes) => votes.bullish + votes.neutral + votes.bearish;

// The last round whose votes are counted: the one that runs, else one that ended.
async function lastRound() {
  const { round, human_consensus: live, simulated_votes: simulated } = await fetched("/api/human-consensus.php");
  if (round && live.total > simulated) return { id: round.round_id, outcome: null, state: "it runs" };
  const { rounds } = await fetched("/arena/rounds.json");
  const last = rounds.find((one) => total(one.votes) > total(one.simulated_votes));
  return last && { id: last.round_id, outcome: last.outcome, state: last.outcome ? "it has ended" : "it is void" };
}

async function ballotsOf(round) {
  const first = await fetched(`/files/ballots/${round}.json`);
  const parts = Array.from({ length: (first.parts || 1) - 1 }, (_, part) => part + 2);
  const others = await Promise.all(parts.map((part) => fetched(`/files/ballots/${round}.${part}.json`)));
  return [first, ...others].flatMap((part) => part.ballots);
}

document.getElementById("class-round").addEventListener("click", async () => {
  try {
    const last = await lastRound();
    if (!last) return say(state, "No round has counted votes yet. Votes are counted when they close.");
    const ballots = await ballotsOf(last.id);
    const rows = votesOf({ ballots }, last.outcome);
    say(state, `${ballots.length} votes of ${last.id}; ${last.state}.`);
    show(`Votes of ${last.id}`, rows, rows, `${last.id}.csv`);
  } catch {
    say(state, "The votes cannot be read now. Try again once you are online.");
  }
});
document.getElementById("class-collect").hidden = false;
