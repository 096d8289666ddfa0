"""An honest seller over the devnet, made of steps that a lying one replaces."""

import base64
import hashlib
import json
import random
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from x402.extensions.payment_identifier import declare_payment_identifier_extension

from gateway.devnet.transactions import Item, parse_item
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from generator.client.buying.web import WebAnswer
from tests.support.gateway_wallet import decode_header, encode_header
from tests.support.vaults import PRICES

ORIGIN: Final = "http://127.0.0.1:8402"
PATH: Final = "/api/x402-market-regime.php"
PRODUCT: Final = "x402-market-regime"
PRICE: Final = PRICES["x402-market-regime"]
SNAPSHOT: Final = "000000000007"


@dataclass
class Seller:
    """Sell one product for one price; what it was handed it can broadcast whenever it likes.

    Args:
        devnet: asked to settle.
        fee_payer: the facilitator's signer.
        dice: what a lie does in this play.
        handed: every group that was presented, as its payment's header.
        answered: how many requests came with a payment.
        asked: how many came without.
        sold: whether the document went out with everything that belongs to it.
    """

    devnet: httpx2.Client
    fee_payer: str
    dice: random.Random
    handed: list[str] = field(default_factory=list)
    answered: int = 0
    asked: int = 0
    sold: bool = False

    def get(self, url: str, headers: dict[str, str]) -> WebAnswer:
        """Answer a GET of this origin."""
        payment = headers.get("PAYMENT-SIGNATURE")
        if payment is None:
            self.asked += 1
            return self.price(url)
        self.answered += 1
        if payment not in self.handed:
            self.handed.append(payment)
        return self.paid(payment)

    def price(self, _url: str) -> WebAnswer:
        """Answer without a payment."""
        return challenge_of(self.required(), self.quote())

    def paid(self, payment: str) -> WebAnswer:
        """Answer a payment: settle it once, deliver as often as it comes."""
        if not self.settle(payment):
            return self.refusal(payment)
        self.sold = True
        return self.delivery(payment)

    def required(self) -> dict[str, Any]:
        """Return the object of PAYMENT-REQUIRED."""
        offer = {
            "scheme": "exact",
            "network": DEVNET.full,
            "asset": str(DEVNET.asset_id),
            "amount": str(PRICE),
            "payTo": DEMO_PAYEE,
            "maxTimeoutSeconds": 60,
            "extra": {"decimals": 6, "name": "USDC", "feePayer": self.fee_payer, "snapshotId": SNAPSHOT},
        }
        return {
            "x402Version": 2,
            "error": "Payment required",
            "resource": {"url": ORIGIN + PATH, "description": "", "mimeType": "application/json"},
            "accepts": [offer, offer | {"network": DEVNET.caip2}],
            "extensions": {"payment-identifier": declare_payment_identifier_extension(required=True)},
        }

    def body(self) -> bytes:
        """Return the document."""
        content = {"endpoint": PRODUCT, "payment_status": "settled", "snapshotId": SNAPSHOT, "headline": "calm"}
        return json.dumps(content).encode()

    def quote(self) -> dict[str, Any]:
        """Return what the body of the 402 states of the document."""
        return {"snapshotId": SNAPSHOT, "sha256": hashlib.sha256(self.body()).hexdigest()}

    def receipt(self, payment: str) -> dict[str, Any]:
        """Return the object of PAYMENT-RESPONSE."""
        item = item_of(payment)
        return {"success": True, "transaction": item.txid, "network": DEVNET.full, "payer": item.sender}

    def delivery(self, payment: str) -> WebAnswer:
        """Return the document with its receipt."""
        return answer(200, self.body(), ("payment-response", encode_header(self.receipt(payment))))

    def refusal(self, _payment: str) -> WebAnswer:
        """Return a fresh challenge to a payment, with the reason."""
        receipt = encode_header({"success": False, "errorReason": "simulation_failed", "transaction": ""})
        return challenge_of(self.required(), self.quote(), ("payment-response", receipt))

    def settle(self, payment: str) -> bool:
        """Let the devnet commit a payment; gives whether the chain has it."""
        value = decode_header(payment)
        body = {"x402Version": 2, "paymentPayload": value, "paymentRequirements": value["accepted"]}
        settled = self.devnet.post("/facilitator/settle", json=body).json()
        return bool(settled["success"]) or self.has(payment)

    def has(self, payment: str) -> bool:
        """Return whether the chain has a payment."""
        txid = item_of(payment).txid
        return bool(self.devnet.get(f"/indexer/v2/transactions/{txid}").status_code == 200)

    def broadcast(self) -> None:
        """Settle whatever was ever handed over."""
        for payment in self.handed:
            self.settle(payment)


def item_of(payment: str) -> Item:
    """Return the transaction that moves the money."""
    payload = decode_header(payment)["payload"]
    return parse_item(base64.b64decode(payload["paymentGroup"][payload["paymentIndex"]]))


def challenge_of(required: dict[str, Any], quote: dict[str, Any], *headers: tuple[str, str]) -> WebAnswer:
    """Return a 402 whose body repeats its header."""
    content = json.dumps({**required, "quote": quote}).encode()
    return answer(402, content, ("payment-required", encode_header(required)), *headers)


def problem(status: int, text: str, *headers: tuple[str, str]) -> WebAnswer:
    """Return an error in the words of RFC 9457."""
    return answer(status, json.dumps({"detail": text}).encode(), *headers)


def answer(status: int, content: bytes, *headers: tuple[str, str]) -> WebAnswer:
    return WebAnswer(status, headers, content)
