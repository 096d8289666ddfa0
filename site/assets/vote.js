// Lets a wallet of this browser sign a ballot, then submits it, or offers it as a file. Only this site is asked: its
// gateway states fee and rounds and hands the signed ballot to the network. Where it does not, the ballot is made so that
// it can never be submitted, and only the file is left. No wallet's own code is loaded.
import { faultOf, walletOf } from "./buyer-wallets.js";

const place = document.getElementById("wallet-vote");
const RELAY = "/x402-buyer/ballot";
const DEVNET_SIGNER = "/x402-buyer/devnet-sign";
const RELAY_MS = 15000;
const ROUND_S = 2.8;
const MOST_ROUNDS = 1000;
const WALLETS = [["arc0001", "a wallet extension (ARC-0001)"], ["arc0027", "a wallet that answers in the page (ARC-0027)"], ["lute", "Lute"]];
const CHOICES = ["BULLISH", "NEUTRAL", "BEARISH"];
const SIGNED = [0x82, 0xa3, 0x73, 0x69, 0x67, 0xc4, 0x40]; // a map of two: sig, 64 bytes, and the transaction
const KEEP = "You can download the signed ballot as a file.";
const text = new TextEncoder();

// Canonical msgpack of the few kinds that a ballot has: whole numbers, short names, bytes.
function packed(value) {
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return [0xa0 | value.length, ...text.encode(value)];
  return [0xc4, value.length, ...value];
}

function number(value) {
  if (value < 0x80) return [value];
  const [head, bytes] = value < 0x100 ? [0xcc, 1] : value < 0x10000 ? [0xcd, 2] : [0xce, 4];
  return [head, ...Array.from({ length: bytes }, (_, at) => Math.floor(value / 256 ** (bytes - 1 - at)) % 256)];
}

function transaction(fields) {
  const names = Object.keys(fields).filter((name) => fields[name] !== 0).sort();
  return Uint8Array.from([0x80 | names.length, ...names.flatMap((name) => [...packed(name), ...packed(fields[name])])]);
}

function publicKey(address) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bytes = [];
  let bits = 0, held = 0;
  for (const letter of address) {
    held = ((held << 5) | letters.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push((held >> (bits -= 8)) & 0xff);
  }
  return bytes.slice(0, 32);
}

class Said extends Error {} // a sentence for the visitor

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const base64Of = (bytes) => btoa(String.fromCharCode(...bytes));

// Without terms: fee 0 and a validity that ended long ago, so that no one can ever submit it. With them it is valid
// until about the close: a copy of it, published after the lock, cannot be sent for the voter's fee.
// The lease makes a second vote another ballot.
function ballot(voter, round, choice, terms) {
  const note = `emi-arena/v1:j${JSON.stringify({ r: round.round_id, p: choice })}`;
  const left = Math.ceil((Date.parse(round.closes) - Date.now()) / 1000 / ROUND_S) + 10;
  const rounds = terms ? { fee: terms.fee, fv: terms.last_round, lv: terms.last_round + Math.min(MOST_ROUNDS, left) } : { fv: 1, lv: 1 };
  return transaction({
    ...rounds, type: "pay", gh: [...bytesOf(place.dataset.genesisHash)], lx: [...crypto.getRandomValues(new Uint8Array(32))],
    note: [...text.encode(note)], rcv: publicKey(place.dataset.address), snd: publicKey(voter),
  });
}

function holds(signed, unsigned) {
  const begin = SIGNED.length + 64 + 4; // and the name of the transaction
  return SIGNED.every((byte, at) => signed[at] === byte) && signed.length === begin + unsigned.length &&
    unsigned.every((byte, at) => signed[begin + at] === byte);
}

function element(name, words, about = {}) {
  const made = Object.assign(document.createElement(name), about);
  if (words) made.textContent = words;
  return made;
}

const state = element("p", "", { className: "small" });
state.setAttribute("role", "status");
const file = element("a", "Download the ballot"); // part of the page while it leads somewhere
const next = element("button", "", { type: "button", hidden: true });
const wallets = element("select", "", { id: "vote-wallet" });
const buttons = CHOICES.map((choice) => element("button", choice, { type: "button", onclick: () => run(() => vote(choice)) }));

function say(kind, words) {
  place.dataset.state = kind;
  state.textContent = words;
}

// Some wallets open a window for each question, which a browser allows only right after a press.
function offer(words, then) {
  next.textContent = words;
  next.onclick = () => run(then);
  next.hidden = false;
}

async function run(step) {
  [...buttons, next].forEach((button) => { button.disabled = true; });
  try {
    await step();
  } catch (error) {
    const fault = faultOf(error);
    if (error instanceof Said) say("stopped", error.message);
    else say(fault.kind, fault.message);
  }
  [...buttons, next].forEach((button) => { button.disabled = false; });
}

async function openRound() {
  const answer = await fetch(place.dataset.rounds, { cache: "no-cache" }).catch(() => {
    throw new Said(navigator.onLine ? "This site does not answer. Nothing was signed." : "You are offline. Nothing was signed.");
  });
  const received = await answer.json();
  const round = received.open_round;
  if (!round || Date.parse(round.closes) <= Date.now()) throw new Said("No round takes votes now. Look again in a minute.");
  return round;
}

// What this site's gateway answers, or why it does not: {received} or {reason, words}.
async function relay(query, headers = {}) {
  let answer;
  try {
    answer = await fetch(RELAY + query, { cache: "no-store", headers, signal: AbortSignal.timeout(RELAY_MS) });
  } catch {
    return { reason: "offline", words: navigator.onLine ? "This site does not answer." : "You are offline." };
  }
  const received = await answer.json().catch(() => ({}));
  if (answer.ok) return { received };
  if (answer.status === 404) return { reason: "cannot", words: "This site does not submit ballots to the network." };
  return { reason: received.reason || "cannot", words: received.detail || "This site cannot submit ballots to the network now." };
}

async function termsFor(voter) {
  const { received, words } = await relay(`?address=${voter}`);
  const fits = received && received.genesis_hash === place.dataset.genesisHash && received.arena === place.dataset.address && received.last_round > 0;
  if (received && !fits) return { why: "This page and this site's gateway belong to different Arenas." };
  if (received && received.can_pay === false) return { why: `The account cannot pay the fee of ${received.fee / 1e6} ALGO.` };
  return received ? { terms: received } : { why: words };
}

async function vote(choice) {
  next.hidden = true;
  file.remove();
  say("asking", "Asking the wallet …");
  const wallet = walletOf(wallets.value, { sign: DEVNET_SIGNER });
  const connected = wallet.connect({ id: place.dataset.genesisId, hash: place.dataset.genesisHash, name: place.dataset.network });
  const [[voter], round] = await Promise.all([connected, openRound()]);
  if (!voter) throw new Said("The wallet gave no account.");
  const { terms, why } = await termsFor(voter);
  const unsigned = ballot(voter, round, choice, terms);
  const asked = () => sign({ wallet, voter, round, choice, unsigned, terms, why });
  if (!wallet.press) return asked();
  say("press", `Press Sign: the wallet opens a window for ${choice} in ${round.round_id}.`);
  offer("Sign", asked);
}

async function sign(held) {
  const { wallet, voter, round, choice, unsigned, terms, why } = held;
  next.hidden = true;
  say("signing", `Sign ${choice} for ${round.round_id} in the wallet …`);
  const signed = await wallet.sign([base64Of(unsigned)], 0, voter);
  if (!holds(bytesOf(signed), unsigned)) throw new Said("The wallet changed the ballot, or signed for a rekeyed or multisig account; such a ballot is not counted.");
  URL.revokeObjectURL(file.href);
  file.href = URL.createObjectURL(new Blob([`${base64Of(bytesOf(signed))}\n`], { type: "text/plain" }));
  file.download = `${round.round_id}-${choice}.ballot`;
  next.after(" ", file);
  const until = `before ${round.closes.slice(11, 16)} UTC`;
  if (!terms) return say("signed", `Signed by ${voter}, but not submitted: ${why} The file counts only if it is put into the inbox of this service ${until}.`);
  say("signed", `Signed by ${voter}. Nothing has been sent yet. Submit it ${until} for the network fee of ${terms.fee / 1e6} ALGO. The last ballot counts.`);
  offer("Submit", () => submit({ ...held, signed: base64Of(bytesOf(signed)) }));
}

async function submit(held) {
  const { wallet, round, signed } = held;
  if (Date.parse(round.closes) <= Date.now()) return over(round);
  say("submitting", "Submitting the ballot to the network …");
  const answer = await relay("", { "X-Ballot": signed });
  if (answer.received?.txid) return sent(held, `Transaction ${answer.received.txid}.`);
  if (answer.reason === "locked" || answer.reason === "expired") return over(round);
  // The network itself said no: the wallet's way to it would end the same.
  if (["refused", "too_little_algo", "rekeyed", "no_ballot"].includes(answer.reason)) {
    return say("refused", `Not submitted. ${answer.words} ${KEEP}`);
  }
  // This site's way is down. Sending the same ballot once more by the wallet's cannot count it twice.
  try {
    await wallet.post(signed);
  } catch (error) {
    const fault = faultOf(error);
    const also = fault.kind === "cannot-post" ? "" : ` ${fault.message}`;
    return say(answer.reason === "offline" ? "offline" : "unsure", `It may not have arrived. ${answer.words}${also} Press Submit again; the same ballot cannot count twice. ${KEEP}`);
  }
  sent(held, "The wallet submitted it to the network.");
}

function sent({ round, choice, voter }, how) {
  next.hidden = true;
  say("submitted", `Submitted: ${choice} in ${round.round_id} by ${voter}. ${how} It counts if its block comes before ${round.closes.slice(11, 16)} UTC. Vote again to change your mind.`);
}

function over(round) {
  next.hidden = true;
  file.remove();
  say("too-late", `Too late: votes in ${round.round_id} are closed, and nothing was sent. Vote in the next round.`);
}

if (place) {
  const local = place.dataset.network === "devnet" && ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const known = local ? [...WALLETS, ["devnet", "this devnet's throwaway wallet"]] : WALLETS;
  known.forEach(([name, words]) => wallets.append(element("option", words, { value: name })));
  const label = element("label", "Wallet ", { htmlFor: wallets.id });
  const row = element("p", "");
  row.append(label, wallets);
  const choices = element("p", "");
  buttons.forEach((button) => choices.append(button, " "));
  const last = element("p", "");
  last.append(next);
  place.append(
    element("h3", "With a wallet in this browser"),
    element("p", "The wallet signs the ballot; you then submit it for the network fee. Nothing is sent before you press Submit.", { className: "small" }),
    row, choices, state, last,
  );
}
