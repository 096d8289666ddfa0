"""What the memory asks of the store of a game: load what a tick needs, store what it changed, and say it to the log.

What a tick changed is stored here for all games, as `rows` writes it. A game's table has columns, where one table for
all could hold JSON, since the record is asked by them: of a year's hourly forecasts `lead_days` takes 73 ms by columns
and 576 ms by SQLite's `->>` of JSON.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Connection, Select, Table

from generator.arena.inputs import PlayInputs
from generator.arena.sealed import SaltOf
from generator.catalog.words import Prediction
from generator.record.audit.audit import Audit
from generator.record.audit.entries import Entry
from generator.record.memory.rows import insert_all, row_of, update_of

State = TypeVar("State")
Played = TypeVar("Played")
Change = tuple[Any | None, Any]
"""A value before a tick, None where it is new, and after it."""


class GameStore(Generic[State, Played]):
    """The store of a game of `arena.games`; one for each memory, since it may keep what it read.

    Every method takes the connection of the transaction.
    """

    kind: str
    table: ClassVar[Table]
    key: ClassVar[tuple[str, ...]]
    """The columns by which a row is found again."""

    def load(self, connection: Connection, inputs: PlayInputs) -> State:
        """Load what is known of the game before a tick."""
        raise NotImplementedError

    def changes(self, played: Played) -> Sequence[Change]:
        """Return what a tick changed of what is sealed."""
        raise NotImplementedError

    def store(self, connection: Connection, played: Played, *, in_batch: bool) -> None:
        """Store what a tick changed; in a batch, what `end_batch` stores may wait."""
        changes = self.changes(played)
        insert_all(connection, self.table, [row_of(after) for before, after in changes if before is None])

        changed = [row_of(after) for before, after in changes if before is not None]
        if changed:
            rows = [row | {f"old_{name}": row[name] for name in self.key} for row in changed]
            connection.execute(update_of(self.table, *self.key), rows)

    def entries(self, connection: Connection, played: Played, now_ms: int, salt: SaltOf) -> list[Entry]:
        """Return what the log holds of it, once it is stored; not called in a backtest."""
        raise NotImplementedError

    def end_batch(self, connection: Connection) -> None:
        """Store what waited."""

    def forget(self) -> None:
        """Drop what is kept in the process: it may be ahead of what is stored."""

    def view(self, connection: Connection) -> Mapping[str, Any]:
        """Return the fields of an ArenaView that are the game's."""
        return {}

    def complaint(self, connection: Connection, audit: Audit) -> str | None:
        """Say what is stored and does not follow from the log; None where all of it does."""
        return None


def last_outcome(connection: Connection, query: Select[Any], now_ms: int, asset: str) -> Prediction | None:
    """Return the outcome that came last for an asset, of what has ended by now."""
    word = connection.execute(query, {"asset": asset, "now_ms": now_ms}).scalar()
    return None if word is None else Prediction(word)
