// What the visitor agrees to: the terms that the page shows, held against the price on offer and against the very bytes
// that a wallet is asked to sign. Functions of their arguments: no page, no network, no wallet.

const AMOUNT = /^[1-9]\d{0,14}$/; // atomic units; more could not be shown exactly
const ADDRESS_BYTES = 32;
// A plain transfer of an asset. Nothing that closes an account, takes from another, or hands the account over.
const FIELDS = new Set(["aamt", "arcv", "fee", "fv", "gen", "gh", "grp", "lv", "lx", "note", "snd", "type", "xaid"]);

export const usdc = (atomic) => `${(Number(atomic) / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })} USDC`;
export const atomic = (amount) => Number(amount).toLocaleString("en");
export const payable = (amount) => typeof amount === "string" && AMOUNT.test(amount);

function pathOf(url) {
  try {
    return new URL(url, "https://here.invalid").pathname;
  } catch {
    return "";
  }
}

// The terms of a challenge that are not the ones on the page, as rows of name, now, shown; the price is not among them.
export function differences(shown, required) {
  const offer = required.accepts[0];
  const rows = [
    ["product", pathOf(required.resource?.url), shown.path],
    ["payee", offer.payTo, shown.payee],
    ["asset", offer.asset, shown.asset],
    ["network", offer.network, shown.full],
    ["scheme", offer.scheme, "exact"],
    ["version of x402", String(required.x402Version), "2"],
  ];
  return rows.filter(([, now, before]) => now !== before);
}

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

const same = (found, wanted) => found instanceof Uint8Array && wanted.length === ADDRESS_BYTES && found.length === wanted.length && wanted.every((byte, at) => byte === found[at]);

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
