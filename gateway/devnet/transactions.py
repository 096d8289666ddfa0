"""Read transactions from bytes: canonical form, txid, ed25519 signatures."""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import msgpack
from nacl.signing import SigningKey

from gateway.devnet.errors import LedgerRefusal, Malformed
from gateway.wire.algorand import DECODE_ERRORS, TRANSACTION_PREFIX, address_of, pack, signature_holds, txid_of

_COMMON: Final[dict[str, type]] = {
    **dict.fromkeys(("type", "gen"), str),
    **dict.fromkeys(("fee", "fv", "lv"), int),
    **dict.fromkeys(("snd", "gh", "grp", "lx", "note", "rekey"), bytes),
}
FIELDS: Final[dict[str, dict[str, type]]] = {
    "pay": _COMMON | {"amt": int, "rcv": bytes, "close": bytes},
    "axfer": _COMMON | {"xaid": int, "aamt": int, "arcv": bytes, "aclose": bytes, "asnd": bytes},
}


@dataclass(frozen=True)
class Item:
    """One transaction of a group.

    Args:
        fields: the transaction's own map, keys as on the wire (`snd`, `aamt`, ..).
        signature: the sender's; None when unsigned.
    """

    fields: Mapping[str, Any]
    signature: bytes | None = None

    @cached_property
    def packed(self) -> bytes:
        """The transaction's canonical bytes, what a signature covers after `TX`."""
        return pack(self.fields)

    @cached_property
    def txid(self) -> str:
        """Its 52-character id."""
        return txid_of(TRANSACTION_PREFIX + self.packed)

    @property
    def sender(self) -> str:
        """The sender's address."""
        return address_of(self.fields["snd"])

    @property
    def receiver(self) -> str:
        """The address that ALGO or the asset goes to."""
        key = "rcv" if self.fields["type"] == "pay" else "arcv"
        return address_of(self.fields.get(key, bytes(32)))

    @property
    def wire(self) -> bytes:
        """The bytes that a node takes, or, as the official clients send an unsigned part, the bare transaction."""
        if self.signature is None:
            return self.packed
        return pack({"sig": self.signature, "txn": dict(self.fields)})


def parse_item(raw: bytes) -> Item:
    """Read one signed or unsigned transaction; raise Malformed for anything else."""
    items = parse_group(raw)
    if len(items) != 1:
        raise Malformed(f"expected one transaction, found {len(items)}")
    return items[0]


def parse_group(raw: bytes) -> list[Item]:
    """Read transactions that stand one after the other, as POST /v2/transactions takes them.

    Raises:
        Malformed: not msgpack, not canonical, an unknown type, field or value.
    """
    try:
        # Several values, one after the other; what is not canonical is refused below.
        decoded = list(msgpack.Unpacker(io.BytesIO(raw), raw=False, strict_map_key=True))  # noqa: TID251
        items = [_to_item(value) for value in decoded]
        canonical = b"".join(pack(value) for value in decoded)
    except (*DECODE_ERRORS, KeyError) as problem:
        raise Malformed(f"msgpack decode error: {problem}") from problem
    if canonical != raw:
        raise Malformed("msgpack decode error: not in canonical form")
    return items


def signed(item: Item, secret: str) -> Item:
    """Return the same transaction with a plain signature by this key."""
    # The SDK keeps seed and public key together; nacl signs with the seed alone.
    key = SigningKey(base64.b64decode(secret)[:32])
    return replace(item, signature=key.sign(TRANSACTION_PREFIX + item.packed).signature)


def check_signature(item: Item) -> None:
    """Raise LedgerRefusal unless the sender signed a transaction with plain ed25519."""
    if item.signature is None:
        raise LedgerRefusal(f"transaction {item.txid}: signedtxn has no sig")
    if not signature_holds(item.fields["snd"], TRANSACTION_PREFIX + item.packed, item.signature):
        raise LedgerRefusal(f"transaction {item.txid}: signature validation failed")


def _to_item(value: Any) -> Item:
    is_bare = "type" in value
    fields = value if is_bare else value["txn"]
    if not is_bare and not value.keys() <= {"sig", "txn"}:
        raise Malformed(f"the devnet checks sig only, not {sorted(value)}")

    types = FIELDS.get(fields["type"])
    if types is None:
        raise Malformed(f"transaction type {fields['type']!r}: the devnet knows pay and axfer only")
    for name, content in fields.items():
        if type(content) is not types.get(name) or (type(content) is int and content < 0):
            raise Malformed(f"msgpack decode error: field {name} is unknown or has a wrong value")

    if "snd" not in fields:
        raise Malformed("transaction has no sender")
    return Item(fields, None if is_bare else value.get("sig"))
