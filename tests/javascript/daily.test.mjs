import assert from "node:assert/strict";
import test from "node:test";

import { browser, Node, until } from "./page.mjs";

const RELAY = "/x402-buyer/ballot";
const QUESTION = "BTC-DAILY-20261124";
const nodes = { "daily-ask": new Node(), "daily-form": new Node("form") };
const prices = JSON.stringify(Array(48).fill(100));
nodes["daily-ask"].dataset = { prices, most: "400", question: QUESTION, closed: "12:00", next: "2026-11-25T13:00:00Z" };
const ends = { low_90: "-200", low_50: "-100", high_50: "100", high_90: "200" };
nodes["daily-form"].elements = Object.fromEntries(Object.entries(ends).map(([name, value]) => [name, { value }]));
const sent = ({ path, headers }) =>
  headers["X-Ballot"] ? "ballot" : Object.fromEntries(new URLSearchParams(path.split("?")[1]));
let answer = (_, headers) => ({ body: headers["X-Ballot"] ? { txid: "TXID" } : { transaction: btoa("txn") } });
const { asked, kept } = browser(nodes, {
  [RELAY]: (...request) => answer(...request),
  "/arena/daily.json": { body: { questions: [] } },
});
await import("./assets/daily.js");
const press = async () => {
  nodes["daily-form"].told.submit({ preventDefault: () => {} });
  await until(() => !nodes["daily-answer"].disabled);
};
const words = () => nodes["daily-state"].textContent;

test("an answer says its two ranges in hundredths of a percent and is kept with its transaction", async () => {
  await press();
  const [query, ballot] = asked.map(sent);
  assert.deepEqual(
    { ...query, voter: query.voter.length },
    { voter: 64, daily: QUESTION, r50: "-100,100", r90: "-200,200", change: "0" },
  );
  assert.equal(ballot, "ballot");
  assert.equal(JSON.parse(kept.get("emi-daily"))[0].txid, "TXID");
  assert.match(words(), /You said −1\.00% to \+1\.00% for half/);
});

test("the same answer again is no change, another one is", async () => {
  asked.length = 0;
  await press();
  nodes["daily-form"].elements.high_90.value = "250";
  await press();
  assert.deepEqual(
    asked
      .map(sent)
      .filter((row) => row !== "ballot")
      .map((row) => row.change),
    ["0", "1"],
  );
});

test("an end that is moved past others takes them along, so the ends stay in order", () => {
  const { elements } = nodes["daily-form"];
  elements.low_90.value = "150";
  const slider = nodes["daily-sliders"].children[0].children[0].children[1];
  slider.told.input();
  assert.deepEqual(
    Object.values(elements).map(({ value }) => Number(value)),
    [150, 150, 150, 250],
  );
});

test("a question that is closed is said, and nothing more is signed", async () => {
  asked.length = 0;
  answer = () => ({ status: 400, body: { reason: "locked" } });
  await press();
  assert.match(words(), /^Too late: this question takes no more answers/);
  assert.deepEqual(
    asked.map(sent).filter((row) => row === "ballot"),
    [],
  );
});
