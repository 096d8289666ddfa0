"""Ladders as they are stored: of each hour what was said and what came, and of each day over the file that reveals it.

What a tick changes is stored in its transaction with the log's entries about it: a crash leaves both or neither. A
day's file is stored with the entry that names its digest, and published with the next release. Every function takes
the connection of the transaction.
"""

import hashlib
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from gateway.wire.foreign import read_json
from generator.arena.hourly import upcoming_hour
from generator.arena.inputs import PlayInputs
from generator.arena.ladders.hour import LadderHour, day_is_over
from generator.arena.ladders.play import LadderChange, LaddersPlayed, LadderState
from generator.arena.ladders.scores import scores_of, short_scores
from generator.arena.ladders.sums import LadderSums, LadderTotals, counted, sums_of
from generator.arena.published import canonical_json
from generator.arena.sealed import SaltOf
from generator.catalog.durations import DAY_MS
from generator.record.audit.audit import Audit
from generator.record.audit.entries import Entry, entry, ladder_entry, sealed_ladder
from generator.record.audit.ladders import LaddersOfDay, RevealedHour, day_text, file_complaint, hours_in, ladders_path
from generator.record.memory import tables as t
from generator.record.memory.game import GameStore
from generator.record.memory.rows import get_meta, put_meta, values_in, within

TOTALS_KEY: Final = "ladder.totals"
KEPT_MS: Final = 9 * DAY_MS  # hours whose day is published; their scores are in the totals
MOST_DUE: Final = 32  # days of one release
_L = t.ladders.c


def totals(connection: Connection) -> LadderTotals:
    """Return the sums of the whole record."""
    text = get_meta(connection, TOTALS_KEY)
    return LadderTotals() if text is None else LadderTotals.of_json(read_json(text))


def store_totals(connection: Connection, sums: LadderTotals) -> None:
    """Keep the sums of the whole record."""
    put_meta(connection, TOTALS_KEY, json.dumps(sums.as_json(), separators=(",", ":")))


class LadderStore(GameStore[LadderState, LaddersPlayed]):
    """The store of ladders; it keeps the sums of the whole record, of what is committed or of the open transaction."""

    kind = "ladders"
    table = t.ladders
    key = ("start_ms",)

    def __init__(self) -> None:
        self._totals: LadderTotals | None = None

    def load(self, connection: Connection, inputs: PlayInputs) -> LadderState:
        """Load what is due, and what was said of the upcoming hour."""
        is_due = _L.due_ms.is_not(None) if inputs.interrupted is not None else _L.due_ms <= inputs.now_ms
        due = values_in(connection, LadderHour, select(t.ladders).where(is_due).order_by(_L.start_ms))

        start_ms = upcoming_hour(inputs.now_ms)
        upcoming: tuple[LadderHour, ...] = ()
        if start_ms is not None and inputs.ladders is not None:
            upcoming = values_in(connection, LadderHour, select(t.ladders).where(_L.start_ms == start_ms))
        return LadderState(due, next(iter(upcoming), None), self._kept(connection))

    def changes(self, played: LaddersPlayed) -> tuple[LadderChange, ...]:
        """Return the hours that a tick changed."""
        return played.changes

    def store(self, connection: Connection, played: LaddersPlayed, *, in_batch: bool) -> None:
        """Store the hours that a tick changed, and outside of a batch the sums."""
        super().store(connection, played, in_batch=in_batch)
        if played.totals is not self._kept(connection) and not in_batch:
            store_totals(connection, played.totals)
        self._totals = played.totals

    def entries(self, connection: Connection, played: LaddersPlayed, now_ms: int, salt: SaltOf) -> list[Entry]:
        """Return the entry of what is made of an hour, and reveal the days that are over."""
        sealed = (ladder_entry(hour, now_ms, salt) for _, hour in played.changes if hour.is_closed)
        return [*sealed, *reveal(connection, now_ms, salt)]

    def end_batch(self, connection: Connection) -> None:
        """Store the sums."""
        store_totals(connection, self._kept(connection))

    def forget(self) -> None:
        """Drop the sums."""
        self._totals = None

    def view(self, connection: Connection) -> dict[str, Any]:
        """Return the scores of the whole record."""
        sums = self._kept(connection)
        rare = sums.rare()
        return {
            "rare_levels": rare,
            "ladder_record": scores_of(sums.live, rare),
            "ladder_backtest": scores_of(sums.backtest, rare),
        }

    def complaint(self, connection: Connection, audit: Audit) -> str | None:
        """Open every day that the log still knows, and score all live ladders and partitions again."""
        for day, data in files(connection):
            if day not in audit.ladders.revealed:
                continue
            complaint = file_complaint(audit.ladders, day, data)
            if complaint is not None:
                return f"the ladders of {day}: {complaint}"
        return sums_complaint(connection)

    def _kept(self, connection: Connection) -> LadderTotals:
        if self._totals is None:
            self._totals = totals(connection)
        return self._totals


def reveal(connection: Connection, now_ms: int, salt: SaltOf) -> list[Entry]:
    """Store the files of all days that are over, forget hours that were published long ago, and return the entries."""
    entries = []
    while (day := _next_day(connection, now_ms)) is not None:
        entries.append(_reveal(connection, day, now_ms, salt))
    return entries


def _next_day(connection: Connection, now_ms: int) -> int | None:
    """Return the oldest day that is over and not revealed; None where it still waits, and without one."""
    revealed = connection.execute(select(func.max(t.ladder_days.c.day))).scalar()
    since_ms = 0 if revealed is None else (revealed + 1) * DAY_MS
    oldest = select(func.min(_L.start_ms)).where(_L.start_ms >= since_ms, _L.warm_up.is_(False))
    first_ms = connection.execute(oldest).scalar()
    if first_ms is None or not day_is_over(first_ms // DAY_MS, now_ms):
        return None
    day = int(first_ms // DAY_MS)
    waiting = connection.execute(select(_L.id).where(*_of_day(day), _L.due_ms.is_not(None)).limit(1)).scalar()
    return day if waiting is None else None


def _of_day(day: int) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that a row is of a day, and not of a backtest."""
    return within(_L.start_ms, day * DAY_MS, (day + 1) * DAY_MS), _L.warm_up.is_(False)


def _reveal(connection: Connection, day: int, now_ms: int, salt: SaltOf) -> Entry:
    """Store the file of a day, and return the log's entry about it."""
    hours = values_in(connection, LadderHour, select(t.ladders).where(*_of_day(day)).order_by(_L.start_ms))
    ladders: LaddersOfDay = {"day": day_text(day), "hours": [_published(hour, salt) for hour in hours]}
    data = canonical_json(ladders)
    connection.execute(insert(t.ladder_days).values(day=day, data=zlib.compress(data), published=False))
    connection.execute(delete(t.ladders).where(_L.due_ms.is_(None), _L.start_ms < day * DAY_MS - KEPT_MS))
    named = {"day": day_text(day), "path": ladders_path(day), "sha256": hashlib.sha256(data).hexdigest()}
    return entry("ladder.judged", now_ms, None, **named, scores=short_scores(sums_of(hours)))


def _published(hour: LadderHour, salt: SaltOf) -> RevealedHour:
    sealed = sealed_ladder(hour, salt)
    return {
        "ladder": sealed.content,
        "salt": sealed.salt,
        "start_prices": hour.prices,
        "came": hour.came,
        "void_reason": hour.void_reason,
    }


def due(connection: Connection) -> dict[int, bytes]:
    """Return the files of days that readers do not have yet, by the number of the day; a limited number."""
    d = t.ladder_days.c
    query = select(d.day, d.data).where(d.published.is_(False)).order_by(d.day).limit(MOST_DUE)
    return {row.day: zlib.decompress(row.data) for row in connection.execute(query)}


def done(connection: Connection, days: Iterable[int]) -> None:
    """Note that readers have the files of these days."""
    connection.execute(update(t.ladder_days).where(t.ladder_days.c.day.in_(list(days))).values(published=True))


def requeue_all(connection: Connection) -> None:
    """Publish all of them again, as after a site was lost."""
    connection.execute(update(t.ladder_days).values(published=False))


def sums_complaint(connection: Connection) -> str | None:
    """Return which of the kept sums is not that of all live hours; None where all are."""
    stored = counted(totals(connection).live)
    again = counted(_recounted(connection))

    for part, sums in again.items():
        for name, figures in sums.items():
            if stored[part].get(name) != figures:
                kept = stored[part].get(name)
                return f"the sums of ladders, {part} {name}, are {kept}; what was said and what came give {figures}"
        if more := stored[part].keys() - sums.keys():
            return f"the sums of ladders have {part} {min(more)}, of which nothing came due"
    return None


def _recounted(connection: Connection) -> LadderSums:
    """Sum up all live hours again: those of the days that are revealed from their files, the others as stored."""
    d = t.ladder_days.c
    days = connection.execute(select(d.day, d.data).order_by(d.day)).all()
    since_ms = (days[-1].day + 1) * DAY_MS if days else 0
    later = select(t.ladders).where(_L.start_ms >= since_ms, _L.warm_up.is_(False)).order_by(_L.start_ms)
    revealed = (hour for row in days for hour in hours_in(zlib.decompress(row.data)))
    return sums_of(itertools.chain(revealed, values_in(connection, LadderHour, later)))


def files(connection: Connection) -> Iterator[tuple[str, bytes]]:
    """Yield each revealed day with its file, the oldest first."""
    d = t.ladder_days.c
    for row in connection.execute(select(d.day, d.data).order_by(d.day)):
        yield day_text(row.day), zlib.decompress(row.data)
