// Serve the official JavaScript facilitator, unmodified; only the HTTP around it is ours.
// Usage: node facilitator.mjs PORT ALGOD_URL NETWORK.., the fee payer's private key on standard input.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { ExactAvmScheme } from "@x402/avm/exact/facilitator";
import { toFacilitatorAvmSigner } from "@x402/avm";
import { x402Facilitator } from "@x402/core/facilitator";

const [port, algodUrl, ...networks] = process.argv.slice(2);
const signer = toFacilitatorAvmSigner(readFileSync(0, "utf8").trim(), { testnetUrl: algodUrl });
const facilitator = new x402Facilitator().register(networks, new ExactAvmScheme(signer));

async function judge(request) {
  if (request.method === "GET") return facilitator.getSupported();
  const { paymentPayload, paymentRequirements } = JSON.parse(await text(request));
  const settles = request.url === "/settle";
  return settles
    ? facilitator.settle(paymentPayload, paymentRequirements)
    : facilitator.verify(paymentPayload, paymentRequirements);
}

createServer(async (request, response) => {
  let status = 200;
  let told;
  try {
    told = await judge(request);
  } catch (error) {
    status = 500;
    told = { error: String(error) };
  }
  console.log(request.url, JSON.stringify(told));
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(told));
}).listen(Number(port), "127.0.0.1");
