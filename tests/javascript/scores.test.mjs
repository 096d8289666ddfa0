import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  BETS_50,
  BETS_90,
  blocks,
  brier,
  howFarScore,
  intervalScore,
  isInside,
  judgeChances,
  judgeRanges,
  logScore,
  movedBrier,
} from "./assets/practice-scores.js";

const { held, ranges, chances } = JSON.parse(readFileSync("expected.json"));
const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-12, `${found} is not ${wanted}`);

test("an interval score is the width and a fine for the distance of a move outside", () => {
  near(intervalScore(-1, 1, 0.5, 0), 2);
  near(intervalScore(-1, 1, 0.5, 1.5), 2 + 4 * 0.5);
  near(intervalScore(-1, 1, 0.1, -1.5), 2 + 20 * 0.5);
  near(howFarScore({ low_50: -1, high_50: 1, low_90: -2, high_90: 2 }, 1.5), (2 + 2 + 4) / 2);
  assert.deepEqual([isInside(-1, 1, 1), isInside(-1, 1, 1.001)], [true, false]);
});

test("chances are scored by their squared distance from what came", () => {
  near(brier([0.6, 0.25, 0.15], 0), 0.4 ** 2 + 0.25 ** 2 + 0.15 ** 2);
  near(movedBrier(0.3, true), 0.49);
  near(movedBrier(0.3, false), 0.09);
  near(logScore(0), -Math.log(0.01));
});

test("verdicts on ranges are those of the service", () => {
  for (const [name, inside] of Object.entries(held))
    assert.deepEqual(
      [BETS_50, BETS_90].map((bets) => judgeRanges(inside, bets)),
      ranges[name],
      name,
    );
});

test("verdicts on chances are those of the service", () => {
  for (const [name, { answers, verdict }] of Object.entries(chances))
    assert.deepEqual(judgeChances(answers), verdict, name);
});

test("only full blocks of twenty have a mean, with a band that is nothing where all are alike", () => {
  assert.deepEqual(blocks(Array(19).fill(1)), []);
  assert.deepEqual(blocks(Array(39).fill(0.5)), [{ mean: 0.5, low: 0.5, high: 0.5 }]);
  const [{ mean, low, high }] = blocks([...Array(10).fill(0), ...Array(10).fill(1)]);
  near(mean, 0.5);
  near(high - mean, mean - low);
  near(high - mean, 1.729132811521367 * Math.sqrt(5 / 19 / 20));
});
