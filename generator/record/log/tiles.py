"""Tiles of 256 hashes or entries, as C2SP tlog-tiles lays a log out, and the right edge of a log that grows by them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from generator.record.log.merkle import EMPTY_ROOT, perfect_stack, root_of, root_of_stack

WIDTH: Final = 256
LARGEST_ENTRY: Final = 65_535  # its length takes two bytes


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: `width` hashes (or entries) from number `index * 256` of its level on."""

    level: int | None  # None: the entries themselves
    index: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """The path below the log's prefix, e.g. `tile/0/x001/234.p/17`."""
        level = "entries" if self.level is None else str(self.level)
        partial = f".p/{self.width}" if self.width < WIDTH else ""
        return f"tile/{level}/{_number(self.index)}{partial}"


def _number(index: int) -> str:
    digits = str(index)
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    return "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])


def tiles_between(old: int, new: int) -> Iterator[Tile]:
    """Yield every tile that a tree of `new` entries needs and one of `old` entries did not have, entries first."""
    for level in (None, *range(levels_of(new))):
        scale = WIDTH ** (level or 0)
        before, after = old // scale, new // scale
        if before == after:
            continue
        for index in range(before // WIDTH, after // WIDTH):
            yield Tile(level, index)
        if after % WIDTH:
            yield Tile(level, after // WIDTH, after % WIDTH)


def levels_of(size: int) -> int:
    """Return how many levels of tiles a tree has."""
    levels = 0
    while size:
        levels, size = levels + 1, size // WIDTH
    return levels


def bundle(entries: Sequence[bytes]) -> bytes:
    """Return an entry bundle: each entry behind its length in two bytes; ValueError for one of over 65,535."""
    if any(len(entry) > LARGEST_ENTRY for entry in entries):
        raise ValueError(f"an entry is larger than {LARGEST_ENTRY} bytes")
    return b"".join(struct.pack(">H", len(entry)) + entry for entry in entries)


def unbundle(data: bytes) -> list[bytes]:
    """Return the entries of a bundle."""
    entries, at = [], 0
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
        level, scale = 0, WIDTH
        while True:
            if level == len(levels):
                levels.append([])
            levels[level].append(value)
            if len(levels[level]) < WIDTH:
                return
            value = root_of(levels[level])
            levels[level] = []
            nodes.append(TileRoot(level, size // scale - 1, value))
            level, scale = level + 1, scale * WIDTH

    def root(self) -> bytes:
        """Return the root over all entries."""
        stack = [value for level in reversed(self.levels) for value in perfect_stack(level)]
        return root_of_stack(stack) if stack else EMPTY_ROOT
