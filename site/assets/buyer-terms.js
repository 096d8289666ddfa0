// What the visitor agrees to: the terms that the page shows, held against the price on offer and against the very bytes
// that a wallet is asked to sign. Functions of their arguments: no page, no network, no wallet.

import { txidOf } from "./buyer-hash.js";

const AMOUNT = /^[1-9]\d{0,14}$/; // atomic units; more could not be shown exactly
const ADDRESS_BYTES = 32;
// A plain transfer of an asset. Nothing that closes an account, takes from another, or hands the account over.
const FIELDS = new Set(["aamt", "arcv", "fee", "fv", "gen", "gh", "grp", "lv", "lx", "note", "snd", "type", "xaid"]);

export const usdc = (atomic) =>
  `${(Number(atomic) / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })} USDC`;
export const atomic = (amount) => Number(amount).toLocaleString("en");
export const payable = (amount) => typeof amount === "string" && AMOUNT.test(amount);

function placeOf(url) {
  try {
    const { origin, pathname, username } = new URL(url);
    return username ? ["", ""] : [origin, pathname];
  } catch {
    return ["", ""];
  }
}

// The terms of a challenge that are not the ones on the page, as rows of name, now, shown; the price is not among them.
export function differences(shown, required) {
  const offer = required.accepts[0];
  const [origin, path] = placeOf(required.resource?.url);
  const rows = [
    ["service", origin, shown.origin],
    ["product", path, shown.path],
    ["payee", offer.payTo, shown.payee],
    ["asset", offer.asset, shown.asset],
    ["network", offer.network, shown.full],
    ["scheme", offer.scheme, "exact"],
    ["version of x402", JSON.stringify(required.x402Version), "2"],
  ];
  return rows.filter(([, now, before]) => now !== before);
}

const DIGEST = /^[0-9a-f]{64}$/;
const alike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// What makes a 402 more than one offer, or an offer of something unnamed, in words: header and body say the same, every
// way to pay on one network is the same payment, and the quote names the snapshot and the digest of what is sold.
export function contradictions(required, body) {
  const parts = ["x402Version", "resource", "accepts"];
  const found = parts
    .filter((name) => !alike(required[name], body?.[name]))
    .map((name) => `its header and its body differ in ${name}`);
  const [first, ...others] = required.accepts.map((one) => ({ ...one, network: "" }));
  const family = String(required.accepts[0].network).slice(0, 41); // algorand: and the 32 letters that both forms share
  if (others.some((one, at) => String(required.accepts[at + 1].network).startsWith(family) && !alike(one, first)))
    found.push("it offers two payments");
  if (!DIGEST.test(body?.quote?.sha256 ?? "")) found.push("it does not state the SHA-256 of what it sells");
  if (!body?.quote?.snapshotId || body.quote.snapshotId !== first.extra?.snapshotId)
    found.push("quote and offer name different snapshots");
  return found;
}

// What does not agree with a purchase in the answer that is to deliver it, in words; empty when all does.
export function shortfalls(purchase, { receipt, sum, body }) {
  const found = [];
  const wrong = (name, good) => good || found.push(name);
  if (!receipt) found.push("there is no receipt");
  else {
    wrong("the receipt does not say success", receipt.success === true);
    wrong("the receipt is for another transaction", receipt.transaction === purchase.txid);
    wrong("the receipt is for another network", receipt.network === purchase.network);
    wrong("the receipt is for another payer", [undefined, null, "", purchase.payer].includes(receipt.payer));
  }
  wrong("the SHA-256 of the document is not the quoted one", Boolean(purchase.sha256) && sum === purchase.sha256);
  wrong(
    "the document is of another snapshot than the quote",
    Boolean(purchase.snapshot) && body?.snapshotId === purchase.snapshot,
  );
  wrong("the document is another product", body?.endpoint === purchase.product);
  return found;
}

// How long a signed payment may still be settled by whoever has it: the longest validity of the network, and ten rounds.
export const HELD_MS = 1010 * 2800;
const MARGIN_ROUNDS = 10n;
export const heldUntil = (purchase) => Date.parse(purchase.at) + HELD_MS;

// The payment of a product that may have been settled and brought nothing yet; while there is one, no other is signed.
export const unfinished = (purchases, product, now) =>
  purchases.find(
    (one) => ["signed", "paid"].includes(one.status) && one.header && one.product === product && now < heldUntil(one),
  );

// What was not delivered may have been valid for longer, by the network's rounds, than a clock here says.
export function overlaps(purchases, product, unsigned) {
  const first = unpacked(bytesOf(unsigned)).get("fv") ?? 0n;
  return purchases.some(
    (one) =>
      one.product === product &&
      one.status !== "settled" &&
      one.lastValid &&
      first <= BigInt(one.lastValid) + MARGIN_ROUNDS,
  );
}

export const lastValidOf = (unsigned) => String(unpacked(bytesOf(unsigned)).get("lv") ?? 0n);
export const idOf = (unsigned) => txidOf(bytesOf(unsigned));

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

// Canonical msgpack of a transaction: one map of short names to whole numbers, words and bytes, and nothing after it.
function unpacked(bytes) {
  let place = 0;
  const take = (count) => {
    if (place + count > bytes.length) throw new Error("cut short");
    place += count;
    return bytes.subarray(place - count, place);
  };
  const number = (count) => take(count).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const word = (count) => new TextDecoder("utf-8", { fatal: true }).decode(take(count));
  const value = () => {
    const kind = Number(number(1));
    if (kind < 0x80) return BigInt(kind);
    if (kind >= 0xa0 && kind < 0xc0) return word(kind - 0xa0);
    if (kind === 0xc4) return take(Number(number(1)));
    if (kind === 0xc5) return take(Number(number(2)));
    if (kind >= 0xcc && kind <= 0xcf) return number(2 ** (kind - 0xcc));
    throw new Error("not of a payment");
  };
  const head = Number(number(1));
  if (head < 0x80 || head > 0x8f) throw new Error("no transaction");
  const fields = new Map();
  for (let left = head - 0x80; left > 0; left -= 1) {
    const name = value();
    if (fields.has(name)) throw new Error("repeated field");
    fields.set(name, value());
  }
  if (place !== bytes.length) throw new Error("more than a transaction");
  return fields;
}

function keyOf(address) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = 0;
  let count = 0;
  const key = [];
  for (const letter of String(address)) {
    bits = ((bits << 5) | letters.indexOf(letter)) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    key.push((bits >> count) & 0xff);
  }
  return key.slice(0, ADDRESS_BYTES);
}

const same = (found, wanted) =>
  found instanceof Uint8Array &&
  wanted.length === ADDRESS_BYTES &&
  found.length === wanted.length &&
  wanted.every((byte, at) => byte === found[at]);

// What is wrong with an unsigned payment (base64) against what was agreed to, in words; empty when it is just that.
export function surprises(unsigned, agreed) {
  let fields;
  try {
    fields = unpacked(bytesOf(unsigned));
  } catch {
    return ["no payment that can be read"];
  }
  const found = [...fields.keys()].filter((name) => !FIELDS.has(name)).map((name) => `an extra part (${name})`);
  const wrong = (name, good) => good || found.push(name);
  wrong("another kind", fields.get("type") === "axfer");
  wrong("another payer", same(fields.get("snd"), keyOf(agreed.payer)));
  wrong("another payee", same(fields.get("arcv"), keyOf(agreed.payee)));
  wrong("another amount", String(fields.get("aamt")) === agreed.amount);
  wrong("another asset", String(fields.get("xaid")) === agreed.asset);
  wrong("another network", same(fields.get("gh"), [...bytesOf(agreed.hash)]));
  wrong("a fee", (fields.get("fee") ?? 0n) === 0n);
  return found;
}

// A signed transaction ends with the transaction itself, byte for byte.
export function sealed(signed, unsigned) {
  try {
    const [whole, inner] = [atob(signed), atob(unsigned)];
    return whole.length > inner.length && whole.endsWith(inner);
  } catch {
    return false;
  }
}
