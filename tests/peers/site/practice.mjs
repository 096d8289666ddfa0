// Scores drawn cases as the page does: reads a list of cases from standard input, writes one line of results each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const scores = await import(pathToFileURL(process.argv[2]));
const cases = JSON.parse(readFileSync(0, "utf8"));
const made = {
  how_far: (one) => scores.howFarScore(one.ranges, one.move),
  brier: (one) => scores.brier(one.chances, one.came),
  moved: (one) => scores.movedBrier(one.chance, one.moved),
  log: (one) => scores.logScore(one.chance),
  ranges: (one) => scores.judgeRanges(one.inside, one.level === 50 ? scores.BETS_50 : scores.BETS_90, one.widths),
  chances: (one) => scores.judgeChances(one.answers),
  blocks: (one) => scores.blocks(one.values).map((block) => [block.mean, block.low, block.high]),
};
console.log(JSON.stringify(cases.map((one) => made[one.what](one))));
