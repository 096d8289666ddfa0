"""Rounds, lessons and events as they are stored. Every function takes the connection of the transaction."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from gateway.wire.foreign import read_json
from generator.arena.games import ROUNDS
from generator.arena.inputs import PlayInputs
from generator.arena.life import ROUND_OPENED
from generator.arena.rounds import RoundsPlayed, RoundState
from generator.arena.sealed import SaltOf
from generator.arena.timetable import Timetable
from generator.catalog.words import Concept, RoundPhase
from generator.record.audit.entries import Entry, round_entries
from generator.record.memory import tables as t
from generator.record.memory.ballots import (
    enqueue_for_publication,
    locked_tally,
    real_tally,
    store_crowds,
    tally_row,
)
from generator.record.memory.game import Change, GameStore, last_outcome
from generator.record.memory.log import ballots_sha256
from generator.record.memory.rows import get_meta, insert_all, put_meta, row_of, value_of, values_in, where_in
from generator.values.rounds import Event, Lesson, Round

ACTIVE = tuple(str(phase) for phase in (RoundPhase.SCHEDULED, RoundPhase.OPEN, RoundPhase.LIVE))
FINISHED = (str(RoundPhase.RESOLVED), str(RoundPhase.VOID))
SCHEDULE_KEY = "arena.schedule"

# Of each idea the number of its newest lesson, from an index: grouped by idea, every lesson ever made would be read.
_NEWEST_LESSONS = select(
    *(select(func.max(t.lessons.c.id)).where(t.lessons.c.concept == concept).scalar_subquery() for concept in Concept)
)

_ACTIVE_ROUNDS = select(t.rounds).where(t.rounds.c.phase.in_(ACTIVE)).order_by(t.rounds.c.start_ms)
_LATEST_START = select(func.max(t.rounds.c.start_ms))
_NOW: BindParameter[int] = bindparam("now_ms")
_LATER_STARTS = select(t.rounds.c.start_ms).where(t.rounds.c.start_ms > _NOW)

_LAST_OUTCOME = (
    select(t.rounds.c.outcome)
    .where(t.rounds.c.asset == bindparam("asset"), t.rounds.c.outcome.is_not(None), t.rounds.c.end_ms <= _NOW)
    .order_by(t.rounds.c.start_ms.desc())
    .limit(1)
)
_NEWEST_LESSONS_FIRST = select(t.lessons).order_by(t.lessons.c.id.desc()).limit(bindparam("most"))
_NEWEST_EVENTS_FIRST = select(t.events).order_by(t.events.c.id.desc()).limit(bindparam("most"))


def active_rounds(connection: Connection) -> tuple[Round, ...]:
    """Return the rounds that are scheduled, open or live, by start."""
    return values_in(connection, Round, _ACTIVE_ROUNDS)


class RoundStore(GameStore[RoundState, RoundsPlayed]):
    """The store of rounds, with their votes as locked and their lessons."""

    kind = ROUNDS
    table = t.rounds
    key = ("round_id",)

    def load(self, connection: Connection, inputs: PlayInputs) -> RoundState:
        """Load what the pure rules need of rounds."""
        active = active_rounds(connection)
        stored = get_meta(connection, SCHEDULE_KEY)

        return RoundState(
            timetable=None if stored is None else Timetable(**read_json(stored)),
            last_start_ms=connection.execute(_LATEST_START).scalar(),
            taken=frozenset(connection.execute(_LATER_STARTS, {"now_ms": inputs.now_ms}).scalars()),
            active=active,
            real={item.round_id: real_tally(connection, item) for item in active},
            simulated={item.round_id: locked_tally(connection, item.round_id, simulated=True) for item in active},
            last_outcome=partial(last_outcome, connection, _LAST_OUTCOME, inputs.now_ms),
            concepts=concepts_by_recency(connection),
        )

    def changes(self, played: RoundsPlayed) -> Sequence[Change]:
        """Return what a tick changed of rounds."""
        return played.changes

    def store(self, connection: Connection, played: RoundsPlayed, *, in_batch: bool) -> None:
        """Store what a tick changed of rounds, and of the crowds that voted in them."""
        put_meta(connection, SCHEDULE_KEY, json.dumps(asdict(played.timetable)))
        super().store(connection, played, in_batch=in_batch)
        insert_all(connection, t.lessons, [row_of(lesson) for lesson in played.lessons])

        tallies = []
        for lock in played.locks:
            tallies.append({"round_id": lock.round_id, "simulated": False, **tally_row(lock.real)})
            tallies.append({"round_id": lock.round_id, "simulated": True, **tally_row(lock.simulated)})
        insert_all(connection, t.tallies, tallies)

        store_crowds(connection, played)
        enqueue_for_publication(connection, played)

    def entries(self, connection: Connection, played: RoundsPlayed, now_ms: int, salt: SaltOf) -> list[Entry]:
        """Return what the log holds of them."""
        return round_entries(played, now_ms, partial(ballots_sha256, connection))


def newest_lessons(connection: Connection, limit: int) -> tuple[Lesson, ...]:
    """Return the last lessons, newest first."""
    return values_in(connection, Lesson, _NEWEST_LESSONS_FIRST, {"most": limit})


def concepts_by_recency(connection: Connection) -> tuple[Concept, ...]:
    """Return the ideas of all lessons, each once, that of the newest lesson first."""
    numbers = connection.execute(_NEWEST_LESSONS).one()

    taught = [(number, concept) for number, concept in zip(numbers, Concept, strict=True) if number is not None]
    return tuple(concept for _number, concept in sorted(taught, reverse=True))


def newest_events(connection: Connection, limit: int) -> tuple[Event, ...]:
    """Return the last events, newest first; the opening of a round is listed once.

    A round that the backtest opened is opened again by the first live tick; only that seal counts.
    """
    events: dict[Any, Event] = {}
    for row in connection.execute(_NEWEST_EVENTS_FIRST, {"most": 2 * limit}).mappings():
        event = value_of(Event, row)
        key = event.text if event.kind == ROUND_OPENED else row["id"]
        events.setdefault(key, event)
    return tuple(events.values())[:limit]


def store_events(connection: Connection, events: Sequence[Event]) -> None:
    """Store what happened in a tick."""
    insert_all(connection, t.events, [row_of(event) for event in events])


def finished_rounds(connection: Connection, limit: int) -> tuple[Round, ...]:
    """Return the last resolved and void rounds, newest first."""
    newest = t.rounds.c.start_ms.desc()
    finished: list[Round] = []
    for phase in FINISHED:  # one at a time, each in the order of an index
        query = select(t.rounds).where(t.rounds.c.phase == phase).order_by(newest).limit(limit)
        finished += values_in(connection, Round, query)
    return tuple(sorted(finished, key=lambda item: -item.start_ms)[:limit])


def lesson_by_round(connection: Connection, round_ids: Sequence[str]) -> dict[str, Lesson]:
    """Return the lessons of these rounds."""
    rows = where_in(connection, select(t.lessons), t.lessons.c.round_id, round_ids)
    return {row.round_id: value_of(Lesson, row._mapping) for row in rows}  # noqa: SLF001  SQLAlchemy's public name
