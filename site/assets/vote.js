// Lets a wallet of this browser sign a ballot, and offers it as a file. Nothing is sent anywhere: a ballot of this kind
// can never be submitted to a chain, and no wallet's own code is loaded.
import { faultOf, walletOf } from "./buyer-wallets.js";

const place = document.getElementById("wallet-vote");
const WALLETS = [["arc0001", "a wallet extension (ARC-0001)"], ["arc0027", "a wallet that answers in the page (ARC-0027)"], ["lute", "Lute"]];
const CHOICES = ["BULLISH", "NEUTRAL", "BEARISH"];
const SIGNED = [0x82, 0xa3, 0x73, 0x69, 0x67, 0xc4, 0x40]; // a map of two: sig, 64 bytes, and the transaction
const text = new TextEncoder();

// Canonical msgpack of the few kinds that a ballot has: small whole numbers, short names, bytes.
function packed(value) {
  if (typeof value === "number") return [value];
  if (typeof value === "string") return [0xa0 | value.length, ...text.encode(value)];
  return [0xc4, value.length, ...value];
}

function transaction(fields) {
  const names = Object.keys(fields).sort();
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

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const base64Of = (bytes) => btoa(String.fromCharCode(...bytes));

// Fee 0 and a validity that ended long ago: nobody can submit it. The lease makes a second vote another ballot.
function ballot(voter, round, choice) {
  const note = `emi-arena/v1:j${JSON.stringify({ r: round, p: choice })}`;
  return transaction({
    fv: 1, lv: 1, type: "pay", gh: [...bytesOf(place.dataset.genesisHash)], lx: [...crypto.getRandomValues(new Uint8Array(32))],
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
const file = element("a", "Download the ballot", { hidden: true });
const wallets = element("select", "", { id: "vote-wallet" });
const buttons = CHOICES.map((choice) => element("button", choice, { type: "button", onclick: () => vote(choice) }));

async function openRound() {
  const answer = await fetch(place.dataset.rounds, { cache: "no-cache" });
  const told = await answer.json();
  if (!told.open_round) throw new Error("No round takes votes now. Look again in a minute.");
  return told.open_round;
}

async function vote(choice) {
  buttons.forEach((button) => { button.disabled = true; });
  file.hidden = true;
  try {
    state.textContent = "Asking the wallet …";
    const round = await openRound();
    const wallet = walletOf(wallets.value, {});
    const [voter] = await wallet.connect({ id: place.dataset.genesisId, hash: place.dataset.genesisHash, name: place.dataset.network });
    if (!voter) throw new Error("The wallet gave no account.");
    const unsigned = ballot(voter, round.round_id, choice);
    state.textContent = `Sign ${choice} for ${round.round_id} in the wallet …`;
    const signed = bytesOf(await wallet.sign([base64Of(unsigned)], 0, voter));
    if (!holds(signed, unsigned)) throw new Error("The wallet changed the ballot, or signed for a rekeyed or shared account: that is not counted.");
    URL.revokeObjectURL(file.href);
    file.href = URL.createObjectURL(new Blob([`${base64Of(signed)}\n`], { type: "text/plain" }));
    file.download = `${round.round_id}-${choice}.ballot`;
    file.hidden = false;
    state.textContent = `Signed by ${voter}. Put the file into this service's inbox before ${round.closes.slice(11, 16)} UTC; its keeper knows where. The last ballot counts.`;
  } catch (error) {
    const fault = faultOf(error);
    state.textContent = error instanceof Error && fault.kind === "wallet" ? error.message : fault.message;
  }
  buttons.forEach((button) => { button.disabled = false; });
}

if (place) {
  WALLETS.forEach(([name, words]) => wallets.append(element("option", words, { value: name })));
  const label = element("label", "Wallet ", { htmlFor: wallets.id });
  const row = element("p", "");
  row.append(label, wallets);
  const choices = element("p", "");
  buttons.forEach((button) => choices.append(button, " "));
  place.append(
    element("h3", "With a wallet in this browser"),
    element("p", "It signs the ballot; nothing is sent and nothing is paid. You get a file.", { className: "small" }),
    row, choices, state, file,
  );
}
