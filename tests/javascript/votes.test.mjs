import assert from "node:assert/strict";
import test from "node:test";

import { browser, Node } from "./page.mjs";

const nodes = { "wallet-vote": null };
const answers = {};
const { asked, kept } = browser(nodes, answers);
globalThis.document.body = new Node("body");
const { keyFile, keyOfThisBrowser, off, RELAY, relay, Said, signed, takeKey, voterOf, WordsAlone } =
  await import("./assets/vote-key.js");

const said = async (status, body) => {
  answers[RELAY] = { status, body };
  return relay("?round=r").then(
    () => "taken",
    (error) => [error instanceof Said, error instanceof WordsAlone, error.message],
  );
};

test("a ballot that the gateway prepares or takes is handed on", async () => {
  answers[RELAY] = { body: { txid: "T" } };
  assert.deepEqual(await relay("?round=r", { "X-Ballot": "b" }), { txid: "T" });
  assert.deepEqual(asked.at(-1), { path: `${RELAY}?round=r`, headers: { "X-Ballot": "b" } });
});

test("each reason for which no ballot is taken is a sentence for the visitor", async () => {
  assert.match((await said(400, { reason: "locked" }))[2], /^Too late/);
  assert.deepEqual(await said(503, { reason: "off" }), [true, false, off()]);
  assert.deepEqual(await said(404, {}), [true, false, off()]);
  assert.deepEqual(await said(400, { reason: "words_alone", detail: "words" }), [true, true, "words"]);
  assert.deepEqual(await said(429, { detail: "full" }), [true, false, "full"]);
  assert.match((await said(200, {}))[2], /^This site takes no votes now/); // an answer without a transaction
});

test("the key of this browser signs the bytes that the gateway prepared, and stays the same", async () => {
  const key = await keyOfThisBrowser();
  const bytes = Uint8Array.from(atob(await signed(key, btoa("txn"))), (letter) => letter.charCodeAt(0));

  const text = new TextDecoder("latin1").decode(bytes);
  assert.equal(text.slice(0, 7), "\u0082\u00a3sig\u00c4@");
  assert.equal(text.slice(-7), "\u00a3txntxn");
  const message = new TextEncoder().encode("TXtxn");
  assert.ok(await crypto.subtle.verify("Ed25519", key.publicKey, bytes.subarray(7, 71), message));
  assert.equal(await voterOf(await keyOfThisBrowser()), await voterOf(key));
});

test("a key that was kept as a file comes back as the same voter, and no other file does", async () => {
  const key = await keyOfThisBrowser();
  const text = await (await keyFile(key)).text();
  assert.equal(await voterOf(await takeKey(text)), await voterOf(key));
  await assert.rejects(takeKey(JSON.stringify({ ...JSON.parse(text), format: "other" })));
  const other = await keyFile(await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]));
  const { d } = JSON.parse(await other.text());
  await assert.rejects(takeKey(JSON.stringify({ ...JSON.parse(text), d })));
});

test("a browser that signs nothing itself has the same key, ballots and file by a script of the page", async () => {
  const key = await keyOfThisBrowser();
  const file = await (await keyFile(key)).text();
  const transaction = btoa("txn");
  const own = await signed(key, transaction);

  const { subtle } = crypto;
  Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
  const taken = await takeKey(file);
  assert.equal(await signed(taken, transaction), own);
  assert.equal(await (await keyFile(taken)).text(), file);
  assert.ok(taken.seed);
  const { d } = JSON.parse(file);
  const other = { ...JSON.parse(file), d: d.replace(/^./, d[0] === "A" ? "B" : "A") };
  await assert.rejects(takeKey(JSON.stringify(other)));
  Object.defineProperty(crypto, "subtle", { value: subtle, configurable: true });
  assert.equal(await voterOf(await takeKey(file)), await voterOf(taken));
});

test("a gateway that asks for a little patience is asked again, and one that asks for more is not", async (context) => {
  context.mock.method(globalThis, "setTimeout", (call) => queueMicrotask(call));
  const statuses = [503, 429, 200];
  const asking = (wait) => {
    globalThis.fetch = async () => {
      const status = statuses.shift();
      const body = status === 200 ? { txid: "T" } : { detail: "come again" };
      return { ok: status < 400, status, headers: new Headers({ "Retry-After": wait }), json: async () => body };
    };
    return relay("?round=r");
  };
  assert.deepEqual(await asking("5"), { txid: "T" });
  statuses.push(429, 200);
  await assert.rejects(asking("600"), /come again/);
  assert.deepEqual(statuses, [200]);
});

test("three chances always add up to 100: moving one moves the others in their proportion", async () => {
  const set = { "own-up": 40, "own-even": 33, "own-down": 27 };
  for (const id of [...Object.keys(set), "own-form", "own-chances"]) nodes[id] = Object.assign(new Node(), { id });
  for (const [id, value] of Object.entries(set)) nodes[id].value = String(value);
  kept.clear();
  await import("./assets/vote.js");
  assert.equal(nodes["own-up-said"].textContent, "40%");

  nodes["own-up"].value = "70";
  nodes["own-up"].told.input();
  const shown = Object.keys(set).map((id) => nodes[`${id}-said`].textContent);
  assert.deepEqual(shown, ["70%", "17%", "13%"]); // 33 to 27 of the 30 that are left
});

test("no chance that is moved leaves a total other than 100", async () => {
  const { addTo100 } = await import("./assets/chances.js");
  for (let moved = 0; moved < 3; moved += 1)
    for (let value = 0; value <= 100; value += 1)
      for (const before of [
        [40, 33, 27],
        [100, 0, 0],
        [0, 0, 100],
        [1, 98, 1],
      ]) {
        const chances = addTo100(before.with(moved, value), moved);
        assert.equal(chances[moved], value);
        assert.equal(chances[0] + chances[1] + chances[2], 100);
        assert.ok(chances.every((chance) => Number.isInteger(chance) && chance >= 0));
      }
});
