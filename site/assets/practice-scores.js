// Scores and verdicts of practice, the same numbers as generator/arena/practice makes; smaller scores are better.
const LEAST_CHANCE = 0.01;
const FALSE_ALARMS = 0.05; // of calibrated learners, ever, for each kind of question
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

// A verdict may be read after every answer: see generator/arena/practice/verdicts.py.
export function judgeRanges(inside, bets) {
  const needed = Math.log(2 / FALSE_ALARMS);
  const stakes = new Stakes(bets.narrow.length, bets.wide.length);
  for (const held of inside) {
    stakes.add(
      bets.narrow.map((share) => gain(share, bets.level, held)),
      bets.wide.map((share) => gain(share, bets.level, held)),
    );
    if (stakes.total() >= needed) return verdict(stakes.firstLeads() ? "too_narrow" : "too_wide", inside.length);
  }
  return unproved(inside.length, RANGES_NEEDED);
}

// Each answer is { said: [...], baseRate: [...], came: place }.
export function judgeChances(answers) {
  const needed = Math.log(1 / FALSE_ALARMS);
  const stakes = new Stakes(TOO_SURE.length, NOT_SURE.length);
  for (const answer of answers) {
    const said = bounded(answer.said);
    const baseRate = bounded(answer.baseRate);
    const kept = Math.log(said[answer.came]);
    const gainOf = (weight) => Math.log(leaned(said, baseRate, weight)[answer.came]) - kept;
    stakes.add(TOO_SURE.map(gainOf), NOT_SURE.map(gainOf));
    if (stakes.total() >= needed) return verdict(stakes.firstLeads() ? "too_sure" : "not_sure_enough", answers.length);
  }
  return unproved(answers.length, CHANCES_NEEDED);
}

const verdict = (finding, answers, more = 0) => ({ finding, answers, more });

function unproved(answers, needed) {
  if (answers < needed) return verdict("too_early", answers, needed - answers);
  return verdict("nothing", answers);
}

class Stakes {
  constructor(first, second) {
    this.first = Array(first).fill(0);
    this.second = Array(second).fill(0);
  }

  add(first, second) {
    this.first = this.first.map((grown, place) => grown + first[place]);
    this.second = this.second.map((grown, place) => grown + second[place]);
  }

  total() {
    return logMean([logMean(this.first), logMean(this.second)]);
  }

  firstLeads() {
    return logMean(this.first) >= logMean(this.second);
  }
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
