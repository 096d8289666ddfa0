"""Merkle tree hashes of RFC 6962, section 2.1, over SHA-256."""

import hashlib
from collections.abc import Sequence
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of one entry."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes, or over the roots of complete subtrees of one size."""
    if not hashes:
        return EMPTY_ROOT
    return root_of_stack(perfect_stack(hashes))


def perfect_stack(hashes: Sequence[bytes]) -> list[bytes]:
    """Return the roots of the largest complete subtrees, left to right."""
    stack: list[tuple[int, bytes]] = []
    for item in hashes:
        height, value = 0, item
        while stack and stack[-1][0] == height:
            value = node_hash(stack.pop()[1], value)
            height += 1
        stack.append((height, value))
    return [value for _, value in stack]


def root_of_stack(stack: Sequence[bytes]) -> bytes:
    """Return the root over complete subtrees that become smaller to the right."""
    root = stack[-1]
    for value in reversed(stack[:-1]):
        root = node_hash(value, root)
    return root
