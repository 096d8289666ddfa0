import assert from "node:assert/strict";
import test from "node:test";

import { browser, Node } from "./page.mjs";

process.env.TZ = "Europe/Berlin";
const HOUR_MS = 3_600_000;
const answers = {};
const { kept } = browser({}, answers);
globalThis.document.body = new Node("body");
const { isPending, keptVotes, lookUp, remember, sentence } = await import("./assets/kept-votes.js");

const counts = (all) => ({ bullish: all, neutral: 0, bearish: 0 });
const chances = { up: 0.3, neutral: 0.4, down: 0.3 };
const iso = (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

// A vote in a round that starts some hours from now, and what the site publishes of that round.
async function after(hours, { txid = "T", row = {}, ballots, live = null, oldest = null } = {}) {
  const begin = Date.now() + hours * HOUR_MS;
  const round = { round: "R", asset: "BTC", start: iso(begin), end: iso(begin + HOUR_MS) };
  kept.clear();
  remember(round, { choice: "BULLISH", chances: [55, 30, 15] }, { txid, voter: "V" });
  answers["/api/human-consensus.php"] = {
    body: { round: { round_id: live ? "R" : "S" }, human_consensus: { total: live ?? 0 }, simulated_votes: 0 },
  };
  const ended = { round_id: "R", start: round.start, votes: counts(1), simulated_votes: counts(0), ...row };
  const listed = { ...ended, round_id: "OTHER", start: iso(begin + (oldest ?? -100) * HOUR_MS) };
  answers["/arena/rounds.json"] = { body: { rounds: row.round_id === null ? [listed] : [ended, listed] } };
  answers["/files/ballots/R.json"] = ballots ? { body: { ballots } } : { status: 404, body: {} };
  await lookUp();
  const [vote] = keptVotes();
  return [isPending(vote), sentence(vote)];
}

const up = {
  outcome: "BULLISH",
  change_bps: 12,
  forecast: { call: "none", probabilities: chances, base_rate: chances },
};
const mine = [{ txid: "T", voter: "V" }];

test("before the close, and while it runs, a vote is pending and says when its answer comes", async () => {
  const [pending, words] = await after(0.5);
  const two = (number) => String(number).padStart(2, "0");
  const end = new Date(keptVotes()[0].end);
  const [published, own] = [`${two(end.getUTCHours())}:${two(end.getUTCMinutes())}`, two(end.getHours())];
  assert.ok(pending);
  assert.match(words, /^You gave BTC up 55%, small move 30%, down 15%, \d\d:\d\d to \d\d:\d\d UTC/);
  assert.match(
    words,
    new RegExp(`result follows at ${published} UTC \\(${own}:${published.slice(3)} your time\\)\\.$`),
  );

  const [runs, counted] = await after(-0.5, { live: 3, ballots: mine });
  assert.ok(runs);
  assert.match(counted, /Counted\. The result follows at/);
});

test("after its round a vote says what came", async () => {
  const [pending, words] = await after(-2, { row: up, ballots: mine });
  assert.ok(!pending);
  assert.match(words, /Up \(\+0\.120%\): you had given it 55%\.$/);
});

test("a vote that was not counted is told the true reason, or that none is published", async () => {
  const reason = async (about) => (await after(-2, { row: up, ...about }))[1];
  assert.match(await reason({ ballots: [{ txid: "U", voter: "V" }] }), /A later vote with the same key counted/);
  assert.match(
    await reason({ ballots: [{ txid: "U", voter: "W" }] }),
    /not among the votes .* why is not published\.$/,
  );
  assert.match(await reason({ row: { ...up, votes: counts(0) } }), /No vote was counted in this round\.$/);
});

test("what cannot be read is not called refused, and is asked again", async () => {
  const [, words] = await after(-2, { row: up });
  assert.doesNotMatch(words, /not among|No vote|key/);
  assert.equal(keptVotes()[0].counted, undefined);

  answers["/api/human-consensus.php"] = { status: 500, body: {} };
  await assert.rejects(lookUp());
  assert.equal(keptVotes().length, 1);
});

test("a round that did not take place, or is no longer listed, is neither right nor wrong", async () => {
  const gone = { outcome: null, void_reason: "no price at its end", change_bps: null, forecast: null };
  assert.match((await after(-2, { row: gone, ballots: mine }))[1], /The round is void: no price at its end\.$/);
  assert.match((await after(-2, { row: { round_id: null } }))[1], /it may never have begun\.$/);
  assert.match(
    (await after(-900, { row: { round_id: null }, oldest: 800 }))[1],
    /older than the rounds that are listed\.$/,
  );
});
