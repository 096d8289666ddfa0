"""Merkle tree hashes and proofs of RFC 6962, section 2.1, over SHA-256."""

from __future__ import annotations

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
    """Return the root over leaf hashes, or over the roots of complete subtrees of one size.

    Args:
        hashes: from left to right; none gives the empty tree's root.
    """
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


def inclusion_proof(index: int, size: int, root: SubtreeRoot) -> list[bytes]:
    """Return the audit path of entry `index` in a tree of `size` (RFC 6962, 2.1.1), leaf's sibling first.

    Args:
        index: 0 <= index < size.
        size: of the tree.
        root: gives the hash of any range that the recursion meets.

    Raises:
        ValueError: the index is not in the tree.
    """
    if not 0 <= index < size:
        raise ValueError(f"entry {index} is not in a tree of {size}")
    proof: list[bytes] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + split_of(end - begin)
        if index < middle:
            proof.append(root(middle, end))
            end = middle
        else:
            proof.append(root(begin, middle))
            begin = middle
    return proof[::-1]


def root_by_inclusion(entry: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """Return the root that an audit path leads to; the entry is in the tree if it is the signed one.

    Raises:
        ValueError: the path has another length than this index needs.
    """
    steps: list[bool] = []  # whether the sibling is on the left
    begin, end = 0, size
    if not 0 <= index < size:
        raise ValueError(f"entry {index} is not in a tree of {size}")
    while end - begin > 1:
        middle = begin + split_of(end - begin)
        steps.append(index >= middle)
        begin, end = (middle, end) if index >= middle else (begin, middle)
    if len(steps) != len(proof):
        raise ValueError(f"the path of entry {index} of {size} has {len(steps)} hashes, not {len(proof)}")
    value = leaf_hash(entry)
    for on_left, sibling in zip(reversed(steps), proof, strict=True):
        value = node_hash(sibling, value) if on_left else node_hash(value, sibling)
    return value


def consistency_proof(old: int, new: int, root: SubtreeRoot) -> list[bytes]:
    """Return the proof that the tree of `old` entries is the beginning of that of `new` (RFC 6962, 2.1.2).

    Raises:
        ValueError: not 0 <= old <= new.
    """
    if not 0 <= old <= new:
        raise ValueError(f"no tree of {new} begins with one of {old}")
    if old in {0, new}:
        return []
    proof: list[bytes] = []
    begin, end, complete = 0, new, True
    while old != end:
        middle = begin + split_of(end - begin)
        if old <= middle:
            proof.append(root(middle, end))
            end = middle
        else:
            proof.append(root(begin, middle))
            begin, complete = middle, False
    if not complete:
        proof.append(root(begin, end))
    return proof[::-1]


def roots_by_consistency(old: int, new: int, old_root: bytes, proof: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the two roots, old and new, that a consistency proof leads to.

    Args:
        old: size of the earlier tree, at least 1.
        new: size of the later one.
        old_root: of the earlier one; it stands for a left part that is a whole subtree.
        proof: as `consistency_proof` returns it.

    Raises:
        ValueError: the proof has another length than these sizes need.
    """
    if not 0 < old <= new:
        raise ValueError(f"no tree of {new} begins with one of {old}")
    if old == new:
        if proof:
            raise ValueError("equal trees need no proof")
        return old_root, old_root
    path: list[bool] = []  # per step from the root: whether the old end lies in the right part
    begin, end = 0, new
    while old != end:
        middle = begin + split_of(end - begin)
        path.append(old > middle)
        begin, end = (middle, end) if old > middle else (begin, middle)
    hashes = list(proof)
    if len(hashes) != len(path) + (begin > 0):
        raise ValueError(f"the proof from {old} to {new} has another length than {len(hashes)}")
    earlier = later = hashes.pop(0) if begin > 0 else old_root
    for in_right, sibling in zip(reversed(path), hashes, strict=True):
        if in_right:
            earlier, later = node_hash(sibling, earlier), node_hash(sibling, later)
        else:
            later = node_hash(later, sibling)
    return earlier, later
