// Buy one resource with the official axios client, unmodified.
// Usage: node axios_buyer.mjs URL ALGOD_URL PRIVATE_KEY; one JSON line comes out.
import axios from "axios";
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios";
import { toClientAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/client";

const [, , url, algodUrl, secret] = process.argv;
const client = new ExactAvmScheme(toClientAvmSigner(secret), { algodUrl });
const paying = wrapAxiosWithPaymentFromConfig(axios.create(), { schemes: [{ network: "algorand:*", client }] });
const answer = await paying
  .get(url, { responseType: "text", transformResponse: (text) => text })
  .catch((error) => error.response);
console.log(
  JSON.stringify({ status: answer.status, receipt: answer.headers["payment-response"] ?? "", body: answer.data }),
);
