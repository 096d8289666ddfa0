// The key of this browser, which never leaves it, and the gateway of this site, which prepares a ballot and takes it signed.
export const RELAY = "/x402-buyer/ballot";
const RELAY_MS = 15000;
const TRIES = 6;
const SHORT_WAIT_S = 5; // a gateway that many ask at once, a class at its start, asks for no more
const OTHER_WAYS = `Vote with a wallet or from the command line${location.pathname === "/arena/" ? " instead." : ": see the Arena page."}`;
const OFF = `The free vote is off on this site. ${OTHER_WAYS}`;
const STALE =
  "This service has stopped: it has published nothing for some minutes, and takes no votes. Vote again once it runs.";

export class Said extends Error {} // a sentence for the visitor
export class WordsAlone extends Said {} // the round opened before the service took chances

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const base64Of = (bytes) => btoa(String.fromCharCode(...bytes));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const LATE = "Too late: votes in this round are closed. The next round opens within a minute.";

// The seconds after which to ask again, null where that is not soon.
function soon(answer) {
  const wait = Number(answer.headers?.get("Retry-After"));
  return [429, 503].includes(answer.status) && wait > 0 && wait <= SHORT_WAIT_S ? wait : null;
}

// Ask, and again as often as the gateway asks for a little patience. The same ballot cannot count twice.
async function asked(query, headers) {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(RELAY + query, { cache: "no-store", headers, signal: AbortSignal.timeout(RELAY_MS) });
    const wait = soon(answer);
    if (wait === null || tries === TRIES) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1000 * wait * (0.5 + Math.random())));
  }
}

// What this site's gateway answers, or a sentence on why it does not; `late` is said of what takes no ballots any more.
export async function relay(query, headers = {}, late = LATE) {
  let answer;
  try {
    answer = await asked(query, headers);
  } catch {
    throw new Said(
      navigator.onLine
        ? "This site does not answer. Press again; a vote cannot count twice."
        : "You are offline. Nothing was sent.",
    );
  }
  const received = await answer.json().catch(() => ({}));
  if (answer.ok && (received.txid || received.transaction)) return received;
  if (received.reason === "locked") throw new Said(late);
  if (received.reason === "off" || answer.status === 404) throw new Said(off());
  if (received.reason === "words_alone") throw new WordsAlone(received.detail);
  throw new Said(received.detail || "This site takes no votes now. Try again in a minute.");
}

// Where no vote is taken: this site has no free vote, or its service has stopped.
export const off = () => (document.body.classList.contains("is-stale") ? STALE : OFF);

function store(mode, work) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("emi-arena", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const asked = work(opening.result.transaction("keys", mode).objectStore("keys"));
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    };
  });
}

const KIND = { name: "Ed25519" };
let unkept; // where the browser keeps nothing

const signing = () => import("./vote-signing.js");

// A key of the browser's own making, which another page cannot read; else a seed, and its public half, in bytes.
async function madeKey() {
  try {
    return await crypto.subtle.generateKey(KIND, true, ["sign", "verify"]); // so that its voter can keep it as a file
  } catch {
    return (await signing()).keyOf(crypto.getRandomValues(new Uint8Array(SEED_BYTES)));
  }
}

export async function keyOfThisBrowser() {
  const kept = await keptKey();
  if (kept) return kept;
  let made;
  try {
    made = await madeKey();
  } catch {
    throw new Said(`This browser cannot make the key for a free vote. ${OTHER_WAYS}`);
  }
  // Two tabs: the first key stays.
  await store("readwrite", (keys) => keys.add(made, "voter")).catch(() => {});
  return (await store("readonly", (keys) => keys.get("voter")).catch(() => null)) || (unkept = made);
}

export async function signed(key, transaction) {
  const bytes = bytesOf(transaction);
  const message = Uint8Array.from([0x54, 0x58, ...bytes]); // "TX"
  const signature = key.seed
    ? (await signing()).signature(key, message)
    : new Uint8Array(await crypto.subtle.sign(KIND, key.privateKey, message));
  // Msgpack: a map of two, "sig" with 64 bytes and "txn".
  return base64Of([0x82, 0xa3, 0x73, 0x69, 0x67, 0xc4, 0x40, ...signature, 0xa3, 0x74, 0x78, 0x6e, ...bytes]);
}

// The public key, by which the gateway knows the voter.
export async function voterOf(key) {
  return hex(key.seed ? key.public : new Uint8Array(await crypto.subtle.exportKey("raw", key.publicKey)));
}

// The key of this browser, null where none was made yet.
export const keptKey = async () => unkept || (await store("readonly", (keys) => keys.get("voter")).catch(() => null));

const FORMAT = "emi-voter-key/1";
const SEED_BYTES = 32;
const inUrl = (bytes) => base64Of(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const ofUrl = (text) => bytesOf(text.replace(/-/g, "+").replace(/_/g, "/"));

// The file that a voter keeps; null for a key from before keys could be kept.
export async function keyFile(key) {
  if (!key.seed && !key.privateKey.extractable) return null;
  const { x, d } = key.seed
    ? { x: inUrl(key.public), d: inUrl(key.seed) }
    : await crypto.subtle.exportKey("jwk", key.privateKey);
  return new Blob([JSON.stringify({ format: FORMAT, x, d })], { type: "application/json" });
}

async function imported(x, d) {
  const jwk = { kty: "OKP", crv: "Ed25519", x };
  const privateKey = await crypto.subtle.importKey("jwk", { ...jwk, d }, KIND, true, ["sign"]);
  const publicKey = await crypto.subtle.importKey("jwk", jwk, KIND, true, ["verify"]);
  const message = Uint8Array.from([1]);
  const signature = await crypto.subtle.sign(KIND, privateKey, message);
  if (!(await crypto.subtle.verify(KIND, publicKey, signature, message))) throw new Error("not one key");
  return { privateKey, publicKey };
}

// Take a key out of such a file: it takes the place of the one of this browser.
export async function takeKey(text) {
  const { format, x, d } = JSON.parse(text);
  if (format !== FORMAT) throw new Error("another form");
  const key = (await signing()).keyOf(ofUrl(d));
  if (inUrl(key.public) !== x) throw new Error("not one key");
  const taken = await imported(x, d).catch(() => key); // a browser that cannot sign keeps the seed
  await store("readwrite", (keys) => keys.put(taken, "voter")).catch(() => {
    unkept = taken;
  });
  return taken;
}
