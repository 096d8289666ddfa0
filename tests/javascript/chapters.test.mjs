import assert from "node:assert/strict";
import test from "node:test";

import { browser } from "./page.mjs";

const { kept } = browser({});
const { isDone, judge, mark, marks, next, shown, summary } = await import("./assets/learn-marks.js");

const share = { answer: 48.6, low: 42, high: 55, least: 0, most: 100, step: 1, words: "{} in 100" };
const size = { answer: 1.137, least: 0, most: 5, step: 0.01, words: "{}%" };
const said = (value, about) => judge(value, about).words;

test("a guess is judged by the count that follows, and by what luck allows it", () => {
  assert.equal(said(49, share), "You said 49 in 100: just right.");
  assert.equal(said(43, share), "You said 43 in 100; it is 49 in 100: close, inside the 42 to 55 that luck allows.");
  assert.equal(said(60, share), "You said 60 in 100; it is 49 in 100: not far, 11 too high.");
  assert.equal(said(5, share), "You said 5 in 100; it is 49 in 100: 44 too low.");
  assert.equal(said(1.3, size), "You said 1.30%; it is 1.14%: close.");
  assert.equal(said(4, size), "You said 4.00%; it is 1.14%: 2.86 too high.");
  assert.deepEqual([judge(1.3, size).isClose, judge(4, size).isClose], [true, false]);
});

test("each guess of a slider is close or not, and what it is off by is what the two numbers show", () => {
  for (let value = 0; value <= 100; value += 1) {
    const { words, isClose } = judge(value, { ...share, answer: 48.5 });
    const off = words.match(/(\d+) too (high|low)/);
    assert.equal(isClose, (42 <= value && value <= 55) || Math.abs(value - 48.5) <= 5);
    if (off) assert.equal(Number(off[1]) * (off[2] === "high" ? 1 : -1), value - 49);
  }
});

test("a number below zero has its sign, and a zero has none", () => {
  assert.deepEqual([shown(-2.4, 0.5), shown(-0.2, 1), shown(1200, 1)], ["\u22122.4", "0", "1,200"]);
});

test("what was answered is kept, and leads to where one was", () => {
  const names = ["base-rates", "volatility", "luck"];
  assert.equal(next(names), null);
  mark("base-rates", 2, 0, true);
  assert.equal(next(names), "base-rates");
  assert.equal(summary(marks().chapters["base-rates"]), "1 of 2 answered; 1 of 1 guesses close.");
  mark("base-rates", 2, 1, null);
  assert.ok(isDone(marks().chapters["base-rates"]));
  assert.equal(summary(marks().chapters["base-rates"]), "Chapter done; 1 of 1 guesses close.");
  assert.equal(next(names), "volatility");
  mark("base-rates", 2, 0, null); // opened again without a guess: what was guessed is kept
  assert.equal(marks().chapters["base-rates"].answered[0], true);
  for (const name of names.slice(1)) mark(name, 1, 0, false);
  assert.equal(next(names), null);
});

test("a storage that holds something else, or nothing, is an empty one", () => {
  kept.set("emi-chapters", "[]");
  assert.deepEqual(marks(), { last: null, chapters: {} });
  localStorage.setItem = () => {
    throw new Error("full");
  };
  mark("luck", 3, 0, true);
  assert.equal(summary(marks().chapters.luck), "1 of 3 answered; 1 of 1 guesses close.");
});
