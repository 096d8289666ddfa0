"""RFC 6962 read a second time, straight from its recursive definitions; shares no line with the product."""

import hashlib


def mth(entries: list[bytes]) -> bytes:
    """Section 2.1."""
    n = len(entries)
    if n == 0:
        return hashlib.sha256(b"").digest()
    if n == 1:
        return hashlib.sha256(b"\x00" + entries[0]).digest()
    k = largest_power_below(n)
    return hashlib.sha256(b"\x01" + mth(entries[:k]) + mth(entries[k:])).digest()


def largest_power_below(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k
