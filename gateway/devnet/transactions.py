"""Read transactions from bytes: canonical form, txid, group id, ed25519 signatures."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgpack
from nacl.signing import SigningKey

from gateway.devnet.errors import LedgerRefusal, Malformed
from gateway.wire.algorand import (
    DECODE_ERRORS,
    KEY_BYTES,
    MAX_NOTE_BYTES,
    TRANSACTION_PREFIX,
    UINT64,
    address_of,
    group_id_of,
    pack,
    signature_holds,
    txid_of,
)

HEADER_INTS: Final = frozenset({"fee", "fv", "lv"})
HEADER_BYTES: Final = frozenset({"snd", "gh", "grp", "lx", "note", "rekey"})
FIELDS: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "pay": (HEADER_INTS | {"amt"}, HEADER_BYTES | {"rcv", "close"}),
    "axfer": (HEADER_INTS | {"xaid", "aamt"}, HEADER_BYTES | {"arcv", "aclose", "asnd"}),
}
ADDRESS_FIELDS: Final = frozenset({"snd", "rcv", "close", "arcv", "aclose", "asnd", "rekey", "gh", "grp", "lx"})


@dataclass(frozen=True, slots=True)
class Item:
    """One transaction of a group.

    Args:
        fields: the transaction's own map, keys as on the wire (`snd`, `aamt`, ..).
        envelope: what surrounds it (`sig`, `msig`, `lsig`, `sgnr`), empty when unsigned.
        packed: the transaction's canonical bytes, what a signature covers after `TX`.
        txid: its 52-character id.
    """

    fields: Mapping[str, Any]
    envelope: Mapping[str, Any]
    packed: bytes
    txid: str

    @property
    def sender(self) -> str:
        """The sender's address."""
        return address_of(self.fields["snd"])

    @property
    def receiver(self) -> str:
        """The address that ALGO or the asset goes to."""
        return address_of(self.fields.get("rcv" if self.fields["type"] == "pay" else "arcv", bytes(32)))

    @property
    def wire(self) -> bytes:
        """The bytes that a node takes: the envelope with its transaction."""
        return pack({**self.envelope, "txn": dict(self.fields)})


def parse_item(raw: bytes) -> Item:
    """Read one signed or unsigned transaction.

    Raises:
        Malformed: not msgpack, not canonical, an unknown type, field or value.
    """
    items = parse_group(raw)
    if len(items) != 1:
        raise Malformed(f"expected one transaction, found {len(items)}")
    return items[0]


def parse_group(raw: bytes) -> list[Item]:
    """Read transactions that stand one after the other, as POST /v2/transactions takes them.

    Raises:
        Malformed: as for `parse_item`.
    """
    try:
        decoded = list(msgpack.Unpacker(io.BytesIO(raw), raw=False, strict_map_key=True))
        items = [_to_item(value) for value in decoded]
        canonical = b"".join(pack(value) for value in decoded)
    except DECODE_ERRORS as problem:
        raise Malformed(f"msgpack decode error: {problem}") from problem
    if canonical != raw:
        raise Malformed("msgpack decode error: not in canonical form")
    return items


def group_id(items: Sequence[Item]) -> bytes:
    """Return the id that binds these transactions in this order."""
    return group_id_of([item.fields for item in items])


def signed(item: Item, secret: str) -> Item:
    """Return the same transaction with a plain signature by this key."""
    # The SDK keeps seed and public key together; nacl signs with the seed alone.
    signature = SigningKey(base64.b64decode(secret)[:32]).sign(TRANSACTION_PREFIX + item.packed).signature
    return Item(item.fields, {"sig": signature}, item.packed, item.txid)


def check_signature(item: Item) -> None:
    """Check that the sender authorised a transaction by a plain ed25519 signature.

    Raises:
        LedgerRefusal: no signature, a wrong one, or a kind that this ledger cannot check.
    """
    if not item.envelope:
        raise LedgerRefusal(f"transaction {item.txid}: signedtxn has no sig")
    if set(item.envelope) != {"sig"}:
        raise LedgerRefusal(f"transaction {item.txid}: the devnet checks sig only, not {sorted(item.envelope)}")
    signature = item.envelope["sig"]
    message = TRANSACTION_PREFIX + item.packed
    if not isinstance(signature, bytes) or not signature_holds(item.fields["snd"], message, signature):
        raise LedgerRefusal(f"transaction {item.txid}: signature validation failed")


def _to_item(value: object) -> Item:
    if not isinstance(value, dict):
        raise Malformed("msgpack decode error: a transaction is a map")
    fields = value if "type" in value else value.get("txn")
    if not isinstance(fields, dict):
        raise Malformed("msgpack decode error: no txn")
    _check_fields(fields)
    envelope = {} if fields is value else {key: part for key, part in value.items() if key != "txn"}
    packed = pack(fields)
    return Item(fields, envelope, packed, txid_of(TRANSACTION_PREFIX + packed))


def _check_fields(fields: dict[str, Any]) -> None:
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise Malformed(f"transaction type {kind!r}: the devnet knows pay and axfer only")
    ints, texts = FIELDS[kind]
    for name, value in fields.items():
        if name in ints:
            good = type(value) is int and 0 <= value < UINT64
        elif name in texts:
            good = isinstance(value, bytes) and (
                len(value) == KEY_BYTES if name in ADDRESS_FIELDS else len(value) <= MAX_NOTE_BYTES
            )
        else:
            good = name == "type" or (name == "gen" and isinstance(value, str))
        if not good:
            raise Malformed(f"msgpack decode error: field {name} is unknown or has a wrong value")
    if "snd" not in fields:
        raise Malformed("transaction has no sender")
