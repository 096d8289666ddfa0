import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  contradictions,
  differences,
  heldUntil,
  idOf,
  lastValidOf,
  overlaps,
  payable,
  sealed,
  shortfalls,
  surprises,
  unfinished,
} from "./assets/buyer-terms.js";

const { agreed, payment, closing, paying, txid } = JSON.parse(readFileSync("expected.json"));
const shown = { origin: "https://a.example", path: "/api/x", payee: "PAYEE", asset: "10", full: "algorand:full" };
const offer = { payTo: "PAYEE", asset: "10", network: "algorand:full", scheme: "exact", extra: { snapshotId: "7" } };
const required = { x402Version: 2, resource: { url: "https://a.example/api/x" }, accepts: [offer] };
const quote = { sha256: "a".repeat(64), snapshotId: "7" };

test("a plain payment as agreed holds no surprise and has the id that the network gives it", () => {
  assert.deepEqual(surprises(payment, agreed), []);
  assert.equal(idOf(payment), txid);
  assert.equal(lastValidOf(payment), "1500");
});

test("each other payer, payee, amount, asset and network is a surprise", () => {
  const others = { payer: agreed.payee, payee: agreed.payer, amount: "20001", asset: "1", hash: btoa("x".repeat(32)) };
  const found = Object.entries(others).map(([name, value]) => surprises(payment, { ...agreed, [name]: value }));
  assert.deepEqual(found, [
    ["another payer"],
    ["another payee"],
    ["another amount"],
    ["another asset"],
    ["another network"],
  ]);
});

test("a payment with a fee, that closes the account, or cannot be read, is never agreed to", () => {
  assert.deepEqual(surprises(paying, agreed), ["a fee"]);
  assert.deepEqual(surprises(closing, agreed), ["an extra part (aclose)"]);
  assert.deepEqual(surprises(payment.slice(0, -8), agreed), ["no payment that can be read"]);
  assert.deepEqual(surprises(btoa(`${atob(payment)}x`), agreed), ["no payment that can be read"]);
});

test("a signed transaction ends with the very one that was prepared", () => {
  assert.equal(sealed(btoa(`head${atob(payment)}`), payment), true);
  assert.equal(sealed(payment, payment), false);
  assert.equal(sealed(btoa(`head${atob(closing)}`), payment), false);
});

test("terms that changed are named with what they are and what the page shows", () => {
  assert.deepEqual(differences(shown, required), []);
  const other = { ...required, accepts: [{ ...offer, payTo: "OTHER" }], x402Version: "2" };
  assert.deepEqual(differences(shown, other), [
    ["payee", "OTHER", "PAYEE"],
    ["version of x402", '"2"', "2"],
  ]);
  const named = { ...required, resource: { url: "https://me@a.example/api/x" } };
  assert.deepEqual(
    differences(shown, named).map(([name]) => name),
    ["service", "product"],
  );
});

test("a challenge that says two things, or sells something unnamed, is told from one offer", () => {
  assert.deepEqual(contradictions(required, { ...required, quote }), []);
  const dearer = { ...required, accepts: [{ ...offer, amount: "2" }], quote };
  assert.deepEqual(contradictions(required, dearer), ["its header and its body differ in accepts"]);
  const unnamed = contradictions(required, { ...required, quote: { ...quote, sha256: "", snapshotId: "8" } });
  assert.equal(unnamed.length, 2);
});

test("a purchase is whole only where receipt, digest, snapshot and product agree", () => {
  const purchase = { txid, network: "n", payer: "P", sha256: "s", snapshot: "7", product: "atlas" };
  const good = {
    receipt: { success: true, transaction: txid, network: "n" },
    sum: "s",
    body: { snapshotId: "7", endpoint: "atlas" },
  };
  assert.deepEqual(shortfalls(purchase, good), []);
  assert.deepEqual(shortfalls(purchase, { ...good, receipt: null }), ["there is no receipt"]);
  const wrong = { success: "true", transaction: "OTHER", network: "m", payer: "Q" };
  for (const [name, value] of Object.entries(wrong))
    assert.equal(shortfalls(purchase, { ...good, receipt: { ...good.receipt, [name]: value } }).length, 1, name);
  for (const other of [
    { sum: "t" },
    { body: { ...good.body, snapshotId: "8" } },
    { body: { ...good.body, endpoint: "x" } },
  ])
    assert.equal(shortfalls(purchase, { ...good, ...other }).length, 1);
});

test("no other payment of a product is signed while one may still be settled", () => {
  const purchase = { status: "signed", header: "h", product: "atlas", at: "2026-11-24T12:00:00Z", lastValid: "520" };
  const end = heldUntil(purchase);
  assert.equal(end - Date.parse(purchase.at), 1010 * 2800);
  assert.equal(unfinished([purchase], "atlas", end - 1), purchase);
  assert.equal(unfinished([purchase], "atlas", end), undefined);
  assert.equal(unfinished([{ ...purchase, status: "settled" }], "atlas", end - 1), undefined);
  assert.equal(overlaps([purchase], "atlas", payment), true); // from round 500 on
  assert.equal(overlaps([{ ...purchase, lastValid: "489" }], "atlas", payment), false);
});

test("an amount is a whole number of units that can be shown exactly", () => {
  assert.deepEqual(["1", "999999999999999"].map(payable), [true, true]);
  assert.deepEqual(["0", "01", "1.5", "-1", 5, "1000000000000000"].map(payable), Array(6).fill(false));
});
