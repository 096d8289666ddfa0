"""A throwaway wallet: a payment made from a 402 as any x402 client would."""

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from algosdk import encoding
from x402.extensions.payment_identifier import (
    PAYMENT_IDENTIFIER,
    append_payment_identifier_to_extensions,
    declare_payment_identifier_extension,
    is_payment_identifier_extension,
)
from x402.http.utils import encode_payment_signature_header
from x402.schemas import PaymentPayload, PaymentRequired, PaymentRequirements

from gateway.devnet.errors import WalletError
from gateway.devnet.keys import Key
from gateway.devnet.transactions import parse_item, signed
from gateway.wire.algorand import MIN_FEE
from gateway.wire.groups import payment_group
from gateway.wire.networks import Network
from gateway.wire.required import read_required

VALIDITY_ROUNDS: Final = 1_000
"""About 47 minutes on the devnet: a payment whose answer is lost stays payable while the buyer asks again."""


@dataclass(frozen=True, slots=True)
class SignedPayment:
    """A payment, ready to send; sending it twice pays once.

    Args:
        header: the value of PAYMENT-SIGNATURE.
        txid: the id of the payment itself, not of the group's first transaction.
        payer: the buyer's address.
        network: as the offer names it.
        amount_atomic: atomic units.
        last_valid: the round after which it can no longer commit.
    """

    header: str
    txid: str
    payer: str
    network: str
    amount_atomic: int
    last_valid: int


def pay(  # noqa: PLR0917
    header: str,
    key: Key,
    identity: Network,
    last_round: int,
    max_amount_atomic: int,
    valid_rounds: int = VALIDITY_ROUNDS,
) -> SignedPayment:
    """Sign a payment of the first offer on this network in a PAYMENT-REQUIRED, if its price is within the limit.

    It is valid for so many rounds from the node's last one.

    Raises:
        WalletError: the header cannot be read, no such offer, another asset, a price above the limit.
    """
    try:
        required = read_required(header)
        is_of_version_2 = required.get("x402Version", 2) == 2
        challenge = PaymentRequired.model_validate(required) if is_of_version_2 else None
    except ValueError as problem:
        raise WalletError("the 402 answer carries no readable PAYMENT-REQUIRED header") from problem

    if challenge is None:
        raise WalletError("the 402 answer is not of x402 version 2")
    offer = _choose(challenge, identity, max_amount_atomic)
    return sign(challenge, offer, key, identity, last_round, valid_rounds)


def _choose(challenge: PaymentRequired, identity: Network, max_amount_atomic: int) -> PaymentRequirements:
    """Return the first offer on the wallet's network, or raise WalletError with what is wrong with it."""
    mine = [offer for offer in challenge.accepts if offer.scheme == "exact" and offer.network in identity.forms]
    if not mine:
        networks = ", ".join(sorted({offer.network for offer in challenge.accepts})) or "none"
        raise WalletError(f"the seller takes payment on {networks}; this throwaway wallet pays only on {identity.full}")

    offer = mine[0]
    numbers = [text for text in (offer.asset, offer.amount) if text.isascii() and text.isdigit() and len(text) < 20]
    addresses = (offer.pay_to, offer.extra.get("feePayer", offer.pay_to))
    if len(numbers) != 2 or not all(map(encoding.is_valid_address, addresses)):
        raise WalletError("the seller's offer is malformed: asset, amount, payTo or feePayer cannot be read")

    if int(offer.asset) != identity.asset_id:
        raise WalletError(f"the seller asks for asset {offer.asset}; this wallet pays only {identity.asset_id} (USDC)")
    if int(offer.amount) > max_amount_atomic:
        raise WalletError(f"the price is {offer.amount} atomic units, above the limit of {max_amount_atomic}")
    return offer


def sign(  # noqa: PLR0917
    challenge: PaymentRequired,
    offer: PaymentRequirements,
    key: Key,
    identity: Network,
    last_round: int,
    valid_rounds: int = VALIDITY_ROUNDS,
) -> SignedPayment:
    """Sign an atomic group that pays one offer of a challenge: the fee payer's unsigned part first, when there is one.

    The challenge's `resource` and `extensions` are echoed, with a payment identifier of 122 random bits, also where
    the seller's declaration was cut: what the payment bought is then repeated to its holder only.
    """
    accepted = offer.model_dump(by_alias=True)
    last_valid = last_round + valid_rounds
    note = f"emi-buy-{time.time_ns()}".encode()

    parts = payment_group(accepted, key.address, identity, (last_round, last_valid), MIN_FEE, note)
    items = [parse_item(base64.b64decode(encoding.msgpack_encode(part))) for part in parts]
    items[-1] = signed(items[-1], key.secret)

    payload = PaymentPayload(
        payload={
            "paymentGroup": [base64.b64encode(item.wire).decode() for item in items],
            "paymentIndex": len(items) - 1,
        },
        accepted=offer,
        resource=challenge.resource,
        extensions=_identified(challenge.extensions or {}),
    )
    header = encode_payment_signature_header(payload)
    return SignedPayment(header, items[-1].txid, key.address, offer.network, int(offer.amount), last_valid)


def _identified(extensions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a seller's extensions with an identifier of this payment, whatever the seller declares of it."""
    declared = {**extensions, PAYMENT_IDENTIFIER: extensions.get(PAYMENT_IDENTIFIER)}
    # To a declaration that is cut or malformed nothing would be appended: a whole one takes its place.
    if not is_payment_identifier_extension(declared[PAYMENT_IDENTIFIER]):
        declared[PAYMENT_IDENTIFIER] = declare_payment_identifier_extension()
    return append_payment_identifier_to_extensions(declared)
