// What one answer teaches, and what the first answers show together. Each sentence follows from the figures of its
// answer, and none says what one hour or five cannot show.
import { distance } from "./practice-scores.js";

const HAIR = 1.1; // times as far, up to which an hour left a range by a hair
const WIDE = 2; // times as wide as a usual hour's
const ALIKE = 0.03; // distance from the base rate up to which an answer says about the same
const PARTS = [
  [0.1, "a tenth of"],
  [0.2, "a fifth of"],
  [0.25, "a quarter of"],
  [1 / 3, "a third of"],
  [0.5, "half"],
]; // of a width, the smallest first
const FIRST = 5; // answers from which on a trend is named
const UNLIKELY = 0.1; // chance of luck alone, up to which it is named as one

const times = (far, reach) => `${(far / reach).toFixed(1)} times as far as`;

// How far a range reaches on the side to which the price went.
const reachOf = (ranges, level, move) => (move < 0 ? -ranges[`low_${level}`] : ranges[`high_${level}`]);

export function onRanges(answer, truth) {
  const far = Math.abs(truth.move);
  const half = reachOf(answer, 50, truth.move);
  const nine = reachOf(answer, 90, truth.move);
  if (far > nine) return outside(far, nine, truth);
  if (far > half) return between(far, half, nine, answer, truth);
  if (!far) return "The price ended where it began: any range holds that.";
  const part = PARTS.find(([share]) => far <= share * half);
  if (part)
    return `Inside both ranges, but you could have won more: ${part[1]} the width holds it, for ${part[1]} the score.`;
  return `Inside both ranges, and none too wide: it went ${Math.round((100 * far) / half)}% of the way to the edge of the 50% range.`;
}

function outside(far, nine, { move, brain, usual }) {
  const missed = far > HAIR * nine && nine > 0 ? `${times(far, nine)} your 90% range reaches` : "if only just";
  const held = (ranges) => far <= reachOf(ranges, 90, move);
  if (held(usual.ranges))
    return `Outside both ranges, ${missed}. A usual hour's 90% range holds it: yours was narrower.`;
  if (held(brain.ranges))
    return `Outside both ranges, ${missed}. A usual hour's 90% range misses it too; the brain's holds it.`;
  return `Outside both ranges, ${missed}. A usual hour's 90% range and the brain's miss it too, as an honest one misses one hour in ten.`;
}

function between(far, half, nine, answer, { move, usual }) {
  const said = "Between your two ranges, as 40 of 100 hours should be.";
  const usually = usual.ranges.high_90 - usual.ranges.low_90;
  const wide = (answer.high_90 - answer.low_90) / usually;
  if (wide >= WIDE) return `${said} Your 90% range was ${wide.toFixed(1)} times as wide as a usual hour's.`;
  if (far > 0.9 * nine) return `${said} It nearly left the 90% range as well.`;
  if (!half) return `${said} Your 50% range was one single price, which hardly any hour hits.`;
  return `${said} It went ${times(far, half)} the 50% range reaches, and ${Math.round((100 * far) / nine)}% of the way to the edge of the 90% range.`;
}

// `row` is { said, baseRate, came } in shares; the scores are those that are shown.
export function onChances(row, score, usualScore) {
  const gave = Math.round(100 * row.said[row.came]);
  const base = Math.round(100 * row.baseRate[row.came]);
  const saved = usualScore - score;
  const by = Math.abs(saved).toFixed(3);
  if (!gave) return "You gave what came no chance at all, which costs most: keep a little for everything.";
  if (distance(row) <= ALIKE) return "You said about the base rate: it scores alike, and takes no skill.";
  if (gave === 100) return `Sure, and right: ${by} better than the base rate. One miss when sure costs more than that.`;
  const said = `You gave what came ${gave} in 100`;
  if (by === "0.000") return `${said}, where its base rate is ${base}: as good as the base rate.`;
  if (gave === base)
    return `${said}, as its base rate does; the other chances made it ${by} ${saved > 0 ? "better" : "worse"}.`;
  if (gave > base && saved > 0) return `${said}, more than its base rate of ${base}: it saved ${by}.`;
  if (gave < base && saved < 0) return `${said}, less than its base rate of ${base}: it cost ${by}.`;
  return saved > 0
    ? `${said}, less than its base rate of ${base}, but spread the rest more evenly: ${by} better all the same.`
    : `${said}, more than its base rate of ${base}, but spread the rest less evenly: ${by} worse all the same.`;
}

// The chances that so many, or fewer, and so many, or more, of independent cases come true.
export function tails(chances, hits) {
  let ways = [1];
  for (const chance of chances) {
    const missed = [...ways.map((way) => way * (1 - chance)), 0];
    ways = missed.map((way, number) => way + (number ? ways[number - 1] * chance : 0));
  }
  const sum = (part) => part.reduce((all, way) => all + way, 0);
  return [sum(ways.slice(0, hits + 1)), sum(ways.slice(hits))];
}

// What the first answers show so far: too many came true, too few, or as many as was said; empty below five.
export function soFar(chances, hits, tooMany, tooFew) {
  if (chances.length < FIRST) return "";
  const [few, many] = tails(chances, hits);
  const luck = Math.min(few, many);
  if (luck > UNLIKELY) return "which fits so far";
  const share = Math.round(100 * luck);
  return `so far ${many < few ? tooMany : tooFew} (luck alone: ${share ? share : "fewer than 1"} in 100)`;
}

// The place of the likeliest outcome of an answer, the first where two are.
const likeliest = (said) => said.indexOf(Math.max(...said));

// Each row is { said, baseRate, came }.
export function trendOfChances(rows) {
  const n = rows.length;
  if (n < FIRST) return "";
  if (rows.every((row) => distance(row) <= ALIKE)) return `Early, after ${n} answers: you repeat the base rate so far.`;
  const chances = rows.map(({ said }) => said[likeliest(said)]);
  const hits = rows.filter(({ said, came }) => likeliest(said) === came).length;
  const expected = chances.reduce((sum, chance) => sum + chance, 0).toFixed(1);
  const shows = soFar(chances, hits, "not sure enough", "too sure");
  return `Early, after ${n} answers: what you gave most came in ${hits} of ${n}, where your chances say ${expected}: ${shows}.`;
}

export function trendOfRanges(held50, held90) {
  const n = held50.length;
  if (n < FIRST) return "";
  const [half, nine] = [
    [held50, 0.5],
    [held90, 0.9],
  ].map(([held, level]) => {
    const hits = held.filter(Boolean).length;
    return `${hits} of ${n} hours, ${soFar(Array(n).fill(level), hits, "too wide", "too narrow")}`;
  });
  return `Early, after ${n} answers: your 50% ranges held ${half}; your 90% ranges held ${nine}.`;
}
