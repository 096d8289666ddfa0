// The edge on Cloudflare: the published site from an R2 bucket, the paid paths from the gateway.
//
// Bindings and variables (wrangler.toml): SITE the bucket, PREFIX of the site in it, GATEWAY_ORIGIN, PROJECT.

import { FREE, METHODS, ONCE, PINNED, fileHeaders, preflight, problem, redirect } from "./answers.js";
import { askGateway, isPaid } from "./gateway.js";
import { MOVED } from "./moved.js";
import { codings, unchanged } from "./negotiation.js";
import { StoreDown, manifest, read, releases } from "./store.js";

const ASSETS = ["BTC", "ETH", "XRP", "SOL", "ALGO", "XLM", "HBAR"];
const REASONING = "/api/reasoning.php";
const ONCE_PREFIXES = ["/log/tile/", "/files/"];
const PINNED_PATH = /^\/g\/([0-9]{12})(\/.*)$/;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_PATH = 512;
const HIDDEN = /\/\.(?!well-known\/)/;
const NOTHING = "Nothing is published at this path.";
// The edge adds these itself; they are not the client's to answer for.
const ADDED = /^(cf-|cdn-loop$|x-forwarded-|x-real-ip$|true-client-ip$)/;

export default {
  async fetch(request, env) {
    const known = { project: env.PROJECT ?? "Educational Market Intelligence" };
    if (!URL.canParse(request.url)) return problem(request, 400, "The host or the path is not valid.", known);
    const url = new URL(request.url);
    known.instance = url.pathname;
    try {
      return await answer(request, url, env, known);
    } catch (error) {
      console.error(error);
      if (!(error instanceof StoreDown)) return problem(request, 500, "Something failed on our side.", known);
      const headers = { "retry-after": "5" };
      return problem(request, 503, "The published files cannot be read right now.", { ...known, headers });
    }
  },
};

async function answer(request, url, env, known) {
  const refused = refusal(request, url, known);
  if (refused !== null) return refused;
  const path = decoded(url.pathname);
  if (path === null) return problem(request, 400, "The path is not valid.", known);
  // Longer than any path can be: the bucket would call it an error.
  if (path.length > MAX_PATH) return problem(request, 404, NOTHING, known);
  if (isPaid(path)) return askGateway(request, url, env, known);
  if (request.method === "OPTIONS") return preflight(false);
  if (request.method !== "GET" && request.method !== "HEAD") {
    return problem(request, 405, "Use GET or HEAD.", { ...known, headers: { allow: METHODS } });
  }
  return free(request, url, path, env, known);
}

async function free(request, url, path, env, known) {
  // Read once for the whole request: whatever the pointer does meanwhile, this answer is of one tick.
  const prefix = env.PREFIX ?? "";
  const there = await releases(env.SITE, prefix);
  if (ONCE_PREFIXES.some((start) => path.startsWith(start))) {
    const file = await read(env.SITE, `${prefix}once${path}`);
    const where = { path, generation: there?.generation, cacheControl: ONCE };
    return file === null
      ? problem(request, 404, NOTHING, known)
      : send(request, { ...file, coding: "identity" }, where);
  }
  if (there === null) {
    return problem(request, 503, "Nothing has been published yet.", { ...known, headers: { "retry-after": "5" } });
  }
  const moved = MOVED.find(([old]) => path.startsWith(old));
  if (moved !== undefined) return redirect(moved[1], there.generation);
  const pinned = PINNED_PATH.exec(path);
  const generation = pinned === null ? there.generation : pinned[1];
  const digest = there.manifests.get(generation);
  if (digest === undefined) return problem(request, 404, "This release is not kept any more, or never was.", known);
  const asset = assetPath(pinned === null ? path : pinned[2], url);
  if (asset === null) {
    const detail = `The asset '${url.searchParams.get("asset").trim().toUpperCase().slice(0, 20)}' is not supported.`;
    return problem(request, 400, detail, { ...known, members: { supported_assets: ASSETS } });
  }
  const where = {
    prefix,
    path: asset,
    files: await manifest(env.SITE, prefix, digest),
    generation,
    cacheControl: pinned === null ? FREE : PINNED,
    mount: pinned === null ? "" : `/g/${generation}`,
  };
  return serve(request, env, where, known);
}

/** The one rule for ?asset=; null when the asset is not supported. */
function assetPath(path, url) {
  if (path !== REASONING) return path.endsWith("/") ? `${path}index.html` : path;
  const asset = (url.searchParams.get("asset") ?? "").trim().toUpperCase() || ASSETS[0];
  if (!ASSETS.includes(asset)) return null;
  return asset === ASSETS[0] ? REASONING : `/api/reasoning/${asset}.json`;
}

async function serve(request, env, where, known) {
  const row = HIDDEN.test(where.path) ? undefined : where.files.get(where.path);
  if (row !== undefined) {
    // The edge rewrites Accept-Encoding before the Worker sees it; what the client sent is in `cf`.
    const accepted = request.cf?.clientAcceptEncoding ?? request.headers.get("accept-encoding");
    return send(request, await form(env, where.prefix, row, accepted), where);
  }
  if (!/\.[^/]*$/.test(where.path) && where.files.has(`${where.path}/index.html`)) {
    return redirect(`${where.mount}${where.path}/`, where.generation);
  }
  return nothing(request, env, where, known);
}

/** The form of a file that the client takes, as an object of the bucket with the date and the type of its path. */
async function form(env, prefix, row, accepted) {
  const coding = codings(accepted).find((name) => name in row.forms);
  const digest = row.forms[coding];
  const object = await read(env.SITE, `${prefix}o/${digest}`);
  if (object === null) throw new StoreDown(`o/${digest} is not there, and the manifest names it`);
  return { ...object, coding, etag: `"${digest.slice(0, 32)}"`, modified: row.modified_s, type: row.type };
}

/** A browser gets the page for it, everything else a problem document. */
async function nothing(request, env, where, known) {
  const wanted = (request.headers.get("accept") ?? "").includes("text/html");
  const row = wanted ? where.files.get("/not-found/index.html") : undefined;
  if (row === undefined) return problem(request, 404, NOTHING, known);
  const page = await form(env, where.prefix, row, "identity");
  const headers = {
    ...fileHeaders(page.type, where.generation, "no-store"),
    vary: "Accept",
    "content-type": page.type,
  };
  if (request.method === "HEAD" && page.body instanceof ReadableStream) page.body.cancel();
  return new Response(request.method === "HEAD" ? null : page.body, { status: 404, headers });
}

function send(request, file, where) {
  const headers = new Headers({
    ...fileHeaders(file.type, where.generation, where.cacheControl, where.path),
    etag: file.etag,
    "last-modified": new Date(file.modified * 1_000).toUTCString(),
  });
  const same = unchanged(request.headers, file.etag, file.modified);
  if ((same || request.method === "HEAD") && file.body instanceof ReadableStream) file.body.cancel();
  if (same) return new Response(null, { status: 304, headers });
  headers.set("content-type", file.type);
  headers.set("content-length", String(file.size));
  if (file.coding !== "identity") headers.set("content-encoding", file.coding);
  // "manual": the bytes are encoded already. Otherwise the runtime would encode them again.
  return new Response(request.method === "HEAD" ? null : file.body, { headers, encodeBody: "manual" });
}

function refusal(request, url, known) {
  let bytes = url.pathname.length + url.search.length;
  for (const [name, value] of request.headers) {
    if (!ADDED.test(name)) bytes += name.length + value.length + 4;
  }
  if (bytes > MAX_HEADER_BYTES) return problem(request, 431, "Send less.", known);
  const length = request.headers.get("content-length") ?? "0";
  const body = length !== "0" || request.headers.has("transfer-encoding");
  if (body && ["GET", "HEAD", "OPTIONS"].includes(request.method)) {
    return problem(request, 413, "Send the request without a body.", known);
  }
  return null;
}

function decoded(path) {
  try {
    const text = decodeURIComponent(path);
    return /[\u0000-\u001f\u007f\\]/.test(text) ? null : text;
  } catch {
    return null;
  }
}
