// What the practice page draws: hours with ranges, what was said against what came, and the curve of scores.
import { BLOCK } from "./practice-scores.js";

const SVG = "http://www.w3.org/2000/svg";
const Z_95 = 1.959963984540054;

function drawn(name, about, ...inner) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(about)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

export function element(name, words, about = {}) {
  const made = Object.assign(document.createElement(name), about);
  if (words) made.textContent = words;
  return made;
}

export function say(where, ...parts) {
  where.replaceChildren(...parts);
}

export const percent = (value, digits = 2) =>
  `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(digits)}%`;

// A slider with its name and its value in words.
export function rangeInput({ name, label, value, most, step, words }, moved) {
  const row = element("div", "", { className: "practice-slider" });
  const named = element("label");
  const about = { type: "range", name, min: 0, max: most, step, value };
  const input = Object.assign(document.createElement("input"), about);
  const output = element("output", words(Number(value)));
  input.addEventListener("input", moved);
  named.append(element("span", label), input);
  row.append(named, output);
  row.refresh = () => say(output, words(Number(input.value)));
  return row;
}

// The widest range that can be set, in percent: six times the spread of the hours shown.
export function widest(item) {
  const moves = item.prices.slice(1).map((price, hour) => price - item.prices[hour]);
  const spread = Math.sqrt(moves.reduce((sum, move) => sum + move * move, 0) / moves.length);
  return Math.max(0.2, Math.ceil(60 * spread) / 10);
}

// 48 hours of prices on the left; on the right, on a scale of its own, the hour in question with what was said and came.
export function picture(item, ranges, truth) {
  const width = 640;
  const height = 300;
  const [top, bottom] = [14, height - 42];
  const moves = item.prices.map((price) => price - 100);
  const [low, high] = [Math.min(0, ...moves), Math.max(0, ...moves)];
  const before = (move) => bottom - ((move - low) / (high - low || 1)) * (bottom - top);
  const x = (hour) => 86 + (hour / 47) * 330;
  const last = { x: x(47), y: before(0) };

  const reach = 1.3 * Math.max(widest(item), truth ? Math.abs(truth.move) : 0);
  const y = (move) => top + ((reach - move) / (2 * reach)) * (bottom - top);
  const hour = { left: 510, width: 118 };
  const bar = (kind, from, to, inset = 0) =>
    drawn("rect", {
      class: kind,
      x: hour.left + inset,
      y: y(to),
      width: hour.width - 2 * inset,
      height: Math.max(1, y(from) - y(to)),
    });

  const parts = [];
  for (const move of [low, 0, high]) {
    if (move && Math.abs(move) < 0.15 * (high - low)) continue; // its label would lie on that of zero
    parts.push(drawn("line", { class: "grid", x1: x(0), x2: last.x, y1: before(move), y2: before(move) }));
    parts.push(
      drawn("text", { x: 80, y: before(move) + 6, "text-anchor": "end" }, percent(move, Math.abs(move) < 9.95 ? 1 : 0)),
    );
  }
  for (const move of [-reach / 1.3, 0, reach / 1.3]) {
    parts.push(drawn("line", { class: "grid", x1: hour.left, x2: hour.left + hour.width, y1: y(move), y2: y(move) }));
    parts.push(drawn("text", { x: hour.left - 6, y: y(move) + 6, "text-anchor": "end" }, percent(move, 1)));
  }
  if (ranges) {
    parts.push(bar("own-90", ranges.low_90, ranges.high_90), bar("own-50", ranges.low_50, ranges.high_50));
  } else {
    parts.push(bar("own-90", -item.band_percent, item.band_percent));
  }
  parts.push(
    drawn("polyline", { class: "price", points: moves.map((move, place) => `${x(place)},${before(move)}`).join(" ") }),
    drawn("text", { x: x(0), y: height - 12 }, "48 hours before"),
    drawn("text", { x: hour.left + hour.width, y: height - 12, "text-anchor": "end" }, "the hour, enlarged"),
  );
  if (truth && ranges) {
    const brain = truth.brain.ranges;
    const usual = truth.usual.ranges;
    parts.push(bar("brain-90", brain.low_90, brain.high_90, 6), bar("usual-90", usual.low_90, usual.high_90, 12));
  }
  if (truth) {
    parts.push(drawn("circle", { class: "came", cx: hour.left + hour.width / 2, cy: y(truth.move), r: 7 }));
  }
  const about = truth
    ? `48 hours of prices, and the hour after them, which ended ${percent(truth.move)}.`
    : `48 hours of prices; the outcome, in the hour after them, is not shown yet.`;
  return drawn(
    "svg",
    { class: "practice-picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": about },
    ...parts,
  );
}

// What each mark of that picture is, once the outcome is shown.
export function legend(ranges) {
  const marks = [["came", "where it ended"]];
  if (ranges) {
    marks.unshift(["own-90", "your ranges"], ["brain-90", "the brain's 90%"], ["usual-90", "a usual hour's 90%"]);
  } else {
    marks.unshift(["own-90", "a small move"]);
  }
  const words = element("p", "", { className: "small practice-legend" });
  for (const [kind, name] of marks) {
    const mark = element("span", "");
    mark.append(element("i", "", { className: `key ${kind}` }), name);
    words.append(mark, " ");
  }
  return words;
}

export function pathOf(prices) {
  const low = Math.min(...prices);
  const high = Math.max(...prices);
  const points = prices.map((price, hour) => `${10 + hour * 13.2},${190 - (180 * (price - low)) / (high - low || 1)}`);
  const about = { class: "practice-picture", viewBox: "0 0 640 200", role: "img", "aria-label": "48 hours of prices" };
  return drawn("svg", about, drawn("polyline", { class: "price", points: points.join(" ") }));
}

export const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// The 95% interval of Wilson (1927) of a share.
export function wilson(hits, n) {
  const middle = (hits + Z_95 ** 2 / 2) / (n + Z_95 ** 2);
  const reach = (Z_95 / (n + Z_95 ** 2)) * Math.sqrt((hits * (n - hits)) / n + Z_95 ** 2 / 4);
  return [middle - reach, middle + reach];
}

// What was said from left to right, what came from bottom to top; a whisker is a 95% interval.
// Each pair is a chance, 0 to 1, and whether what it was given to came.
export function diagram(pairs) {
  const bins = Array.from({ length: 5 }, () => ({ said: [], hits: 0 }));
  for (const [said, came] of pairs) {
    const bin = bins[Math.min(4, Math.floor(5 * said))];
    bin.said.push(said);
    bin.hits += came ? 1 : 0;
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
    words.push(`said ${Math.round(100 * said)}, true in ${bin.hits} of ${n}`);
  }
  const label = `What you said and how often it was true: ${words.join("; ")}. Honest chances lie on the dashed line.`;
  const figure = element("figure", "", { className: "practice-diagram" });
  figure.append(
    drawn("svg", { class: "practice-picture", viewBox: "0 0 320 300", role: "img", "aria-label": label }, ...parts),
    element("figcaption", "Honest chances lie on the dashed line; a whisker is a 95% interval.", {
      className: "small",
    }),
  );
  return figure;
}

export function curve(found, usual) {
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
