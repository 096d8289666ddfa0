"""Judge the signed transaction that pays, from its own bytes and our own table."""

from __future__ import annotations

import binascii
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import msgpack

from gateway.errors import PaymentInvalid
from gateway.payments.envelope import Envelope, read_envelope
from gateway.wire.algorand import (
    DECODE_ERRORS,
    KEY_BYTES,
    MAX_LIFE_ROUNDS,
    MAX_NOTE_BYTES,
    SIGNATURE_BYTES,
    TRANSACTION_PREFIX,
    UINT64,
    address_of,
    key_of,
    signature_holds,
    txid_of,
)
from gateway.wire.networks import Network

# Millions of millions of years ahead: no chain gets there, and no database's integer holds what lies beyond.
MAX_ROUND: Final = 1 << 62
SCALARS: Final = frozenset({int, str, bytes, bool})
SIGNATURE_KINDS: Final = ("sig", "msig", "lsig")
SIGNED_KEYS: Final = frozenset({"txn", "sgnr", *SIGNATURE_KINDS})
INTEGERS: Final = frozenset({"xaid", "aamt", "fee", "fv", "lv"})
HASHES: Final = frozenset({"arcv", "snd", "gh", "grp", "lx", "rekey", "aclose", "asnd"})
FORBIDDEN: Final[Mapping[str, str]] = {
    "rekey": "rekey_refused",
    "aclose": "close_to_refused",
    "asnd": "clawback_refused",
}


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment whose terms hold; its amount is compared with the snapshot's price later.

    Args:
        txid: the payment's identity, computed from the transaction.
        group_digest: SHA-256 of the group as sent; the same txid may come in another group text.
        payer: the sender's address.
        amount_atomic: what is paid.
        first_valid: first round at which it can land.
        last_valid: last round at which it can land.
        envelope: what came round it.
    """

    txid: str
    group_digest: str
    payer: str
    amount_atomic: int
    first_valid: int
    last_valid: int
    envelope: Envelope


def read_payment(header: str, network: Network, payee: str) -> Payment:
    """Decode a payment header and check the transaction that pays.

    Args:
        header: value of PAYMENT-SIGNATURE.
        network: ours.
        payee: the address that must receive.

    Raises:
        PaymentInvalid: it is malformed, or pays something else than we sell.

    Returns:
        The payment, not yet verified by the facilitator.
    """
    envelope = read_envelope(header, network.forms)
    items = [_bytes(item) for item in envelope.group]
    decoded = [_unpack(item) for item in items]
    signed = _reencoded(decoded[envelope.index], items[envelope.index])
    txn = _transaction(signed)
    _check_terms(txn, network, payee)
    encoded = _pack(txn)
    _check_signature(signed, txn, encoded)
    return Payment(
        txid=txid_of(TRANSACTION_PREFIX + encoded),
        group_digest=hashlib.sha256("\n".join(envelope.group).encode()).hexdigest(),
        payer=address_of(txn["snd"]),
        amount_atomic=txn["aamt"],
        first_valid=txn.get("fv", 0),
        last_valid=txn["lv"],
        envelope=envelope,
    )


def _refuse(code: str, text: str) -> NoReturn:
    raise PaymentInvalid(code, text)


def _bytes(item: str) -> bytes:
    try:
        return binascii.a2b_base64(item.encode("ascii"), strict_mode=True)
    except ValueError:
        _refuse("transaction_not_base64", "an item of payload.paymentGroup is not base64")


def _unpack(raw: bytes) -> dict[Any, Any]:
    try:
        value = msgpack.unpackb(raw, raw=False, strict_map_key=False)
    except DECODE_ERRORS:
        _refuse("transaction_not_msgpack", "an item of payload.paymentGroup is not msgpack")
    if not isinstance(value, dict):
        _refuse("transaction_not_msgpack", "an item of payload.paymentGroup is not a transaction")
    return value


def _transaction(signed: dict[str, Any]) -> dict[str, Any]:
    txn = signed.get("txn")
    if not isinstance(txn, dict) or not signed.keys() <= SIGNED_KEYS:
        _refuse("transaction_malformed", "the payment is not a signed transaction")
    if sum(kind in signed for kind in SIGNATURE_KINDS) != 1:
        _refuse("transaction_not_signed", "the payment needs exactly one of sig, msig, lsig")
    for name, value in txn.items():
        if not _well_typed(name, value):
            _refuse("transaction_malformed", f"the field {str(name)[:16]!r} of the payment is unknown or wrongly typed")
    return txn


def _reencoded(signed: dict[Any, Any], raw: bytes) -> dict[str, Any]:
    """Return the payment as the chain encodes it, if that gives the very bytes that were sent."""
    try:
        canonical: dict[str, Any] = _canonical(signed)
        same = _pack(canonical) == raw
    except (RecursionError, ValueError, TypeError, OverflowError):
        # Deeper or larger than any transaction is, or of types that no transaction holds.
        same = False
    if not same:
        _refuse("transaction_not_canonical", "the payment does not re-encode to the bytes that were sent")
    return canonical


def _well_typed(name: str, value: Any) -> bool:
    if name in INTEGERS:
        return type(value) is int and 0 < value < UINT64
    if name in HASHES:
        return type(value) is bytes and len(value) == KEY_BYTES
    if name == "note":
        return type(value) is bytes and len(value) <= MAX_NOTE_BYTES
    return name in {"type", "gen"} and type(value) is str


def _check_terms(txn: dict[str, Any], network: Network, payee: str) -> None:
    if txn.get("type") != "axfer":
        _refuse("not_an_asset_transfer", "the payment must be an asset transfer")
    for name, code in FORBIDDEN.items():
        if name in txn:
            _refuse(code, f"a payment with {name} is not taken")
    if txn.get("gh") != network.genesis_hash_bytes:
        _refuse("genesis_hash_mismatch", "the payment is signed for another network")
    if txn.get("xaid") != network.asset_id:
        _refuse("asset_mismatch", f"the payment must be in asset {network.asset_id}")
    if txn.get("arcv") != _receiver(payee):
        _refuse("receiver_mismatch", "the payment goes to another receiver than the offer")
    if "aamt" not in txn or "snd" not in txn:
        _refuse("amount_mismatch", "the payment names no amount or no sender")
    if not 0 <= txn.get("lv", -1) - txn.get("fv", 0) <= MAX_LIFE_ROUNDS or txn["lv"] >= MAX_ROUND:
        _refuse("validity_window_invalid", "the payment must be valid for 0 to 1,000 rounds")


def _check_signature(signed: dict[Any, Any], txn: dict[str, Any], encoded: bytes) -> None:
    """Check a plain ed25519 signature; multisig and logic signatures are the facilitator's to judge."""
    if "sig" not in signed:
        return
    signature, signer = signed["sig"], signed.get("sgnr", txn["snd"])
    if not isinstance(signature, bytes) or len(signature) != SIGNATURE_BYTES:
        _refuse("signature_invalid", "the signature is not 64 bytes")
    if not isinstance(signer, bytes) or len(signer) != KEY_BYTES:
        _refuse("signature_invalid", "the signer is not 32 bytes")
    if not signature_holds(signer, TRANSACTION_PREFIX + encoded, signature):
        _refuse("signature_invalid", "the signature was not made by the sender over these bytes")


def _canonical(value: Any) -> Any:
    """Order keys and drop zero values, as the chain encodes; refuse what no transaction holds.

    Raises:
        TypeError: something else than maps with text keys, lists, ints, text, bytes and booleans.
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is dict:
        if not all(type(key) is str for key in value):
            raise TypeError("a key is no text")
        return {key: _canonical(value[key]) for key in sorted(value) if value[key] or type(value[key]) is dict}
    if kind is list:
        return [_canonical(item) for item in value]
    raise TypeError("no such type in a transaction")


def _pack(canonical: dict[str, Any]) -> bytes:
    packed: bytes = msgpack.packb(canonical, use_bin_type=True)
    return packed


_receiver: Final = functools.lru_cache(maxsize=4)(key_of)
