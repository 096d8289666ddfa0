"""Rounds, hourly predictions, lessons and events. Every function takes the connection of the transaction."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import BindParameter, Connection, Table, and_, bindparam, case, func, or_, select, union

from gateway.wire.foreign import read_json
from generator.arena.earned import KIND, LEAST_LEAD, PER_CHANCE, LeadDay
from generator.arena.inputs import PlayInputs
from generator.arena.life import ROUND_OPENED
from generator.arena.play import PlayResult, PlayState
from generator.arena.teacher import PredictionChange, RoundChange
from generator.arena.timetable import Timetable
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.horizons import DAY, HOUR
from generator.catalog.words import Concept, Prediction, RoundPhase
from generator.record.memory import tables as t
from generator.record.memory.ballots import locked_tally, real_tally, tally_row
from generator.record.memory.rows import (
    get_meta,
    insert_all,
    put_meta,
    row_of,
    update_of,
    value_of,
    values_in,
    where_in,
)
from generator.values.hours import Move, PredictionMade, RangeDay, RangeWeek
from generator.values.ranges import RangeForecast
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

_P = t.predictions.c
_BEGUN = select(_P.asset, _P.start_ms).where(_P.start_ms > _NOW, or_(_P.settled, _P.start_price.is_not(None)))
# The two conditions are named one by one: asked for either at once, SQLite reads the whole table.
_UNSETTLED = select(_P.id).where(_P.settled.is_(False))
_DUE = select(_P.id).where(_P.due_ms <= _NOW)
_DUE_EVER = select(_P.id).where(_P.due_ms.is_not(None))
_PENDING = select(t.predictions).where(_P.id.in_(union(_UNSETTLED, _DUE))).order_by(_P.id)
_EVER_PENDING = select(t.predictions).where(_P.id.in_(union(_UNSETTLED, _DUE_EVER))).order_by(_P.id)

_LAST_OUTCOME = {
    kind: select(table.c.outcome)
    .where(table.c.asset == bindparam("asset"), table.c.outcome.is_not(None), table.c.end_ms <= _NOW)
    .order_by(table.c.start_ms.desc())
    .limit(1)
    for kind, table in (("arena", t.rounds), ("hourly", t.predictions))
}
_NEWEST_LESSONS_FIRST = select(t.lessons).order_by(t.lessons.c.id.desc()).limit(bindparam("most"))
_NEWEST_EVENTS_FIRST = select(t.events).order_by(t.events.c.id.desc()).limit(bindparam("most"))


def active_rounds(connection: Connection) -> tuple[Round, ...]:
    """Return the rounds that are scheduled, open or live, by start."""
    return values_in(connection, Round, _ACTIVE_ROUNDS)


def load_state(connection: Connection, inputs: PlayInputs, published_ms: int | None) -> PlayState:
    """Load what the pure rules need of rounds and predictions."""
    now_ms = inputs.now_ms
    now = {"now_ms": now_ms}
    active = active_rounds(connection)
    stored = get_meta(connection, SCHEDULE_KEY)

    pending = _PENDING if inputs.interrupted is None else _EVER_PENDING

    return PlayState(
        timetable=None if stored is None else Timetable(**read_json(stored)),
        last_start_ms=connection.execute(_LATEST_START).scalar(),
        taken=frozenset(connection.execute(_LATER_STARTS, now).scalars()),
        active=active,
        pending=values_in(connection, PredictionMade, pending, now),
        begun=frozenset((row[0], row[1]) for row in connection.execute(_BEGUN, now)),
        real={item.round_id: real_tally(connection, item) for item in active},
        simulated={item.round_id: locked_tally(connection, item.round_id, simulated=True) for item in active},
        last_outcome=lambda kind, asset: last_outcome(connection, kind, asset, now_ms),
        concepts=concepts_by_recency(connection),
        published_ms=published_ms,
    )


def last_outcome(connection: Connection, kind: str, asset: str, now_ms: int) -> Prediction | None:
    """Return the outcome that came last for an asset, of what has ended by now."""
    word = connection.execute(_LAST_OUTCOME[kind], {"asset": asset, "now_ms": now_ms}).scalar()
    return None if word is None else Prediction(word)


def store_result(connection: Connection, result: PlayResult) -> None:
    """Store what a tick changed."""
    put_meta(connection, SCHEDULE_KEY, json.dumps(asdict(result.timetable)))
    _store_changes(connection, t.rounds, ("round_id",), result.rounds)
    _store_changes(connection, t.predictions, ("asset", "start_ms"), result.predictions)
    insert_all(connection, t.lessons, [row_of(lesson) for lesson in result.lessons])

    tallies = []
    for lock in result.locks:
        tallies.append({"round_id": lock.round_id, "simulated": False, **tally_row(lock.real)})
        tallies.append({"round_id": lock.round_id, "simulated": True, **tally_row(lock.simulated)})
    insert_all(connection, t.tallies, tallies)
    insert_all(connection, t.events, [row_of(event) for event in result.events])


def _store_changes(
    connection: Connection, table: Table, key: Sequence[str], changes: Sequence[RoundChange | PredictionChange]
) -> None:
    """Store what is new and what changed, each in one statement."""
    insert_all(connection, table, [row_of(after) for before, after in changes if before is None])
    changed = [row_of(after) for before, after in changes if before is not None]
    if changed:
        rows = [row | {f"old_{name}": row[name] for name in key} for row in changed]
        connection.execute(update_of(table, *key), rows)


def newest_lessons(connection: Connection, limit: int) -> tuple[Lesson, ...]:
    """Return the last lessons, newest first."""
    return values_in(connection, Lesson, _NEWEST_LESSONS_FIRST, {"most": limit})


def lessons_since(connection: Connection, since_ms: int) -> tuple[Lesson, ...]:
    """Return the lessons of live rounds made from a time on, oldest first."""
    c = t.lessons.c
    query = select(t.lessons).where(c.created_ms >= since_ms, c.warm_up.is_(False)).order_by(c.id)
    return values_in(connection, Lesson, query)


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


def finished_rounds(connection: Connection, limit: int) -> tuple[Round, ...]:
    """Return the last resolved and void rounds, newest first."""
    newest = t.rounds.c.start_ms.desc()
    finished: list[Round] = []
    for phase in FINISHED:  # one at a time, each in the order of an index
        query = select(t.rounds).where(t.rounds.c.phase == phase).order_by(newest).limit(limit)
        finished += values_in(connection, Round, query)
    return tuple(sorted(finished, key=lambda item: -item.start_ms)[:limit])


def settled_predictions(connection: Connection, limit: int) -> tuple[PredictionMade, ...]:
    """Return the last hourly predictions that came due or were void, newest first, the assets in their order."""
    c = t.predictions.c
    query = select(t.predictions).where(c.settled.is_(True)).order_by(c.start_ms.desc(), c.id).limit(limit)
    return values_in(connection, PredictionMade, query)


def week_of_ranges(connection: Connection, now_ms: int) -> dict[tuple[str, str], RangeWeek]:
    """Return how the ranges that began in the last seven days held, by asset and horizon.

    It is asked again after each move, so it reads the columns that it needs and makes no prediction of each row.
    """
    c = t.predictions.c
    query = select(c.asset, c.warm_up, c.ranges, c.moves).where(
        c.start_ms > now_ms - 7 * DAY_MS, c.start_ms <= now_ms, c.ranges.is_not(None), c.moves.is_not(None)
    )

    found: dict[tuple[str, str], RangeWeek] = {}
    for asset, warm_up, ranges, moves in connection.execute(query):
        said = read_json(ranges)
        for horizon, came in read_json(moves).items():
            if came["move"] is None:
                continue
            within = RangeForecast(**said[horizon])
            before = found.get((asset, horizon), RangeWeek(0, 0, 0, 0.0, 0.0, 0))
            found[asset, horizon] = RangeWeek(
                moves=before.moves + 1,
                held_50=before.held_50 + int(within.holds_50(came["move"])),
                held_90=before.held_90 + int(within.holds_90(came["move"])),
                width_90=before.width_90 + within.width_90,
                largest=max(before.largest, abs(came["move"])),
                of_backtest=before.of_backtest + int(warm_up),
            )
    return found


def day_of_ranges(connection: Connection, now_ms: int) -> RangeDay | None:
    """Return the ranges of the default asset that came due within the last day; None without any."""
    c = t.predictions.c
    since = and_(c.asset == DEFAULT_ASSET, c.start_ms > now_ms - 2 * DAY_MS, c.start_ms <= now_ms)
    query = select(t.predictions).where(since, c.ranges.is_not(None)).order_by(c.start_ms)

    rows = values_in(connection, PredictionMade, query)
    hours = [
        (made, due)
        for made in rows
        if made.start_ms + HOUR_MS > now_ms - DAY_MS and (due := _due(made, HOUR)) is not None
    ]
    days = [(made, due) for made in rows if (due := _due(made, DAY)) is not None]
    if not hours and not days:
        return None

    held = sum(said.holds_90(came.move or 0.0) for _, (said, came) in hours)
    counted = RangeDay(None, 0.0, 0.0, 0.0, len(hours), held, any(made.warm_up for made, _ in hours))
    if not days:
        return counted
    made, (said, came) = days[-1]
    start = made.start_price or 0.0
    return counted._replace(
        due_ms=made.start_ms + DAY_MS,
        low=start * (1 + said.low_90 / 100),
        high=start * (1 + said.high_90 / 100),
        price=came.end_price or 0.0,
        warm_up=counted.warm_up or made.warm_up,
    )


def _due(made: PredictionMade, horizon: str) -> tuple[RangeForecast, Move] | None:
    """Return a range and the move that it was about; None where either is not known."""
    said = (made.ranges or {}).get(horizon)
    came = made.moves.get(horizon)
    if said is None or came is None or came.move is None:
        return None
    return said, came


def lead_days(connection: Connection) -> tuple[LeadDay, ...]:
    """Count by UTC day the live hourly forecasts in which a side led, and which side came; days without are left out.

    Only of today's kind of chances: what another kind earned says nothing of this one.

    Chances are compared as the whole ten-thousandths that they are published in.
    """
    c = t.predictions.c
    lead = func.round((c.p_up - c.p_down) * PER_CHANCE)
    up_leads = and_(c.p_up > c.p_neutral, lead >= LEAST_LEAD)
    down_leads = and_(c.p_down > c.p_neutral, lead <= -LEAST_LEAD)

    rose = case((c.outcome == str(Prediction.BULLISH), 1), (c.outcome == str(Prediction.BEARISH), -1), else_=0)
    query = (
        select(func.count(c.id), func.sum(case((up_leads, rose), else_=-rose)))
        .where(c.warm_up.is_(False), c.outcome.is_not(None), c.chances_kind == KIND, or_(up_leads, down_leads))
        .group_by(c.start_ms // DAY_MS)
        .order_by(c.start_ms // DAY_MS)
    )
    return tuple(LeadDay(int(cases), int(balance)) for cases, balance in connection.execute(query))


def lesson_by_round(connection: Connection, round_ids: Sequence[str]) -> dict[str, Lesson]:
    """Return the lessons of these rounds."""
    rows = where_in(connection, select(t.lessons), t.lessons.c.round_id, round_ids)
    return {row.round_id: value_of(Lesson, row._mapping) for row in rows}  # noqa: SLF001  SQLAlchemy's public name
