"""What has to agree before a purchase is called settled. Pure: nothing here asks anyone."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final

from gateway.wire.foreign import read_json
from gateway.wire.networks import NETWORKS

if TYPE_CHECKING:
    from generator.client.buying.purchases import Purchase
    from generator.client.buying.web import WebAnswer

PAYMENT_RESPONSE: Final = "payment-response"


def receipt_of(answer: WebAnswer) -> dict[str, Any] | None:
    """Return the one receipt of an answer, None when there is none, several or an unreadable one."""
    headers = answer.values(PAYMENT_RESPONSE)
    if len(headers) != 1:
        return None
    try:
        receipt = read_json(base64.b64decode(headers[0], validate=True))
    except ValueError:
        return None
    return receipt if isinstance(receipt, dict) else None


def failures(purchase: Purchase, answer: WebAnswer) -> list[str]:
    """Return what does not agree with a purchase in the answer that is to deliver it; empty when all does."""
    return _of_the_receipt(purchase, receipt_of(answer)) + _of_the_body(purchase, answer)


def _of_the_receipt(purchase: Purchase, receipt: dict[str, Any] | None) -> list[str]:
    if receipt is None:
        return ["there is no receipt (PAYMENT-RESPONSE)"]

    wrong: list[str] = []

    if receipt.get("success") is not True:
        wrong.append("the receipt does not say success")
    if receipt.get("transaction") != purchase.txid:
        wrong.append("the receipt is for another transaction")
    if receipt.get("network") not in _forms(purchase.network):
        wrong.append("the receipt is for another network")
    if receipt.get("payer") not in (None, "", purchase.payer):
        wrong.append("the receipt is for another payer")
    return wrong


def _of_the_body(purchase: Purchase, answer: WebAnswer) -> list[str]:
    wrong: list[str] = []
    if purchase.sha256 is None:
        wrong.append("the quote is not known (signed by an earlier version)")
    elif hashlib.sha256(answer.content).hexdigest() != purchase.sha256:
        wrong.append("the SHA-256 of the body is not the quoted one")

    body = answer.json()
    if not isinstance(body, dict):
        return [*wrong, "the body is not a JSON object"]

    if body.get("snapshotId") != purchase.snapshot_id:
        wrong.append("the body is of another snapshot than the quote")
    if purchase.product is not None and body.get("endpoint") != purchase.product:
        wrong.append("the body is another product")
    return wrong


def _forms(network: str) -> tuple[str, ...]:
    """Return the two ways in which a network is written."""
    return next((known.forms for known in NETWORKS.values() if network in known.forms), (network,))
