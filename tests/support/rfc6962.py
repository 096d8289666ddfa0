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


def path(m: int, entries: list[bytes]) -> list[bytes]:
    """Section 2.1.1."""
    n = len(entries)
    if n == 1:
        return []
    k = largest_power_below(n)
    if m < k:
        return [*path(m, entries[:k]), mth(entries[k:])]
    return [*path(m - k, entries[k:]), mth(entries[:k])]


def proof(m: int, entries: list[bytes]) -> list[bytes]:
    """Section 2.1.2."""
    return subproof(m, entries, whole=True)


def subproof(m: int, entries: list[bytes], *, whole: bool) -> list[bytes]:
    n = len(entries)
    if m == n:
        return [] if whole else [mth(entries)]
    k = largest_power_below(n)
    if m <= k:
        return [*subproof(m, entries[:k], whole=whole), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], whole=False), mth(entries[:k])]


def largest_power_below(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k
