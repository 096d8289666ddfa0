"""Audit a memory and what was published once from it: whole pages, a log that recounts, tiles that are the log's."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from generator.errors import BackupError, GeneratorError
from generator.record.audit.audit import Audit
from generator.record.audit.game import AuditError
from generator.record.log.tiles import WIDTH, Edge, Tile, leaf_hash
from generator.record.memory import holds, log
from generator.record.memory import tables as t
from generator.record.memory.database import open_database
from generator.record.memory.games import game_stores

TILES: Final = "log/tile"
_PARTIAL: Final = re.compile(r"(.*)\.p/(\d+)")


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """What a memory was found to hold."""

    entries: int  # of the log
    rounds: int  # that ended in it
    tiles: int  # published once, each compared with the log


def audit_memory(url: str, once: Path | None) -> MemoryFigures:
    """Read a whole memory, bring it to the newest schema, count its log again, and compare what was published once.

    Args:
        url: of a copy, since it is upgraded.
        once: folder of what was published once; None where there is none.

    Raises:
        BackupError: something does not hold; the text names the first thing.
    """
    try:
        engine = open_database(url, checked_whole=sys.maxsize)
    except GeneratorError as error:
        raise BackupError(str(error)) from error

    try:
        with engine.begin() as connection:
            edge, audit = _recount(connection)
            complaints = [game.complaint(connection, audit) for game in game_stores()]
            for complaint in (*complaints, holds.complaint(connection)):
                if complaint is not None:
                    raise AuditError(complaint)
            compared = 0 if once is None else _compare_tiles(connection, once, edge.size)
    except (AuditError, ValueError) as error:
        raise BackupError(f"the log in the memory does not hold: {error}") from error
    finally:
        engine.dispose()
    return MemoryFigures(edge.size, len(audit.rounds.ended), compared)


def _recount(connection: Connection) -> tuple[Edge, Audit]:
    """Judge every entry, and build the tree again from them: its head must be the one that is stored."""
    audit = Audit()
    edge = Edge()
    for batch in _entries(connection):
        for data in batch:
            audit.take(data)
        edge, _ = edge.append(leaf_hash(data) for data in batch)
    audit.finish()

    if edge.root() != log.load_edge(connection).root():
        raise AuditError("its entries do not lead to the hashes that are stored with them")
    return edge, audit


def _entries(connection: Connection) -> Iterator[list[bytes]]:
    """Yield the entries of the log in order, a tile's at a time."""
    size = log.load_edge(connection).size
    column = t.log_entries.c
    for first in range(0, size, WIDTH):
        query = select(column.data).where(column.id > first, column.id <= first + WIDTH).order_by(column.id)
        yield list(connection.execute(query).scalars())


def _compare_tiles(connection: Connection, once: Path, size: int) -> int:
    """Compare every published tile of the log; one that is ahead of the memory, or another's, does not fit."""
    folder = once / TILES
    count = 0

    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue

        tile = tile_of(path.relative_to(folder).as_posix())
        if (tile.index * WIDTH + tile.width) * WIDTH ** (tile.level or 0) > size:
            raise AuditError(f"{tile.path} was published, and is ahead of the memory")
        if log.content(connection, tile) != path.read_bytes():
            raise AuditError(f"{tile.path} was published with other bytes")
        count += 1
    return count


def tile_of(path: str) -> Tile:
    """Return the tile of a path below `log/tile`; ValueError for another.

    >>> tile_of("entries/x001/234.p/17") == Tile(None, 1234, 17), tile_of("1/005") == Tile(1, 5)
    (True, True)
    """
    level, _, place = path.partition("/")
    width = WIDTH
    if partial := _PARTIAL.fullmatch(place):
        place = partial[1]
        width = int(partial[2])
    return Tile(None if level == "entries" else int(level), int(place.replace("x", "").replace("/", "")), width)
