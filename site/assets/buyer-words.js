// The ends of a purchase that are not a delivered report, by name and in words, and what may be done after each.

import { WalletFault } from "./buyer-wallets.js";

// Each end that is not a delivered report; a Fault carries its name, and the page its words.
export const NOTHING = "Nothing was paid.";
export class Fault extends WalletFault {
  constructor(kind, words, end = NOTHING) {
    super(kind, words);
    this.end = end;
  }
}
export const OBSTACLES = {
  no_account: ["no-account", "This account is not on the network yet. It needs a little ALGO, and then USDC."],
  not_opted_in: [
    "not-opted-in",
    "This account has not opted in to USDC, so it cannot hold any. Add the asset in your wallet, get some USDC, and press Pay again.",
  ],
  asset_frozen: ["frozen", "The issuer of USDC has frozen it in this account, so it cannot be sent."],
};
export const REFUSALS = [
  [/quote_expired|unknown_snapshot|txn dead|validity_window|round.*outside/i, "expired", "The payment came too late."],
  [/insufficient|underflow|overspend/i, "too-little", "The account holds too little USDC."],
  [
    /overlapping lease|already in ledger/i,
    "refused",
    "This account has just paid for this in another tab. Look there.",
  ],
];
export const ON_CHAIN = /payment_already_on_chain/;

// What may be done next; after what was paid before, nothing.
export const NEXT = {
  "terms-changed": ["reload"],
  "payee-changed": ["accept-payee"],
  "paid-before": [],
  held: ["retry"],
  unproven: ["retry"],
  missing: ["get-wallet"],
  "no-account": ["get-usdc", "retry"],
  "not-opted-in": ["get-usdc", "retry"],
  "too-little": ["get-usdc", "retry"],
};

// Words of others end as a sentence does.
export const sentence = (words) =>
  words
    .trim()
    .replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())
    .replace(/[^.!?…]$/, "$&.");

const MOST_LETTERS = 300;

// The reason that an answer has for people, in the service's own words: shown, never acted upon.
export function reason({ status, body }) {
  const words = body && typeof body === "object" ? body.detail || body.error || body.message : "";
  return words
    ? sentence(String(words).slice(0, MOST_LETTERS))
    : `The service answered with an error (HTTP ${status}) and no reason.`;
}
