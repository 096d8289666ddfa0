// Headers and problem documents, word for word those of the gateway and the preview server.

export const FREE = "public, max-age=60, stale-while-revalidate=60, stale-if-error=600";
export const PINNED = "public, max-age=600, immutable";
export const ONCE = "public, max-age=31536000, immutable";
// The release before the first reading must be neither kept nor indexed: it says that there is none yet.
const START = "000000000000";
export const METHODS = "GET, HEAD, OPTIONS";
export const PAID_VARY = "PAYMENT-SIGNATURE, X-PAYMENT";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, ETag, Date, Link, X-Request-Id, X-Generation",
};
const SECURITY = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DISCLAIMER =
  "For educational use only: not financial, investment, trading, tax, legal, betting, gambling or fund-management " +
  "advice. Confidence describes the strength and agreement of the available evidence; it is neither certainty nor a " +
  "promise of any outcome.";
const PROBLEMS = {
  400: ["bad-request", "The request cannot be understood"],
  404: ["not-found", "There is nothing at this path"],
  405: ["method-not-allowed", "This path answers GET, HEAD and OPTIONS only"],
  413: ["body-refused", "Requests carry no body here"],
  431: ["headers-too-large", "The request headers are larger than 16 KiB"],
  500: ["internal", "Something failed on our side"],
  503: ["unavailable", "Not available now"],
};

/** A page names its Markdown twin, and the twin its page (RFC 8288), the catalog itself (RFC 9727), others nothing. */
function link(path) {
  if (path === "/.well-known/api-catalog") return { link: '</.well-known/api-catalog>; rel="api-catalog"' };
  const parts = /^(\/(?:[a-z0-9-]+\/)*)index\.(html|md)$/.exec(path);
  if (parts === null) return {};
  const [, folder, kind] = parts;
  return {
    link: kind === "md" ? `<${folder}>; rel="canonical"` : `<${folder}index.md>; rel="alternate"; type="text/markdown"`,
  };
}

/** Headers that every answer with a file carries; `contentType` decides the policy of pages, `path` their link. */
export function fileHeaders(contentType, generation, cacheControl, path = "") {
  // A service worker fetches under the policy that it came with.
  const isPage = contentType.startsWith("text/html") || path === "/learn/worker.js";
  const policy = isPage ? { "content-security-policy": PAGE_POLICY } : {};
  const named = generation ? { "x-generation": generation } : {};
  const starting = generation === START && cacheControl !== ONCE;
  return {
    ...CORS,
    ...SECURITY,
    ...policy,
    ...link(path),
    ...named,
    ...(starting ? { "x-robots-tag": "noindex" } : {}),
    "cache-control": starting ? "no-store" : cacheControl,
    vary: "Accept-Encoding",
  };
}

/** An RFC 9457 problem document; a HEAD request gets its headers only. */
export function problem(request, status, detail, { headers = {}, members = {}, project, instance } = {}) {
  const [slug, title] = PROBLEMS[status];
  const body = new TextEncoder().encode(
    JSON.stringify({
      type: `urn:emi:problem:${slug}`,
      title,
      status,
      detail,
      instance,
      project,
      disclaimer: DISCLAIMER,
      ...members,
    }),
  );
  return new Response(request.method === "HEAD" ? null : body, {
    status,
    headers: {
      ...CORS,
      ...SECURITY,
      "content-type": "application/problem+json",
      "content-length": String(body.byteLength),
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** OPTIONS: any origin may read and pay. */
export function preflight(paid) {
  return new Response(null, {
    status: 204,
    headers: {
      ...CORS,
      ...SECURITY,
      ...(paid ? { vary: PAID_VARY } : {}),
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers":
        "PAYMENT-SIGNATURE, X-PAYMENT, Content-Type, If-None-Match, Cache-Control, Idempotency-Key, " +
        "Access-Control-Expose-Headers",
      "access-control-max-age": "86400",
      allow: METHODS,
    },
  });
}

/** 308 from a folder's name to its index, so that relative links on the page resolve. */
export function redirect(location, generation) {
  return new Response(null, {
    status: 308,
    headers: { ...fileHeaders("", generation, FREE), location },
  });
}
