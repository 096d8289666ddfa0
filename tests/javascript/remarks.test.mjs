import assert from "node:assert/strict";
import test from "node:test";

import { onChances, onRanges, soFar, tails, trendOfChances, trendOfRanges } from "./assets/practice-remarks.js";
import { brier, howFarScore } from "./assets/practice-scores.js";

const around = (half, nine) => ({ low_90: -nine, low_50: -half, high_50: half, high_90: nine });
const truthOf = (move, brain, usual) => ({
  move,
  brain: { ranges: around(brain / 2, brain) },
  usual: { ranges: around(usual / 2, usual) },
});
const PARTS = { "a tenth of": 0.1, "a fifth of": 0.2, "a quarter of": 0.25, "a third of": 1 / 3, half: 0.5 };

test("what is said of two ranges is true of the figures, whatever they are", () => {
  const kinds = new Set();
  for (const half of [0, 0.05, 0.2, 0.5, 1])
    for (const nine of [0, 0.05, 0.3, 0.8, 2].filter((one) => one >= half))
      for (const usual of [0.1, 0.4, 1])
        for (const brain of [0.1, 0.6])
          for (let step = -260; step <= 260; step += 7) {
            const truth = truthOf(step / 100, brain, usual);
            const answer = around(half, nine);
            const words = onRanges(answer, truth);
            const far = Math.abs(truth.move);
            kinds.add(words.replace(/[\d.]+/g, "N"));

            assert.equal(words.startsWith("Outside both"), far > nine);
            assert.equal(words.startsWith("Between"), far > half && far <= nine);
            const part = words.match(/: (.+) the width holds it/)?.[1];
            if (part) {
              const share = PARTS[part];
              const narrower = around(share * half, share * nine);
              assert.ok(far <= share * half);
              assert.ok(Math.abs(howFarScore(narrower, truth.move) - share * howFarScore(answer, truth.move)) < 1e-9);
            } else if (words.startsWith("Inside")) assert.ok(far > half / 2, words);
            if (words.includes("yours was narrower")) assert.ok(nine < usual);
            if (words.includes("hour's 90% range holds")) assert.ok(far <= usual);
            if (words.includes("hour's 90% range misses")) assert.ok(far > usual && far <= brain);
            if (words.includes("and the brain's miss")) assert.ok(far > usual && far > brain);
            const wide = words.match(/was ([\d.]+) times as wide/)?.[1];
            if (wide) assert.equal(wide, (nine / usual).toFixed(1));
            const times = words.match(/([\d.]+) times as far as (your 90|the 50)/);
            if (times) assert.equal(times[1], (far / (times[2] === "your 90" ? nine : half)).toFixed(1));
            assert.doesNotMatch(words, /NaN|Infinity|undefined/);
          }
  assert.ok(kinds.size >= 14, [...kinds].join("\n"));
});

test("what is said of chances is true of the scores, whatever they are", () => {
  const kinds = new Set();
  const baseRate = [0.3, 0.4, 0.3];
  for (let up = 0; up <= 100; up += 1)
    for (let down = 0; up + down <= 100; down += 1)
      for (let came = 0; came < 3; came += 1) {
        const said = [up / 100, (100 - up - down) / 100, down / 100];
        const [own, usual] = [brier(said, came), brier(baseRate, came)];
        const words = onChances({ said, baseRate, came }, own, usual);
        kinds.add(words.replace(/[\d.]+/g, "N"));

        const gave = words.match(/gave what came (\d+) in/);
        if (gave) assert.equal(Number(gave[1]), Math.round(100 * said[came]));
        if (/ better|it saved|it cost| worse/.test(words) && !words.startsWith("You said about")) {
          assert.ok(words.includes(Math.abs(usual - own).toFixed(3)), words);
          assert.equal(/ better|it saved/.test(words), own < usual, words);
        }
        const rest = (chances) => chances.reduce((sum, one, place) => sum + (place === came ? 0 : one * one), 0);
        if (words.includes("more evenly")) assert.ok(rest(said) < rest(baseRate), words);
        if (words.includes("less evenly")) assert.ok(rest(said) > rest(baseRate), words);
      }
  assert.ok(kinds.size >= 8, [...kinds].join("\n"));
  assert.match(onChances({ said: [0.7, 0.3], baseRate: [0.4, 0.6], came: 0 }, 0.09, 0.36), /it saved 0\.270/);
});

test("tails are the binomial's, and those of unlike chances add up over all ways", () => {
  const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-12, `${found} is not ${wanted}`);
  near(tails(Array(5).fill(0.5), 5)[1], 1 / 32);
  near(tails(Array(5).fill(0.5), 4)[0], 31 / 32);
  near(tails([0.2, 0.7], 1)[1], 1 - 0.8 * 0.3);
  near(tails([0.2, 0.7], 1)[0], 1 - 0.2 * 0.7);
});

test("a trend is named from five answers on, as early and with what luck makes of it", () => {
  const all = Array(5).fill(true);
  assert.equal(trendOfRanges(all.slice(1), all.slice(1)), "");
  assert.equal(
    trendOfRanges(all, all),
    "Early, after 5 answers: your 50% ranges held 5 of 5 hours, so far too wide (luck alone: 3 in 100); " +
      "your 90% ranges held 5 of 5 hours, which fits so far.",
  );
  assert.match(trendOfRanges(Array(10).fill(true), Array(10).fill(true)), /too wide \(luck alone: fewer than 1 in 100/);
  assert.match(trendOfRanges([false, true, false, true, true], [false, true, false, true, true]), /too narrow/);
  assert.equal(soFar(Array(4).fill(0.5), 0, "many", "few"), "");

  const row = (said, came) => ({ said, baseRate: [0.3, 0.4, 0.3], came });
  const sure = [0.9, 0.05, 0.05];
  const wrong = Array(5).fill(row(sure, 1));
  assert.match(trendOfChances(wrong), /came in 0 of 5, where your chances say 4\.5: so far too sure/);
  assert.match(trendOfChances(Array(5).fill(row([0.31, 0.39, 0.3], 1))), /you repeat the base rate so far/);
  assert.match(trendOfChances(Array(5).fill(row([0.5, 0.25, 0.25], 0))), /so far not sure enough/);
  assert.equal(trendOfChances(wrong.slice(1)), "");
});
