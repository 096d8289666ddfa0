"""The few Algorand primitives that ballots need, typed: addresses, canonical msgpack, transaction ids, signatures."""

from __future__ import annotations

import base64
from typing import Any

import msgpack
from algosdk import encoding
from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey

TRANSACTION_PREFIX = b"TX"


def address_of(key: bytes) -> str:
    """Write a 32-byte public key as an address."""
    return str(encoding.encode_address(key))


def key_of(address: str) -> bytes:
    """Read the public key of an address.

    Raises:
        ValueError: it is not an address.
    """
    if not encoding.is_valid_address(address):
        raise ValueError(f"{address!r} is not an Algorand address")
    return bytes(encoding.decode_address(address))


def sha512_256(data: bytes) -> bytes:
    """Return the chain's hash, 32 bytes."""
    return bytes(encoding.checksum(data))


def pack(value: dict[str, Any]) -> bytes:
    """Return the canonical msgpack: sorted keys, zero values left out."""
    return base64.b64decode(encoding.msgpack_encode(value))


def unpack(data: bytes) -> Any:
    """Return what a msgpack holds.

    Raises:
        ValueError: it is not one msgpack value.
    """
    try:
        return msgpack.unpackb(data)
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        raise ValueError("not msgpack") from error


def txid_of(message: bytes) -> str:
    """Return the transaction id of signed bytes (prefix and packed transaction)."""
    return base64.b32encode(sha512_256(message)).decode().rstrip("=")


def signature_holds(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether an ed25519 signature is right."""
    try:
        VerifyKey(key).verify(message, signature)
    except (CryptoError, ValueError):
        return False
    return True
