"""Proofs about a log (RFC 6962, section 2.1): that an entry is in a tree, and that a tree extends an earlier one.

A proof is made of the roots of complete subtrees, which the tiles hold; nothing else of the log is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from generator.record.log.tiles import HASH_BYTES, WIDTH, Tile, node_hash, root_of

TileContent = Callable[[Tile], bytes]  # the hashes of a tile of a level, one behind the other
_LEVEL_HEIGHT: Final = WIDTH.bit_length() - 1  # of a tile's tree: 8


@dataclass(frozen=True, slots=True)
class TreeHashes:
    """The subtrees of a log of `size` entries, read from its tiles."""

    size: int
    content: TileContent

    def root(self, begin: int, end: int) -> bytes:
        """Return the root over the entries from `begin` up to `end`, which a proof asks for only where it is one."""
        count = end - begin
        if count.bit_count() == 1:
            return self._complete(begin, count.bit_length() - 1)

        split = _largest_power_below(count)
        return node_hash(self.root(begin, begin + split), self.root(begin + split, end))

    def _complete(self, begin: int, height: int) -> bytes:
        """Return the root of a complete subtree of 2**height entries that begins at a multiple of its size."""
        level, above = divmod(height, _LEVEL_HEIGHT)
        scale = WIDTH**level  # entries below one hash of the level
        first = begin // scale
        tile = self._tile(level, first // WIDTH)

        at = first % WIDTH * HASH_BYTES
        data = self.content(tile)[at : at + HASH_BYTES * 2**above]
        return root_of([data[start : start + HASH_BYTES] for start in range(0, len(data), HASH_BYTES)])

    def _tile(self, level: int, index: int) -> Tile:
        hashes = self.size // WIDTH**level
        return Tile(level, index, min(WIDTH, hashes - index * WIDTH))


def inclusion_proof(tree: TreeHashes, index: int) -> list[bytes]:
    """Return the hashes that lead from one entry to the root, from its sibling upwards (RFC 6962, section 2.1.1).

    >>> from generator.record.log.tiles import leaf_hash
    >>> leaves = [leaf_hash(b"%d" % number) for number in range(5)]
    >>> tree = TreeHashes(5, lambda tile: b"".join(leaves))
    >>> root_from_inclusion(leaves[3], 3, 5, inclusion_proof(tree, 3)) == tree.root(0, 5)
    True
    """
    if not 0 <= index < tree.size:
        raise ValueError(f"entry {index} is not in a log of {tree.size}")

    def path(begin: int, end: int) -> list[bytes]:
        if end - begin == 1:
            return []
        middle = begin + _largest_power_below(end - begin)
        if index < middle:
            return [*path(begin, middle), tree.root(middle, end)]
        return [*path(middle, end), tree.root(begin, middle)]

    return path(0, tree.size)


def root_from_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """Return the root that a proof leads to; ValueError where it has not the length of one (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        raise ValueError("the entry is not in a log of this size")

    root = leaf
    place = index
    last = size - 1
    for value in proof:
        if last == 0:
            raise ValueError("the proof is too long")
        if place & 1 or place == last:
            root = node_hash(value, root)
            while not place & 1 and place:
                place >>= 1
                last >>= 1
        else:
            root = node_hash(root, value)
        place >>= 1
        last >>= 1

    if last:
        raise ValueError("the proof is too short")
    return root


def consistency_proof(tree: TreeHashes, old: int) -> list[bytes]:
    """Return the hashes that show that the tree begins with its first `old` entries (RFC 6962, section 2.1.2)."""
    if not 0 <= old <= tree.size:
        raise ValueError(f"a log of {tree.size} does not extend one of {old}")
    if old in (0, tree.size):
        return []

    def path(begin: int, end: int, *, is_whole: bool) -> list[bytes]:
        """Return the proof within a subtree; `is_whole` while the old root can be had from this subtree alone."""
        if old == end:
            return [] if is_whole else [tree.root(begin, end)]
        middle = begin + _largest_power_below(end - begin)
        if old <= middle:
            return [*path(begin, middle, is_whole=is_whole), tree.root(middle, end)]
        return [*path(middle, end, is_whole=False), tree.root(begin, middle)]

    return path(0, tree.size, is_whole=True)


def _largest_power_below(count: int) -> int:
    """Return the largest power of two that is less than a number of two or more."""
    return 1 << (count - 1).bit_length() - 1
