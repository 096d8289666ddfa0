// The buyer page: asks for the price only when Pay is pressed, keeps the signed payment before it is sent, and sends
// the same one again for as long as the outcome is not known. It holds no key and never signs.
"use strict";

const STORE = "emi-purchases-v1";
const RETRY_MS = [2000, 3000, 5000, 5000, 10000, 10000];
const at = (id) => document.getElementById(id);
const pay = at("pay");
const product = pay.dataset;
let current = null;

function saved() {
  try {
    const list = JSON.parse(localStorage.getItem(STORE) || "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

// Throws when the browser does not keep it: then the payment must not be sent.
function keep(purchase) {
  const others = saved().filter((one) => one.txid !== purchase.txid);
  localStorage.setItem(STORE, JSON.stringify([purchase, ...others].slice(0, 50)));
}

function say(text, kind = "") {
  at("state").textContent = text;
  at("state").className = kind;
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

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function decode(header) {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (c) => c.charCodeAt(0))));
  } catch {
    return null;
  }
}

async function digest(buffer) {
  if (!globalThis.crypto || !crypto.subtle) return null;
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", buffer));
  return [...sum].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function reason(answer) {
  try {
    const told = await answer.json();
    return told.detail || told.error || told.message || `answer ${answer.status}`;
  } catch {
    return `answer ${answer.status}`;
  }
}

function begin() {
  pay.disabled = true;
  at("purchase").hidden = false;
  at("again").hidden = at("actions").hidden = at("receipt").hidden = at("report").hidden = true;
  at("purchase").scrollIntoView({ block: "nearest" });
}

function stop(text, kind = "bad") {
  say(text, kind);
  pay.disabled = false;
}

async function buy() {
  begin();
  const open = saved().find((one) => one.product === product.product && one.status === "signed");
  if (open) return present(open, 0);
  let purchase;
  try {
    stage("ask");
    say("Asking for the price …");
    const asked = await fetch(product.path, { cache: "no-store" });
    if (asked.status !== 402) return stop(`No price was given: ${await reason(asked)}. Nothing was paid.`);
    const header = asked.headers.get("PAYMENT-REQUIRED");
    const terms = await asked.json();
    stage("sign");
    say("The devnet wallet signs …");
    const signed = await fetch(product.sign, { cache: "no-store", headers: { "PAYMENT-REQUIRED": header } });
    if (!signed.ok) return stop(`The wallet did not sign: ${await reason(signed)}. Nothing was paid.`);
    const made = await signed.json();
    purchase = {
      txid: made.txid, payer: made.payer, network: made.network, header: made.payment_signature,
      product: product.product, title: product.title, path: product.path, status: "signed",
      sha256: terms.quote ? terms.quote.sha256 : null, at: new Date().toISOString(),
    };
  } catch {
    return stop("The service cannot be reached. Nothing was paid.");
  }
  try {
    keep(purchase);
  } catch {
    return stop("This browser does not let the page keep the payment, so it was not sent. Nothing was paid.");
  }
  return present(purchase, 0);
}

async function present(purchase, attempt) {
  current = purchase;
  begin();
  stage("settle");
  say(attempt ? "Asking again with the same payment …" : "Settling on the network …");
  let answer, why;
  try {
    answer = await fetch(purchase.path, { cache: "no-store", headers: { "PAYMENT-SIGNATURE": purchase.header } });
  } catch {
    why = "The service cannot be reached";
  }
  if (answer && answer.status === 200) return delivered(purchase, answer);
  if (answer && answer.status === 402) return refused(purchase, answer);
  if (answer) why = await reason(answer);
  unknown(purchase, attempt, why, answer && Number(answer.headers.get("Retry-After")) * 1000);
}

async function delivered(purchase, answer) {
  let bytes;
  try {
    bytes = await answer.arrayBuffer();
    purchase.body = new TextDecoder().decode(bytes);
    JSON.parse(purchase.body);
  } catch {
    return unknown(purchase, 0, "The answer was cut off on its way", 0);
  }
  purchase.status = "settled";
  purchase.receipt = decode(answer.headers.get("PAYMENT-RESPONSE") || "");
  const sum = await digest(bytes);
  purchase.matches = sum && purchase.sha256 ? sum === purchase.sha256 : null;
  try {
    keep(purchase);
  } catch {
    purchase.unkept = true;
  }
  show(purchase);
}

async function refused(purchase, answer) {
  const receipt = decode(answer.headers.get("PAYMENT-RESPONSE") || "");
  const why = (receipt && receipt.errorReason) || (await reason(answer));
  purchase.status = "refused";
  purchase.receipt = receipt;
  try {
    keep(purchase);
  } finally {
    stop(`The payment was refused and nothing was paid. The reason: ${why}.`);
    list();
  }
}

function unknown(purchase, attempt, why, asked) {
  at("actions").hidden = at("again").hidden = false;
  const again = attempt < RETRY_MS.length;
  const wait = asked > 0 ? Math.min(asked, 10000) : RETRY_MS[attempt];
  const cause = why.charAt(0).toUpperCase() + why.slice(1).replace(/\.$/, "");
  const seconds = Math.max(1, Math.round(wait / 1000));
  const next = again ? `It is sent again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.` : "Press the button to send it again.";
  say(`${cause}. Whether the payment settled is not known yet. It is kept in this browser, and nothing new is signed. ${next}`, "wait");
  if (again) setTimeout(() => current === purchase && purchase.status === "signed" && present(purchase, attempt + 1), wait);
}

function row(name, value, code) {
  const made = element("div");
  const told = element("dd");
  told.append(code ? element("code", value) : value);
  made.append(element("dt", name), told);
  return made;
}

function show(purchase) {
  current = purchase;
  at("purchase").hidden = at("receipt").hidden = at("actions").hidden = false;
  at("again").hidden = true;
  stage("read");
  const note = purchase.unkept ? " This browser could not keep it: download it now." : "";
  say(`Settled. What you bought is yours${purchase.unkept ? "." : "; it stays in this browser."}${note}`);
  const body = JSON.parse(purchase.body);
  const rows = [row("Product", `${purchase.title}, ${body.price || `${body.price_atomic} atomic units of USDC`}`), row("Snapshot", `${body.snapshotId}, as of ${body.as_of}`), row("Transaction", purchase.txid, true), row("Payer", purchase.payer, true), row("Network", purchase.network, true)];
  if (purchase.matches !== null && purchase.matches !== undefined) {
    rows.push(row("Digest", purchase.matches ? "The bytes are the ones that were quoted" : "The bytes are NOT the ones that were quoted: download them and ask the seller"));
  }
  at("receipt").replaceChildren(...rows);
  const link = at("download");
  if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([purchase.body], { type: "application/json" }));
  link.download = `${purchase.product}-${purchase.txid.slice(0, 8)}.json`;
  link.hidden = false;
  render(body);
  pay.disabled = false;
  pay.textContent = "Buy the newest one";
  list();
}

function list() {
  const rows = saved().map((one) => {
    const item = element("li");
    const open = element("button", { settled: "Open", refused: "Refused", signed: "Send again" }[one.status] || one.status);
    open.type = "button";
    open.disabled = one.status === "refused" || one.product !== product.product;
    open.addEventListener("click", () => (one.status === "settled" ? show(one) : present(one, 0)));
    const words = element("span", one.title);
    words.append(element("br"), element("span", `${one.at.slice(0, 16).replace("T", " ")} UTC · ${one.txid}`, "small"));
    const side = element("span");
    side.append(open);
    item.append(words, side);
    return item;
  });
  at("saved-list").replaceChildren(...rows);
  at("saved").hidden = rows.length === 0;
}

// Rendering: text nodes only, so nothing in a body can become markup.
const words = (key) => {
  const text = key.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};
const COUNTS = { n: "Known outcomes", right: "Right", losses: "Wrong", warm_up: "Made by a stepped clock" };
const plain = (value) => (value === null ? "not known" : value === true ? "yes" : value === false ? "no" : String(value));
const simple = (value) => value === null || typeof value !== "object";

function bullets(items) {
  const made = element("ul");
  for (const item of items) made.append(element("li", plain(item)));
  return made;
}

// One level of inner facts becomes columns; deeper parts are left to the download, and the page says so.
function flat(one) {
  const entries = Object.entries(one).flatMap(([key, value]) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).map(([inner, deep]) => [`${key} ${inner}`, deep])
      : [[key, value]]);
  return Object.fromEntries(entries.filter(([, value]) => simple(value)));
}

function table(nested) {
  const rows = nested.map(flat);
  const keys = [...new Set(rows.flatMap((one) => Object.keys(one)))];
  const made = element("table");
  const head = element("tr");
  const numeric = (key) => (rows.some((one) => typeof one[key] === "number") ? "num" : "");
  for (const key of keys) head.append(Object.assign(element("th", words(key), numeric(key)), { scope: "col" }));
  const body = element("tbody");
  for (const one of rows) {
    const line = element("tr");
    keys.forEach((key, place) => line.append(element(place ? "td" : "th", plain(one[key] ?? null), numeric(key))));
    body.append(line);
  }
  const top = element("thead");
  top.append(head);
  made.append(top, body);
  const frame = element("div", undefined, "scroll");
  frame.tabIndex = 0;
  frame.append(made);
  return frame;
}

function facts(entries) {
  const made = element("dl", undefined, "terms");
  for (const [key, value] of entries) made.append(row(words(key), plain(value)));
  return made;
}

function parts(value, level) {
  if (simple(value)) return [element("p", plain(value))];
  if (Array.isArray(value)) {
    if (!value.length) return [element("p", "None.", "unknown")];
    return value.every(simple) ? [bullets(value)] : [table(value)];
  }
  const entries = Object.entries(value);
  if (!entries.length) return [element("p", "None.", "unknown")];
  const made = [];
  const told = entries.filter(([, one]) => simple(one));
  if (told.length) made.push(facts(told));
  const deep = entries.filter(([, one]) => !simple(one));
  const alike = deep.length > 2 && !told.length && deep.every(([key, one]) => key === one.asset);
  if (alike) return [table(deep.map(([, one]) => one))];
  for (const [key, one] of deep) made.push(element(`h${Math.min(level, 6)}`, words(key)), ...parts(one, level + 1));
  return made;
}

function human(report) {
  const made = [element("h2", report.title), element("p", report.verdict, "verdict"), element("p", `As of ${report.as_of}`, "asof")];
  const section = (title, value) => value !== undefined && made.push(element("h3", title), ...parts(value, 4));
  const prose = (title, one) => {
    if (!one) return;
    made.push(element("h3", title), element("p", one.text));
    if (one.points && one.points.length) made.push(bullets(one.points));
  };
  section("What changed", report.what_changed);
  made.push(element("h3", "Coin by coin"));
  for (const one of report.assets || []) {
    const price = one.price === null ? "price not known" : `${one.price.toLocaleString("en", { maximumSignificantDigits: 6 })} USD`;
    const change = one.change_24h === null ? "" : `, ${one.change_24h > 0 ? "up" : "down"} ${Math.abs(one.change_24h)} % in 24 hours`;
    const head = element("h4", `${one.name} (${one.asset}) `);
    head.append(element("span", price + (one.change_24h === 0 ? ", unchanged in 24 hours" : change), "small"));
    made.push(head, element("p", one.text));
  }
  prose("Futures", report.derivatives);
  prose("How much can change hands", report.liquidity);
  made.push(element("h3", "What may come next"));
  for (const one of report.scenarios || []) {
    made.push(element("h4", one.name), element("p", one.text), element("p", `Wrong if: ${one.wrong_if}`, "small"));
  }
  prose("The Arena", report.arena);
  const record = report.track_record;
  if (record) {
    made.push(element("h3", "How past readings turned out"), element("p", record.text));
    const counts = element("dl", undefined, "terms");
    for (const [key, name] of Object.entries(COUNTS)) if (record[key] !== undefined) counts.append(row(name, plain(record[key])));
    made.push(counts);
    if ((record.latest_arena_losses || []).length) made.push(element("h4", "Latest misses in the Arena"), bullets(record.latest_arena_losses));
  }
  section("What it rests on", report.evidence);
  section("What it cannot tell", report.limits);
  if ((report.glossary || []).length) {
    const meanings = element("dl", undefined, "glossary");
    for (const one of report.glossary) {
      const pair = element("div");
      pair.append(element("dt", one.word), element("dd", one.meaning));
      meanings.append(pair);
    }
    made.push(element("h3", "Words"), meanings);
  }
  return made;
}

// The reading first, the envelope last.
function machine(title, summary, entries) {
  const made = [element("h2", title)];
  if (typeof summary === "string") made.push(element("p", summary, "verdict"));
  made.push(element("p", "Shown shortened. The download is the document itself, with everything in it.", "small"));
  for (const [key, one] of entries.filter(([, one]) => !simple(one))) made.push(element("h3", words(key)), ...parts(one, 4));
  made.push(element("h3", "About this document"), facts(entries.filter(([, one]) => simple(one))));
  return made;
}

function render(body) {
  const { report, disclaimer, summary, ...rest } = body;
  const made = report && report.title ? human(report) : machine(body.product || product.title, summary, Object.entries(rest));
  if (disclaimer) made.push(element("p", disclaimer, "notice"));
  at("report").replaceChildren(...made);
  at("report").hidden = false;
}

pay.hidden = at("pay-note").hidden = false;
pay.addEventListener("click", buy);
at("again").addEventListener("click", () => current && present(current, 0));
list();
const last = saved().find((one) => one.product === product.product);
if (last && last.status === "signed") present(last, 0);
else if (last && last.status === "settled") show(last);
