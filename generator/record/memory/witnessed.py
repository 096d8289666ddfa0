"""Heads of the log that witnesses signed: kept for good, since a proof of a forecast needs the one of its hour."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, insert, select, update

from generator.record.memory import tables as t

MOST_DUE: Final = 256  # of one release


def keep(connection: Connection, size: int, note: bytes) -> None:
    """Keep the note of a head; one of its size that is there already stays, since readers may have it."""
    w = t.witnessed_heads
    if connection.execute(select(w.c.size).where(w.c.size == size)).first() is None:
        connection.execute(insert(w).values(size=size, note=note, published=False))


def due(connection: Connection) -> dict[int, bytes]:
    """Return the heads that readers do not have yet, by their size, the oldest first; a limited number."""
    w = t.witnessed_heads.c
    query = select(w.size, w.note).where(w.published.is_(False)).order_by(w.size).limit(MOST_DUE)
    return {row.size: row.note for row in connection.execute(query)}


def newest(connection: Connection, most: int) -> list[int]:
    """Return the sizes of the newest heads, the newest first."""
    w = t.witnessed_heads.c
    return list(connection.execute(select(w.size).order_by(w.size.desc()).limit(most)).scalars())


def note_of(connection: Connection, size: int) -> bytes | None:
    """Return the note of a head of this size, None where no witness signed one."""
    w = t.witnessed_heads.c
    return connection.execute(select(w.note).where(w.size == size)).scalar()


def done(connection: Connection, sizes: Iterable[int]) -> None:
    """Note that readers have these heads."""
    w = t.witnessed_heads
    connection.execute(update(w).where(w.c.size.in_(list(sizes))).values(published=True))


def requeue_all(connection: Connection) -> None:
    """Publish all of them again, as after a site was lost."""
    connection.execute(update(t.witnessed_heads).values(published=False))
