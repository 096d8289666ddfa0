// A bought document as a list of blocks, and the blocks as elements or as Markdown. Text nodes only, and pictures are
// drawn here from numbers: nothing in a body can become markup, a script or an address.

import { facts, head, list, para, parts, readable, simple, when, words } from "./buyer-tables.js";

const MODES = {
  simulated: "Simulated. The market data in this document are simulated; no price is real.",
  recorded: "Recorded. This document describes a market of the past, replayed.",
};

export function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 680;
const LEFT = 64;
const RIGHT = 12;
const TOP = 28;
const PLANE = 190; // height of what is between the axes
const STRIP = 8;
const ROW = 22;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function shape(name, traits, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(traits)) made.setAttribute(key, value);
  if (text !== undefined) made.append(String(text));
  return made;
}

const known = (value) => typeof value === "number" && Number.isFinite(value);
const short = (value) => {
  const digits = Math.abs(value) < 1_000 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 0 };
  return value.toLocaleString("en", digits).replace("-", "\u2212");
};
const isDated = (plot) => Boolean(plot.as_of) && plot.x_name === "hours from now";
const timeOf = (plot, hours) => new Date(Date.parse(plot.as_of) + HOUR_MS * hours);
const picture = (title, height, inner) => {
  const made = shape("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img" });
  made.append(shape("title", {}, title), ...inner);
  return made;
};

// Where the axis is labelled: at each day that begins, by the report's own clock and with the year once, or at its ends
// and its middle.
function feet(plot, first, last) {
  const made = [];
  if (isDated(plot)) {
    const [begin, end] = [timeOf(plot, first).getTime(), timeOf(plot, last).getTime()];
    for (let at = Math.ceil(begin / DAY_MS) * DAY_MS; at <= end; at += DAY_MS) {
      const year = made.length ? {} : { year: "numeric" };
      const label = new Date(at).toLocaleDateString("en-GB", {
        day: "numeric",
        month: "short",
        timeZone: "UTC",
        ...year,
      });
      made.push([(at - Date.parse(plot.as_of)) / HOUR_MS, label]);
    }
  }
  if (made.length > 1) return made;
  const middle = (first + last) / 2;
  return [
    [first, short(first)],
    [middle, `${short(middle)} ${plot.x_name}`],
    [last, short(last)],
  ];
}

// The name of each series at the end of its line, and what a single one ended at.
function ends(plot, across, up) {
  let above = -Infinity;
  return plot.series.flatMap((one) => {
    const last = one.values.findLastIndex(known);
    if (last < 0) return [];
    const value = one.values[last];
    const y = up(value) - 9;
    const label = plot.series.length > 1 ? words(one.name) : `${one.name} ${short(value)}`;
    const made = { class: "value halo", x: across(plot.x[last]), y: Math.abs(y - above) < 18 ? y + 30 : y };
    above = made.y;
    return [shape("text", { ...made, "text-anchor": "end" }, label)];
  });
}

// Lines over places that are numbers; where the market was on a side, a strip below the axis says so.
function lines(plot) {
  const values = plot.series.flatMap((one) => one.values).filter(known);
  const places = plot.x.filter(known);
  if (values.length < 2 || places.length !== plot.x.length) return [];
  const [low, high, first, last] = [Math.min(...values), Math.max(...values), Math.min(...places), Math.max(...places)];
  const across = (x) => LEFT + ((WIDTH - LEFT - RIGHT) * (x - first)) / (last - first || 1);
  const bottom = TOP + PLANE;
  const up = (y) => bottom - (PLANE * (y - low)) / (high - low || 1);
  const step = across(plot.x[1] ?? first) - across(first);
  const states = plot.states || [];
  const strip = states.flatMap((state, place) =>
    state === "rising" || state === "falling"
      ? [
          shape("rect", {
            class: state === "rising" ? "r-risk_on" : "r-risk_off",
            x: across(plot.x[place]) - (place ? step / 2 : 0),
            y: bottom + 6,
            width: place && place < states.length - 1 ? step : step / 2,
            height: STRIP,
          }),
        ]
      : [],
  );
  const marks = [low, (low + high) / 2, high].flatMap((y) => [
    shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(y), y2: up(y) }),
    shape("text", { x: LEFT - 6, y: up(y) + 4, "text-anchor": "end" }, short(y)),
  ]);
  const height = bottom + (states.length ? 66 : 36);
  const labels = feet(plot, first, last).flatMap(([at, label]) => {
    const x = across(at);
    const anchor = x < LEFT + 30 ? "start" : x > WIDTH - RIGHT - 30 ? "end" : "middle";
    const place = { class: "notch", x1: x, x2: x, y1: bottom, y2: bottom + 6 };
    return [shape("line", place), shape("text", { x, y: height - 12, "text-anchor": anchor }, label)];
  });
  const sides = states.flatMap((state, place, every) => {
    const begins = state !== every[place - 1] && (state === "rising" || state === "falling");
    const length = every.slice(place).findIndex((other) => other !== state);
    const places = length < 0 ? every.length - place : length;
    const x = across(plot.x[place]) + (step * (places - 1)) / 2;
    const named = { x, y: bottom + 32, "text-anchor": "middle" };
    return begins && places * step > 60 ? [shape("text", named, state)] : [];
  });
  const drawn = plot.series.map((one, place) =>
    shape("polyline", {
      class: place ? "line other" : "line",
      fill: "none",
      points: one.values.flatMap((y, at) => (known(y) ? [`${across(plot.x[at])},${up(y)}`] : [])).join(" "),
    }),
  );
  return [picture(plot.title, height, [...marks, ...strip, ...labels, ...sides, ...drawn, ...ends(plot, across, up)])];
}

// A row for each place: bars from zero, or spans from the first series to the last.
function rows(plot) {
  const values = plot.series.flatMap((one) => one.values).filter(known);
  if (!values.length) return [];
  const spans = plot.kind === "span";
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const across = (x) => LEFT + ((WIDTH - LEFT - 60) * (x - low)) / (high - low || 1);
  const many = spans ? 1 : plot.series.length;
  const height = plot.x.length * (many * ROW + 8) + 8;
  const bar = (from, to, y, className) =>
    shape("rect", {
      class: className,
      x: across(from),
      y,
      width: Math.max(across(to) - across(from), 1),
      height: ROW - 6,
    });
  const drawn = plot.x.flatMap((name, place) => {
    const y = 8 + place * (many * ROW + 8);
    const at = plot.series.map((one) => one.values[place]);
    const label = shape("text", { x: LEFT - 6, y: y + 13, "text-anchor": "end" }, known(name) ? `${name}%` : name);
    if (!at.every(known)) return [label];
    if (spans) {
      const [end, begin, until, most] = at;
      const word = shape("text", { x: across(most) + 6, y: y + 13 }, `\u00b1${short(most)}`);
      return [label, bar(end, most, y, "far90"), bar(begin, until, y, "far50"), word];
    }
    return [
      label,
      ...at.flatMap((value, which) => [
        bar(0, value, y + which * ROW, which ? "bar under" : "bar"),
        shape("text", { x: across(value) + 6, y: y + which * ROW + 13 }, `${short(value)} ${plot.series[which].name}`),
      ]),
    ];
  });
  return [picture(plot.title, height, drawn)];
}

const SECTIONS = ["happened", "rough", "far", "after", "long", "yesterday", "idea", "question"];

function human(report) {
  const made = [head(2, report.title), para(`As of ${when(report.as_of)}`, "asof")];
  for (const part of SECTIONS) {
    const section = report[part];
    if (section) made.push(head(3, section.heading), para(section.text));
    made.push(
      ...(report.plots || [])
        .filter((one) => one.part === part)
        .map((plot) => plotted({ ...plot, as_of: report.as_of })),
    );
  }
  if (report.assets?.length)
    made.push(head(3, "Coin by coin"), {
      kind: "table",
      names: ["Coin", "Price, USD", "24 hours", "Usual day", "In usual days"],
      rows: report.assets.map((one) => [
        String(one.name),
        known(one.price) ? one.price.toLocaleString("en", { maximumSignificantDigits: 6 }) : "not known",
        known(one.change_24h) ? `${one.change_24h > 0 ? "+" : ""}${one.change_24h}%` : "not known",
        known(one.usual_day_percent) ? `${one.usual_day_percent}%` : "not known",
        known(one.usual_days) ? one.usual_days.toFixed(1) : "not known",
      ]),
      numeric: [false, true, true, true, true],
    });
  return made;
}

// A plot as its picture and as a table: the first column names the place.
export function plotted(plot) {
  const dated = isDated(plot);
  const named = (x) => (dated ? when(timeOf(plot, x).toISOString()) : short(x));
  return {
    kind: "plot",
    title: `${plot.title} (${plot.unit})`,
    plot,
    names: [dated ? "Time" : plot.x_name, ...plot.series.map((one) => words(one.name))],
    rows: plot.x.map((x, place) => [
      known(x) ? named(x) : String(x),
      ...plot.series.map((one) => (known(one.values[place]) ? short(one.values[place]) : "not known")),
    ]),
    numeric: [false, ...plot.series.map(() => true)],
  };
}

const ENVELOPE =
  /^(headline|sample|sample_day|sample_note|success|project|endpoint|type|payment_status|product|product_id|price|price_atomic|snapshotId|as_of|valid_until|status|source_mode|source|educational_only|updated|schema_version|replay)$/;

// The reading first, the envelope last; each part folds.
function machine(title, raw, body) {
  const { intelligence_layer: layer, ...own } = readable(raw);
  const { summary, ...rest } = { ...own, ...layer };
  const entries = Object.entries(rest);
  const made = [head(2, title)];
  const { text = own.headline, ...more } = typeof summary === "string" ? { text: summary } : summary || {};
  if (text) made.push(para(text, "verdict"));
  const single = entries.filter(([, one]) => simple(one));
  const reading = single.filter(([key]) => !ENVELOPE.test(key));
  if (Object.keys(more).length) made.push(...parts(more, 4));
  if (reading.length) made.push(facts(reading.map(([key, one]) => [words(key), one, key])));
  made.push(para("Shortened here. The whole document is at the end as JSON, and in the download.", "small"));
  for (const [key, one] of entries.filter(([, one]) => !simple(one)))
    made.push({ kind: "fold", title: words(key), inner: parts(one, 4) });
  const about = facts(single.filter(([key]) => ENVELOPE.test(key)).map(([key, one]) => [words(key), one, key]));
  made.push({ kind: "fold", title: "About this document", inner: [about] });
  made.push({ kind: "code", title: "The whole document as JSON", text: JSON.stringify(body, null, 2) });
  return made;
}

// The blocks of a document; `receipt` is rows of name and value, empty for a sample.
export function blocks(body, title, receipt) {
  const { report, disclaimer, ...rest } = body;
  const made = report?.title ? human(report) : machine(body.product || title, rest, body);
  const mode = MODES[body.source_mode];
  if (mode) made.splice(1, 0, para(mode, "mode-note"));
  if (receipt.length) made.push(head(3, "Receipt"), facts(receipt));
  if (disclaimer) made.push(para(disclaimer, "notice"));
  return made;
}

function figure(block) {
  const made = element("figure", undefined, "chart broad");
  const numbers = element("details");
  numbers.append(element("summary", "The numbers of this chart"), grid(block));
  const drawn = block.plot.kind === "line" ? lines(block.plot) : rows(block.plot);
  made.append(element("figcaption", block.title), ...drawn, numbers);
  return made;
}

const NARROW = 4; // columns that fit on a phone
const BRIEF = 26; // letters: facts this short share a row

function pairs(rows, className) {
  const brief = className === "terms" && rows.filter(([, value]) => value.length <= BRIEF).length > 2;
  const made = element("dl", undefined, brief ? "terms brief" : className);
  for (const [name, value] of rows) {
    const pair = element("div", undefined, value.length > BRIEF ? "whole" : "");
    const description = element("dd");
    description.append(/^[A-Z2-7]{52,58}$|^[0-9a-f]{64}$|^algorand:/.test(value) ? element("code", value) : value);
    pair.append(element("dt", name), description);
    made.append(pair);
  }
  return made;
}

// On a phone the rows of a wide table fold into lines of their own; what is still cut shades its edge.
function grid(block) {
  const folds = block.names.length > NARROW || block.rows.some((row) => row.some((value) => value.length > BRIEF));
  const made = element("table", undefined, folds ? "fold" : "");
  const top = element("tr");
  const numeric = (place) => (block.numeric[place] ? "num" : "");
  block.names.forEach((name, place) =>
    top.append(Object.assign(element("th", name, numeric(place)), { scope: "col" })),
  );
  const inner = element("tbody");
  for (const row of block.rows) {
    const line = element("tr");
    row.forEach((value, place) => {
      const cell = place
        ? element("td", value, numeric(place) || (value.length > BRIEF ? "wide" : ""))
        : Object.assign(element("th", value), { scope: "row" });
      if (place) cell.dataset.label = block.names[place];
      line.append(cell);
    });
    inner.append(line);
  }
  const outer = element("thead");
  outer.append(top);
  made.append(outer, inner);
  const frame = Object.assign(element("div", undefined, "scroll"), { tabIndex: 0 });
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Table, scrolls sideways");
  frame.append(made);
  return frame;
}

const DRAW = {
  head: (one) => {
    const made = element(`h${one.level}`, one.text);
    if (one.aside) made.append(" ", element("span", one.aside, "small"));
    return made;
  },
  para: (one) => element("p", one.text, one.className),
  list: (one) => {
    const made = element("ul");
    made.append(...one.items.map((item) => element("li", item)));
    return made;
  },
  facts: (one) => pairs(one.rows, "terms"),
  fold: (one) => {
    const made = element("details", undefined, "part");
    const top = element("summary");
    top.append(element("h3", one.title));
    made.append(top, ...draw(one.inner));
    return made;
  },
  table: grid,
  plot: figure,
  code: (one) => {
    const made = element("details");
    const frame = Object.assign(element("pre", undefined, "code"), { tabIndex: 0 });
    frame.append(element("code", one.text));
    made.append(element("summary", one.title), frame);
    return made;
  },
};

export const draw = (made) => made.map((one) => DRAW[one.kind](one));

const safe = (text) =>
  String(text)
    .replace(/([\\`*_[\]<>|#])/g, "\\$1")
    .replace(/\s+/g, " ");
const line = (cells) => `| ${cells.map(safe).join(" | ")} |`;
const rowsOf = (one) =>
  [line(one.names), line(one.names.map(() => "---")).replaceAll("\\", ""), ...one.rows.map(line)].join("\n");
const WRITE = {
  head: (one) => `${"#".repeat(one.level - 1)} ${safe(one.text)}${one.aside ? ` (${safe(one.aside)})` : ""}`,
  para: (one) => (one.className === "notice" ? `> ${safe(one.text)}` : safe(one.text)),
  list: (one) => one.items.map((item) => `- ${safe(item)}`).join("\n"),
  facts: (one) => one.rows.map(([name, value]) => `- **${safe(name)}**: ${safe(value)}`).join("\n"),
  fold: (one) => `## ${safe(one.title)}\n\n${one.inner.map((part) => WRITE[part.kind](part)).join("\n\n")}`,
  code: (one) => `\`\`\`json\n${one.text}\n\`\`\``,
  table: rowsOf,
  plot: (one) => `**${safe(one.title)}**

${rowsOf(one)}`,
};

export const markdown = (made) => `${made.map((one) => WRITE[one.kind](one)).join("\n\n")}\n`;
