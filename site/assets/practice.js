// Practice on past hours: an item, an answer, the truth. The record stays in this browser.
import {
  BETS_50,
  BETS_90,
  BLOCK,
  blocks,
  brier,
  howFarScore,
  isInside,
  judgeChances,
  judgeRanges,
  movedBrier,
} from "./practice-scores.js";

const KEPT = "emi-practice";
const FORMAT = "emi-practice-record/1";
const TIMEOUT_MS = 15000;
const FEW = 30; // below it a share is written as a count
const SIDES = ["up", "small_move", "down"];
const WORDS = { up: "up", small_move: "small move", down: "down" };
const SVG = "http://www.w3.org/2000/svg";
const Z_95 = 1.959963984540054;
const DAY_MS = 86400000;
const A_DAY = 5;
const CHARTS = 20; // of "Real or random?"

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
  } catch {
    say(document.getElementById("practice-kept"), "This browser keeps nothing: save your record before you leave.");
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
const today = () => Math.floor(Date.now() / DAY_MS);

async function itemsOfDay(day) {
  const month = months[0];
  if (items.get(month.items).length <= first.length) items.set(month.items, (await fetched(month.items)).items);
  const all = items.get(month.items);
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

// ----- drawing

function drawn(name, about, ...inner) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(about)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

function element(name, words, about = {}) {
  const made = Object.assign(document.createElement(name), about);
  if (words) made.textContent = words;
  return made;
}

function say(where, ...parts) {
  where.replaceChildren(...parts);
}

const percent = (value, digits = 2) =>
  `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(digits)}%`;

// The widest range that can be set, in percent: six times the spread of the hours shown.
function widest(item) {
  const moves = item.prices.slice(1).map((price, hour) => price - item.prices[hour]);
  const spread = Math.sqrt(moves.reduce((sum, move) => sum + move * move, 0) / moves.length);
  return Math.max(0.2, Math.ceil(60 * spread) / 10);
}

// 48 hours of prices on the left, the hour in question on the right, with what was said of it and what came.
function picture(item, ranges, truth) {
  const width = 640;
  const height = 300;
  const moves = item.prices.map((price) => price - 100);
  // A day's trend may lead out of the picture: the hour in question is what must be seen.
  const reach = 1.3 * Math.max(widest(item), truth ? Math.abs(truth.move) : 0);
  const y = (move) => 12 + ((reach - move) / (2 * reach)) * (height - 52);
  const x = (hour) => 76 + (hour / 47) * 430;
  const hourLeft = 514;
  const hourWidth = 110;

  const bar = (kind, from, to, left = hourLeft, wide = hourWidth) =>
    drawn("rect", { class: kind, x: left, y: y(to), width: wide, height: Math.max(1, y(from) - y(to)) });
  const frame = drawn("clipPath", { id: "practice-frame" });
  frame.append(drawn("rect", { x: 70, y: 12, width: 560, height: height - 52 }));
  const parts = [frame];
  for (const move of [-reach / 1.3, 0, reach / 1.3]) {
    parts.push(drawn("line", { class: "grid", x1: 76, x2: 624, y1: y(move), y2: y(move) }));
    parts.push(drawn("text", { x: 70, y: y(move) + 5, "text-anchor": "end" }, percent(move, 1)));
  }
  if (ranges) {
    parts.push(bar("own-90", ranges.low_90, ranges.high_90), bar("own-50", ranges.low_50, ranges.high_50));
  } else {
    parts.push(bar("own-90", -item.band_percent, item.band_percent));
  }
  parts.push(
    drawn("polyline", {
      class: "price",
      "clip-path": "url(#practice-frame)",
      points: moves.map((move, hour) => `${x(hour)},${y(move)}`).join(" "),
    }),
    drawn("text", { x: 76, y: height - 10 }, "48 hours before"),
    drawn("text", { x: hourLeft + hourWidth / 2, y: height - 10, "text-anchor": "middle" }, "the hour"),
  );
  if (truth) {
    const brain = truth.brain.ranges;
    const usual = truth.usual.ranges;
    if (ranges) {
      parts.push(bar("brain-90", brain.low_90, brain.high_90, hourLeft + 6, hourWidth - 12));
      parts.push(bar("usual-90", usual.low_90, usual.high_90, hourLeft + 12, hourWidth - 24));
    }
    parts.push(drawn("circle", { class: "came", cx: hourLeft + hourWidth / 2, cy: y(truth.move), r: 7 }));
  }
  const about = truth
    ? `48 hours of prices, and the hour after them, which ended ${percent(truth.move)}.`
    : "48 hours of prices; the hour after them is not shown yet.";
  return drawn(
    "svg",
    { class: "practice-picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": about },
    ...parts,
  );
}

// ----- questions

function slider(name, label, value, most, step, words) {
  const row = element("label", "", { className: "practice-slider" });
  const input = Object.assign(document.createElement("input"), { type: "range", name, min: 0, max: most, step, value });
  const output = element("output", words(Number(value)));
  input.addEventListener("input", () => {
    changed(name);
    refresh();
  });
  row.append(element("span", label), input, output);
  row.refresh = () => say(output, words(Number(input.value)));
  return row;
}

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
        `${WORDS[truth.came][0].toUpperCase()}${WORDS[truth.came].slice(1)} came (${percent(truth.move)}). ` +
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
    const others = SIDES.filter((side) => side !== name);
    const left = 100 - valueOf(name);
    const before = others.map(valueOf);
    const total = before[0] + before[1];
    const share = total ? Math.round((left * before[0]) / total) : Math.round(left / 2);
    form.elements[others[0]].value = share;
    form.elements[others[1]].value = left - share;
  }
}

function refresh() {
  for (const row of sliders.children) row.refresh();
  const ranges = question === "how_far" ? QUESTIONS.how_far.answer() : null;
  say(pictureOf, picture(shown.item, ranges, null));
}

async function show() {
  answered = false;
  button.textContent = "Show what came";
  say(document.getElementById("question"), QUESTIONS[question].title);
  try {
    shown = await nextItem();
  } catch {
    say(result, element("p", "The next hours cannot be read now. Reload this page once you are online."));
    return;
  }
  button.disabled = !shown;
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
    say(result, element("p", "What came cannot be read now. Nothing was scored; press again once you are online."));
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
    element("p", about.came(said, item, truth)),
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

const charts = { number: 0, right: 0 }; // of the round that is played

// The same steps in another order: what is lost is how wild hours follow wild ones.
function shuffled(prices) {
  const steps = prices.slice(1).map((price, hour) => price / prices[hour]);
  for (let last = steps.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [steps[last], steps[other]] = [steps[other], steps[last]];
  }
  const path = [prices[0]];
  for (const step of steps) path.push(path.at(-1) * step);
  return path;
}

function pathOf(prices) {
  const low = Math.min(...prices);
  const high = Math.max(...prices);
  const points = prices.map((price, hour) => `${10 + hour * 13.2},${190 - (180 * (price - low)) / (high - low || 1)}`);
  const about = { class: "practice-picture", viewBox: "0 0 640 200", role: "img", "aria-label": "48 hours of prices" };
  return drawn("svg", about, drawn("polyline", { class: "price", points: points.join(" ") }));
}

async function showChart(before = "") {
  const where = document.getElementById("practice-random");
  try {
    await itemsOfDay(0);
  } catch {
    say(where, element("p", "The hours cannot be read now. Reload this page once you are online."));
    return;
  }
  const all = items.get(months[0].items);
  const { prices } = all[Math.floor(Math.random() * all.length)];
  const real = Math.random() < 0.5;
  const buttons = element("p", "", { className: "practice-buttons" });
  for (const [word, guess] of [
    ["As it was", true],
    ["Shuffled", false],
  ]) {
    const one = element("button", word, { type: "button" });
    one.addEventListener("click", () => judgeChart(real, guess));
    buttons.append(one);
  }
  const title = element("p", `${before}Chart ${charts.number + 1} of ${CHARTS}`);
  say(where, title, pathOf(real ? prices : shuffled(prices)), buttons);
}

function judgeChart(real, guess) {
  charts.number += 1;
  charts.right += real === guess ? 1 : 0;
  const last = `${real === guess ? "Right" : "Wrong"}: it was ${real ? "as it was" : "shuffled"}. `;
  if (charts.number < CHARTS) {
    showChart(last);
    return;
  }
  const [low, high] = wilson(charts.right, CHARTS).map((share) => Math.round(100 * share));
  say(
    document.getElementById("practice-random"),
    element("p", `${last}You were right in ${charts.right} of ${CHARTS} (95% interval ${low} to ${high}%).`),
    element("p", "Guessing gives 10 of 20 on average, and 15 or more in 2 of 100 rounds."),
  );
  Object.assign(charts, { number: 0, right: 0 });
}

// A daily entry of five minutes, at the hour at which it was asked for.
function reminder() {
  const stamp = (time) => `${time.toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const begin = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + (Date.now() % DAY_MS));
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Educational Market Intelligence//practice//EN",
    "BEGIN:VEVENT",
    `UID:practice@${location.host}`,
    `DTSTAMP:${stamp(new Date())}`,
    `DTSTART:${stamp(begin)}`,
    "DURATION:PT5M",
    "RRULE:FREQ=DAILY",
    "SUMMARY:Five hours to judge",
    `URL:${location.origin}${location.pathname}`,
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ];
  return new Blob([lines.join("\r\n")], { type: "text/calendar" });
}

// ----- calibration

function wilson(hits, n) {
  const middle = (hits + Z_95 ** 2 / 2) / (n + Z_95 ** 2);
  const reach = (Z_95 / (n + Z_95 ** 2)) * Math.sqrt((hits * (n - hits)) / n + Z_95 ** 2 / 4);
  return [middle - reach, middle + reach];
}

function held(hits, n) {
  if (n < FEW) return `${hits} of ${n}`;
  const [low, high] = wilson(hits, n).map((share) => Math.round(100 * share));
  return `${Math.round((100 * hits) / n)}% of ${n} (95% interval ${low} to ${high}%)`;
}

const FINDINGS = {
  too_early: (verdict) => `Too early: ${verdict.more} more answers.`,
  nothing: (verdict) => `No error shows in ${verdict.answers} answers.`,
  too_narrow: () => "Too narrow: they hold clearly less than they say. Widen them.",
  too_wide: () => "Too wide: they hold clearly more than they say. Narrow them.",
  too_sure: () => "Too sure: chances nearer to the base rate would have done better.",
  not_sure_enough: () => "Not sure enough: chances further from the base rate would have done better.",
};
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

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

function line(name, value) {
  const row = element("div", "");
  row.append(element("dt", name), element("dd", value));
  return row;
}

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

  const lines = element("dl", "", { className: "facts" });
  if (question === "how_far") {
    for (const [level, bets] of [
      ["50", BETS_50],
      ["90", BETS_90],
    ]) {
      const low = `low_${level}`;
      const high = `high_${level}`;
      const inside = rows.map((row) => isInside(row.answer[low], row.answer[high], row.truth.move));
      const hits = inside.filter(Boolean).length;
      lines.append(
        line(`Your ${level}% ranges held`, `${held(hits, rows.length)}. ${findingOf(judgeRanges(inside, bets))}`),
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
      `yours ${means[0]}, the brain's ${means[1]}, of ${about.usual} ${means[2]} (${rows.length} answers)`,
    ),
  );
  const parts = [lines];
  if (question !== "how_far") parts.push(diagram(rows));
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

// What was said from left to right, what came from bottom to top; a whisker is a 95% interval.
function diagram(rows) {
  const bins = Array.from({ length: 5 }, () => ({ said: [], hits: 0 }));
  for (const row of rows) {
    const { said, came } = chancesOf(row);
    const ones = question === "will_it_move" ? [0] : [0, 1, 2];
    for (const place of ones) {
      const bin = bins[Math.min(4, Math.floor(5 * said[place]))];
      bin.said.push(said[place]);
      bin.hits += came === place ? 1 : 0;
    }
  }
  const x = (share) => 50 + 240 * share;
  const y = (share) => 260 - 240 * share;
  const parts = [
    drawn("line", { class: "honest", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    drawn("text", { x: 46, y: y(0) + 4, "text-anchor": "end" }, "0"),
    drawn("text", { x: 46, y: y(1) + 4, "text-anchor": "end" }, "100"),
    drawn("text", { x: x(0.5), y: 288, "text-anchor": "middle" }, "said, in 100"),
  ];
  const words = [];
  for (const bin of bins.filter((one) => one.said.length)) {
    const n = bin.said.length;
    const said = mean(bin.said);
    const [low, high] = wilson(bin.hits, n);
    parts.push(drawn("line", { class: "whisker", x1: x(said), x2: x(said), y1: y(low), y2: y(high) }));
    parts.push(drawn("circle", { class: "point", cx: x(said), cy: y(bin.hits / n), r: 5 }));
    words.push(`said ${Math.round(100 * said)}, came ${bin.hits} of ${n}`);
  }
  const label = `What you said and how often it came: ${words.join("; ")}. Honest chances lie on the dashed line.`;
  const figure = element("figure", "", { className: "practice-diagram" });
  figure.append(
    drawn("svg", { class: "practice-picture", viewBox: "0 0 320 300", role: "img", "aria-label": label }, ...parts),
    element("figcaption", "Honest chances lie on the dashed line; a whisker is a 95% interval.", {
      className: "small",
    }),
  );
  return figure;
}

function curve(found, usual) {
  const low = Math.min(0, ...found.map((block) => block.low));
  const high = Math.max(0, ...found.map((block) => block.high));
  const y = (value) => 10 + ((high - value) / (high - low || 1)) * 160;
  const x = (place) => 60 + (found.length > 1 ? (place / (found.length - 1)) * 540 : 270);
  const edge = (side) => found.map((block, place) => `${x(place)},${y(block[side])}`);
  const band = [...edge("high"), ...edge("low").reverse()].join(" ");
  const parts = [
    drawn("polygon", { class: "curve-band", points: band }),
    drawn("line", { class: "honest", x1: 60, x2: 600, y1: y(0), y2: y(0) }),
    drawn("polyline", { class: "curve", points: edge("mean").join(" ") }),
    ...found.map((block, place) => drawn("circle", { class: "point", cx: x(place), cy: y(block.mean), r: 4 })),
    drawn("text", { x: 54, y: y(0) + 4, "text-anchor": "end" }, "0"),
    drawn("text", { x: 60, y: 196 }, `blocks of ${BLOCK} answers, the oldest first`),
  ];
  const words = found.map((block) => block.mean.toFixed(3)).join(", ");
  const label = `Your score minus that of ${usual}, by blocks of ${BLOCK} answers: ${words}. Below 0 you did better.`;
  const figure = element("figure", "");
  figure.append(
    drawn("svg", { class: "practice-picture", viewBox: "0 0 640 205", role: "img", "aria-label": label }, ...parts),
    element(
      "figcaption",
      `Your score minus that of ${usual}: below 0 you did better. The band holds the true mean 9 times in 10.`,
      { className: "small" },
    ),
  );
  return figure;
}

// ----- buttons

for (const one of document.querySelectorAll(".practice-kinds button")) {
  one.addEventListener("click", () => {
    question = one.value;
    for (const other of document.querySelectorAll(".practice-kinds button")) {
      other.setAttribute("aria-pressed", String(other === one));
    }
    show();
    showRecord();
  });
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

document.getElementById("practice-start-random").addEventListener("click", () => showChart());

function save(file, name) {
  const link = element("a", "", { href: URL.createObjectURL(file), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

document.getElementById("practice-export").addEventListener("click", () => {
  save(new Blob([JSON.stringify(record, null, 1)], { type: "application/json" }), "emi-practice-record.json");
});
document.getElementById("practice-remind").addEventListener("click", () => save(reminder(), "practice.ics"));

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

for (const part of document.querySelectorAll("main .needs-script")) part.hidden = false;
show();
if (record.answers.length) showRecord();
showWeek().catch(() => {});
