// What goes over the wire: headers as objects, a digest, and a question that ends by itself.

import { Fault } from "./buyer-words.js";

const ASK_MS = 20000;

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

export async function digest(buffer) {
  if (!globalThis.crypto?.subtle) return null;
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", buffer));
  return [...sum].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function ask(url) {
  try {
    return await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(ASK_MS) });
  } catch {
    const why = navigator.onLine ? "The service cannot be reached." : "You are offline.";
    throw new Fault("offline", `${why} Try again when the connection is back.`);
  }
}
