"""Read a published log and trust nothing of it: its entries lead to the signed root, or it is an error."""

from collections.abc import Callable, Iterator

from generator.record.log.merkle import leaf_hash
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import WIDTH, Edge, Tile, unbundle

Fetch = Callable[[Tile], bytes]


class LogError(ValueError):
    """The log is not what its signed head says; the message names what and where."""


def entries(fetch: Fetch, head: Checkpoint, earlier: Checkpoint | None = None) -> Iterator[bytes]:
    """Yield every entry of a log; ends normally only if all of them lead to the signed root.

    `earlier` is a checkpoint that the log must begin with, `head` its own, the signatures already checked. LogError: an
    entry is missing or altered, the log shrank, or what it began with was changed.
    """
    old = earlier.size if earlier else 0
    if old > head.size:
        raise LogError(f"the log had {old} entries when it was last seen and has {head.size} now: entries were removed")
    edge = Edge()
    for first in range(0, head.size, WIDTH):
        bundle = _bundle(fetch, Tile(None, first // WIDTH, min(WIDTH, head.size - first)))
        seen = max(0, old - first)
        for part in (bundle[:seen], bundle[seen:]):
            edge, _ = edge.append(map(leaf_hash, part))
            if earlier and edge.size == old and edge.root() != earlier.root:
                raise LogError(f"the first {old} entries are not those that were signed before: history was changed")
        yield from bundle
    if edge.root() != head.root:
        raise LogError("the entries do not lead to the signed root: an entry was changed, dropped or moved")


def _bundle(fetch: Fetch, tile: Tile) -> list[bytes]:
    try:
        found = unbundle(fetch(tile))
    except ValueError as error:
        raise LogError(f"{tile.path}: {error}") from error
    if len(found) != tile.width:
        raise LogError(f"{tile.path} has {len(found)} entries")
    return found
