// What the bucket holds, read through the isolate's memory.
//
// Only plain values are kept between requests: a promise or a stream that belongs to one request must not be awaited
// by another. An object below o/ is named by its content, so whatever was read once stays right.

const POINTER_MS = 1_000;
const READ_MS = 3_000;
const MAX_FILE = 1 << 20;
const MAX_BYTES = 24 << 20;
const MAX_ENTRIES = 4_096;
const MAX_MANIFESTS = 16;
const GENERATION = /^[0-9]{12}$/;
const DIGEST = /^[0-9a-f]{64}$/;

const pointers = new Map();
const manifests = new Map();
const files = new Map();
let held = 0;

export class StoreDown extends Error {}

/**
 * The releases that can be read: {generation, manifests}, of which `manifests` maps a generation to its manifest's
 * digest. The pointer is asked at most once a second; while the bucket fails or lies, the last good answer is used.
 * Null before the first release.
 */
export async function releases(bucket, prefix) {
  const known = pointers.get(prefix);
  if (known && Date.now() - known.at < POINTER_MS) return known.found;
  let found = known ? known.found : null;
  try {
    const object = await within(bucket.get(`${prefix}current.json`));
    const body = object === null ? null : await within(object.json());
    found = readable(body) ?? found;
    if (readable(body) === null) console.warn("the pointer names no release; the last good one is used");
  } catch (error) {
    console.warn(`the pointer cannot be read; the last good one is used: ${error}`);
  }
  // Also after a failure: a bucket in trouble is asked once a second, not once a request.
  pointers.set(prefix, { found, at: Date.now() });
  return found;
}

function readable(body) {
  const rows = body === null ? [] : [body, ...(Array.isArray(body.previous) ? body.previous : [])];
  const named = rows.filter((row) => GENERATION.test(row?.generation) && DIGEST.test(row.manifest));
  if (named.length === 0 || named[0] !== body) return null;
  // The newest first: a generation that is named twice is the newer one.
  return {
    generation: body.generation,
    manifests: new Map(named.reverse().map((row) => [row.generation, row.manifest])),
  };
}

/** A release's files: path to {type, modified_s, forms}, of which `forms` maps a coding to an object's digest. */
export async function manifest(bucket, prefix, digest) {
  const known = manifests.get(digest);
  if (known !== undefined) return known;
  try {
    const object = await within(bucket.get(`${prefix}o/${digest}`));
    if (object === null) throw new Error("it is not there");
    const body = new Map(Object.entries((await within(object.json())).files));
    manifests.set(digest, body);
    if (manifests.size > MAX_MANIFESTS) manifests.delete(manifests.keys().next().value);
    return body;
  } catch (error) {
    throw new StoreDown(`the manifest ${digest}: ${error}`);
  }
}

/** One object: {body, size, etag, modified, type}, or null when there is none. `body` is an ArrayBuffer that may be
 * sent again, or the stream of a large object that is sent once. */
export async function read(bucket, key) {
  if (files.has(key)) return again(key);
  try {
    const object = await within(bucket.get(key));
    if (object === null) return null;
    const small = object.size <= MAX_FILE;
    const file = {
      body: small ? await within(object.arrayBuffer()) : object.body,
      size: object.size,
      etag: object.httpEtag,
      modified: Math.floor(object.uploaded.getTime() / 1_000),
      type: object.httpMetadata?.contentType ?? "application/octet-stream",
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
  held += file.size;
  while (held > MAX_BYTES || files.size > MAX_ENTRIES) {
    const [oldest, dropped] = files.entries().next().value;
    files.delete(oldest);
    held -= dropped.size;
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
