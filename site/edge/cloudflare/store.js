// What the bucket holds, read through the isolate's memory.
//
// Only plain values are kept between requests: a promise or a stream that belongs to one request must not be awaited
// by another. Keys below g/<generation>/ never change, so whatever was read once stays right.

const POINTER_MS = 1_000;
const READ_MS = 3_000;
const MAX_FILE = 1 << 20;
const MAX_BYTES = 24 << 20;
const MAX_ENTRIES = 4_096;
const GENERATION = /^[0-9]{12}$/;

const pointers = new Map();
const files = new Map();
let held = 0;

export class StoreDown extends Error {}

/**
 * The generation that the pointer names, asked at most once a second. While the bucket fails or lies, the last good
 * one is used. Null before the first.
 */
export async function currentGeneration(bucket, prefix) {
  const known = pointers.get(prefix);
  if (known && Date.now() - known.at < POINTER_MS) return known.generation;
  let generation = known ? known.generation : null;
  try {
    const object = await within(bucket.get(`${prefix}current.json`));
    const body = object === null ? null : await within(object.json());
    if (body !== null && GENERATION.test(body.generation)) generation = body.generation;
    else console.warn("the pointer names no generation; the last good one is used");
  } catch (error) {
    console.warn(`the pointer cannot be read; the last good one is used: ${error}`);
  }
  // Also after a failure: a bucket in trouble is asked once a second, not once a request.
  pointers.set(prefix, { generation, at: Date.now() });
  return generation;
}

/**
 * One object: {body, size, etag, modified, type, coding}, or null when there is none. `body` is an ArrayBuffer that
 * may be sent again, or the stream of a large object that is sent once.
 *
 * `complete` says that the key's generation is published whole, so that an absence is final and may be remembered.
 */
export async function read(bucket, key, complete) {
  if (files.has(key)) return again(key);
  let object;
  try {
    object = await within(bucket.get(key));
    if (object === null) {
      if (complete) keep(key, null);
      return null;
    }
    const small = object.size <= MAX_FILE;
    const file = {
      body: small ? await within(object.arrayBuffer()) : object.body,
      size: object.size,
      etag: object.httpEtag,
      modified: Math.floor(object.uploaded.getTime() / 1_000),
      type: object.httpMetadata?.contentType ?? "application/octet-stream",
      coding: object.httpMetadata?.contentEncoding ?? "identity",
    };
    if (small) keep(key, file);
    return file;
  } catch (error) {
    throw new StoreDown(`${key}: ${error}`);
  }
}

function again(key) {
  const file = files.get(key);
  // Moved to the end: a Map keeps the order of insertion, so the first is the least recently used.
  files.delete(key);
  files.set(key, file);
  return file;
}

function keep(key, file) {
  if (files.has(key)) return;
  files.set(key, file);
  held += file?.size ?? 0;
  while (held > MAX_BYTES || files.size > MAX_ENTRIES) {
    const [oldest, dropped] = files.entries().next().value;
    files.delete(oldest);
    held -= dropped?.size ?? 0;
  }
}

async function within(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${READ_MS} ms`)), READ_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
