// Judge receipts with the official package: node receipts.mjs, lines of JSON in, lines of JSON out.
// In: {"header": PAYMENT-RESPONSE of a settled payment, "altered": [JWS, ...]}. The key is the one that the receipt names.
import { createInterface } from "node:readline";
import {
  extractJWSHeader,
  extractPublicKeyFromKid,
  extractReceiptFromResponse,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";

for await (const line of createInterface({ input: process.stdin })) {
  const { header, altered } = JSON.parse(line);
  const receipt = extractReceiptFromResponse(new Response(null, { headers: { "PAYMENT-RESPONSE": header } }));
  const claims = await verifyReceiptSignatureJWS(receipt);

  const key = await extractPublicKeyFromKid(extractJWSHeader(receipt.signature).kid);
  let taken = 0;
  for (const signature of altered) {
    try {
      await verifyReceiptSignatureJWS({ ...receipt, signature }, key);
      taken += 1;
    } catch {
      // as it should be
    }
  }
  console.log(JSON.stringify({ claims, taken }));
}
