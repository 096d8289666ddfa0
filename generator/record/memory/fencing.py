"""The memory's part of the lease: no transaction of a leader that was replaced is committed.

The highest epoch ever seen is a row. Every writing transaction locks it first, so that on PostgreSQL a new leader's
first transaction waits for the last one of the old, and every later one of the old finds the higher epoch.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, select

from generator.errors import LeadershipLost
from generator.record.memory import tables as t
from generator.record.memory.record import get_meta, put_meta

FENCE_KEY: Final = "fence"
GENERATION_KEY: Final = "generation"
IDLE_LIMIT_MS: Final = 3000


def pass_fence(connection: Connection, epoch: int) -> None:
    """Lock the fence's row for this transaction and store the epoch.

    A leader stopped in the middle of a transaction would hold the lock for ever: PostgreSQL is told to end a
    transaction that does nothing for 3 seconds. SQLite's transactions are exclusive from their first statement.

    Raises:
        LeadershipLost: a writer of a higher epoch was here.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"set local idle_in_transaction_session_timeout = {IDLE_LIMIT_MS}")
    query = select(t.meta.c.value).where(t.meta.c.key == FENCE_KEY).with_for_update()
    stored = int(connection.execute(query).scalar() or 0)
    if epoch < stored:
        raise LeadershipLost(f"the memory was taken over under epoch {stored}; {epoch} may not write any more", stored)
    if epoch > stored:
        put_meta(connection, FENCE_KEY, str(epoch))


def stored_epoch(connection: Connection) -> int:
    """Return the highest epoch that ever wrote, 0 before the first."""
    return int(get_meta(connection, FENCE_KEY) or 0)


def reserve(connection: Connection, at_least: int) -> int:
    """Return a generation number that nobody had and nobody will have.

    It is noted before anything is written under it: a leader that was stopped half way through an upload shares no
    path with the one that took over.

    Args:
        at_least: the highest number that was found where releases go.
    """
    number = max(int(get_meta(connection, GENERATION_KEY) or 0), at_least) + 1
    put_meta(connection, GENERATION_KEY, str(number))
    return number
