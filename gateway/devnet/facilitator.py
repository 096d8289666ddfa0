"""A facilitator of the x402 v2 exact scheme on Algorand: checks a group, pays its fee, commits it.

Reasons, and the order in which they are found, follow the official Python facilitator, down to this: a group that is
already settled fails its simulation, with success false and an empty transaction; and a settled one is answered with
the id of the group's first transaction, which is not the payment's. What the ledger refuses by itself (signatures,
group ids, another network, closing, rekeying) is a failed simulation here.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from x402.schemas import PaymentPayload, PaymentRequirements

from gateway.devnet.errors import LedgerRefusal, Malformed
from gateway.devnet.keys import Key
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.node import mounted
from gateway.devnet.transactions import Item, parse_item, signed
from gateway.wire.algorand import MAX_GROUP
from gateway.wire.foreign import read_json

SCHEME: Final = "exact"
MAX_FEE: Final = 16_000
"""Micro-ALGO that the fee payer spends at most on a group, the pooled fee of sixteen transactions."""
PREFIX: Final = "invalid_exact_avm_payload"


class FacilitatorRefusal(Exception):
    """A payment is not valid: why, and who sent it."""

    def __init__(self, reason: str, message: str = "", payer: str = "") -> None:
        super().__init__(reason)
        self.reason, self.message, self.payer = reason, message, payer


class _Asked(BaseModel):
    """What /verify and /settle are asked."""

    x402Version: int  # noqa: N815  the wire's name
    paymentPayload: PaymentPayload  # noqa: N815
    paymentRequirements: PaymentRequirements  # noqa: N815


class DevnetFacilitator:
    """Verify and settle over one ledger, with the fee payer's key."""

    def __init__(self, ledger: DevnetLedger, key: Key) -> None:
        self._ledger = ledger
        self._key = key
        self._network = ledger.identity.full

    def routes(self) -> Mount:
        """Return the routes below /facilitator."""
        posts = [Route(path, self._judge, methods=["POST"]) for path in ("/verify", "/settle")]
        return mounted("/facilitator", [Route("/supported", self._supported), *posts])

    async def _supported(self, _request: Request) -> Response:
        address = self._key.address
        kind = {"x402Version": 2, "scheme": SCHEME, "network": self._network, "extra": {"feePayer": address}}
        return JSONResponse({"kinds": [kind], "extensions": [], "signers": {"algorand:*": [address]}})

    async def _judge(self, request: Request) -> Response:
        try:
            asked = _Asked.model_validate(read_json(await request.body()))
        except (ValidationError, ValueError) as problem:
            return JSONResponse({"error": "invalid_request", "message": str(problem)[:500]}, status_code=400)
        if asked.x402Version != 2:
            return JSONResponse({"error": "invalid_x402_version"}, status_code=400)

        answer = self._settle if request.url.path.endswith("/settle") else self._verify
        return JSONResponse(answer(asked.paymentPayload, asked.paymentRequirements))

    def _verify(self, payload: PaymentPayload, requirements: PaymentRequirements) -> dict[str, Any]:
        """Return whether the payment would settle now; nothing is committed."""
        try:
            payer, _ = self._check(payload, requirements, self._ledger.simulate)
        except FacilitatorRefusal as refused:
            why = {"invalidReason": refused.reason, "invalidMessage": refused.message, "payer": refused.payer}
            return {"isValid": False, **why}
        return {"isValid": True, "payer": payer}

    def _settle(self, payload: PaymentPayload, requirements: PaymentRequirements) -> dict[str, Any]:
        """Commit the payment's group once and return what happened."""
        network = str(payload.accepted.network)
        try:
            payer, items = self._check(payload, requirements, self._ledger.submit)
        except FacilitatorRefusal as refused:
            why = {"errorReason": refused.reason, "errorMessage": refused.message, "payer": refused.payer}
            return {"success": False, "transaction": "", "network": network, **why}
        return {"success": True, "transaction": items[0].txid, "network": network, "payer": payer}

    def _check(
        self, payload: PaymentPayload, requirements: PaymentRequirements, play: Callable[[list[Item]], object]
    ) -> tuple[str, list[Item]]:
        """Give the group with its fee signed to the ledger, and return it with the payer; raise Refused otherwise."""
        if payload.accepted.scheme != SCHEME or requirements.scheme != SCHEME:
            raise FacilitatorRefusal("unsupported_scheme")
        if not payload.accepted.network == requirements.network == self._network:
            raise FacilitatorRefusal("network_mismatch", f"this facilitator settles {self._network}")

        items, payment = _read_group(payload.payload)
        payer = payment.sender
        _check_payment(payment, requirements, payer)
        if requirements.extra.get("feePayer"):
            items = self._sign_fee(items, requirements.extra["feePayer"], payer)

        try:
            play(items)
        except LedgerRefusal as refusal:
            raise FacilitatorRefusal(
                "transaction_simulation_failed", f"Simulation failed: {refusal}", payer
            ) from refusal
        return payer, items

    def _sign_fee(self, items: list[Item], named: str, payer: str) -> list[Item]:
        """Return the group with the fee payer's own transaction signed: a reasonable fee, and nothing else."""
        if named != self._key.address:
            raise FacilitatorRefusal("fee_payer_not_managed_by_facilitator", payer=payer)

        # Only the first is signed: a second transaction in the fee payer's name has no signature and fails.
        place = next((place for place, item in enumerate(items) if item.sender == named), None)
        if place is None:
            raise FacilitatorRefusal(f"{PREFIX}_missing_fee_payer", payer=payer)

        fields = items[place].fields
        if fields["type"] != "pay" or items[place].receiver != named or fields.get("fee", 0) > MAX_FEE:
            raise FacilitatorRefusal(f"{PREFIX}_fee_payer_transaction_invalid", payer=payer)
        if fields.get("amt", 0):
            raise FacilitatorRefusal(f"{PREFIX}_fee_payer_has_amount", payer=payer)

        return [*items[:place], signed(items[place], self._key.secret), *items[place + 1 :]]


def _read_group(inner: Mapping[str, Any]) -> tuple[list[Item], Item]:
    """Return all transactions of a payload, and the payment among them."""
    group = inner.get("paymentGroup")
    index = inner.get("paymentIndex")
    if not isinstance(group, list) or not group:
        raise FacilitatorRefusal(f"{PREFIX}_empty_group")
    if len(group) > MAX_GROUP:
        raise FacilitatorRefusal(f"{PREFIX}_group_too_large")
    if type(index) is not int or not 0 <= index < len(group):
        raise FacilitatorRefusal(f"{PREFIX}_payment_index")

    try:
        items = [parse_item(base64.b64decode(encoded, validate=True)) for encoded in group]
    except (Malformed, TypeError, ValueError) as problem:
        raise FacilitatorRefusal(f"{PREFIX}_group_decode_failed", str(problem)) from problem
    return items, items[index]


def _check_payment(payment: Item, requirements: PaymentRequirements, payer: str) -> None:
    """Raise Refused unless the payment moves the asset, to the payee, by exactly the amount."""
    fields = payment.fields
    amount = str(fields.get("aamt", 0))

    if fields["type"] != "axfer" or str(fields.get("xaid", 0)) != requirements.asset:
        raise FacilitatorRefusal(f"{PREFIX}_asset_id_mismatch", payer=payer)
    if payment.receiver != requirements.pay_to:
        raise FacilitatorRefusal(f"{PREFIX}_recipient_mismatch", payer=payer)
    if amount != requirements.amount:
        raise FacilitatorRefusal(
            f"{PREFIX}_amount_insufficient", f"Expected {requirements.amount}, got {amount}", payer
        )
