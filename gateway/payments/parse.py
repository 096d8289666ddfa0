"""Parse a payment: the PAYMENT-SIGNATURE header by types and shapes, then the signed transaction that pays.

The transaction is judged from its own bytes and our own table; nothing that the header says about it is believed.
"""

import binascii
import json
import math
import re
from typing import Any, Final, NoReturn

import msgpack
from pydantic import ValidationError
from x402.schemas import PaymentPayload, PaymentRequirements

from gateway.errors import PaymentInvalid
from gateway.payments.transfers import read_transfer, receiver
from gateway.values import Payment
from gateway.wire.algorand import (
    DECODE_ERRORS,
    KEY_BYTES,
    MAX_GROUP,
    MAX_LIFE_ROUNDS,
    MAX_NOTE_BYTES,
    MAX_ROUND,
    SIGNATURE_BYTES,
    TRANSACTION_PREFIX,
    UINT64,
    address_of,
    signature_holds,
    txid_of,
)
from gateway.wire.networks import Network

MAX_NESTING: Final = 64
_STANDARD: Final = str.maketrans("-_", "+/")
IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")
SCALARS: Final = frozenset({int, str, bytes, bool})
SIGNATURE_KINDS: Final = ("sig", "msig", "lsig")
SIGNED_KEYS: Final = frozenset({"txn", "sgnr", *SIGNATURE_KINDS})
INTEGERS: Final = frozenset({"xaid", "aamt", "fee", "fv", "lv"})
HASHES: Final = frozenset({"arcv", "snd", "gh", "grp", "lx", "rekey", "aclose", "asnd"})
FORBIDDEN: Final = {"rekey": "rekey_refused", "aclose": "close_to_refused", "asnd": "clawback_refused"}


def read_payment(header: str, network: Network, payee: str) -> Payment:
    """Decode a payment header, and check the transaction in it; the facilitator has not verified it yet.

    Args:
        header: value of PAYMENT-SIGNATURE.
        network: ours.
        payee: the address that must receive.

    Raises:
        PaymentInvalid: it is malformed, or pays something else than we sell.
    """
    sent = _parse(header)
    accepted, sent_group, index = _read_payload(sent, network.forms)
    # As facilitators read it, whichever alphabet the client has.
    group = tuple(map(_standard, sent_group))
    items = [_bytes(item) for item in group]
    decoded = [_unpack(item) for item in items]

    signed = _reencoded(decoded[index], items[index])
    txn = _transaction(signed)
    _check_terms(txn, network, payee)
    encoded = _pack(txn)
    _check_signature(signed, txn, encoded)

    txid = txid_of(TRANSACTION_PREFIX + encoded)
    others = [read_transfer(item, network, payee) for place, item in enumerate(decoded) if place != index]
    return Payment(
        txid=txid,
        payer=address_of(txn["snd"]),
        amount_atomic=txn["aamt"],
        first_valid=txn.get("fv", 0),
        last_valid=txn["lv"],
        group=group,
        index=index,
        network=accepted.network,
        fee_payer=_echoed(accepted, "feePayer"),
        snapshot_id=_echoed(accepted, "snapshotId"),
        resource=sent.get("resource"),
        extensions=sent.get("extensions"),
        identifier=_identifier(sent.get("extensions") or {}),
        others=tuple(other for other in others if other is not None and other.txid != txid),
    )


def _refuse(code: str, text: str) -> NoReturn:
    raise PaymentInvalid(code, text)


def _standard(text: str) -> str:
    """Return base64 of either alphabet (RFC 4648 sections 4 and 5), padded or not, in the standard one, padded.

    >>> _standard("-_-_YQ"), _standard("YQ==")
    ('+/+/YQ==', 'YQ==')
    """
    return text.translate(_STANDARD) + "=" * (-len(text) % 4)


def _bytes(item: str) -> bytes:
    try:
        return binascii.a2b_base64(item.encode("ascii"), strict_mode=True)
    except ValueError:
        _refuse("transaction_not_base64", "an item of payload.paymentGroup is not base64")


def _unpack(raw: bytes) -> dict[Any, Any]:
    try:
        # Whatever msgpack reads: what is not a transaction has refusals of its own below.
        value = msgpack.unpackb(raw, raw=False, strict_map_key=False)  # noqa: TID251
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
    """Return whether a field of a transaction is one that a payment may have, of the type that the chain wants.

    >>> _well_typed("aamt", 10_000), _well_typed("aamt", True), _well_typed("aamt", 0)
    (True, False, False)
    """
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
    if txn.get("arcv") != receiver(payee):
        _refuse("receiver_mismatch", "the payment goes to another receiver than the offer")
    if "aamt" not in txn or "snd" not in txn:
        _refuse("amount_mismatch", "the payment names no amount or no sender")
    if not 0 <= txn.get("lv", -1) - txn.get("fv", 0) <= MAX_LIFE_ROUNDS or txn["lv"] >= MAX_ROUND:
        _refuse("validity_window_invalid", "the payment must be valid for 0 to 1,000 rounds")


def _check_signature(signed: dict[Any, Any], txn: dict[str, Any], encoded: bytes) -> None:
    """Check a plain ed25519 signature; multisig and logic signatures are the facilitator's to judge."""
    if "sig" not in signed:
        return

    signature = signed["sig"]
    signer = signed.get("sgnr", txn["snd"])
    if not isinstance(signature, bytes) or len(signature) != SIGNATURE_BYTES:
        _refuse("signature_invalid", "the signature is not 64 bytes")
    if not isinstance(signer, bytes) or len(signer) != KEY_BYTES:
        _refuse("signature_invalid", "the signer is not 32 bytes")
    if not signature_holds(signer, TRANSACTION_PREFIX + encoded, signature):
        _refuse("signature_invalid", "the signature was not made by the sender over these bytes")


def _canonical(value: Any) -> Any:
    """Order keys and drop zero values, as the chain encodes; TypeError for what no transaction holds.

    >>> _canonical({"snd": b"S", "fee": 0, "note": b"", "aamt": 7, "txn": {}})
    {'aamt': 7, 'snd': b'S', 'txn': {}}
    """
    kind = type(value)
    if kind in SCALARS:
        return value

    if kind is dict:
        if not all(type(key) is str for key in value):
            raise TypeError("a key is not text")
        kept = [key for key in sorted(value) if value[key] or type(value[key]) is dict]
        return {key: _canonical(value[key]) for key in kept}

    if kind is list:
        return [_canonical(item) for item in value]
    raise TypeError("no such type in a transaction")


def _pack(canonical: dict[str, Any]) -> bytes:
    packed: bytes = msgpack.packb(canonical, use_bin_type=True)
    return packed


def _parse(header: str) -> Any:
    try:
        raw = binascii.a2b_base64(_standard(header).encode("latin-1"), strict_mode=True)
    except ValueError:
        _refuse("payment_not_base64", "the PAYMENT-SIGNATURE header is not base64")

    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        _refuse("payment_not_utf8", "the decoded header is not UTF-8")

    try:
        value = _DECODER.decode(text)
    except RecursionError:
        _refuse("payment_nested_too_deep", "the JSON is nested too deep")
    except ValueError:
        _refuse("payment_not_json", "the decoded header is not JSON")

    _check_forwardable(text, value)
    return value


def _check_forwardable(text: str, value: Any) -> None:
    """Refuse what our parser takes and the facilitator's may choke on: parts of it are passed on as sent."""
    # Counting comes first, since a payment rarely needs the walk.
    if text.count("{") + text.count("[") > MAX_NESTING:
        level = [value]
        for _ in range(MAX_NESTING + 1):
            lists = [item.values() if isinstance(item, dict) else item for item in level]
            level = [part for parts in lists for part in parts if isinstance(part, dict | list)]
        if level:
            _refuse("payment_nested_too_deep", f"the JSON is nested more than {MAX_NESTING} deep")

    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            _refuse("payment_not_utf8", "a text in the JSON holds half a character")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("not a number that JSON can hold")
    return number


def _no_constant(_name: str) -> NoReturn:
    raise ValueError("not JSON")


# Not read_json: each fault of a payer's header has an error code of its own.
_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)  # noqa: TID251


def _read_payload(sent: Any, networks: tuple[str, str]) -> tuple[PaymentRequirements, tuple[str, ...], int]:
    """Return what the client accepted, which is read and not trusted, its group, and the payment's place in that."""
    if not isinstance(sent, dict):
        _refuse("payment_malformed", "the payment must be an object")
    if type(sent.get("x402Version")) is not int or sent["x402Version"] != 2:
        _refuse("unsupported_x402_version", "x402Version must be the integer 2")

    try:
        model = PaymentPayload.model_validate(sent, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        _refuse("payment_malformed", f"{where} is missing or wrongly typed: {first['msg']}")

    if model.accepted.scheme != "exact":
        _refuse("unsupported_scheme", "the scheme must be exact")
    if model.accepted.network not in networks:
        _refuse("invalid_network", "the payment names another network than the offer")

    group = model.payload.get("paymentGroup")
    index = model.payload.get("paymentIndex")
    if not isinstance(group, list) or not all(isinstance(item, str) for item in group):
        _refuse("payment_malformed", "payload.paymentGroup must be an array of strings")
    if not 1 <= len(group) <= MAX_GROUP:
        _refuse("invalid_group_size", f"payload.paymentGroup must hold 1 to {MAX_GROUP} transactions")
    if type(index) is not int or not 0 <= index < len(group):
        _refuse("invalid_payment_index", "payload.paymentIndex must be an integer that points into the group")
    return model.accepted, tuple(group), index


def _echoed(accepted: PaymentRequirements, name: str) -> str | None:
    value = accepted.extra.get(name)
    if value is not None and not isinstance(value, str):
        _refuse("payment_malformed", f"accepted.extra.{name} must be a string")
    return value


def _identifier(extensions: dict[str, Any]) -> str | None:
    """Return the identifier that a client gave its payment, None without one.

    >>> _identifier({"payment-identifier": {"info": {"required": True, "id": "0123456789abcdef"}}})
    '0123456789abcdef'
    >>> _identifier({"payment-identifier": {"info": {"required": True}}})
    >>> _identifier({"payment-identifier": {"info": {"id": "too short"}}})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gateway.errors.PaymentInvalid: invalid_payment_identifier: ...
    """
    declared = extensions.get("payment-identifier")
    info = declared.get("info") if isinstance(declared, dict) else None
    value = info.get("id") if isinstance(info, dict) else None
    if value is not None and (not isinstance(value, str) or not IDENTIFIER.fullmatch(value)):
        _refuse("invalid_payment_identifier", "the payment identifier must be 16 to 128 of A-Z a-z 0-9 _ -")
    return value
