"""Merkle tree hashes and proofs of RFC 6962, section 2.1, over SHA-256."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()

SubtreeRoot = Callable[[int, int], bytes]  # (begin, end) -> MTH(D[begin:end])


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


def split_of(size: int) -> int:
    """Return the largest power of two below `size` (at least 2): where RFC 6962 splits a tree."""
    return 1 << ((size - 1).bit_length() - 1)


def root_with_entry(entry: bytes, index: int, size: int, root: SubtreeRoot) -> bytes:
    """Return the root over `entry` and its audit path (RFC 6962, 2.1.1): the tree's own if it holds the entry there.

    Args:
        index: 0 <= index < size.
        root: gives the hash of any range of the path, which need not be believed.

    Raises:
        ValueError: the index is not in the tree.
    """
    if not 0 <= index < size:
        raise ValueError(f"entry {index} is not in a tree of {size}")

    def over(begin: int, end: int) -> bytes:
        if end - begin == 1:
            return leaf_hash(entry)
        middle = begin + split_of(end - begin)
        if index < middle:
            return node_hash(over(begin, middle), root(middle, end))
        return node_hash(root(begin, middle), over(middle, end))

    return over(0, size)


def roots_of_prefix(old: int, new: int, root: SubtreeRoot) -> tuple[bytes, bytes]:
    """Return the roots of the first `old` entries and of all, from the ranges of the consistency proof (2.1.2).

    Both are made of the same hashes: if the later one is the signed root, the first entries are those of the earlier.

    Args:
        root: gives the hash of any range, which need not be believed.

    Raises:
        ValueError: not 0 < old <= new.
    """
    if not 0 < old <= new:
        raise ValueError(f"no tree of {new} begins with one of {old}")

    def over(begin: int, end: int) -> tuple[bytes, bytes]:
        if old == end:
            whole = root(begin, end)
            return whole, whole
        middle = begin + split_of(end - begin)
        if old <= middle:
            earlier, later = over(begin, middle)
            return earlier, node_hash(later, root(middle, end))
        left = root(begin, middle)
        earlier, later = over(middle, end)
        return node_hash(left, earlier), node_hash(left, later)

    return over(0, new)
