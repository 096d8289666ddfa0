"""Merkle tree hashes (RFC 6962, section 2.1, SHA-256), tiles of 256 of them (C2SP tlog-tiles), a log's right edge."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
WIDTH: Final = 256
LARGEST_ENTRY: Final = 65_535  # its length takes two bytes


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of one entry: 32 bytes, as every hash here.

    >>> leaf_hash(b"").hex()
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'
    """
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes, or over the roots of complete subtrees of one size.

    >>> one, two, three = (leaf_hash(entry) for entry in (b"1", b"2", b"3"))
    >>> root_of([one, two, three]) == node_hash(node_hash(one, two), three)
    True
    >>> root_of([]) == EMPTY_ROOT
    True
    """
    if not hashes:
        return EMPTY_ROOT
    return root_of_stack(perfect_stack(hashes))


def perfect_stack(hashes: Sequence[bytes]) -> list[bytes]:
    """Return the roots of the largest complete subtrees, left to right: one for each bit of the number of hashes.

    >>> [len(perfect_stack([EMPTY_ROOT] * number)) for number in (0, 1, 6, 7, 8)]
    [0, 1, 2, 3, 1]
    """
    stack: list[tuple[int, bytes]] = []  # height and root of each subtree
    for leaf in hashes:
        height = 0
        root = leaf
        # As in a binary counter: two trees of one height make one of the next.
        while stack and stack[-1][0] == height:
            _, left = stack.pop()
            root = node_hash(left, root)
            height += 1
        stack.append((height, root))

    return [root for _, root in stack]


def root_of_stack(stack: Sequence[bytes]) -> bytes:
    """Return the root over complete subtrees that become smaller to the right."""
    root = stack[-1]
    for value in reversed(stack[:-1]):
        root = node_hash(value, root)
    return root


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: `width` hashes (or entries) from number `index * 256` of its level on."""

    level: int | None  # None: the entries themselves
    index: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """The path below the log's prefix.

        >>> Tile(0, 1_234, 17).path
        'tile/0/x001/234.p/17'
        >>> Tile(None, 5).path
        'tile/entries/005'
        """
        level = "entries" if self.level is None else str(self.level)
        partial = f".p/{self.width}" if self.width < WIDTH else ""
        return f"tile/{level}/{_number(self.index)}{partial}"

    @property
    def full(self) -> Tile:
        """The full tile in its place, which begins with what this one holds."""
        return Tile(self.level, self.index)


def _number(index: int) -> str:
    """Write a tile's number in groups of three digits, all but the last marked by an x.

    >>> _number(1_234_067)
    'x001/x234/067'
    """
    digits = str(index)
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    *marked, last = (digits[at : at + 3] for at in range(0, len(digits), 3))
    return "".join(f"x{group}/" for group in marked) + last


def tiles_between(old: int, new: int) -> Iterator[Tile]:
    """Yield every tile that a tree of `new` entries needs and one of `old` entries did not have, entries first.

    >>> [tile.path for tile in tiles_between(255, 258)]
    ['tile/entries/000', 'tile/entries/001.p/2', 'tile/0/000', 'tile/0/001.p/2', 'tile/1/000.p/1']
    """
    for level in (None, *range(levels_of(new))):
        scale = WIDTH ** (level or 0)  # entries below one hash of the level
        before = old // scale
        after = new // scale
        if before == after:
            continue

        for index in range(before // WIDTH, after // WIDTH):
            yield Tile(level, index)
        if after % WIDTH:
            yield Tile(level, after // WIDTH, after % WIDTH)


def levels_of(size: int) -> int:
    """Return how many levels of tiles a tree has.

    >>> [levels_of(size) for size in (0, 1, 255, 256, 65_536)]
    [0, 1, 1, 2, 3]
    """
    levels = 0
    while size:
        levels += 1
        size //= WIDTH
    return levels


def bundle(entries: Sequence[bytes]) -> bytes:
    """Return an entry bundle: each entry behind its length in two bytes; ValueError for one of over 65,535.

    >>> bundle([b"ab", b""]).hex(" ")
    '00 02 61 62 00 00'
    """
    if any(len(entry) > LARGEST_ENTRY for entry in entries):
        raise ValueError(f"an entry is larger than {LARGEST_ENTRY} bytes")
    return b"".join(struct.pack(">H", len(entry)) + entry for entry in entries)


def unbundle(data: bytes) -> list[bytes]:
    """Return the entries of a bundle; raise ValueError where its end is missing.

    >>> unbundle(bundle([b"ab", b""]))
    [b'ab', b'']
    """
    entries = []
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise ValueError("an entry bundle is cut")
        (length,) = struct.unpack_from(">H", data, at)

        at += 2 + length
        if at > len(data):
            raise ValueError("an entry bundle is cut")
        entries.append(data[at - length : at])
    return entries


@dataclass(frozen=True, slots=True)
class TileRoot:
    """The root of one full tile, which is one hash of the level above."""

    level: int
    index: int
    value: bytes


@dataclass(frozen=True, slots=True)
class Edge:
    """A log's size and, per level, the hashes of its incomplete last tile (0 to 255 of them).

    Immutable, so that a transaction that is rolled back leaves nothing to undo. Its size does not grow with the log.

    >>> leaves = [leaf_hash(b"%d" % number) for number in range(300)]
    >>> edge, complete = Edge().append(leaves)
    >>> edge.size, [len(level) for level in edge.levels], len(complete)
    (300, [44, 1], 1)
    >>> edge.root() == root_of(leaves)
    True
    """

    size: int = 0
    levels: tuple[tuple[bytes, ...], ...] = ()

    def append(self, leaves: Iterable[bytes]) -> tuple[Edge, list[TileRoot]]:
        """Return the edge after more leaf hashes, and the nodes that became complete, in order."""
        levels = [list(level) for level in self.levels]
        nodes: list[TileRoot] = []
        size = self.size

        for leaf in leaves:
            size += 1
            self._put(levels, leaf, size, nodes)

        return Edge(size, tuple(tuple(level) for level in levels)), nodes

    @staticmethod
    def _put(levels: list[list[bytes]], value: bytes, size: int, nodes: list[TileRoot]) -> None:
        """Add a hash to the lowest level; the root of each tile that it fills goes to the level above."""
        level = 0
        scale = WIDTH  # entries below one tile of the level
        while True:
            if level == len(levels):
                levels.append([])
            levels[level].append(value)
            if len(levels[level]) < WIDTH:
                return

            value = root_of(levels[level])
            levels[level] = []
            nodes.append(TileRoot(level, size // scale - 1, value))
            level += 1
            scale *= WIDTH

    def root(self) -> bytes:
        """Return the root over all entries."""
        stack = [value for level in reversed(self.levels) for value in perfect_stack(level)]
        return root_of_stack(stack) if stack else EMPTY_ROOT
