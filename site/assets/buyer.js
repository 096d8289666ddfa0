// The buyer page: asks for the price only when Pay is pressed, lets the wallet sign what the service prepared, keeps
// the signed payment before it is sent, and sends the same one again until its outcome is known. It holds no key.

import {
  alone,
  attempt,
  attemptDone,
  bodyOf,
  find,
  keep,
  keepBought,
  onChange,
  othersDone,
  payeeOf,
  pinPayee,
  saved,
} from "./buyer-store.js";
import { faultOf, present as walletsHere, walletOf } from "./buyer-wallets.js";
import { blocks, draw, element, markdown } from "./buyer-report.js";
import { peek, sample } from "./buyer-sample.js";
import { when } from "./buyer-tables.js";
import {
  atomic,
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
  usdc,
} from "./buyer-terms.js";
import { ask, decode, digest, encode, get } from "./buyer-wire.js";
import { Fault, NEXT, NOTHING, OBSTACLES, ON_CHAIN, REFUSALS, reason, sentence } from "./buyer-words.js";

const BACKOFF_MS = [2000, 3000, 5000, 5000, 10000, 10000, 20000, 30000, 60000];
const SEND_MS = 60000;
const FRESH_MS = 150000;
const SIGNED_MS = 240000;
const QUOTE_TRIES = 3;
const MOST_SENDS = 60; // about an hour
const RECENT = 3; // purchases on the first screen
const at = (id) => document.getElementById(id);
// Where nothing is for sale there is no button, but what was bought is still here.
const pay = at("pay") || document.createElement("button");
const page = pay.dataset;
const network = { id: page.genesisId, hash: page.genesisHash, name: page.network };
let current = null;
let wake = () => {};
let buying = false;
let repriced = false;
let seen = new Set();
let stopping = new AbortController();

function say(kind, text, mood = "") {
  const state = at("state");
  state.dataset.state = kind;
  state.className = mood;
  state.textContent = text;
  if (!buying || seen.has(kind)) return;
  seen.add(kind);
  requestAnimationFrame(reveal); // once the buttons that go with the words stand too
}

// The words of a purchase have to be seen with their buttons; once for each kind, so that no reader is scrolled away.
function reveal() {
  const box = at("purchase");
  box.scrollIntoView({ block: box.offsetHeight > innerHeight ? "start" : "nearest" });
}

function stage(name) {
  let done = true;
  for (const item of at("stages").children) {
    const here = item.dataset.stage === name;
    done = done && !here;
    item.toggleAttribute("data-done", done || (here && name === "read"));
    if (here && name !== "read") item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
}

function show(...ids) {
  for (const id of [
    "get-wallet",
    "get-usdc",
    "account-choice",
    "approve",
    "cancel",
    "again",
    "retry",
    "reload",
    "accept-payee",
    "newer",
    "mine",
    "files",
  ])
    at(id).hidden = !ids.includes(id);
}

const unsent = () => unfinished(saved(), page.product, Date.now());
const nameOf = (one) => (/report/.test(one.product) ? "report" : one.title.replace(/^x402 | \(.*\)$/g, ""));
const newest = () => saved().find((one) => one.status === "settled" && one.product === page.product);

// What a press would sign, said by each button that begins it.
function label() {
  if (!page.price) return;
  const open = unsent();
  const price = usdc(page.price);
  const owned = newest();
  document.body.classList.toggle("owns", Boolean(owned && !open));
  at("owned").textContent = owned ? `Open your ${nameOf(owned)}` : "";
  at("owned").onclick = () => pick(owned);
  pay.textContent = open
    ? "Send the signed payment again"
    : newest()
      ? `Buy the newest one for ${price}`
      : `Pay ${price}`;
  at("retry").textContent = open ? pay.textContent : `${repriced ? "Agree and pay" : "Try again: pay"} ${price}`;
}

function reprice(amount) {
  const before = usdc(page.price);
  page.price = amount;
  const now = {
    price: usdc(amount),
    atomic: `${atomic(amount)} atomic units`,
    words: `Changed while you were here: it was ${before}`,
  };
  for (const part of document.querySelectorAll("[data-shown]")) part.textContent = now[part.dataset.shown];
  at("terms").open = repriced = true;
  label();
  return [now.price, before];
}

const MINUTE_MS = 60000;
const plural = (count, unit) => `${count} ${unit}${count === 1 ? "" : "s"} ago`;

function ago(time) {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(time)) / MINUTE_MS));
  if (!minutes) return "less than a minute ago";
  if (minutes < 60) return plural(minutes, "minute");
  return minutes < 48 * 60 ? plural(Math.floor(minutes / 60), "hour") : plural(Math.floor(minutes / 1440), "day");
}

// Who owns one already is asked before a second one is paid for.
function ordered() {
  const owned = newest();
  if (!owned || unsent() || buying) return pressed();
  const price = usdc(page.price);
  at("purchase").hidden = false;
  at("report").hidden = true;
  at("newer").textContent = `Buy a newer one for ${price}`;
  at("mine").onclick = () => pick(owned);
  show("newer", "mine");
  say("bought-before", `You bought this ${ago(owned.at)}. Buy a newer one for ${price}?`, "wait");
  at("newer").focus({ preventScroll: true });
  reveal();
  return undefined;
}

// The button: one purchase in one tab of this browser.
async function pressed() {
  const began = await alone(async () => {
    begin();
    try {
      await buy();
    } catch (error) {
      tell(error);
    } finally {
      finished();
      // A button that was switched off has lost the focus; whoever types must not start at the top again.
      const here = [document.body, pay, at("retry")].includes(document.activeElement);
      if (here && at("report").hidden) (at("retry").hidden ? pay : at("retry")).focus({ preventScroll: true });
    }
  });
  if (!began) elsewhere();
}

function finished() {
  buying = false;
  pay.disabled = false;
  label();
  list();
}

function tell(error) {
  const fault = faultOf(error);
  show(...(NEXT[fault.kind] || (page.price ? ["retry"] : [])));
  say(fault.kind, `${sentence(fault.message)} ${fault.end ?? NOTHING}`.trim(), "bad");
}

function elsewhere() {
  at("purchase").hidden = false;
  show();
  say(
    "other-tab",
    "Another tab of this browser is buying right now. This one waits, so that nothing is paid twice. What is bought there appears here too.",
    "wait",
  );
  requestAnimationFrame(reveal);
}

function begin() {
  stopping = new AbortController();
  buying = true;
  repriced = false;
  seen = new Set();
  pay.disabled = true;
  at("purchase").hidden = false;
  at("report").hidden = true;
  show();
}

async function buy() {
  const open = unsent();
  if (open) return present(open);
  samePayee();
  const wallet = walletOf(document.querySelector("input[name=wallet]:checked").value, page);
  stage("connect");
  say("connect", "Waiting for the wallet to name an account …");
  show("cancel");
  const payer = await account(await wallet.connect(network, stopping.signal));
  stage("check");
  say("check", "Asking for the price and looking at the account …");
  const ready = await check(payer);
  const owned = saved().find(
    (one) => one.status === "settled" && one.product === page.product && one.snapshot === ready.snapshot,
  );
  if (
    owned &&
    (await reopen(
      owned,
      "owned",
      "You have the newest one already, so nothing was paid again. A new one comes every minute.",
    ))
  )
    return undefined;
  stage("approve");
  await approval(wallet, ready);
  say("approve", `Waiting for you to approve ${usdc(ready.offer.amount)} in the wallet …`);
  show("cancel");
  const made = await sign(wallet, ready);
  try {
    pinPayee(page.network, page.payee);
    keep(made);
  } catch {
    throw new Fault("unkept", "This browser does not let the page keep the payment, so it was not sent.");
  }
  return present(made);
}

// Whoever was paid here first is paid here until the visitor accepts somebody else.
function samePayee() {
  const before = payeeOf(page.network);
  if (!before || before === page.payee) return;
  throw new Fault(
    "payee-changed",
    `This service was paid to ${before} before, and now it names ${page.payee}. Nothing is signed for the new one unless you accept it. Ask the service first.`,
  );
}

function acceptPayee() {
  pinPayee(page.network, page.payee);
  return pressed();
}

async function account(found) {
  if (!found.length) throw new Fault("wallet", "The wallet named no account.");
  if (found.length === 1) return found[0];
  at("account").replaceChildren(...found.map((one) => Object.assign(element("option", one), { value: one })));
  show("account-choice", "cancel");
  say("choose", "The wallet has several accounts. Choose the one that pays.");
  at("account").focus();
  await press("use-account");
  show("cancel");
  return at("account").value;
}

function press(id) {
  return new Promise((resolve, reject) => {
    at(id).addEventListener("click", resolve, { once: true });
    stopping.signal.addEventListener("abort", () => reject(new Fault("declined", "You stopped.")), { once: true });
  });
}

async function check(payer) {
  for (let turn = 0; turn < QUOTE_TRIES; turn += 1) {
    const asked = await ask(page.path);
    const required = decode(asked.headers.get("PAYMENT-REQUIRED") || "");
    const offer = required?.accepts?.[0];
    if (asked.status !== 402 || !offer) throw new Fault("not-for-sale", `No price was given. ${reason(asked)}`);
    const quote = asked.body?.quote || {};
    // What the page showed when it was opened may be some snapshots ago.
    for (const part of document.querySelectorAll("[data-quote]"))
      part.textContent = quote[part.dataset.quote] || "not stated";
    compare(required, asked.body);
    const answer = await ask(`${page.prepare}&address=${encodeURIComponent(payer)}&attempt=${attempt(page.product)}`);
    if (answer.status === 400) throw new Fault("wallet", "The wallet named an invalid Algorand address.");
    if (answer.status !== 200 || !answer.body) throw new Fault("not-ready", reason(answer));
    const prepared = answer.body;
    if (JSON.stringify(prepared.accepted) !== JSON.stringify(offer)) continue; // a new snapshot came between the two
    obstacle(prepared);
    agreed(prepared.payment, payer);
    const unsigned = prepared.payment.group[prepared.payment.index];
    if (overlaps(saved(), page.product, unsigned))
      throw new Fault(
        "held",
        "The network could still take an earlier payment for this product, so no second one is signed yet. Try again in some minutes.",
        "",
      );
    return {
      ...prepared.payment,
      txid: idOf(unsigned),
      lastValid: lastValidOf(unsigned),
      payer,
      required,
      offer,
      auth: prepared.account?.auth_address,
      snapshot: quote.snapshotId,
      sha256: quote.sha256,
      at: Date.now(),
    };
  }
  throw new Fault("not-ready", "The price is being renewed. Press Pay again.");
}

// Only what the page shows is signed: another price is shown and waits for a second press, other terms for a reload.
function compare(required, body) {
  const offer = required.accepts[0];
  const changed = differences(page, required).map(
    ([name, now, before]) => `the ${name} is now ${now}, and this page shows ${before}`,
  );
  if (changed.length)
    throw new Fault(
      "terms-changed",
      `The terms have changed: ${changed.join("; ")}. Reload the page and read them again.`,
    );
  const mixed = contradictions(required, body);
  if (mixed.length) throw new Fault("not-for-sale", `The offer cannot be relied on: ${mixed.join("; ")}.`);
  if (!payable(offer.amount)) throw new Fault("not-for-sale", "The price on offer is not an amount of money.");
  if (offer.amount === page.price) return;
  const [now, before] = reprice(offer.amount);
  throw new Fault(
    "price-changed",
    `The price is now ${now}; it was ${before}. Press Pay again if you agree to the new one.`,
  );
}

// What was prepared is read byte by byte before a wallet sees it, whoever prepared it.
function agreed(payment, payer) {
  const found = surprises(payment?.group?.[payment.index] ?? "", {
    payer,
    payee: page.payee,
    amount: page.price,
    asset: page.asset,
    hash: page.genesisHash,
  });
  if (found.length)
    throw new Fault(
      "terms-changed",
      `The service prepared a different payment from the one on this page: ${found.join(", ")}. The wallet was not asked to sign it.`,
    );
}

function obstacle(prepared) {
  if (prepared.obstacle === null) return;
  const [kind, text] = OBSTACLES[prepared.obstacle] || [
    "too-little",
    `This account has ${usdc(prepared.account.asset_atomic)}, and the price is ${usdc(prepared.price_atomic)}.`,
  ];
  throw new Fault(kind, text);
}

async function approval(wallet, ready) {
  if (!wallet.press) return;
  const price = usdc(ready.offer.amount);
  at("approve").textContent = `Approve ${price} in the wallet`;
  say(
    "approve",
    `Account ${ready.payer.slice(0, 6)}…${ready.payer.slice(-4)} can pay ${price}. Press the button, and approve in the wallet's window.`,
  );
  show("approve", "cancel");
  at("approve").focus();
  await press("approve");
}

async function sign(wallet, ready) {
  if (Date.now() - ready.at > FRESH_MS) throw new Fault("expired", "This price has expired. Press Pay for a new one.");
  const signed = await wallet.sign(ready.group, ready.index, ready.payer, ready.auth, stopping.signal);
  if (!sealed(signed, ready.group[ready.index]))
    throw new Fault("altered", "The wallet signed something other than what it was asked to sign, so it was not sent.");
  if (Date.now() - ready.at > SIGNED_MS)
    throw new Fault(
      "expired",
      "The approval came too late for the network, so the payment was not sent. Press Pay again.",
    );
  const group = ready.group.map((item, place) => (place === ready.index ? signed : item));
  const payload = { paymentGroup: group, paymentIndex: ready.index };
  const { resource } = ready.required;
  const extensions = identified(ready.required.extensions);
  return {
    txid: ready.txid,
    lastValid: ready.lastValid,
    payer: ready.payer,
    payee: ready.offer.payTo,
    amount: ready.offer.amount,
    network: ready.offer.network,
    snapshot: ready.snapshot,
    sha256: ready.sha256,
    header: encode({ x402Version: 2, payload, accepted: ready.offer, resource, extensions }),
    product: page.product,
    title: page.title,
    path: page.path,
    status: "signed",
    at: new Date().toISOString(),
  };
}

// Signed payments are public on the network: what one bought is repeated only to who knows the identifier sent with it.
function identified(extensions) {
  const declared = extensions?.["payment-identifier"] ?? { info: { required: true } };
  const random = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  return {
    ...extensions,
    "payment-identifier": { ...declared, info: { ...declared.info, id: `pay_${random.join("")}` } },
  };
}

// Sends one signed payment until its end is known; a tab that closes meanwhile resumes when it opens again.
async function present(purchase) {
  current = purchase;
  begin();
  for (let turn = 0; turn < MOST_SENDS; turn += 1) {
    stage("settle");
    say("settle", turn ? "Asking again with the same payment …" : "Settling on the network …", turn ? "wait" : "");
    let answer;
    let why = navigator.onLine ? "No whole answer came." : "You are offline.";
    try {
      answer = await get(purchase.path, { "PAYMENT-SIGNATURE": purchase.header }, SEND_MS);
    } catch {
      // Nothing is known then, and the same payment is sent again.
    }
    if (answer?.status === 200) return delivered(purchase, answer);
    if (answer?.status === 402) return refused(purchase, answer);
    if (answer?.status === 409 || answer?.status === 410) return paidBefore(purchase, answer);
    if (answer) why = reason(answer);
    await unknown(answer, why, turn);
  }
  throw new Fault(
    "held",
    "The service gave no clear answer for an hour. The payment is kept in this browser, and no other one was signed.",
    "",
  );
}

async function unknown(answer, why, turn) {
  const asked = Number(answer?.headers.get("Retry-After"));
  const backoff = BACKOFF_MS[Math.min(turn, BACKOFF_MS.length - 1)];
  const wait = turn < 3 && asked > 0 ? Math.min(asked * 1000, 10000) : backoff;
  const seconds = Math.max(1, Math.round(wait / 1000));
  const kind = answer || navigator.onLine ? "unknown" : "offline-paying";
  show("again");
  say(
    kind,
    `${sentence(why)} Whether the payment settled is not known yet. It is kept in this browser, and the same one is sent again in ${seconds} ${seconds === 1 ? "second" : "seconds"}. Nothing new is signed. You may close this page and come back.`,
    "wait",
  );
  await new Promise((next) => {
    const timer = setTimeout(next, wait);
    wake = () => (clearTimeout(timer), next());
  });
}

async function delivered(purchase, answer) {
  const receipt = decode(answer.headers.get("PAYMENT-RESPONSE") || "");
  const failed = shortfalls(purchase, { receipt, sum: await digest(answer.bytes), body: answer.body });
  if (failed.length) return unproven(purchase, receipt, failed);

  const bought = { ...purchase, status: "settled", refused: false, receipt, matches: true };
  let kept = true;
  attemptDone(purchase.product);
  try {
    await keepBought(bought, answer.text);
  } catch {
    kept = false;
  }
  open(
    bought,
    answer.text,
    kept ? "settled" : "settled-unkept",
    kept
      ? "Settled. What you bought is yours; it stays in this browser."
      : "Settled. What you bought is yours, but this browser could not keep it: download it now.",
  );
  at("report").focus({ preventScroll: true });
  at("purchase").scrollIntoView();
}

// Kept as it was, with what is known; a browser that cannot keep it still has the payment as it was signed.
function note(purchase, facts) {
  try {
    keep({ ...purchase, ...facts });
  } catch {
    // It is sent again then, and ends the same way.
  }
}

const clock = (time) => new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
const noOther = (purchase) =>
  Date.now() < heldUntil(purchase)
    ? `Until ${clock(heldUntil(purchase))} no other one is signed for this product, since what you signed may settle until then. Sending it again costs nothing.`
    : "";

function unproven(purchase, receipt, failed) {
  note(purchase, { receipt, failed });
  throw new Fault(
    "unproven",
    `What came does not agree with what was paid for: ${failed.join("; ")}. It is not called settled and not shown. ${noOther(purchase)} Transaction: ${purchase.txid}.`,
    "",
  );
}

function paidBefore(purchase, answer) {
  if (purchase.status !== "settled")
    note(purchase, { status: "paid", receipt: decode(answer.headers.get("PAYMENT-RESPONSE") || "") });
  throw new Fault(
    "paid-before",
    `This was paid before, says the service: ${reason(answer)} Do not pay again; contact the service with the transaction ${purchase.txid}. ${noOther(purchase)}`,
    "",
  );
}

// Another challenge does not undo what was signed: whoever has it can settle it while the network takes it.
function refused(purchase, answer) {
  const receipt = decode(answer.headers.get("PAYMENT-RESPONSE") || "");
  const words = `${receipt?.errorReason || ""} ${reason(answer)}`.trim();
  if (purchase.status === "settled") return lost(purchase);
  if (ON_CHAIN.test(words)) return paidBefore(purchase, answer);

  const known = REFUSALS.find(([pattern]) => pattern.test(words));
  const why = known ? known[2] : `The reason: ${sentence(String(receipt?.errorReason || words).replaceAll("_", " "))}`;
  if (Date.now() < heldUntil(purchase)) {
    note(purchase, { receipt, refused: true });
    throw new Fault("held", `The service refuses this payment. ${why} ${noOther(purchase)}`, "");
  }
  attemptDone(purchase.product);
  note(purchase, { status: "refused", receipt });
  throw new Fault(
    known ? known[1] : "refused",
    `The payment was refused, and the network cannot take it any more. ${why}`,
    "",
  );
}

const rowsOf = (one, body) => [
  ["Product", one.title],
  [
    "Paid",
    one.amount
      ? `${usdc(one.amount)} (${atomic(one.amount)} atomic units)`
      : body.price || `${body.price_atomic} atomic units of USDC`,
  ],
  ["Snapshot", `${body.snapshotId}, as of ${body.as_of}`],
  ["Transaction", one.receipt?.transaction || one.txid],
  ["Payer", one.payer],
  ...(one.payee ? [["Payee", one.payee]] : []),
  ["Network", one.network],
  ...(typeof one.matches === "boolean"
    ? [
        [
          "Digest",
          one.matches
            ? "The bytes are the ones that were quoted"
            : "The bytes are NOT the ones that were quoted: download them and ask the service",
        ],
      ]
    : []),
];

function file(id, name, type, content) {
  at(id).onclick = () => {
    const href = URL.createObjectURL(new Blob([content], { type }));
    Object.assign(document.createElement("a"), { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000); // some browsers read it only after a question
  };
}

function open(one, text, kind, words) {
  current = one;
  const body = JSON.parse(text);
  const made = blocks(body, one.title, rowsOf(one, body));
  const name = `${one.product}-${one.txid.slice(0, 8)}`;
  at("purchase").hidden = at("report").hidden = false;
  at("report").replaceChildren(...draw(made));
  stage("read");
  show("files");
  say(kind, words, "good");
  file("as-json", `${name}.json`, "application/json", text);
  file("as-markdown", `${name}.md`, "text/markdown", markdown(made));
  file(
    "as-receipt",
    `${name}-receipt.json`,
    "application/json",
    JSON.stringify(
      {
        product: one.product,
        transaction: one.txid,
        payer: one.payer,
        payee: one.payee,
        network: one.network,
        snapshotId: body.snapshotId,
        price_atomic: Number(one.amount || body.price_atomic),
        as_of: body.as_of,
        sha256: one.sha256,
        paymentResponse: one.receipt,
      },
      null,
      2,
    ),
  );
  label();
  list();
}

async function reopen(one, kind = "kept", words = "This is what you bought. It stays in this browser.") {
  const body = await bodyOf(one);
  if (body) open(one, body, kind, words);
  return Boolean(body);
}

// A bought document whose body this browser lost is asked for again with the same payment, which pays nothing.
async function pick(one) {
  if (one.status === "settled" && (await reopen(one))) return at("purchase").scrollIntoView();
  if (one.header) await resume(one.txid);
  else lost(one);
}

function lost(one) {
  at("purchase").hidden = false;
  say(
    "lost",
    `This browser no longer has the document, and it was bought too long ago to be delivered again. Transaction: ${one.txid}.`,
    "bad",
  );
}

async function resume(txid) {
  const began = await alone(async () => {
    const one = find(txid);
    if (!one) return;
    try {
      if (["signed", "paid"].includes(one.status) || (one.status === "settled" && !(await reopen(one))))
        await present(one);
      else if (one.status === "refused") say("refused", "This payment was refused. Nothing was paid.", "bad");
    } catch (error) {
      tell(error);
    } finally {
      finished();
    }
  });
  if (began) return;
  elsewhere();
  await othersDone();
  const one = find(txid);
  if (one?.status === "signed") await resume(txid);
  else if (one) await pick(one);
}

function list() {
  const rows = saved().map((one) => {
    const item = element("li");
    const name = `your ${nameOf(one)} of ${when(one.at)}`;
    const button = element(
      "button",
      one.status === "refused"
        ? `Refused: ${name}`
        : `${one.status === "settled" ? "Open" : "Send again the payment for"} ${name}`,
    );
    button.type = "button";
    button.disabled = one.status === "refused" || pay.disabled;
    button.addEventListener("click", () => pick(one));
    item.append(button, element("span", one.txid, "small"));
    return item;
  });
  at("saved").hidden = rows.length === 0;
  at("earlier").hidden = rows.length <= RECENT;
  at("saved-list").replaceChildren(...rows.slice(0, RECENT));
  at("earlier-list").replaceChildren(...rows.slice(RECENT));
}

// What is installed comes first and is chosen, unless the visitor has chosen already.
async function rank() {
  const fields = document.querySelector(".wallets");
  if (!fields) return;
  let chosen = false;
  fields.addEventListener("change", () => (chosen = true), { once: true });
  const found = await walletsHere();
  if (chosen) return;
  const labels = found.map((name) => fields.querySelector(`[value=${name}]`).closest("label"));
  at("wallets").prepend(...labels);
  for (const one of labels) one.querySelector(".small").textContent = "found in this browser";
  if (labels.length && !page.sign) labels[0].querySelector("input").checked = true;
}

for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;
pay.disabled = false;
label();
pay.addEventListener("click", ordered);
at("newer").addEventListener("click", pressed);
at("retry").addEventListener("click", pressed);
at("accept-payee").addEventListener("click", acceptPayee);
at("reload").addEventListener("click", () => location.reload());
at("again").addEventListener("click", () => wake());
at("cancel").addEventListener("click", () => stopping.abort());
at("print").addEventListener("click", () => print());
at("show-sample")?.addEventListener("click", sample);
addEventListener("online", () => wake());
addEventListener("beforeprint", () =>
  document.querySelectorAll("figure details, .words, .part").forEach((part) => (part.open = true)),
);
onChange(list);
list();
const pending = saved().find((one) => one.status === "signed" && one.header && !one.refused && !one.failed);
if (pending) resume(pending.txid);
if (at("peek-shown")) peek();
rank();
