"""A facilitator of the x402 v2 exact scheme on Algorand: checks a group, pays its fee, commits it.

Reasons, and the order in which they are found, follow the official Python facilitator, down to this: a group that is
already settled fails its simulation, with success false and an empty transaction; and a settled one is answered with
the id of the group's first transaction, which is not the payment's.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from x402.schemas import (
    PaymentPayload,
    PaymentRequirements,
    SettleResponse,
    SupportedKind,
    SupportedResponse,
    VerifyResponse,
)

from gateway.devnet.errors import LedgerRefusal, Malformed
from gateway.devnet.keys import Key
from gateway.devnet.ledger import Ledger
from gateway.devnet.rules import MAX_GROUP
from gateway.devnet.transactions import Item, check_signature, parse_item, signed
from gateway.wire.algorand import address_of

SCHEME: Final = "exact"
MAX_FEE: Final = 16_000
"""Micro-ALGO that the fee payer spends at most on a group, the pooled fee of sixteen transactions."""
PREFIX: Final = "invalid_exact_avm_payload"
SIMULATION_FAILED: Final = "transaction_simulation_failed"


@dataclass(frozen=True, slots=True)
class Checked:
    """A payment that was read and found good, its fee signed: ready to commit."""

    payer: str
    items: tuple[Item, ...]


class Refused(Exception):
    """A payment is not valid: why, and who sent it."""

    def __init__(self, reason: str, message: str | None = None, payer: str = "") -> None:
        super().__init__(reason)
        self.reason, self.message, self.payer = reason, message, payer


class Facilitator:
    """Verify and settle over one ledger.

    Args:
        ledger: where groups commit.
        key: the fee payer's.
    """

    def __init__(self, ledger: Ledger, key: Key) -> None:
        self._ledger = ledger
        self._key = key
        self._network = ledger.identity.full

    def supported(self) -> dict[str, Any]:
        """Return the kinds that are settled here, with the fee payer."""
        extra = {"feePayer": self._key.address}
        kind = SupportedKind(x402_version=2, scheme=SCHEME, network=self._network, extra=extra)
        answer = SupportedResponse(kinds=[kind], extensions=[], signers={"algorand:*": [self._key.address]})
        return answer.model_dump(by_alias=True, exclude_none=True)

    def verify(self, payload: PaymentPayload, requirements: PaymentRequirements) -> dict[str, Any]:
        """Return whether the payment would settle now; nothing is committed."""
        try:
            checked = self._check(payload, requirements)
            answer = VerifyResponse(is_valid=True, payer=checked.payer)
        except Refused as refused:
            answer = VerifyResponse(
                is_valid=False, invalid_reason=refused.reason, invalid_message=refused.message, payer=refused.payer
            )
        return answer.model_dump(by_alias=True, exclude_none=True)

    def settle(self, payload: PaymentPayload, requirements: PaymentRequirements) -> dict[str, Any]:
        """Commit the payment's group once and return what happened."""
        network = str(payload.accepted.network)
        try:
            checked = self._check(payload, requirements)
            self._commit(checked)
            txid = checked.items[0].txid
            answer = SettleResponse(success=True, transaction=txid, network=network, payer=checked.payer)
        except Refused as refused:
            answer = SettleResponse(
                success=False,
                error_reason=refused.reason,
                error_message=refused.message,
                transaction="",
                network=network,
                payer=refused.payer,
            )
        return answer.model_dump(by_alias=True, exclude_none=True)

    def _commit(self, checked: Checked) -> None:
        try:
            self._ledger.submit(checked.items)
        except LedgerRefusal as refusal:
            raise Refused("transaction_failed", str(refusal), checked.payer) from refusal

    def _check(self, payload: PaymentPayload, requirements: PaymentRequirements) -> Checked:
        self._check_terms(payload, requirements)
        items, index = _read_group(payload.payload)
        _check_shared(items, self._ledger)
        payment = items[index]
        payer = payment.sender
        _check_payment(payment, requirements, payer)
        if payer == self._key.address:
            raise Refused(f"{PREFIX}_fee_payer_transferring_funds", payer=payer)
        items = self._sign_fee(items, requirements, payer)
        try:
            self._ledger.simulate(items)
        except LedgerRefusal as refusal:
            raise Refused(SIMULATION_FAILED, f"Simulation failed: {refusal}", payer) from refusal
        return Checked(payer, tuple(items))

    def _check_terms(self, payload: PaymentPayload, requirements: PaymentRequirements) -> None:
        if payload.accepted.scheme != SCHEME or requirements.scheme != SCHEME:
            raise Refused("unsupported_scheme")
        if not payload.accepted.network == requirements.network == self._network:
            raise Refused("network_mismatch", f"this facilitator settles {self._network}")

    def _sign_fee(self, items: list[Item], requirements: PaymentRequirements, payer: str) -> list[Item]:
        """Return the group with the fee payer's own transaction signed, when the terms name a fee payer."""
        named = requirements.extra.get("feePayer")
        if not named:
            return items
        if named != self._key.address:
            raise Refused("fee_payer_not_managed_by_facilitator", payer=payer)
        places = [place for place, item in enumerate(items) if item.sender == named]
        if not places:
            raise Refused(f"{PREFIX}_missing_fee_payer", payer=payer)
        # Only the first is signed: a second transaction in the fee payer's name has no signature and fails.
        place = places[0]
        _check_fee(items[place].fields, items[place].sender, payer)
        return [*items[:place], signed(items[place], self._key.secret), *items[place + 1 :]]


def _read_group(inner: Mapping[str, Any]) -> tuple[list[Item], int]:
    group, index = inner.get("paymentGroup"), inner.get("paymentIndex")
    if not isinstance(group, list) or not group:
        raise Refused(f"{PREFIX}_empty_group")
    if len(group) > MAX_GROUP:
        raise Refused(f"{PREFIX}_group_too_large")
    if type(index) is not int or not 0 <= index < len(group):
        raise Refused(f"{PREFIX}_payment_index")
    try:
        return [parse_item(base64.b64decode(one, validate=True)) for one in group], index
    except (Malformed, binascii.Error, TypeError, ValueError) as problem:
        raise Refused(f"{PREFIX}_group_decode_failed", str(problem)) from problem


def _check_shared(items: Sequence[Item], ledger: Ledger) -> None:
    """Check what all transactions of the group must share, and what none may do."""
    ids = [item.fields.get("grp") for item in items]
    if len(items) > 1 and ids[0] is None:
        raise Refused(f"{PREFIX}_missing_group_id")
    if any(one != ids[0] for one in ids):
        raise Refused(f"{PREFIX}_group_id_mismatch")
    if any(item.fields.get("gh") != ledger.identity.genesis_hash_bytes for item in items):
        raise Refused(f"{PREFIX}_genesis_hash_mismatch")
    if any({"close", "aclose"} & set(item.fields) for item in items):
        raise Refused(f"{PREFIX}_close_to_detected")
    if any("rekey" in item.fields for item in items):
        raise Refused(f"{PREFIX}_rekey_detected")


def _check_payment(payment: Item, requirements: PaymentRequirements, payer: str) -> None:
    fields = payment.fields
    if fields["type"] != "axfer" or str(fields.get("xaid", 0)) != requirements.asset:
        raise Refused(f"{PREFIX}_asset_id_mismatch", payer=payer)
    if address_of(fields.get("arcv", bytes(32))) != requirements.pay_to:
        raise Refused(f"{PREFIX}_recipient_mismatch", payer=payer)
    if str(fields.get("aamt", 0)) != requirements.amount:
        message = f"Expected {requirements.amount}, got {fields.get('aamt', 0)}"
        raise Refused(f"{PREFIX}_amount_insufficient", message, payer)
    if not payment.envelope:
        raise Refused(f"{PREFIX}_missing_signature", payer=payer)
    try:
        check_signature(payment)
    except LedgerRefusal as refusal:
        raise Refused(f"{PREFIX}_invalid_signature", str(refusal), payer) from refusal


def _check_fee(fields: Mapping[str, Any], sender: str, payer: str) -> None:
    """Check that the fee payer's transaction pays a reasonable fee and does nothing else."""
    to_itself = address_of(fields.get("rcv", bytes(32))) == sender
    if fields["type"] != "pay" or not to_itself or fields.get("fee", 0) > MAX_FEE:
        raise Refused(f"{PREFIX}_fee_payer_transaction_invalid", payer=payer)
    if fields.get("amt", 0):
        raise Refused(f"{PREFIX}_fee_payer_has_amount", payer=payer)
