// What goes over the wire: headers as objects, a digest, and a question that ends by itself.

import { sha256 } from "./buyer-hash.js";
import { Fault } from "./buyer-words.js";

const ASK_MS = 20000;
const MOST_BYTES = 8 * 1024 * 1024;

export function decode(header) {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (c) => c.charCodeAt(0))));
  } catch {
    return null;
  }
}

export function encode(value) {
  let text = "";
  for (const byte of new TextEncoder().encode(JSON.stringify(value))) text += String.fromCharCode(byte);
  return btoa(text);
}

export async function digest(bytes) {
  if (!globalThis.crypto?.subtle) return sha256(bytes);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...sum].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function bounded(answer) {
  const parts = [];
  let size = 0;
  const reader = answer.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > MOST_BYTES) throw new Error("too large");
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// One GET and its whole answer, of at most 8 MiB; a redirect is an error. `body` is null when it is not JSON.
export async function get(url, headers = {}, ms = ASK_MS) {
  const answer = await fetch(url, { cache: "no-store", redirect: "error", headers, signal: AbortSignal.timeout(ms) });
  const bytes = await bounded(answer);
  const text = new TextDecoder().decode(bytes);
  return { status: answer.status, headers: answer.headers, bytes, text, body: parsed(text) };
}

export async function ask(url) {
  try {
    return await get(url);
  } catch {
    const why = navigator.onLine ? "The service cannot be reached." : "You are offline.";
    throw new Fault("offline", `${why} Try again when the connection is back.`);
  }
}
