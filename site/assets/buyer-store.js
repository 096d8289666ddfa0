// What this browser keeps of purchases: the signed payment before it is sent, what was bought after it came, and one
// lock over all tabs. A payment is kept in localStorage, which is written before the next line runs; a bought body
// is kept in IndexedDB, which has room for many, or in localStorage where there is none.

const STORE = "emi-purchases-v1";
const LOCK = "emi-buying";
const LEASE_MS = 15000;
const REFUSED_KEPT = 20;
const REPLAYED_MS = 3 * 24 * 3600 * 1000;
const DATABASE = "emi-purchases";
const mine = `${Date.now()}-${Math.random().toString(36).slice(2)}`;
const bell = globalThis.BroadcastChannel ? new BroadcastChannel(LOCK) : null;

export function saved() {
  try {
    const list = JSON.parse(localStorage.getItem(STORE) || "[]");
    return Array.isArray(list) ? list.filter((one) => one && one.txid && one.status) : [];
  } catch {
    return [];
  }
}

export const find = (txid) => saved().find((one) => one.txid === txid);

// The gateway repeats what was bought for a day or two; after that the payment itself only takes room.
const slim = (one) =>
  one.status === "settled" && Date.now() - Date.parse(one.at) > REPLAYED_MS ? { ...one, header: "" } : one;

// Throws when the browser does not keep it: then the payment must not be sent. Only refused ones are ever let go.
export function keep(purchase) {
  const all = [purchase, ...saved().filter((one) => one.txid !== purchase.txid)];
  all.sort((one, other) => (one.at < other.at ? 1 : -1));
  let refused = 0;
  const kept = all.filter((one) => one.status !== "refused" || (refused += 1) <= REFUSED_KEPT);
  localStorage.setItem(STORE, JSON.stringify(kept.map(slim)));
  if (find(purchase.txid)?.status !== purchase.status) throw new Error("not kept");
  bell?.postMessage("changed");
}

function database() {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(DATABASE, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("bodies");
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = asked.onblocked = () => reject(asked.error || new Error("blocked"));
  });
}

async function bodies(mode, use) {
  const open = await database();
  try {
    return await new Promise((resolve, reject) => {
      const work = open.transaction("bodies", mode);
      const asked = use(work.objectStore("bodies"));
      work.oncomplete = () => resolve(asked.result);
      work.onabort = work.onerror = () => reject(work.error);
    });
  } finally {
    open.close();
  }
}

// Marks as settled only after the body is on the disk; throws when it could be kept nowhere.
export async function keepBought(purchase, body) {
  try {
    await bodies("readwrite", (shelf) => shelf.put(body, purchase.txid));
    keep(purchase);
  } catch {
    keep({ ...purchase, body });
  }
}

export async function bodyOf(purchase) {
  if (purchase.body) return purchase.body;
  try {
    return (await bodies("readonly", (shelf) => shelf.get(purchase.txid))) || null;
  } catch {
    return null;
  }
}

// One word for one purchase, the same in all tabs until its outcome is known: the network takes one payment for it.
export function attempt(product) {
  const key = `emi-attempt-${product}`;
  try {
    const word =
      localStorage.getItem(key) ||
      `${Date.now().toString(36)}-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    localStorage.setItem(key, word);
    return word;
  } catch {
    return "";
  }
}

export function attemptDone(product) {
  try {
    localStorage.removeItem(`emi-attempt-${product}`);
  } catch {
    // Without a store there was no word either.
  }
}

const payeeKey = (network) => `emi-payee-${network}`;

// Whom this origin was paid to first, or after the visitor accepted another; null before anything was signed.
export function payeeOf(network) {
  try {
    return localStorage.getItem(payeeKey(network));
  } catch {
    return null;
  }
}

export function pinPayee(network, payee) {
  localStorage.setItem(payeeKey(network), payee);
}

export function onChange(tell) {
  addEventListener("storage", (event) => event.key === STORE && tell());
  if (bell) bell.onmessage = () => tell();
}

// Runs `work` while no other tab of this browser buys; gives false at once when one does.
export async function alone(work) {
  if (navigator.locks) {
    return navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => lock !== null && (await work(), true));
  }
  return leased(work);
}

// Waits until no other tab buys.
export async function othersDone() {
  if (navigator.locks) return navigator.locks.request(LOCK, () => {});
  while (heldElsewhere()) await new Promise((next) => setTimeout(next, 1000));
}

// A page that is not on https has no locks of the browser: a note that is renewed while it holds stands in for one.
function heldElsewhere() {
  try {
    const note = JSON.parse(localStorage.getItem(LOCK));
    return note && note.tab !== mine && Date.now() - note.at < LEASE_MS;
  } catch {
    return false;
  }
}

async function leased(work) {
  if (heldElsewhere()) return false;
  const renew = () => localStorage.setItem(LOCK, JSON.stringify({ tab: mine, at: Date.now() }));
  renew();
  await new Promise((next) => setTimeout(next, 50));
  if (heldElsewhere()) return false;
  const beat = setInterval(renew, LEASE_MS / 5);
  try {
    await work();
  } finally {
    clearInterval(beat);
    localStorage.removeItem(LOCK);
  }
  return true;
}
