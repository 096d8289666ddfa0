// The paid paths and the buyer page: handed to the gateway as they came, never cached, never asked twice.

import { PAID_VARY, problem } from "./answers.js";

const PAID = /^\/api\/x402-[^/]+\.php$/;
const BUYER = /^\/x402-buyer(\/|$)/;
const TIMEOUT_S = 30;
// Everything else stays here: cookies and the edge's own headers are nothing to the gateway, and its 16 KiB are for
// the payment.
const FORWARDED = [
  "accept",
  "access-control-request-headers",
  "access-control-request-method",
  "content-type",
  "origin",
  "payment-required",
  "payment-signature",
  "sec-fetch-site",
  "user-agent",
  "x-ballot",
  "x-payment",
];

export function isPaid(path) {
  return PAID.test(path) || BUYER.test(path);
}

/** Ask the gateway once; when it cannot be reached, say so in JSON without a challenge. */
export async function askGateway(request, url, env, known) {
  const headers = new Headers();
  for (const name of FORWARDED) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const client = request.headers.get("cf-connecting-ip");
  if (client !== null) headers.set("x-forwarded-for", client);
  try {
    const answer = await fetch(new URL(url.pathname + url.search, env.GATEWAY_ORIGIN), {
      method: request.method,
      headers,
      redirect: "manual",
      cache: "no-store",
      signal: AbortSignal.timeout(Number(env.GATEWAY_TIMEOUT_SECONDS ?? TIMEOUT_S) * 1_000),
    });
    // 520 to 530 are the edge's own words for an origin that cannot be reached; 502 and 504 a proxy's before it.
    if (answer.status !== 502 && answer.status !== 504 && answer.status < 520) return answer;
    await answer.body?.cancel();
  } catch (error) {
    console.warn(`the gateway does not answer: ${error}`);
  }
  const detail = request.headers.has("payment-signature")
    ? "The outcome of this payment is not known yet. Send the same payment again; do not sign another."
    : "The payment gateway does not answer. The free endpoints are not affected.";
  return problem(request, 503, detail, { ...known, headers: { vary: PAID_VARY, "retry-after": "5" } });
}
