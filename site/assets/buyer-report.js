// A bought document as a list of blocks, and the blocks as elements or as Markdown. Text nodes only, and of a picture
// only shapes, words and class names: nothing in a body can become markup, a script or an address.

import { facts, head, list, para, parts, readable, simple, when, words } from "./buyer-tables.js";

const COUNTS = { n: "Known outcomes", right: "Right", losses: "Wrong", warm_up: "Backtest, not counted" };
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
const SHAPES = new Set(["svg", "title", "desc", "line", "text", "rect", "circle", "polyline", "polygon", "path"]);
const TRAITS =
  /^(class|id|role|viewBox|aria-labelledby|data-tip|text-anchor|d|points|[xy][12]?|c[xy]|r[xy]?|width|height)$/;
let pictures = 0;

// A picture may be shown twice on a page, as a sample and as bought: its ids get a number of their own.
function copied(node, suffix) {
  const made = document.createElementNS(SVG, node.localName);
  for (const { name, value } of node.attributes) {
    if (TRAITS.test(name))
      made.setAttribute(name, /^(id|aria-labelledby)$/.test(name) ? value.replace(/\S+/g, `$&-${suffix}`) : value);
  }
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.data);
    else if (SHAPES.has(child.localName)) made.append(copied(child, suffix));
  }
  return made;
}

function picture(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return root.localName === "svg" ? [copied(root, (pictures += 1))] : [];
}

function coin(one) {
  const price =
    simple(one.price) && one.price !== null
      ? `${one.price.toLocaleString("en", { maximumSignificantDigits: 6 })} USD`
      : "price not known";
  const change = one.change_24h;
  const moved =
    change === null || change === undefined
      ? ""
      : change === 0
        ? ", unchanged in 24 hours"
        : `, ${change > 0 ? "up" : "down"} ${Math.abs(change)}% in 24 hours`;
  // The text gives price and change in words; repeating them in the heading only makes it longer.
  return [head(4, `${one.name} (${one.asset})`, /\d/.test(one.text) ? undefined : price + moved), para(one.text)];
}

function human(report) {
  const made = [head(2, report.title), para(report.verdict, "verdict"), para(`As of ${when(report.as_of)}`, "asof")];
  const section = (title, value) => value !== undefined && made.push(head(3, title), ...parts(value, 4));
  const prose = (title, one) => {
    if (!one) return;
    made.push(head(3, title), para(one.text));
    if (one.points?.length) made.push(list(one.points));
  };
  const drawn = (part) => made.push(...(report.charts || []).filter((one) => one.part === part).map(chart));
  drawn("verdict");
  section("What changed", report.what_changed);
  drawn("what_changed");
  made.push(head(3, "Coin by coin"));
  drawn("assets");
  made.push(...(report.assets || []).flatMap(coin));
  prose("Futures", report.derivatives);
  drawn("derivatives");
  prose("Liquidity", report.liquidity);
  prose("What may come next", report.partition);
  drawn("partition");
  prose("The Arena", report.arena);
  const record = report.track_record;
  if (record) {
    const counts = Object.entries(COUNTS).filter(
      ([key]) => record[key] !== undefined && (record[key] || key !== "warm_up"),
    );
    made.push(
      head(3, "How past forecasts turned out"),
      para(record.text),
      facts(counts.map(([key, name]) => [name, record[key]])),
    );
    if (record.latest_arena_losses?.length)
      made.push(head(4, "Latest misses in the Arena"), list(record.latest_arena_losses));
    drawn("track_record");
  }
  section("What it rests on", report.evidence);
  section("What it cannot tell", report.limits);
  if (report.glossary?.length)
    made.push(head(3, "Words"), { kind: "glossary", rows: report.glossary.map((one) => [one.word, one.meaning]) });
  return made;
}

// The first column names the row; the others are numbers where they begin as one does.
function chart(one) {
  const numeric = one.columns.map(
    (_, place) => place > 0 && one.rows.some((row) => /^[+\u2212\u00b1]?\d/.test(row[place])),
  );
  return {
    kind: "chart",
    title: one.title,
    source: one.source,
    svg: one.svg,
    names: one.columns,
    rows: one.rows,
    numeric,
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
  const made = element("figure", undefined, "chart");
  const numbers = Object.assign(element("details"), { open: matchMedia("(min-width: 62rem)").matches }); // next to it
  numbers.append(element("summary", "The numbers of this chart"), grid(block));
  made.append(element("figcaption", block.title), ...picture(block.svg), element("p", block.source, "source"), numbers);
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
  glossary: (one) => {
    const made = element("details", undefined, "words");
    made.append(
      element("summary", `${one.rows.length} ${one.rows.length === 1 ? "word" : "words"}, explained`),
      pairs(one.rows, "glossary"),
    );
    return made;
  },
  table: grid,
  chart: figure,
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
  glossary: (one) => one.rows.map(([name, value]) => `- **${safe(name)}**: ${safe(value)}`).join("\n"),
  code: (one) => `\`\`\`json\n${one.text}\n\`\`\``,
  table: rowsOf,
  chart: (one) => `**${safe(one.title)}**\n\n${rowsOf(one)}\n\n${safe(one.source)}`,
};

export const markdown = (made) => `${made.map((one) => WRITE[one.kind](one)).join("\n\n")}\n`;
