"""Which networks a devnet can be: its own, or the test network's ids, lent for official clients."""

from __future__ import annotations

from typing import Final

from algosdk import encoding

from gateway.wire.networks import DEVNET, TESTNET, Network

MIN_FEE: Final = 1_000
"""Micro-ALGO a transaction, pooled over a group."""
MAX_VALIDITY_ROUNDS: Final = 1_000
MAX_GROUP: Final = 16
IDENTITIES: Final[dict[str, Network]] = {network.name: network for network in (DEVNET, TESTNET)}


def keyless_address(purpose: str) -> str:
    """Return an address that nobody holds a key of, the same on every machine.

    Args:
        purpose: what it is for, e.g. `fee sink`; a different purpose gives a different address.
    """
    address: str = encoding.encode_address(encoding.checksum(f"emi-devnet-v1 {purpose}".encode()))
    return address
