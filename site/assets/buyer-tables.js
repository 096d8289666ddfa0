// Structured facts as blocks that people can read: names and units in words, narrow tables, long texts as texts.
// Functions of their arguments; what is too deep is left to the document as JSON, and the page says so.

const COLUMNS = 8; // with the row's name; more would be cut on a wide screen
const LONG = 60; // letters; a longer text is a text and no cell
const ONCE = new Set(["as_of", "confidence_kind", "status", "horizon_minutes", "venues"]); // said once when it is the same in all rows
const NAMES = {
  n: "Cases",
  usd: "US dollars",
  brier: "Brier score",
  warm_up: "Backtest, not counted",
  annualised_percent: "Annualised",
  change_24h: "24 hours",
  change_24h_percent: "24 hours",
  mean_change_24h: "Mean change over 24 hours",
  dispersion_24h: "Dispersion over 24 hours",
  crowded: "Crowded sides",
  same_regime: "Coins in the market's regime",
  depth_1pct_usd: "Depth within 1%",
  depth_assets: "Coins with a known depth",
  funding_assets: "Coins with known funding",
  open_interest_assets: "Coins with known open interest",
  assets_compared: "Coins compared",
  mean_rate_8h_percent: "Mean rate for 8 hours",
  cost_per_1000_usd_day: "Cost of 1,000 USD a day",
  long_usd_24h: "Longs, 24 hours",
  short_usd_24h: "Shorts, 24 hours",
  minutes_15_percent: "15 minutes",
  hour_1_percent: "1 hour",
  hours_4_percent: "4 hours",
  "15m": "15 minutes",
  "1h": "1 hour",
  "4h": "4 hours",
  "24h": "24 hours",
  dwell_minutes: "For",
  ranges: "Ranges, nine times in ten",
  low_percent: "Lower end",
  high_percent: "Upper end",
  hit_rate_low_percent: "Hit rate, lower end",
  hit_rate_high_percent: "Hit rate, upper end",
  edge_percent: "Above its base rate",
  band_bps: "Neutral within",
  wrong_if: "Wrong if",
  rank_30d_percent: "Rank in 30 days",
  hit: "Right",
  said_percent: "Mean said",
  fits: "Within chance",
  hit_percent: "Right",
  hit_low_percent: "Lower end",
  hit_high_percent: "Upper end",
  snapshotId: "Snapshot",
  price_atomic: "Price, atomic units",
  said: "Said",
};
const FIGURE = /^[+\u2212$]{0,2}[\d.,]+( ?[a-z%]+)?$/; // a cell with one number and its unit
const NONE = /^(notes?|reason|replay|product_id)$/; // null means that there is nothing to say

export const simple = (value) => value === null || typeof value !== "object";

// A key as words without its unit, which is with the number; symbols stay as they are.
export function words(key) {
  if (NAMES[key]) return NAMES[key];
  if (/^[A-Z0-9]+$/.test(key)) return key;
  const text = key.replace(UNIT, "").replace(/_24h/, " over 24 hours").replace(/_8h/, " for 8 hours");
  const said = text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replaceAll("_", " ")
    .trim();
  return said.charAt(0).toUpperCase() + said.slice(1);
}

const UNIT = /_(percent|usd|bps|minutes|hours)$/;
const PERCENT = /(^|_)percent$|^confidence$|change_24h$|^dispersion_24h$/;
const SIGNED = /change|imbalance|edge|skill|(^|_)rate_8h|annualised|^(low|high)_(50|90)$/;
const digits = (value, least, most, more) =>
  value
    .toLocaleString("en", { minimumFractionDigits: least, maximumFractionDigits: most, ...more })
    .replace("-", "\u2212");
const CHANGE = /change|dispersion|annualised|^(minutes|hours?)_|_move_|^(low|high)_(50|90)$/;

function percent(value, key) {
  const places = /rate_8h/.test(key) ? 4 : CHANGE.test(key) ? 2 : 1;
  return `${digits(value, places, places, SIGNED.test(key) ? { signDisplay: "exceptZero" } : {})}%`;
}

function dollars(value) {
  const [size, name] = value >= 1e9 ? [1e9, " billion"] : value >= 1e6 ? [1e6, " million"] : [1, ""];
  const least = !name && value >= 1e5 ? 0 : 2;
  return `$${digits(value / size, least, value >= 100 ? least : 6)}${name}`;
}

// A number as people read it: with its unit, thousands apart, and no more digits than it is worth.
function amount(value, key, group) {
  if (group === "probabilities" || group === "base_rates") return `${digits(value * 100, 1, 1)}%`;
  if (PERCENT.test(key) || group === "confidence") return percent(value, key);
  if (key === "price" || /(^|_)usd(_|$)/.test(key)) return dollars(value);
  if (key === "risk_score") return `${digits(value, 1, 1)} of 100`;
  const unit = /_(bps|minutes|hours)$/.exec(key);
  return unit?.[1] === "bps" ? `${digits(value, 2, 2)} bps` : `${digits(value, 0, 4)}${unit ? ` ${unit[1]}` : ""}`;
}

// A document with every number as text.
export function readable(value, key = "", group = "") {
  if (typeof value === "number") return amount(value, key, group);
  if (simple(value)) return value;
  if (Array.isArray(value)) return value.map((one) => readable(one, key, group));
  if ("low_90" in value) {
    const [low, high] = [value.low_90, value.high_90];
    return low === null || high === null
      ? null
      : `${percent(low, "low_90").replace("%", "")} to ${percent(high, "high_90")}`;
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readable(one, name, key)]));
}

export function when(text) {
  const at = new Date(text);
  const parts = {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: "UTC",
  };
  return Number.isNaN(at.getTime()) ? String(text) : `${at.toLocaleString("en-GB", parts)} UTC`;
}

export function plain(value, key = "") {
  if (value === null || value === undefined) return NONE.test(key) ? "none" : "not known";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return digits(value, 0, 12);
  const text = String(value);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)) return when(text);
  return /^[a-z]+(_[a-z0-9]+)+$/.test(text) ? text.replaceAll("_", " ") : text;
}

export const head = (level, text, aside) => ({ kind: "head", level: Math.min(level, 6), text, aside });
export const para = (text, className) => ({ kind: "para", text: plain(text), className });
export const list = (items) => ({ kind: "list", items: items.map((one) => plain(one)) });
export const facts = (rows) => ({ kind: "facts", rows: rows.map(([name, value, key]) => [name, plain(value, key)]) });
const labelled = (entries) => facts(entries.map(([key, one]) => [words(key), one, key]));
const symbols = (items) => items.every((one) => typeof one === "string" && !one.includes(" "));
// Sentences stand on lines of their own.
const joined = (items) => items.map((one) => plain(one)).join(symbols(items) ? ", " : "\n");
const texts = (value) => Array.isArray(value) && value.every(simple);
const inner = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const different = (values) => new Set(values.map((one) => JSON.stringify(one))).size;

const bounds = (one) => `${one.low_percent.replace("%", "")} to ${one.high_percent}`;

// A rate with its interval is one cell: "31.9% (25.2 to 39.4%)".
function rated(value) {
  const whole = inner(value) && ["percent", "low_percent", "high_percent"].every((key) => value[key]);
  return whole ? `${value.percent} (${bounds(value)})` : value;
}

// Two ends of a range are one name: "35.0 to 40.0%".
function ranged(one) {
  const { low_percent: low, high_percent: high, ...rest } = one;
  const row = low && high ? { said: bounds(one), ...rest } : one;
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, rated(value)]));
}

function table(names, rows, keys) {
  return {
    kind: "table",
    names,
    numeric: keys.map((key, place) => place > 0 && rows.some((one) => FIGURE.test(one[key]))),
    rows: rows.map((one) => keys.map((key) => plain(one[key], key))),
  };
}

// What the rows have as plain columns, as groups of columns, and as texts of their own.
function sorted(rows) {
  const keys = [...new Set(rows.flatMap((one) => Object.keys(one)))];
  const groups = keys.filter((key) => rows.some((one) => inner(one[key])));
  // Next to a call the kind of its confidence says nothing more: the chance of what is called, or no call.
  const isImplied = (key) => key === "confidence_kind" && keys.includes("call");
  const columns = keys.filter(
    (key) =>
      !groups.includes(key) && !isImplied(key) && rows.every((one) => one[key] === undefined || simple(one[key])),
  );
  columns.sort((one, other) => (other === "asset") - (one === "asset")); // the row's name
  return { columns, groups, lists: keys.filter((key) => rows.some((one) => texts(one[key]) && one[key].length)) };
}

// The group's own columns; one that only repeats a column of the row is left out.
function columnsOf(rows, group) {
  const keys = [...new Set(rows.flatMap((one) => Object.keys(one[group] || {})))];
  const known = rows.filter((one) => one[group]);
  return keys.filter(
    (key) => known.every((one) => simple(one[group][key])) && !known.every((one) => one[key] === one[group][key]),
  );
}

// Texts of each row: of its own lists and of lists one level down, by name.
function said(one, lists, groups) {
  const own = lists.map((key) => [words(key), one[key] || []]);
  const deep = groups.flatMap((group) =>
    Object.entries(one[group] || {})
      .filter(([, value]) => texts(value))
      .map(([key, value]) => [words(key), value, key]),
  );
  return [...own, ...deep.filter(([, , key]) => !ONCE.has(key))]
    .filter(([, items]) => items.length)
    .map(([name, items]) => [name, joined(items)]);
}

function longer(rows, columns) {
  return columns.some((key) => rows.some((one) => typeof one[key] === "string" && one[key].length > LONG));
}

// Rows with long texts: each a heading of its own.
function records(rows, columns, lists, groups, level) {
  return rows.flatMap((one) => {
    const [name, ...rest] = columns.map((key) => [words(key), one[key], key]);
    return [head(level, plain(name[1])), facts([...rest, ...said(one, lists, groups)])];
  });
}

function wide(rows, columns, groups, level) {
  const [name, ...rest] = columns;
  const made = [];
  const flat = groups.map((group) => [group, columnsOf(rows, group)]);
  const all = flat.flatMap(([group, keys]) => keys.map((key) => `${group} ${key}`));
  if (columns.length + all.length <= COLUMNS) {
    const whole = rows.map((one) => ({
      ...one,
      ...Object.fromEntries(flat.flatMap(([group, keys]) => keys.map((key) => [`${group} ${key}`, one[group]?.[key]]))),
    }));
    const ordered = [...columns.filter((key) => !NONE.test(key)), ...all, ...columns.filter((key) => NONE.test(key))];
    return [table(ordered.map(words), whole, ordered)];
  }
  const share = Math.ceil(rest.length / Math.ceil(rest.length / (COLUMNS - 1)));
  for (let at = 0; at < rest.length; at += share) {
    const some = [name, ...rest.slice(at, at + share)];
    made.push(table(some.map(words), rows, some));
  }
  for (const [group, keys] of flat) {
    const within = rows.map((one) => ({ ...one[group], [name]: one[name] }));
    if (keys.length) made.push(head(level, words(group)), table([name, ...keys].map(words), within, [name, ...keys]));
  }
  return made;
}

function rowsOf(nested, level) {
  let rows = nested.map(ranged);
  const once = {};
  const drop = (one, key) => Object.fromEntries(Object.entries(one).filter(([name]) => name !== key));
  for (const key of ONCE) {
    const holds = (one) => one && key in one;
    const groups = [
      ...new Set(rows.flatMap((one) => Object.keys(one).filter((name) => inner(one[name]) && holds(one[name])))),
    ];
    const values = rows.flatMap((one) => [
      ...(holds(one) ? [one[key]] : []),
      ...groups.filter((name) => holds(one[name])).map((name) => one[name][key]),
    ]);
    if (rows.length < 3 || !values.length || different(values) > 1) continue;
    once[key] = texts(values[0]) ? joined(values[0]) : values[0];
    rows = rows.map((one) => ({
      ...drop(one, key),
      ...Object.fromEntries(groups.filter((name) => one[name]).map((name) => [name, drop(one[name], key)])),
    }));
  }
  const { columns, groups, lists } = sorted(rows);
  const made = longer(rows, columns)
    ? records(rows, columns, lists, groups, level)
    : wide(rows, columns, groups, level);
  if (!longer(rows, columns)) {
    const texted = rows.map((one) => [one[columns[0]], said(one, lists, groups)]).filter(([, row]) => row.length);
    const kinds = new Set(texted.flatMap(([, row]) => row.map(([name]) => name)));
    if (kinds.size === 1)
      made.push(head(level, [...kinds][0]), facts(texted.map(([name, row]) => [plain(name), row[0][1]])));
    else for (const [name, row] of texted) made.push(head(level, plain(name)), facts(row));
  }
  if (Object.keys(once).length) made.push(labelled(Object.entries(once)));
  return made;
}

export function parts(value, level) {
  if (simple(value)) return [para(value)];
  if (Array.isArray(value)) {
    if (!value.length) return [para("None.", "unknown")];
    if (value.every(simple)) return symbols(value) ? [para(joined(value))] : [list(value)];
    return value.every(inner) ? rowsOf(value, level) : [list(value.map((one) => JSON.stringify(one)))];
  }
  const entries = Object.entries(value);
  if (!entries.length) return [para("None.", "unknown")];
  const plainly = entries.filter(([, one]) => simple(one));
  const deep = entries.filter(([, one]) => !simple(one));
  if (deep.length > 2 && !plainly.length && deep.every(([key, one]) => key === one.asset))
    return rowsOf(
      deep.map(([, one]) => one),
      level,
    );
  const made = plainly.length ? [labelled(plainly)] : [];
  for (const [key, one] of deep) made.push(head(level, words(key)), ...parts(one, level + 1));
  return made;
}
