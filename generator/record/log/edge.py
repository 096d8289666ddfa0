"""The right edge of a log: all that is needed to append to it and to know its root."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generator.record.log.merkle import EMPTY_ROOT, perfect_stack, root_of, root_of_stack
from generator.record.log.tiles import WIDTH


@dataclass(frozen=True, slots=True)
class Node:
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

    def append(self, leaves: Iterable[bytes]) -> tuple[Edge, list[Node]]:
        """Return the edge after more leaf hashes, and the nodes that became complete, in order."""
        levels = [list(level) for level in self.levels]
        nodes: list[Node] = []
        size = self.size
        for leaf in leaves:
            size += 1
            self._put(levels, leaf, size, nodes)
        return Edge(size, tuple(tuple(level) for level in levels)), nodes

    @staticmethod
    def _put(levels: list[list[bytes]], value: bytes, size: int, nodes: list[Node]) -> None:
        level, scale = 0, WIDTH
        while True:
            if level == len(levels):
                levels.append([])
            levels[level].append(value)
            if len(levels[level]) < WIDTH:
                return
            value = root_of(levels[level])
            levels[level] = []
            nodes.append(Node(level, size // scale - 1, value))
            level, scale = level + 1, scale * WIDTH

    def root(self) -> bytes:
        """Return the root over all entries."""
        stack = [value for level in reversed(self.levels) for value in perfect_stack(level)]
        return root_of_stack(stack) if stack else EMPTY_ROOT
