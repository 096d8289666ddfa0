// Practice on past hours: an item, an answer, the truth. The record stays in this browser.
import { addTo100 } from "./chances.js";
import {
  BETS_50,
  BETS_90,
  blocks,
  brier,
  howFarScore,
  isInside,
  judgeChances,
  judgeRanges,
  movedBrier,
} from "./practice-scores.js";
import { onChances, onRanges, trendOfChances, trendOfRanges } from "./practice-remarks.js";
import {
  curve,
  diagram,
  element,
  legend,
  mean,
  percent,
  picture,
  rangeInput,
  say,
  widest,
  wilson,
} from "./practice-draw.js";
import { now } from "./clock.js";
import { isCopyDue, noteCopy } from "./keep-copy.js";
import { showChart } from "./practice-random.js";
import { reminder, save } from "./reminder.js";

const KEPT = "emi-practice";
const FORMAT = "emi-practice-record/1";
const TIMEOUT_MS = 15000;
const FEW = 30; // below it a share is written as a count
const SIDES = ["up", "small_move", "down"];
const WORDS = { up: "up", small_move: "small move", down: "down" };
const DAY_MS = 86400000;
const A_DAY = 5;

const ask = document.getElementById("practice");
const months = JSON.parse(ask.dataset.months);
const first = JSON.parse(ask.dataset.first);
const items = new Map([[months[0].items, first]]); // by path of the month's file: what is known of its items
const truths = new Map(); // by path of the month's file: item -> truth
const pictureOf = document.getElementById("practice-picture");
const sliders = document.getElementById("practice-sliders");
const result = document.getElementById("practice-result");
const form = document.getElementById("practice-form");
const button = document.getElementById("practice-answer");
const keptNote = document.getElementById("practice-kept");

let record = kept();
let question = "how_far";
let shown = null; // { month, item } on the screen
let answered = false;
let daily = false; // whether the items are those of the day

// ----- what is kept

function kept() {
  const empty = { format: FORMAT, answers: [] };
  try {
    const found = JSON.parse(localStorage.getItem(KEPT));
    return found?.format === FORMAT && Array.isArray(found.answers) ? found : empty;
  } catch {
    return empty;
  }
}

function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify(record));
    if (isCopyDue("record", record.answers.length))
      say(keptNote, "Keep a copy, Save record: a browser may delete it, Safari after a week without a visit.");
  } catch {
    say(keptNote, "This browser keeps nothing: save your record before you leave.");
  }
}

const idOf = (item) => item.truth_sha256.slice(0, 12);
const wasSeen = (month, item) =>
  record.answers.some((answer) => answer.month === month.items && answer.item === idOf(item));

// ----- what is published

async function fetched(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return answer.json();
}

// Five hours a day, the same for everyone: the days take their turns through the shipped month.
const today = () => Math.floor(now() / DAY_MS);

async function shippedItems() {
  const path = months[0].items;
  if (items.get(path).length <= first.length) items.set(path, (await fetched(path)).items);
  return items.get(path);
}

async function itemsOfDay(day) {
  const month = months[0];
  const all = await shippedItems();
  return Array.from({ length: A_DAY }, (_, place) => ({ month, item: all[(A_DAY * day + place) % all.length] }));
}

async function nextItem() {
  if (daily) return (await itemsOfDay(today())).find(({ month, item }) => !wasSeen(month, item)) ?? null;
  for (const month of months) {
    const inPage = items.get(month.items)?.find((item) => !wasSeen(month, item));
    if (inPage) return { month, item: inPage };
    items.set(month.items, (await fetched(month.items)).items);
    const item = items.get(month.items).find((one) => !wasSeen(month, one));
    if (item) return { month, item };
  }
  return null;
}

async function truthOf(month, item) {
  if (!truths.has(month.items)) {
    const file = await fetched(month.truths);
    truths.set(month.items, new Map(file.truths.map((truth) => [truth.item, truth])));
  }
  return truths.get(month.items).get(idOf(item));
}

// ----- questions

const slider = (name, label, value, most, step, words) =>
  rangeInput({ name, label, value, most, step, words }, () => {
    changed(name);
    refresh();
  });

const valueOf = (name) => Number(form.elements[name].value);
const around = (value) => `\u00b1${value.toFixed(2)}%`;
const inHundred = (value) => `${value} in 100`;

const QUESTIONS = {
  how_far: {
    title: "How far in the next hour?",
    help: "Set the range in which the price should end in half of such hours, and the one for nine in ten.",
    sliders(item) {
      const most = widest(item);
      return [
        slider("half", "Half of such hours end within", (most / 4).toFixed(2), most, 0.01, around),
        slider("nine", "Nine in ten end within", (most / 2).toFixed(2), most, 0.01, around),
      ];
    },
    answer() {
      const half = valueOf("half");
      const nine = valueOf("nine");
      return { low_90: -nine, low_50: -half, high_50: half, high_90: nine };
    },
    scores: (answer, item, truth) => [
      howFarScore(answer, truth.move),
      howFarScore(truth.brain.ranges, truth.move),
      howFarScore(truth.usual.ranges, truth.move),
    ],
    came(answer, item, truth) {
      const half = isInside(answer.low_50, answer.high_50, truth.move) ? "inside" : "outside";
      const nine = isInside(answer.low_90, answer.high_90, truth.move) ? "inside" : "outside";
      const widths = [answer, truth.brain.ranges, truth.usual.ranges].map((one) =>
        (one.high_90 - one.low_90).toFixed(2),
      );
      return (
        `It ended ${percent(truth.move)}: ${half} your 50% range, ${nine} your 90% range. ` +
        `Your 90% range was ${widths[0]} points wide, the brain's ${widths[1]}, a usual hour's ${widths[2]}.`
      );
    },
    usual: "a usual hour",
  },
  will_it_move: {
    title: "Will it have moved when the hour ends?",
    help: "The chance that the price then lies outside the shaded band.",
    sliders: (item) => [
      slider("chance", `More than ${item.band_percent.toFixed(2)}% up or down`, 50, 100, 1, inHundred),
    ],
    answer: () => ({ chance: valueOf("chance") }),
    scores(answer, item, truth) {
      const moved = truth.came !== "small_move";
      return [answer.chance / 100, truth.brain.move_chance, truth.usual.move_chance].map((one) =>
        movedBrier(one, moved),
      );
    },
    came(answer, item, truth) {
      const what = truth.came === "small_move" ? "inside the band" : "outside the band";
      const [brain, usual] = [truth.brain.move_chance, truth.usual.move_chance].map((one) => Math.round(100 * one));
      return `It ended ${percent(truth.move)}, ${what}. You gave a move ${answer.chance} in 100, the brain ${brain}, the base rate is ${usual}.`;
    },
    usual: "the base rate",
  },
  which_way: {
    title: "Up, small move or down?",
    help: "Three chances that add to 100; moving one moves the others. A small move ends inside the shaded band.",
    sliders: () => [
      slider("up", "Up", 33, 100, 1, inHundred),
      slider("small_move", "Small move", 34, 100, 1, inHundred),
      slider("down", "Down", 33, 100, 1, inHundred),
    ],
    answer: () => Object.fromEntries(SIDES.map((side) => [side, valueOf(side)])),
    scores(answer, item, truth) {
      const came = SIDES.indexOf(truth.came);
      const inOrder = (chances) => SIDES.map((side) => chances[side]);
      const own = inOrder(answer).map((chance) => chance / 100);
      return [own, inOrder(truth.brain.chances), inOrder(truth.usual.chances)].map((one) => brier(one, came));
    },
    came(answer, item, truth) {
      const inWords = (chances, scale) => SIDES.map((side) => Math.round(scale * chances[side])).join(" / ");
      return (
        `The outcome: ${WORDS[truth.came]} (${percent(truth.move)}). ` +
        `Up / small move / down: you said ${inWords(answer, 1)}, the brain ${inWords(truth.brain.chances, 100)}, ` +
        `the base rates are ${inWords(truth.usual.chances, 100)}.`
      );
    },
    usual: "the base rate",
  },
};

// A 90% range holds the 50% range; three chances add to 100.
function changed(name) {
  if (question === "how_far") {
    const other = name === "half" ? "nine" : "half";
    const pushed = name === "half" ? Math.max : Math.min;
    form.elements[other].value = pushed(valueOf("half"), valueOf("nine"));
  }
  if (question === "which_way") {
    const chances = addTo100(SIDES.map(valueOf), SIDES.indexOf(name));
    SIDES.forEach((side, place) => (form.elements[side].value = chances[place]));
  }
}

function refresh() {
  for (const row of sliders.children) row.refresh();
  const ranges = question === "how_far" ? QUESTIONS.how_far.answer() : null;
  say(pictureOf, picture(shown.item, ranges, null));
}

async function show() {
  answered = false;
  button.disabled = true; // the item on the screen is no longer the one that is asked about
  button.textContent = "Show the answer";
  say(document.getElementById("question"), QUESTIONS[question].title);
  try {
    shown = await nextItem();
  } catch {
    say(result, element("p", "The next hours cannot be read now. Reload this page once you are online."));
    return;
  }
  button.disabled = !shown;
  pictureOf.hidden = !shown;
  if (!shown) {
    say(sliders);
    say(pictureOf);
    const done = daily
      ? "You have judged today's five. The next come at 00:00 UTC; until then there are other hours."
      : "You have answered every hour that is published. More come when a month of the record closes.";
    say(result, element("p", done));
    return;
  }
  say(document.getElementById("practice-help"), QUESTIONS[question].help);
  say(sliders, ...QUESTIONS[question].sliders(shown.item));
  say(result);
  refresh();
}

async function answer() {
  const about = QUESTIONS[question];
  const said = about.answer();
  const { month, item } = shown;
  button.disabled = true;
  let truth;
  try {
    truth = await truthOf(month, item);
  } catch {
    say(result, element("p", "The outcome cannot be read now. Nothing was scored; press again once you are online."));
    return;
  } finally {
    button.disabled = false;
  }

  const [score, brainScore, usualScore] = about.scores(said, item, truth);
  record.answers.push({
    month: month.items,
    item: idOf(item),
    question,
    answer: said,
    given: new Date().toISOString(),
    score,
    brain_score: brainScore,
    usual_score: usualScore,
  });
  keep();

  answered = true;
  button.textContent = "Next hour";
  for (const input of sliders.querySelectorAll("input")) input.disabled = true;
  say(pictureOf, picture(item, question === "how_far" ? said : null, truth));
  say(
    result,
    legend(question === "how_far" ? said : null),
    element("p", about.came(said, item, truth)),
    element("p", remarkOn({ question, answer: said, truth }, score, usualScore), { className: "practice-remark" }),
    element(
      "p",
      `Your score ${score.toFixed(3)}, the brain ${brainScore.toFixed(3)}, ${about.usual} ${usualScore.toFixed(3)}; smaller is better.`,
    ),
    element(
      "p",
      `It was ${truth.asset}, ${truth.start.slice(0, 16).replace("T", " ")} UTC${month.simulated ? ", in a simulated market" : ""}.`,
      {
        className: "small",
      },
    ),
    element("p", "", { id: "practice-trend" }),
  );
  showRecord();
  showWeek().catch(() => {});
}

// ----- five a day, and real or random

// Seven dots, today's the last: a day is full once its five were judged. Nothing is lost by a day without.
async function showWeek() {
  const days = Array.from({ length: 7 }, (_, back) => today() - 6 + back);
  const dots = [];
  for (const day of days) {
    const ofDay = record.answers.length ? await itemsOfDay(day) : [];
    const judged = ofDay.filter(({ month, item }) => wasSeen(month, item)).length;
    const name = new Date(day * DAY_MS).toLocaleDateString("en-GB", { weekday: "short", timeZone: "UTC" });
    const dot = element("li", "", { className: judged === A_DAY ? "full" : "" });
    dot.append(element("span", name), element("span", ` ${judged} of ${A_DAY}`, { className: "small" }));
    dots.push(dot);
  }
  say(document.getElementById("practice-week"), ...dots);
}

// ----- calibration

function shareOf(hits, n) {
  if (n < FEW) return `${hits} of ${n}`;
  const [low, high] = wilson(hits, n).map((share) => Math.round(100 * share));
  return `${Math.round((100 * hits) / n)}% of ${n} (95% interval ${low} to ${high}%)`;
}

const FINDINGS = {
  too_early: (verdict) => `Too early for proof: ${verdict.more} more answers.`,
  nothing: (verdict) => `No error shows in the last ${verdict.answers} answers.`,
  too_narrow: (verdict) => `Too narrow: they held clearly less than they say. Widen them. ${foundAt(verdict)}`,
  too_wide: (verdict) => `Too wide: they held clearly more than they say. Narrow them. ${foundAt(verdict)}`,
  too_sure: (verdict) => `Too sure: chances nearer to the base rate would have done better. ${foundAt(verdict)}`,
  not_sure_enough: (verdict) =>
    `Not sure enough: chances further from the base rate would have done better. ${foundAt(verdict)}`,
  base_rate: (verdict) =>
    question === "how_far"
      ? `No error, and no skill: your last ${verdict.answers} ranges are as wide as a usual hour's, whatever the hour.`
      : `No error, and no skill: your last ${verdict.answers} answers repeat the base rate, which everybody can say.`,
};
const foundAt = (verdict) => `Found at answer ${verdict.answers}; forgiven once ${verdict.more} more do not show it.`;
const findingOf = (verdict) => FINDINGS[verdict.finding](verdict);

// Answers of one question with their items and truths, in the order in which they were given.
async function given(kind) {
  const found = [];
  for (const row of record.answers.filter((one) => one.question === kind)) {
    const month = months.find((one) => one.items === row.month);
    if (!month) continue;
    const truth = await truthOf(month, { truth_sha256: row.item });
    if (truth) found.push({ ...row, truth });
  }
  return found;
}

function line(name, value) {
  const row = element("div", "");
  row.append(element("dt", name), element("dd", value));
  return row;
}

function remarkOn(row, score, usualScore) {
  if (row.question === "how_far") return onRanges(row.answer, row.truth);
  return onChances(chancesOf(row), score, usualScore);
}

const held = (level, rows) =>
  rows.map(({ answer, truth }) => isInside(answer[`low_${level}`], answer[`high_${level}`], truth.move));

// How wide the ranges of a level are, in widths of a usual hour's.
const widthsOf = (level, rows) =>
  rows.map(({ answer, truth }) => {
    const [own, usual] = [answer, truth.usual.ranges].map((one) => one[`high_${level}`] - one[`low_${level}`]);
    return own / usual;
  });

// What the first answers show, until a verdict may be proved.
function trendOf(rows) {
  if (question === "how_far") {
    const [half, nine] = [held(50, rows), held(90, rows)];
    const isEarly = [judgeRanges(half, BETS_50), judgeRanges(nine, BETS_90)].every(tooEarly);
    return isEarly ? trendOfRanges(half, nine) : "";
  }
  const given = rows.map(chancesOf);
  return tooEarly(judgeChances(given)) ? trendOfChances(given) : "";
}

const tooEarly = (verdict) => verdict.finding === "too_early";

async function showRecord() {
  const where = document.getElementById("practice-record");
  let rows;
  try {
    rows = await given(question);
  } catch {
    return;
  }
  if (!rows.length) {
    say(where, element("p", "Your first answer to this question begins its record.", { className: "empty" }));
    return;
  }

  const trend = trendOf(rows);
  if (answered) document.getElementById("practice-trend").textContent = trend;
  const lines = element("dl", "", { className: "facts" });
  if (question === "how_far") {
    for (const [level, bets] of [
      ["50", BETS_50],
      ["90", BETS_90],
    ]) {
      const inside = held(level, rows);
      const hits = inside.filter(Boolean).length;
      lines.append(
        line(
          `Your ${level}% ranges held`,
          `${shareOf(hits, rows.length)}. ${findingOf(judgeRanges(inside, bets, widthsOf(level, rows)))}`,
        ),
      );
    }
  } else {
    lines.append(line("Verdict", findingOf(judgeChances(rows.map(chancesOf)))));
  }
  const about = QUESTIONS[question];
  const means = ["score", "brain_score", "usual_score"].map((name) => mean(rows.map((row) => row[name])).toFixed(3));
  lines.append(
    line(
      "Mean score",
      `yours ${means[0]}, the brain's ${means[1]}, of ${about.usual} ${means[2]} (${rows.length} answer${rows.length === 1 ? "" : "s"})`,
    ),
  );
  const parts = trend && !answered ? [element("p", trend), lines] : [lines];
  if (question !== "how_far") parts.push(diagram(rows.flatMap(pairsOf)));
  const found = blocks(rows.map((row) => row.score - row.usual_score));
  if (found.length) parts.push(curve(found, about.usual));
  say(where, ...parts);
}

function chancesOf(row) {
  if (question === "will_it_move") {
    const said = row.answer.chance / 100;
    const usual = row.truth.usual.move_chance;
    return { said: [said, 1 - said], baseRate: [usual, 1 - usual], came: row.truth.came === "small_move" ? 1 : 0 };
  }
  return {
    said: SIDES.map((side) => row.answer[side] / 100),
    baseRate: SIDES.map((side) => row.truth.usual.chances[side]),
    came: SIDES.indexOf(row.truth.came),
  };
}

// The chances of an answer, each with whether it came.
function pairsOf(row) {
  const { said, came } = chancesOf(row);
  const places = question === "will_it_move" ? [0] : [0, 1, 2];
  return places.map((place) => [said[place], came === place]);
}

// ----- buttons

for (const one of document.querySelectorAll(".practice-kinds button")) {
  one.addEventListener("click", () => {
    choose(one.value);
    show();
    showRecord();
  });
}

function choose(kind) {
  question = kind;
  for (const one of document.querySelectorAll(".practice-kinds button")) {
    one.setAttribute("aria-pressed", String(one.value === kind));
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (answered) show();
  else if (shown) answer();
});

document.getElementById("practice-daily").addEventListener("click", (event) => {
  daily = !daily;
  event.target.setAttribute("aria-pressed", String(daily));
  show();
});

document.getElementById("practice-start-random").addEventListener("click", () => showChart(shippedItems));

document.getElementById("practice-export").addEventListener("click", () => {
  save(new Blob([JSON.stringify(record, null, 1)], { type: "application/json" }), "emi-practice-record.json");
  noteCopy("record");
});
document.getElementById("practice-remind").addEventListener("click", () => {
  // At the hour at which it was asked for.
  const begin = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + (Date.now() % DAY_MS));
  save(reminder("practice", "Five hours to judge", begin), "practice.ics");
});

const picked = document.getElementById("practice-file");
document.getElementById("practice-import").addEventListener("click", () => picked.click());
picked.addEventListener("change", async () => {
  const note = document.getElementById("practice-kept");
  try {
    const found = JSON.parse(await picked.files[0].text());
    if (found.format !== FORMAT || !Array.isArray(found.answers)) throw new Error("another form");
    const key = (answer) => [answer.month, answer.item, answer.question].join();
    const known = new Set(record.answers.map(key));
    const added = found.answers.filter((answer) => !known.has(key(answer)));
    record.answers = [...record.answers, ...added].sort((one, other) => (one.given < other.given ? -1 : 1));
    keep();
    say(note, `${added.length} answers were added.`);
    show();
    showRecord();
  } catch {
    say(note, "This file does not hold a record of practice; nothing was changed.");
  }
  picked.value = "";
});

// The part for a teacher is read by few.
const forClass = document.getElementById("class");
const openClass = () => forClass.open && import("./class-sheet.js");
forClass.addEventListener("toggle", openClass);
openClass();

if (location.hash.slice(1) in QUESTIONS) choose(location.hash.slice(1)); // chapters of Learn name a kind
show();
if (record.answers.length) showRecord();
showWeek().catch(() => {});
