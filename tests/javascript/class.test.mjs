import assert from "node:assert/strict";
import test from "node:test";

import { browser } from "./page.mjs";

const { kept } = browser({});
const { answersOf, csv, summaryOf, votesOf } = await import("./assets/class-sheet.js");
const { isCopyDue, noteCopy } = await import("./assets/keep-copy.js");

const ranges = (half, nine) => ({ low_90: -nine, low_50: -half, high_50: half, high_90: nine });
const answer = (item, half, nine, score) => ({
  ...{ item, question: "how_far", given: "2026-11-29T10:00:00Z", month: "m", answer: ranges(half, nine) },
  ...{ score, brain_score: 1, usual_score: 2 },
});
const ANNA = { name: "Anna", answers: [answer("a", 0.2, 1, 3), answer("b", 0.5, 1, 1)] };
const MOVES = new Map([
  ["a", 0.3],
  ["b", -1.5],
]);

test("a teacher reads of each pupil how many ranges held, and the mean scores", () => {
  const silent = { name: "Ben", answers: [] };
  assert.deepEqual(summaryOf([ANNA, silent], MOVES).slice(1), [
    ["Anna", 2, "0 of 2", "1 of 2", "2.000", "2.000"],
    ["Ben", 0, "0 of 0", "0 of 0", "", ""],
  ]);
});

test("the file has a row for each answer, and no cell that a spreadsheet would compute", () => {
  const other = { name: '=HYPERLINK("x"), of 9b', answers: [answer("a", 0.2, 1, 3)] };
  const lines = csv(answersOf([ANNA, other])).split("\r\n");
  assert.equal(lines.length, 1 + 3 + 1);
  assert.equal(lines[1], "Anna,2026-11-29T10:00:00Z,how_far,a,-1,-0.2,0.2,1,,,,,3,1,2");
  assert.ok(lines[3].startsWith(`"'=HYPERLINK(""x""), of 9b",`));
});

test("a vote of a round has its chances and its Brier score, and a word has none", () => {
  const ballots = [
    { voter: "ABCDEFGH", choice: "BULLISH", chances: { up: 40, neutral: 33, down: 27 } },
    { voter: "IJKLMNOP", choice: "BEARISH" },
  ];
  assert.deepEqual(votesOf({ ballots }, "BULLISH").slice(1), [
    ["ABCDEF", 40, 33, 27, "BULLISH", "BULLISH", "0.542"], // .6 squared, .33 squared and .27 squared
    ["IJKLMN", "", "", "", "BEARISH", "BULLISH", ""],
  ]);
  assert.deepEqual(votesOf({ ballots }, null)[1].slice(5), ["", ""]);
});

test("a copy is offered from the third answer on until one was saved, and the browser is asked to keep", async () => {
  const asked = [];
  const storage = { persisted: async () => false, persist: async () => asked.push("persist") };
  Object.defineProperty(globalThis, "navigator", { value: { storage }, configurable: true });
  assert.ok(!isCopyDue("key", 2));
  assert.deepEqual(asked, []);
  assert.ok(isCopyDue("key", 3));
  assert.ok(isCopyDue("record", 3));
  await new Promise(setImmediate);
  assert.deepEqual(asked, ["persist"]);

  noteCopy("key");
  assert.ok(!isCopyDue("key", 4));
  assert.ok(isCopyDue("record", 4));
  assert.equal(kept.get("emi-copied"), '{"key":true}');
});
