import assert from "node:assert/strict";
import test from "node:test";

import { browser, Node, until } from "./page.mjs";

const RELAY = "/x402-buyer/ballot";
const QUESTION = "BTC-DAILY-20261124";
const SEALED = { low_90: -306, low_50: -102, high_50: 102, high_90: 306 };
const BRAIN = "/arena/daily-brain.json";
let sealedOf = QUESTION;
const place = new Node();
const nodes = { "day-part": new Node(), "daily-form": new Node("form"), "#day-part .daily-column": place };
const scale = {
  base: "50000",
  low: "47000",
  high: "53000",
  most: "400",
  begin: "-150 -60 90 180",
  column: "10 90 70 100",
};
nodes["day-part"].dataset = { ...scale, question: QUESTION, closed: "12:00", next: "2026-11-25T13:00:00Z" };
const sent = ({ path, headers }) =>
  headers["X-Ballot"] ? "ballot" : Object.fromEntries(new URLSearchParams(path.split("?")[1]));
let answer = (_, headers) => ({ body: headers["X-Ballot"] ? { txid: "TXID" } : { transaction: btoa("txn") } });
const { asked, kept } = browser(nodes, {
  [RELAY]: (...request) => answer(...request),
  "/arena/daily.json": { body: { questions: [] } },
  [BRAIN]: () => ({ body: { question_id: sealedOf, forecast: { brain: SEALED } } }),
});
await import("./assets/daily.js");
const press = async () => {
  nodes["daily-form"].told.submit({ preventDefault: () => {} });
  await until(() => !nodes["daily-answer"].disabled);
};
const words = () => nodes["daily-state"].textContent;
const handle = (name) => place.children.find((child) => child.dataset.end === name);
const key = (name, pressed) => handle(name).told.keydown({ key: pressed, preventDefault: () => {} });
const ends = () => ["low_90", "low_50", "high_50", "high_90"].map((name) => handle(name).attributes["aria-valuenow"]);

test("nothing of the brain is asked for before an answer", () => {
  assert.deepEqual(asked, []);
  assert.match(nodes["daily-said"].textContent, /^Drag the bands: 50% sure between \$49,700 and \$50,450/);
  key("high_90", "ArrowUp");
  assert.match(nodes["daily-said"].textContent, /^Yours: 50% sure between \$49,700 and \$50,450/);
  key("high_90", "ArrowDown");
  assert.deepEqual(asked, []);
  assert.deepEqual(ends(), [-150, -60, 90, 180]);
});

test("an answer says its two ranges in hundredths of a percent and is kept with its transaction", async () => {
  await press();
  const [query, ballot] = asked.map(sent); // then what the brain says
  assert.deepEqual(
    { ...query, voter: query.voter.length },
    { voter: 64, daily: QUESTION, r50: "-60,90", r90: "-150,180", change: "0" },
  );
  assert.equal(ballot, "ballot");
  assert.equal(JSON.parse(kept.get("emi-daily"))[0].txid, "TXID");
  assert.deepEqual(asked.map((one) => one.path).slice(2), [BRAIN]);
  assert.match(words(), /^Your answer counts at 12:00\. /);
  assert.match(words(), /The brain when asked \(dashed\): nine in ten between \$48,470 and \$51,530/); // 3.06% of the base
});

test("the same answer again is no change, another one is", async () => {
  asked.length = 0;
  await press();
  key("high_90", "PageUp");
  await press();
  assert.deepEqual(
    asked
      .map(sent)
      .filter((row) => row.voter)
      .map((row) => row.change),
    ["0", "1"],
  );
});

test("what is sealed of another question is not shown", async () => {
  sealedOf = "BTC-DAILY-20261125";
  await press();
  assert.doesNotMatch(words(), /The brain/);
  sealedOf = QUESTION;
});

test("an end that is moved past others takes them along, so the ends stay in order", () => {
  key("low_90", "End");

  assert.deepEqual(ends(), [400, 400, 400, 400]);
  key("high_50", "PageDown");
  key("low_90", "ArrowDown");
  assert.deepEqual(ends(), [345, 350, 350, 400]);
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
