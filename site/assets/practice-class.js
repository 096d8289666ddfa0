// The sheet and the key of a month of the own record: /learn/practice/?month=2026-11#class.
import { element, percent, picture, say } from "./practice-draw.js";

const TIMEOUT_MS = 15000;
const ON_SHEET = 10; // as many as the shipped month has, before the last three
const EXAMPLES = 3;

const part = document.getElementById("class");
const sheet = part.querySelector(".practice-sheet");
const note = document.getElementById("class-month");

async function fetched(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return answer.json();
}

function onSheet(item, place) {
  const hour = element("div", "");
  hour.append(
    element("h4", `Hour ${place + 1}`),
    picture(item, null, null),
    element("p", "50%: \u00b1 ________ \u00a0 90%: \u00b1 ________", { className: "practice-blank" }),
  );
  return hour;
}

const between = (low, high) => `${percent(low)} to ${percent(high)}`;

function inKey(truth, place) {
  const row = element("tr", "");
  const { ranges } = truth.brain;
  const cells = [
    percent(truth.move),
    between(ranges.low_50, ranges.high_50),
    between(ranges.low_90, ranges.high_90),
    `${truth.asset}, ${truth.start.slice(0, 16).replace("T", " ")} UTC`,
  ];
  const name = element("th", String(place + 1));
  name.scope = "row";
  row.append(name, ...cells.map((cell) => element("td", cell)));
  return row;
}

async function show(month) {
  const [{ items }, file] = await Promise.all([fetched(month.items), fetched(month.truths)]);
  const truths = new Map(file.truths.map((truth) => [truth.item, truth]));
  const chosen = items.slice(-EXAMPLES - ON_SHEET, -EXAMPLES);
  const rows = chosen.map((item, place) => inKey(truths.get(item.truth_sha256.slice(0, 12)), place));
  say(sheet.querySelector(".practice-multiples"), ...chosen.map(onSheet));
  say(document.querySelector(".practice-key tbody"), ...rows);
  say(note, `The hours are of ${month.month}${month.simulated ? ", in a simulated market" : ""}.`);
}

for (const own of part.querySelectorAll(".needs-script")) own.hidden = false;
const wanted = new URLSearchParams(location.search).get("month");
const month = JSON.parse(part.dataset.months).find((one) => one.month === wanted);
if (month) {
  show(month).catch(() => say(note, "That month cannot be read now: these hours are of the shipped month, simulated."));
} else if (wanted) {
  say(note, "There is no sheet of that month: these hours are of the shipped month, simulated.");
}
