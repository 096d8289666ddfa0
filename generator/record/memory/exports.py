"""The record for download: whole months of it, read in the background of a tick.

A reader has a transaction of its own. On SQLite it sees the record as it was when it began and holds up no writer; on
PostgreSQL likewise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, Connection, Engine, bindparam, delete, func, or_, select

from generator.arena.published import published_round
from generator.arena.scores import brier
from generator.catalog.words import RoundPhase
from generator.record.memory import daily, history, log, rounds
from generator.record.memory import tables as t
from generator.record.memory.ballots import locked_votes
from generator.record.memory.database import READING, name_of, translated
from generator.record.memory.rows import values_in, within
from generator.values.hours import Hour, PredictionMade
from generator.values.rounds import Round
from generator.values.rows import RoundInTheRecord
from generator.values.votes import Votes

NOTE_PREFIX: Final = "record."
FOREVER_MS: Final = 1 << 52


class VoterRow(NamedTuple):
    """What one voter said of a round or a daily question that ended, and what came."""

    voter: str
    subject: str  # round or question
    said: str | tuple[int, ...]  # a word; chances of up, small move and down; or four ends of two ranges
    came: str | float  # outcome, or move in percent
    score: float | None  # Brier of chances, mean interval score of ranges; None for a word
    usual: float  # the same score of the base rates, or of a usual day
    brain: float | None  # likewise of the brain, at the close of votes; None where that is not known


@dataclass(frozen=True, slots=True)
class Span:
    """What began in a span of time."""

    hourly: tuple[PredictionMade, ...]  # predictions that came due or were void, by start and asset
    rounds: tuple[RoundInTheRecord, ...]  # rows of `/arena/rounds.json`, by start
    waiting: int  # how many predictions and rounds have not ended yet


class Exports:
    """Read the record from any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(**{READING: True})
        self._name = name_of(engine.url)

    def span(self, since_ms: int, until_ms: int) -> Span:
        """Return what began in [since, until)."""
        p = t.predictions.c
        r = t.rounds.c
        ended = select(t.predictions).where(within(p.start_ms, since_ms, until_ms), p.settled.is_(True))
        finished = select(t.rounds).where(within(r.start_ms, since_ms, until_ms), r.phase.in_(rounds.FINISHED))

        with translated(self._name), self._engine.connect() as connection, connection.begin():
            # First: what ends while we read is not called read.
            waiting = _waiting(connection, since_ms, until_ms)
            played = values_in(connection, Round, finished.order_by(r.start_ms))
            return Span(
                hourly=values_in(connection, PredictionMade, ended.order_by(p.start_ms, p.id)),
                rounds=tuple(published_rows(connection, played)),
                waiting=waiting,
            )

    def hourly(self, since_ms: int, until_ms: int) -> tuple[PredictionMade, ...]:
        """Return the predictions that began in [since, until) and came due or were void, by start and asset."""
        p = t.predictions.c
        ended = select(t.predictions).where(within(p.start_ms, since_ms, until_ms), p.settled.is_(True))
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            return values_in(connection, PredictionMade, ended.order_by(p.start_ms, p.id))

    def voters(self, since_ms: int, until_ms: int) -> list[VoterRow]:
        """Return what voters said of the rounds and daily questions that began in [since, until) and ended."""
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            return [
                *_votes_of(connection, since_ms, until_ms),
                *(VoterRow(*row) for row in daily.answers_between(connection, since_ms, until_ms)),
            ]

    def ended(self, since_ms: int, until_ms: int) -> tuple[int, int]:
        """Count the predictions and the rounds that began in [since, until) and have ended."""
        p = t.predictions.c
        r = t.rounds.c
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            hourly = _count(connection, p.id, within(p.start_ms, since_ms, until_ms), p.settled.is_(True))
            played = _count(connection, r.id, within(r.start_ms, since_ms, until_ms), r.phase.in_(rounds.FINISHED))
        return hourly, played

    def first_ms(self) -> int | None:
        """Return when the oldest prediction or round began, None when there is none."""
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            columns = (t.predictions.c.start_ms, t.rounds.c.start_ms)
            oldest = [connection.execute(select(func.min(column))).scalar() for column in columns]
        return min((start_ms for start_ms in oldest if start_ms is not None), default=None)

    def published_hours(self, since_ms: int) -> tuple[Hour, ...]:
        """Return every hour from a time on that was published, oldest first."""
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            return tuple(hour for hour in history.hours(connection, since_ms, FOREVER_MS) if not hour.warm_up)

    def logged_hours(self, since_ms: int, until_ms: int, kinds: Sequence[str]) -> tuple[str, list[bytes]]:
        """Return the log's name, empty without a log, and its entries of some kinds about hours in [since, until)."""
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            origin, _ = log.keys(connection)
            return origin, log.about_hours(connection, since_ms, until_ms, kinds)

    def notes(self) -> dict[str, str]:
        """Return what was noted of months given away: name without its prefix -> text."""
        key = t.meta.c.key
        query = select(key, t.meta.c.value).where(key.startswith(NOTE_PREFIX)).order_by(key)
        with translated(self._name), self._engine.connect() as connection, connection.begin():
            return {row[0].removeprefix(NOTE_PREFIX): row[1] for row in connection.execute(query)}


def _votes_of(connection: Connection, since_ms: int, until_ms: int) -> Iterator[VoterRow]:
    r = t.rounds.c
    b = t.ballots.c
    is_resolved = (r.phase == str(RoundPhase.RESOLVED), r.warm_up.is_(False))
    resolved = select(t.rounds).where(within(r.start_ms, since_ms, until_ms), *is_resolved).order_by(r.start_ms)
    counted = (
        select(b.voter, b.choice, b.q_up, b.q_neutral, b.q_down)
        .where(b.round_id == bindparam("round_id"), b.counts.is_(True))
        .order_by(b.voter)
    )

    for played in values_in(connection, Round, resolved):
        if played.outcome is None or played.probabilities is None or played.base_rate is None:
            continue

        usual = brier(played.base_rate, played.outcome)
        brain = None if played.compared is None else brier(played.compared, played.outcome)
        for voter, choice, up, neutral, down in connection.execute(counted, {"round_id": played.round_id}):
            stated: str | tuple[int, ...] = choice
            score = None
            if up is not None:
                stated = (up, neutral, down)
                score = brier((down / 100, neutral / 100, up / 100), played.outcome)

            yield VoterRow(voter, played.round_id, stated, str(played.outcome), score, usual, brain)


def forget_months(connection: Connection) -> None:
    """Forget which months were given away, so that each is closed again: the site that held their files was lost."""
    connection.execute(delete(t.meta).where(t.meta.c.key.startswith(NOTE_PREFIX)))


def published_rows(connection: Connection, finished: Sequence[Round]) -> list[RoundInTheRecord]:
    """Return finished rounds, in their order, as rows of `/arena/rounds.json`."""
    ids = [item.round_id for item in finished]
    lessons = rounds.lesson_by_round(connection, ids)
    votes = locked_votes(connection, ids)
    logged = log.indices(connection, ids)

    rows: list[RoundInTheRecord] = []
    for item in finished:
        real, simulated = votes.get(item.round_id, Votes())
        row = published_round(item, real.plus(simulated), lessons.get(item.round_id), simulated)
        rows.append({**row, "log_entries": logged.get(item.round_id, [])})
    return rows


def _waiting(connection: Connection, since_ms: int, until_ms: int) -> int:
    p = t.predictions.c
    open_ends = or_(p.settled.is_(False), p.due_ms.is_not(None))
    predictions = _count(connection, p.id, within(p.start_ms, since_ms, until_ms), open_ends)

    r = t.rounds.c
    played = _count(connection, r.id, within(r.start_ms, since_ms, until_ms), r.phase.in_(rounds.ACTIVE))
    return predictions + played + daily.waiting(connection, since_ms, until_ms)


def _count(connection: Connection, column: Column[Any], *where: Any) -> int:
    return int(connection.execute(select(func.count(column)).where(*where)).scalar_one())
