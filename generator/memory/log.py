"""The transparency log as it is stored: entries are only ever added, in the transaction of the tick that made them.

What is published of it is derived from here, so a crash between the transaction and the release loses nothing: the
next release catches up. Every function takes the connection of the transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select

from generator.arena.chronicle import Entry
from generator.memory import tables as t
from generator.transparency.edge import Edge, Node
from generator.transparency.merkle import leaf_hash
from generator.transparency.tiles import LARGEST_ENTRY, WIDTH, Tile, bundle

CHUNK: Final = 500


def load_edge(connection: Connection) -> Edge:
    """Read the right edge of the log; its cost does not grow with the log.

    Raises:
        ValueError: entries or nodes are missing.
    """
    size = int(connection.execute(select(func.max(t.log_entries.c.id))).scalar() or 0)
    levels: list[tuple[bytes, ...]] = []
    scale, level = 1, 0
    while size >= scale:
        count = size // scale
        first = count - count % WIDTH
        levels.append(tuple(_hashes(connection, level, first, count)))
        level, scale = level + 1, scale * WIDTH
    return Edge(size, tuple(levels))


def append(connection: Connection, edge: Edge, entries: Sequence[Entry]) -> Edge:
    """Add entries and return the edge after them.

    Raises:
        ValueError: an entry is larger than a log can hold.
    """
    if not entries:
        return edge
    if any(len(item.data) > LARGEST_ENTRY for item in entries):
        raise ValueError(f"an entry of the log is larger than {LARGEST_ENTRY} bytes")
    rows = [
        {"id": edge.size + number, "kind": item.kind, "subject": item.subject, "data": item.data}
        for number, item in enumerate(entries, 1)
    ]
    connection.execute(insert(t.log_entries), rows)
    after, nodes = edge.append(leaf_hash(item.data) for item in entries)
    if nodes:
        connection.execute(insert(t.log_nodes), [_row(node) for node in nodes])
    return after


def _row(node: Node) -> dict[str, Any]:
    return {"level": node.level, "index": node.index, "value": node.value}


def content(connection: Connection, tile: Tile) -> bytes:
    """Return the bytes of a published tile.

    Raises:
        ValueError: the log does not reach that far.
    """
    first = tile.index * WIDTH
    if tile.level is None:
        return bundle(_entries(connection, first, first + tile.width))
    return b"".join(_hashes(connection, tile.level, first, first + tile.width))


def indices(connection: Connection, subjects: Iterable[str]) -> dict[str, list[int]]:
    """Return the numbers of the entries about each subject, in order."""
    found: dict[str, list[int]] = {}
    ordered = sorted(subjects)
    e = t.log_entries.c
    for begin in range(0, len(ordered), CHUNK):
        query = select(e.subject, e.id).where(e.subject.in_(ordered[begin : begin + CHUNK])).order_by(e.id)
        for subject, number in connection.execute(query):
            found.setdefault(subject, []).append(number - 1)
    return found


def newest(connection: Connection, kind: str | None = None) -> dict[str, Any] | None:
    """Return the last entry, or the last of a kind."""
    e = t.log_entries.c
    query = select(e.data).order_by(e.id.desc()).limit(1)
    data = connection.execute(query if kind is None else query.where(e.kind == kind)).scalar()
    return None if data is None else dict(json.loads(data))


def time_of(entry: dict[str, Any]) -> int:
    """Return an entry's time in UTC ms."""
    return round(datetime.fromisoformat(entry["at"]).timestamp() * 1000)


def ballots_sha256(connection: Connection, round_id: str) -> str:
    """Return SHA-256 hex over the counted ballots of a round: their transaction ids, sorted, one a line."""
    b = t.ballots.c
    query = select(b.txid).where(b.round_id == round_id, b.counts.is_(True)).order_by(b.txid)
    digest = hashlib.sha256()
    for (txid,) in connection.execute(query):
        digest.update(f"{txid}\n".encode())
    return digest.hexdigest()


def _hashes(connection: Connection, level: int, begin: int, end: int) -> list[bytes]:
    if level == 0:
        return [leaf_hash(data) for data in _entries(connection, begin, end)]
    n = t.log_nodes.c
    query = select(n.value).where(n.level == level - 1, n.index >= begin, n.index < end).order_by(n.index)
    return _all(connection.execute(query).scalars().all(), end - begin)


def _entries(connection: Connection, begin: int, end: int) -> list[bytes]:
    e = t.log_entries.c
    query = select(e.data).where(e.id > begin, e.id <= end).order_by(e.id)
    return _all(connection.execute(query).scalars().all(), end - begin)


def _all(found: Sequence[bytes], count: int) -> list[bytes]:
    if len(found) != count:
        raise ValueError(f"the log in the memory has {len(found)} of {count} rows: it was changed by someone else")
    return list(found)
