// A wallet of this browser signs a ballot, free or for the chain, and the gateway of this site takes it. No wallet's own
// code is loaded.
import { faultOf, walletOf } from "./buyer-wallets.js";

const DEVNET_SIGNER = "/x402-buyer/devnet-sign";
const WALLETS = [
  ["arc0001", "a wallet extension (ARC-0001)"],
  ["arc0027", "a wallet that answers in the page (ARC-0027)"],
  ["lute", "Lute"],
];
const WAYS = [
  ["free", "free"],
  ["chain", "on chain, for the network's fee of 0.001 ALGO"],
];
const CHOICES = [
  ["BULLISH", "Up 40 · 33 · 27", [40, 33, 27]],
  ["NEUTRAL", "Small move 30 · 40 · 30", [30, 40, 30]],
  ["BEARISH", "Down 27 · 33 · 40", [27, 33, 40]],
];

export function start(place, { prepared, relay, remember, element, ownVote, Said }) {
  const state = element("p", "", { className: "small" });
  state.setAttribute("role", "status");
  const next = element("button", "", { type: "button", hidden: true });
  const wait = element("button", "Stop waiting", { type: "button", hidden: true, onclick: () => stop.abort() });
  const buttons = CHOICES.map(([choice, words, chances]) =>
    element("button", words, { type: "button", onclick: () => run(() => vote({ choice, chances })) }),
  );
  const owned = { type: "button", onclick: () => run(() => vote(ownVote())) };
  buttons.push(element("button", "The chances above", owned));
  let stop = new AbortController();

  function say(kind, words) {
    place.dataset.state = kind;
    state.textContent = words;
  }

  function choose(id, words, options) {
    const made = element("select", "", { id });
    options.forEach(([value, text]) => made.append(element("option", text, { value })));
    const row = element("p", "");
    row.append(element("label", `${words} `, { htmlFor: id }), made);
    place.append(row);
    return made;
  }

  // Some wallets open a window for each question, which a browser allows only right after a press.
  function offer(words, then) {
    next.textContent = words;
    next.onclick = () => run(then);
    next.hidden = false;
  }

  async function run(step) {
    next.hidden = true;
    stop = new AbortController();
    [...buttons, next].forEach((button) => {
      button.disabled = true;
    });
    try {
      await step();
    } catch (error) {
      const fault = error instanceof Said ? { kind: "stopped", message: error.message } : faultOf(error);
      say(fault.kind, fault.message);
    }
    wait.hidden = true;
    [...buttons, next].forEach((button) => {
      button.disabled = false;
    });
  }

  async function vote(said) {
    const round = document.getElementById("votes")?.dataset;
    if (!round) throw new Said("No round takes votes now. Look again in a minute.");
    say("asking", "Waiting for the wallet …");
    wait.hidden = false;
    const wallet = walletOf(wallets.value, { sign: DEVNET_SIGNER });
    const { genesisId: id, genesisHash: hash, network: name } = place.dataset;
    const [voter] = await wallet.connect({ id, hash, name }, stop.signal);
    if (!voter) throw new Said("The wallet gave no account.");
    const { transaction } = await prepared(voter, round.round, said, ways.value);
    const asked = () => sign(wallet, voter, transaction, { ...round }, said);
    if (!wallet.press) return asked();
    say("press", "Press Sign: the wallet opens its window.");
    offer("Sign", asked);
  }

  async function sign(wallet, voter, transaction, round, said) {
    say("signing", `Sign the vote for ${round.round} in the wallet …`);
    wait.hidden = false;
    const signed = await wallet.sign([transaction], 0, voter, undefined, stop.signal);
    wait.hidden = true;
    await send(signed, round, said);
  }

  async function send(signed, round, said) {
    say("sending", "Sending the vote …");
    try {
      const sent = await relay("", { "X-Ballot": signed });
      remember(round, said, sent);
      say("sent", `Sent: transaction ${sent.txid}.`);
    } catch (error) {
      offer("Send again", () => send(signed, round, said));
      throw error;
    }
  }

  const local = place.dataset.network === "devnet" && ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const wallets = choose(
    "vote-wallet",
    "Wallet",
    local ? [...WALLETS, ["devnet", "this devnet's throwaway wallet"]] : WALLETS,
  );
  const ways = choose("vote-way", "Vote", WAYS);
  const choices = element("p", "");
  buttons.forEach((button) => choices.append(button, " "));
  const last = element("p", "");
  last.append(next, " ", wait);
  place.append(choices, state, last);
}
