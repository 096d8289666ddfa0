"""Algorand encoding: addresses, canonical msgpack, transaction ids, group ids, ed25519 signatures."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgpack
from algosdk import encoding
from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey

TRANSACTION_PREFIX: Final = b"TX"
GROUP_PREFIX: Final = b"TG"
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
MAX_NOTE_BYTES: Final = 1_024
MAX_GROUP: Final = 16
"""The most transactions of a group."""
MIN_FEE: Final = 1_000
"""Micro-ALGO a transaction, pooled over a group."""
ROUND_S: Final = 2.8
"""How long a round takes."""
MAX_ROUND: Final = 1 << 62
"""Millions of millions of years ahead: no chain gets there, and no database's integer holds what lies beyond."""
MARGIN_ROUNDS: Final = 10
"""How far past its last valid round a transaction's absence must be seen before it counts."""
VALID_ROUNDS: Final = 100
"""For how long a payment of ours is valid, about five minutes: time to approve on a phone, and an end after which an
unsettled payment is refused for good."""
MAX_LIFE_ROUNDS: Final = 1_000
"""The longest validity window of a transaction, in rounds."""
UINT64: Final = 1 << 64
DECODE_ERRORS: Final = (ValueError, TypeError, AttributeError, OverflowError, RecursionError, msgpack.UnpackException)
"""What msgpack and `pack` raise on hostile bytes."""
_CHECKSUM_BYTES: Final = 4


def _sha512_256() -> Callable[[bytes], bytes]:
    try:
        hashlib.new("sha512_256")
    except ValueError:
        # This OpenSSL lacks it; the SDK brings its own.
        return lambda data: bytes(encoding.checksum(data))
    return lambda data: hashlib.new("sha512_256", data).digest()


sha512_256: Final = _sha512_256()
"""Return the chain's hash of some bytes, 32 bytes."""


def address_of(key: bytes) -> str:
    """Write a 32-byte public key as an address."""
    return _base32(key + sha512_256(key)[-_CHECKSUM_BYTES:])


def key_of(address: str) -> bytes:
    """Read the public key of an address; ValueError when it is none."""
    if not encoding.is_valid_address(address):
        raise ValueError(f"{address!r} is not an Algorand address")
    return bytes(encoding.decode_address(address))


def pack(value: Mapping[str, Any]) -> bytes:
    """Return the canonical msgpack: sorted keys, zero values left out."""
    return base64.b64decode(encoding.msgpack_encode(dict(value)))


def txid_of(message: bytes) -> str:
    """Return the transaction id of signed bytes (prefix and packed transaction)."""
    return _base32(sha512_256(message))


def group_id_of(transactions: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the id that binds these transactions in this order: SHA-512/256 over `TG` and their hashes.

    A group id that they carry already is left out.
    """
    bare = ({key: value for key, value in fields.items() if key != "grp"} for fields in transactions)
    hashes = [sha512_256(TRANSACTION_PREFIX + pack(fields)) for fields in bare]
    return sha512_256(GROUP_PREFIX + pack({"txlist": hashes}))


def signature_holds(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether an ed25519 signature is right."""
    try:
        VerifyKey(key).verify(message, signature)
    except (CryptoError, ValueError, TypeError):
        return False
    return True


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=")


DEMO_ARENA: Final = address_of(sha512_256(b"emi-arena-v1"))
"""Where ballots go when no address is set: the hash of a text, to which no one has a key. A ballot moves nothing."""
