"""Receipts with something changed that says something."""

import random

from gateway.wire.receipts import b64, unb64


def altered_receipt(jws: str, chance: random.Random) -> str:
    """Return a JWS with one bit of its header, its claims or its signature flipped, spelt as base64url spells it."""
    parts = [bytearray(unb64(part)) for part in jws.split(".")]
    part = chance.choice(parts)
    part[chance.randrange(len(part))] ^= 1 << chance.randrange(8)
    return ".".join(b64(bytes(part)) for part in parts)
