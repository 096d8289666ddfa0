// Buy one resource with the official JavaScript client, unmodified.
// Usage: node buyer.mjs URL ALGOD_URL [NETWORK], the private key on standard input; one JSON line comes out.
// NETWORK registers the client for that one form; without it for "algorand:*", as its README shows.
import { readFileSync } from "node:fs";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import { toClientAvmSigner } from "@x402/avm";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";

const [url, algodUrl, network = "algorand:*"] = process.argv.slice(2);
const signer = toClientAvmSigner(readFileSync(0, "utf8").trim());
const client = new ExactAvmScheme(signer, { algodUrl });
const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network, client }] });
const answer = await pay(url, { method: "GET" });
const receipt = answer.headers.get("PAYMENT-RESPONSE") ?? "";
console.log(JSON.stringify({ status: answer.status, receipt, body: await answer.text() }));
