"""Where ballots are addressed when no address is set."""

from __future__ import annotations

from typing import Final

from generator.arena.algorand import address_of, sha512_256

ADDRESS_TEXT: Final = "emi-arena-v1"


def default_address() -> str:
    """Return the demo's arena address: SHA-512/256 of a fixed text, read as a public key.

    Nobody's account: no key was ever made for it. A ballot moves nothing, so nothing can be lost there.
    """
    return address_of(sha512_256(ADDRESS_TEXT.encode()))
