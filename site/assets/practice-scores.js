// Scores and verdicts of practice, the same numbers as generator/arena/practice makes; smaller scores are better.
const LEAST_CHANCE = 0.01;
const FALSE_ALARMS = 0.05; // of calibrated learners, ever, for each kind of question
const MOST_JUDGED = 100; // answers of a run
const FIRST_RUN = 0.6; // of the false alarms; the runs after it share the rest
const FEW = 30; // answers, below which no one is said to repeat the base rate
const SAME_WIDTH = 0.1; // mean part by which a range is wider or narrower than a usual hour's, and still repeats it
const REPEATED = 0.03; // mean distance from the base rate up to which an answer repeats it
export const BETS_50 = { level: 0.5, narrow: [0.2, 0.3, 0.4], wide: [0.6, 0.7, 0.8] };
export const BETS_90 = { level: 0.9, narrow: [0.5, 0.6, 0.7, 0.8], wide: [0.95, 0.98] };
const TOO_SURE = [0.2, 1 / 3, 0.5, 0.7];
const NOT_SURE = [1.5, 2, 3];
const RANGES_NEEDED = 60;
const CHANCES_NEEDED = 100;
export const BLOCK = 20;
const T_95_OF_19 = 1.729132811521367; // quantile of Student's t with 19 degrees of freedom

export const isInside = (low, high, move) => low <= move && move <= high;

// The width of a range, plus a fine for a move outside it: 2 / missing times the distance.
export function intervalScore(low, high, missing, move) {
  const below = Math.max(0, low - move);
  const above = Math.max(0, move - high);
  return high - low + (2 / missing) * (below + above);
}

export function howFarScore(ranges, move) {
  const half = intervalScore(ranges.low_50, ranges.high_50, 0.5, move);
  const nineInTen = intervalScore(ranges.low_90, ranges.high_90, 0.1, move);
  return (half + nineInTen) / 2;
}

export function brier(chances, came) {
  let total = 0;
  chances.forEach((chance, place) => {
    const truth = place === came ? 1 : 0;
    total += (chance - truth) * (chance - truth);
  });
  return total;
}

export function movedBrier(chance, moved) {
  const truth = moved ? 1 : 0;
  return (chance - truth) * (chance - truth);
}

export const logScore = (chance) => -Math.log(Math.max(chance, LEAST_CHANCE));

// A verdict may be read after every answer, and is forgiven: see generator/arena/practice/verdicts.py.
// `widths` are those of the ranges in widths of a usual hour's.
export function judgeRanges(inside, bets, widths = []) {
  const gains = inside.map((held) =>
    [bets.narrow, bets.wide].map((shares) => shares.map((share) => gain(share, bets.level, held))),
  );
  const found = judge(gains, FALSE_ALARMS / 2, ["too_narrow", "too_wide"], RANGES_NEEDED);
  return unlessRepeated(
    found,
    widths.map((width) => Math.abs(width - 1)),
    SAME_WIDTH,
  );
}

// Each answer is { said: [...], baseRate: [...], came: place }.
export function judgeChances(answers) {
  const found = judge(answers.map(gainsOn), FALSE_ALARMS, ["too_sure", "not_sure_enough"], CHANCES_NEEDED);
  return unlessRepeated(found, answers.map(distance), REPEATED);
}

function unlessRepeated(found, distances, most) {
  const newest = distances.slice(-MOST_JUDGED);
  const unproved = found.finding === "too_early" || found.finding === "nothing";
  return unproved && newest.length >= FEW && meanOf(newest) <= most ? verdict("base_rate", newest.length) : found;
}

function gainsOn(answer) {
  const said = bounded(answer.said);
  const baseRate = bounded(answer.baseRate);
  const kept = Math.log(said[answer.came]);
  const gainOf = (weight) => Math.log(leaned(said, baseRate, weight)[answer.came]) - kept;
  return [TOO_SURE.map(gainOf), NOT_SURE.map(gainOf)];
}

const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// How much of the chance lay elsewhere than in the base rate, 0 to 1.
export const distance = ({ said, baseRate }) =>
  said.reduce((sum, chance, place) => sum + Math.abs(chance - baseRate[place]), 0) / 2;

const verdict = (finding, answers, more = 0) => ({ finding, answers, more });

// The stake at which a run accuses, as a logarithm; the shares of all runs add up to 1.
const accuses = (run, alarms) => -Math.log(alarms * (run === 1 ? FIRST_RUN : (1 - FIRST_RUN) / (run * (run - 1))));

// For each answer its gains on the first and on the second error; a run ends with a verdict or after a hundred.
function judge(gains, alarms, errors, needed) {
  let error = null;
  let [run, begin, stakes] = [1, 0, null];
  gains.forEach((gained, place) => {
    stakes = gained.map((bets, side) => bets.map((more, bet) => (stakes ? stakes[side][bet] : 0) + more));
    const [first, second] = stakes.map(logMean);
    const answers = place + 1;
    if (logMean([first, second]) >= accuses(run, alarms)) {
      error = verdict(first >= second ? errors[0] : errors[1], answers);
      [run, begin, stakes] = [1, answers, null];
    } else if (answers - begin === MOST_JUDGED) [run, begin, stakes] = [run + 1, answers, null];
  });
  const since = gains.length - (error ? error.answers : 0);
  if (since >= needed) return verdict("nothing", Math.min(since, MOST_JUDGED));
  if (error) return { ...error, more: needed - since };
  return verdict("too_early", gains.length, needed - gains.length);
}

function logMean(logs) {
  const largest = Math.max(...logs);
  let total = 0;
  for (const value of logs) total += Math.exp(value - largest);
  return largest + Math.log(total / logs.length);
}

const gain = (share, level, held) => (held ? Math.log(share / level) : Math.log((1 - share) / (1 - level)));

function scaled(numbers) {
  const total = numbers.reduce((sum, number) => sum + number, 0);
  return numbers.map((number) => number / total);
}

const bounded = (chances) => scaled(chances.map((chance) => Math.max(chance, LEAST_CHANCE)));

const leaned = (said, baseRate, weight) =>
  scaled(said.map((chance, place) => chance ** weight * baseRate[place] ** (1 - weight)));

// The mean of each full block of 20 differences, with a pointwise 90% band.
export function blocks(differences) {
  const found = [];
  for (let begin = 0; begin + BLOCK <= differences.length; begin += BLOCK) {
    const block = differences.slice(begin, begin + BLOCK);
    const mean = block.reduce((sum, value) => sum + value, 0) / BLOCK;
    const squares = block.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
    const reach = T_95_OF_19 * Math.sqrt(squares / (BLOCK - 1) / BLOCK);
    found.push({ mean, low: mean - reach, high: mean + reach });
  }
  return found;
}
