"""Read a published log and trust nothing of it: every hash that is used leads to the signed root, or is an error."""

from collections.abc import Callable, Iterator
from typing import Final

from generator.record.log.merkle import (
    leaf_hash,
    root_of,
    root_with_entry,
    roots_of_prefix,
    split_of,
)
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import WIDTH, Edge, Tile, hashes_of, unbundle

Fetch = Callable[[Tile], bytes]
TILE_HEIGHT: Final = 8


class LogError(ValueError):
    """The log is not what its signed head says; the message names what and where."""


class LogReader:
    """A published log at one checkpoint, its signature already checked."""

    def __init__(self, fetch: Fetch, head: Checkpoint) -> None:
        self._fetch = fetch
        self._head = head
        self._tiles: dict[Tile, list[bytes]] = {}
        self._bundles: dict[int, list[bytes]] = {}

    def entry(self, index: int) -> bytes:
        """Return one entry, proved to be in the log.

        Raises:
            LogError: it is not in the log, or not what the signed root says.
        """
        if not 0 <= index < self._head.size:
            raise LogError(f"entry {index}: the log has {self._head.size}")
        entry = self._bundle(index // WIDTH)[index % WIDTH]
        if root_with_entry(entry, index, self._head.size, self._root) != self._head.root:
            raise LogError(f"entry {index} is not in the log that was signed")
        return entry

    def check_extends(self, earlier: Checkpoint) -> None:
        """Check that an earlier checkpoint is the beginning of this log.

        Raises:
            LogError: the log shrank, or what it began with was changed.
        """
        old, new = earlier.size, self._head.size
        if old > new:
            raise LogError(f"the log had {old} entries when it was last seen and has {new} now: entries were removed")
        if old == 0:
            return
        if roots_of_prefix(old, new, self._root) != (earlier.root, self._head.root):
            raise LogError(f"the first {old} entries are not those that were signed before: history was changed")

    def audit(self) -> Iterator[bytes]:
        """Yield every entry of the whole log; ends normally only if all of them lead to the signed root."""
        edge = Edge()
        for number in range(-(-self._head.size // WIDTH)):
            bundle = self._bundle(number)
            self._bundles.clear()
            edge, _ = edge.append(map(leaf_hash, bundle))
            yield from bundle
        if edge.root() != self._head.root:
            raise LogError("the entries do not lead to the signed root: an entry was changed, dropped or moved")

    def _root(self, begin: int, end: int) -> bytes:
        """Return the hash of a range that a proof needs, from as few tiles as possible."""
        width = end - begin
        if width & (width - 1) or begin % width:
            middle = begin + split_of(width)
            return root_of([self._root(begin, middle), self._root(middle, end)])
        level = (width.bit_length() - 1) // TILE_HEIGHT
        scale = WIDTH**level
        first, count = begin // scale, width // scale
        tile = self._tile(level, first // WIDTH)
        found = tile[first % WIDTH : first % WIDTH + count]
        if len(found) != count:
            raise LogError(f"tile {level}/{first // WIDTH} is too short")
        return root_of(found)

    def _tile(self, level: int, index: int) -> list[bytes]:
        tile = self._shape(level, index)
        if tile not in self._tiles:
            hashes = self._read(tile, hashes_of)
            if len(hashes) != tile.width:
                raise LogError(f"{tile.path} has {len(hashes)} hashes")
            self._tiles[tile] = hashes
        return self._tiles[tile]

    def _bundle(self, index: int) -> list[bytes]:
        if index not in self._bundles:
            tile = self._shape(None, index)
            entries = self._read(tile, unbundle)
            if len(entries) != tile.width:
                raise LogError(f"{tile.path} has {len(entries)} entries")
            self._bundles[index] = entries
        return self._bundles[index]

    def _read(self, tile: Tile, parse: Callable[[bytes], list[bytes]]) -> list[bytes]:
        try:
            return parse(self._fetch(tile))
        except ValueError as error:
            raise LogError(f"{tile.path}: {error}") from error

    def _shape(self, level: int | None, index: int) -> Tile:
        """Return a tile as this size of the log has it: full, or the partial one at the edge."""
        there = self._head.size // WIDTH ** (level or 0) - index * WIDTH
        return Tile(level, index, min(WIDTH, there))
