// Wallets, each with the same verbs: connect(network) gives addresses, sign(group, place, address) gives the signed
// transaction as base64.
// No wallet's own code is loaded; Pera and Defly come from the optional bundle.

const ANSWER_MS = 240000;
const DISCOVER_MS = 1500;
const LUTE = "https://lute.app";

export class WalletFault extends Error {
  constructor(kind, words) {
    super(words);
    this.kind = kind;
  }
}

const declined = () => new WalletFault("declined", "You declined in the wallet.");
const closed = () => new WalletFault("closed", "The wallet window was closed.");
const silent = () => new WalletFault("wallet", "The wallet did not answer in time.");

export function faultOf(error) {
  if (error instanceof WalletFault) return error;
  const words = String((error && (error.message || error.data)) || error || "no reason given").slice(0, 200);
  const code = error && error.code;
  const reply = `The wallet says: ${words.replace(/[^.!?]$/, "$&.")}`;
  if (!broken(error) && CLOSED.test(words)) return closed();
  if (code === 4001 || (!broken(error) && DECLINED.test(words))) return declined();
  if (code === 4002) return silent();
  if (code === 4004 || (!broken(error) && OTHER_NETWORK.test(words))) return new WalletFault("wrong-network", reply);
  if (navigator.onLine === false) return offline();
  return new WalletFault("wallet", reply);
}

const CLOSED = /\b(window|modal|popup)\b.*\bclosed\b|closed by user/i;
const DECLINED = /reject|cancel|declin|denied/i;
// Both words near each other: "network request failed" does not mean the wrong network.
const OTHER_NETWORK =
  /(wrong|another|other|different|unsupported|unknown|invalid|mismatch\w*|not (support|match)\w*)\W+(\w+\W+){0,3}(network|genesis|chain)|(network|genesis|chain)\W*(\w+\W+){0,3}(mismatch|unsupported|differ|unknown|(not|n't) (support|match|allow))/i;
// An error of the program itself means nothing that the visitor did, whichever words are in it.
const broken = (error) => error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError;
const offline = () => new WalletFault("offline", "You are offline. Try again when the connection is back.");

function within(promise, ms, stop) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(silent()), ms);
    stop?.addEventListener("abort", () => reject(new WalletFault("declined", "You stopped waiting for the wallet.")), {
      once: true,
    });
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function toBase64(value) {
  if (typeof value === "string") return value;
  const bytes = value instanceof Uint8Array ? value : Uint8Array.from(Object.values(value || {}));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

// ARC-0001: what is not ours to sign has an empty list of signers.
function asked(group, place, address, auth) {
  const own = auth && auth !== address ? { authAddr: auth } : {};
  return group.map((txn, at) => (at === place ? { txn, ...own } : { txn, signers: [] }));
}

function picked(list, place) {
  if (!Array.isArray(list) || !list[place]) throw new WalletFault("wallet", "The wallet gave no signature back.");
  return toBase64(list[place]);
}

function sameNetwork(reply, network) {
  if (reply && reply !== network.hash) throw new WalletFault("wrong-network", "The wallet is set to another network.");
}

function readable(reply) {
  if (!reply || typeof reply !== "object")
    throw new WalletFault("wallet", "The wallet gave no answer that can be read.");
  return reply;
}

const addresses = (list) => (list || []).map((one) => (typeof one === "string" ? one : one.address)).filter(Boolean);

// ARC-0001 and ARC-0006: a provider that an extension or app puts into the page.
function inPage() {
  const provider = () => {
    if (!globalThis.algorand) throw new WalletFault("missing", "This browser has no wallet of this kind.");
    return globalThis.algorand;
  };
  return {
    async connect(network) {
      const reply = readable(await provider().enable({ genesisID: network.id, genesisHash: network.hash }));
      sameNetwork(reply.genesisHash, network);
      return addresses(reply.accounts);
    },
    async sign(group, place, address, auth) {
      const wallet = provider();
      const sign = (wallet.signTxns || wallet.signTransactions).bind(wallet);
      return picked(await sign(asked(group, place, address, auth)), place);
    },
  };
}

// ARC-0027: requests and answers are events of the page; an answer names the request, and many wallets may listen.
function events() {
  let provider;
  const ask = (method, params, ms) =>
    new Promise((resolve, reject) => {
      const id = globalThis.crypto?.randomUUID?.() || `${Date.now()}-${Math.random()}`;
      const answered = (event) => {
        let reply;
        try {
          reply = typeof event.detail === "string" ? JSON.parse(event.detail) : event.detail;
        } catch {
          return;
        }
        if (!reply || reply.requestId !== id) return;
        end();
        if (reply.error) reject(reply.error);
        else resolve(reply.result || {});
      };
      const end = () => {
        clearTimeout(timer);
        removeEventListener(`arc0027:${method}:response`, answered);
      };
      const timer = setTimeout(() => (end(), reject(silent())), ms);
      addEventListener(`arc0027:${method}:response`, answered);
      const reference = `arc0027:${method}:request`;
      dispatchEvent(new CustomEvent(reference, { detail: { id, reference, params } }));
    });
  return {
    discover: () => ask("discover", {}, DISCOVER_MS),
    async connect(network) {
      const found = await ask("discover", {}, DISCOVER_MS).catch((error) => {
        throw error instanceof WalletFault
          ? new WalletFault("missing", "This browser has no wallet of this kind.")
          : error;
      });
      const networks = found.networks || [];
      if (networks.length && !networks.some((one) => one.genesisHash === network.hash)) sameNetwork("another", network);
      provider = found.providerId;
      const reply = await ask("enable", { genesisHash: network.hash, providerId: provider }, ANSWER_MS);
      sameNetwork(reply.genesisHash, network);
      return addresses(reply.accounts);
    },
    async sign(group, place, address, auth) {
      const params = { providerId: provider, txns: asked(group, place, address, auth) };
      return picked((await ask("sign_transactions", params, ANSWER_MS)).stxns, place);
    },
  };
}

// Lute: a window of its own, or its extension; both speak in messages with an action.
function lute() {
  const talk = (page, detail, response, first, wanted) =>
    new Promise((resolve, reject) => {
      const inside = Boolean(globalThis.lute);
      const place = `width=500,height=750,left=${100 + screenX},top=${100 + screenY}`;
      const away = inside ? null : open(`${LUTE}/${page}`, document.title, place);
      if (!inside && !away)
        return reject(new WalletFault("wallet", "The browser blocked the wallet's window. Allow it and press again."));
      const kind = inside ? response : "message";
      const heard = (event) => {
        if (!inside && (event.origin !== LUTE || event.source !== away)) return;
        const reply = (inside ? event.detail : event.data) || {};
        if (reply.action === "ready") return away?.postMessage(first, LUTE);
        if (![wanted, "error", "close"].includes(reply.action)) return;
        end();
        if (reply.action === wanted) resolve(reply);
        else if (reply.action === "close") reject(closed());
        else reject(reply);
      };
      const watch = away && setInterval(() => away.closed && (end(), reject(closed())), 500);
      const end = () => {
        clearInterval(watch);
        removeEventListener(kind, heard);
      };
      addEventListener(kind, heard);
      if (inside) dispatchEvent(new CustomEvent("lute-connect", { detail }));
    });
  return {
    get press() {
      return !globalThis.lute;
    },
    async connect(network) {
      const first = { action: "network", genesisID: network.id };
      const reply = await talk(
        "connect",
        { action: "connect", genesisID: network.id },
        "connect-response",
        first,
        "connect",
      );
      return addresses(reply.addrs);
    },
    async sign(group, place, address, auth) {
      const request = { action: "sign", txns: asked(group, place, address, auth) };
      return picked((await talk("sign", request, "sign-txns-response", request, "signed")).txns, place);
    },
  };
}

// The devnet's throwaway wallet: this machine's play money, signed by the devnet itself.
function devnet(at) {
  const call = async (headers) => {
    const answer = await fetch(at, { cache: "no-store", headers }).catch(() => {
      throw navigator.onLine
        ? new WalletFault("offline", "The service cannot be reached. Try again when the connection is back.")
        : offline();
    });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok)
      throw new WalletFault("wallet", `The devnet's wallet says: ${reply.detail || `HTTP ${answer.status}`}`);
    return reply;
  };
  return {
    connect: async () => [(await call({ "X-Devnet-Wallet": "account" })).address],
    sign: async (group, place) => (await call({ "X-Devnet-Wallet": "sign", "X-Unsigned": group[place] })).signed,
  };
}

// Pera and Defly, if the operator built their bundle.
function bundled(name, at) {
  let wallet;
  return {
    async connect(network) {
      wallet = (await import(at))[name](network.name);
      return addresses(await wallet.connect());
    },
    sign: async (group, place, address, auth) => toBase64(await wallet.sign(group, place, address, auth)),
  };
}

// The wallets that are in this browser now, by name; an extension that answers the question shows nothing to its user.
export async function present() {
  const answers = await events()
    .discover()
    .then(
      () => ["arc0027"],
      () => [],
    );
  return [...(globalThis.lute ? ["lute"] : []), ...answers, ...(globalThis.algorand ? ["arc0001"] : [])];
}

export function walletOf(name, page) {
  const made = {
    arc0001: inPage,
    arc0027: events,
    lute,
    devnet: () => devnet(page.sign),
    pera: () => bundled("pera", page.bundle),
    defly: () => bundled("defly", page.bundle),
  }[name]();
  return {
    press: Boolean(made.press),
    connect: (network, stop) =>
      within(
        Promise.resolve().then(() => made.connect(network)),
        ANSWER_MS,
        stop,
      ),
    sign: (group, place, address, auth, stop) =>
      within(
        Promise.resolve().then(() => made.sign(group, place, address, auth)),
        ANSWER_MS,
        stop,
      ),
  };
}
