// SHA-512/256, by which the network names a transaction and which no browser has; SHA-256 and SHA-512 for pages where the
// browser gives none (no https). FIPS 180-4; its constants are fractions of roots of primes, computed here.

const PRIMES = [];
for (let found = 2; PRIMES.length < 80; found += 1) if (PRIMES.every((prime) => found % prime)) PRIMES.push(found);

// The largest whole number whose power is not above a value.
function root(value, power) {
  let low = 0n;
  let high = 1n << BigInt(Math.ceil(value.toString(2).length / Number(power)));
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if (middle ** power <= value) low = middle;
    else high = middle - 1n;
  }
  return low;
}

const fraction = (prime, power, bits) => BigInt.asUintN(bits, root(BigInt(prime) << (power * BigInt(bits)), power));

function family(bits, rounds, turns) {
  return {
    bits,
    rounds,
    turns,
    steps: PRIMES.slice(0, rounds).map((prime) => fraction(prime, 3n, bits)),
    start: PRIMES.slice(0, 8).map((prime) => fraction(prime, 2n, bits)),
  };
}

const SHA256 = family(32, 64, [
  [2, 13, 22],
  [6, 11, 25],
  [7, 18, 3],
  [17, 19, 10],
]);
const SHA512 = family(64, 80, [
  [28, 34, 39],
  [14, 18, 41],
  [1, 8, 7],
  [19, 61, 6],
]);

function padded(bytes, bits) {
  const block = bits * 2;
  const length = Math.ceil((bytes.length + 1 + block / 8) / block) * block;
  const made = new Uint8Array(length);
  made.set(bytes);
  made[bytes.length] = 0x80;
  new DataView(made.buffer).setBigUint64(length - 8, BigInt(bytes.length) * 8n);
  return made;
}

function hash(bytes, { bits, rounds, turns, steps }, start) {
  const wrap = (value) => BigInt.asUintN(bits, value);
  const turn = (value, by) => (value >> BigInt(by)) | wrap(value << BigInt(bits - by));
  const mixed = (value, [first, second, third]) => turn(value, first) ^ turn(value, second) ^ turn(value, third);
  const spread = (value, [first, second, shift]) => turn(value, first) ^ turn(value, second) ^ (value >> BigInt(shift));
  const data = new DataView(padded(bytes, bits).buffer);
  const read = (at) => (bits === 32 ? BigInt(data.getUint32(at)) : data.getBigUint64(at));
  let state = [...start];

  for (let block = 0; block < data.byteLength; block += bits * 2) {
    const words = Array.from({ length: 16 }, (_, at) => read(block + (at * bits) / 8));
    for (let at = 16; at < rounds; at += 1) {
      words.push(
        wrap(words[at - 16] + spread(words[at - 15], turns[2]) + words[at - 7] + spread(words[at - 2], turns[3])),
      );
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < rounds; at += 1) {
      const first = h + mixed(e, turns[1]) + ((e & f) ^ (wrap(~e) & g)) + steps[at] + words[at];
      const second = mixed(a, turns[0]) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [wrap(first + second), a, b, c, wrap(d + first), e, f, g];
    }
    state = state.map((value, at) => wrap(value + [a, b, c, d, e, f, g, h][at]));
  }
  return state;
}

const hex = (state, bits) => state.map((word) => word.toString(16).padStart(bits / 4, "0")).join("");
const SALT = 0xa5a5a5a5a5a5a5a5n;
const SHORT_START = hash(
  new TextEncoder().encode("SHA-512/256"),
  SHA512,
  SHA512.start.map((word) => word ^ SALT),
);

export const sha256 = (bytes) => hex(hash(bytes, SHA256, SHA256.start), 32);
export const sha512 = (bytes) => hex(hash(bytes, SHA512, SHA512.start), 64);
export const sha512_256 = (bytes) => hex(hash(bytes, SHA512, SHORT_START), 64).slice(0, 64);

// The id of a transaction (canonical bytes): 52 letters of base32.
export function txidOf(bytes) {
  const tagged = new Uint8Array(bytes.length + 2);
  tagged.set([84, 88]); // "TX"
  tagged.set(bytes, 2);
  const bits = BigInt(`0x${sha512_256(tagged)}`)
    .toString(2)
    .padStart(256, "0")
    .padEnd(260, "0");
  return bits
    .match(/.{5}/g)
    .map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[parseInt(five, 2)])
    .join("");
}
