"""A log laid out as published, in a dictionary, with its tiles made the plain way."""

from generator.record.log.note import Checkpoint
from generator.record.log.tiles import WIDTH, Edge, Tile, bundle, leaf_hash, root_of, tiles_between


def publish(entries: list[bytes], sizes: list[int] | None = None) -> dict[str, bytes]:
    """Return path -> bytes of every tile of a log that had these sizes when it was published."""
    files: dict[str, bytes] = {}
    before = 0
    for size in sizes or [len(entries)]:
        for tile in tiles_between(before, size):
            files[tile.path] = content(tile, entries)
        before = size
    return files


def content(tile: Tile, entries: list[bytes]) -> bytes:
    if tile.level is None:
        return bundle(entries[tile.index * WIDTH :][: tile.width])
    scale = WIDTH**tile.level
    first = tile.index * WIDTH
    hashes = [leaf_hash(entry) for entry in entries[first * scale : (first + tile.width) * scale]]
    return b"".join(root_of(hashes[at * scale : (at + 1) * scale]) for at in range(tile.width))


def head_of(entries: list[bytes]) -> Checkpoint:
    return Checkpoint("example.org/log", len(entries), Edge().append(map(leaf_hash, entries))[0].root())
