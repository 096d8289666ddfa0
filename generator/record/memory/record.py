"""Queries and writes of the Arena's record. Every function takes the connection of the tick's transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, func, insert, or_, select, update

from generator.arena.ballots import Ballot, Refusal
from generator.arena.play import Lock, PlayInputs, PlayResult, PlayState
from generator.arena.schedule import Schedule
from generator.arena.stories import ROUND_OPENED
from generator.arena.teacher import PredictionChange, Standing
from generator.arena.values import BallotVerdict, Event, Lesson, PredictionMade, Round, Tally
from generator.catalog.words import Prediction, RoundPhase
from generator.record.memory import tables as t
from generator.record.memory.rows import (
    event_from,
    lesson_from,
    prediction_of,
    round_of,
    row_of_lesson,
    row_of_prediction,
    row_of_round,
)

ACTIVE = tuple(str(phase) for phase in (RoundPhase.SCHEDULED, RoundPhase.OPEN, RoundPhase.LIVE))
FINISHED = (str(RoundPhase.RESOLVED), str(RoundPhase.VOID))
CHUNK = 500  # SQLite allows 32,766 variables in a statement, older builds 999
SCHEDULE_KEY = "arena.schedule"
COUNTED_KEY = "arena.ballots_counted"
REPEATED = Refusal.REPEATED.value
REFUSED_KEPT = 100_000


def get_meta(connection: Connection, key: str) -> str | None:
    """Return one noted value."""
    found: str | None = connection.execute(select(t.meta.c.value).where(t.meta.c.key == key)).scalar()
    return found


def put_meta(connection: Connection, key: str, value: str) -> None:
    """Note one value."""
    upsert(connection, t.meta, {"key": key}, {"value": value})


def upsert(connection: Connection, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
    """Update the row with this key, or insert it; there is one writer, so nothing comes in between."""
    where = [table.c[name] == value for name, value in key.items()]
    if not connection.execute(update(table).where(*where).values(**values)).rowcount:
        connection.execute(insert(table).values(**key, **values))


def count_all(connection: Connection) -> Standing:
    """Count the whole record once, at the start of a process."""
    return Standing().after(
        ((None, round_of(row)) for row in connection.execute(select(t.rounds)).mappings()),
        ((None, prediction_of(row)) for row in connection.execute(select(t.predictions)).mappings()),
        (lesson_from(row) for row in connection.execute(select(t.lessons)).mappings()),
    )


def active_rounds(connection: Connection) -> tuple[Round, ...]:
    """Return the rounds that are scheduled, open or live, by start."""
    query = select(t.rounds).where(t.rounds.c.phase.in_(ACTIVE)).order_by(t.rounds.c.start_ms)
    return tuple(round_of(row) for row in connection.execute(query).mappings())


def load_state(
    connection: Connection, active: tuple[Round, ...], inputs: PlayInputs, last_regime: str | None
) -> PlayState:
    """Load what the pure rules need."""
    now_ms = inputs.now_ms
    starts = select(t.rounds.c.start_ms).where(t.rounds.c.start_ms > now_ms)
    p = t.predictions.c
    begun = select(p.asset, p.start_ms).where(p.start_ms > now_ms, or_(p.settled, p.start_price.is_not(None)))
    pending = select(t.predictions).where(t.predictions.c.settled.is_(False)).order_by(t.predictions.c.id)
    stored = get_meta(connection, SCHEDULE_KEY)
    return PlayState(
        schedule=None if stored is None else Schedule(**json.loads(stored)),
        last_start_ms=connection.execute(select(func.max(t.rounds.c.start_ms))).scalar(),
        taken=frozenset(connection.execute(starts).scalars()),
        active=active,
        pending=tuple(prediction_of(row) for row in connection.execute(pending).mappings()),
        begun=frozenset((row[0], row[1]) for row in connection.execute(begun)),
        real={item.round_id: real_tally(connection, item) for item in active},
        simulated={item.round_id: locked_tally(connection, item.round_id, simulated=True) for item in active},
        last_outcome=lambda kind, asset: last_outcome(connection, kind, asset, now_ms),
        last_regime=last_regime,
        withdrawn=_resolved_ahead(connection, inputs),
        retracted=_judged_ahead(connection, inputs),
    )


def _resolved_ahead(connection: Connection, inputs: PlayInputs) -> tuple[Round, ...]:
    """Return the resolved rounds that a clock set ahead made, where it made their prices too."""
    if inputs.next_close_ms is None or not inputs.follows_clock:
        return ()
    c = t.rounds.c
    late = (c.start_ms > inputs.now_ms, c.opens_ms >= inputs.next_close_ms, c.phase == RoundPhase.RESOLVED.value)
    rows = connection.execute(select(t.rounds).where(*late).order_by(c.start_ms)).mappings()
    return tuple(round_of(row) for row in rows)


def _judged_ahead(connection: Connection, inputs: PlayInputs) -> tuple[PredictionMade, ...]:
    """Return the hourly predictions likewise."""
    if inputs.next_close_ms is None or not inputs.follows_clock:
        return ()
    c = t.predictions.c
    late = (c.start_ms > inputs.now_ms, c.made_ms >= inputs.next_close_ms, c.outcome.is_not(None))
    rows = connection.execute(select(t.predictions).where(*late).order_by(c.id)).mappings()
    return tuple(prediction_of(row) for row in rows)


def recount(connection: Connection, result: PlayResult) -> Standing | None:
    """Forget the lessons of rounds that count no more, and count the record again; None where all that counted does."""
    rounds = [before.round_id for before, after in result.rounds if before and before.outcome and not after.outcome]
    if rounds:
        connection.execute(delete(t.lessons).where(t.lessons.c.round_id.in_(rounds)))
    hours = any(before and before.outcome and not after.outcome for before, after in result.predictions)
    return count_all(connection) if rounds or hours else None


def last_outcome(connection: Connection, kind: str, asset: str, now_ms: int) -> Prediction | None:
    """Return the outcome that came last for an asset, of what has ended by now."""
    if kind == "arena":
        query = select(t.rounds.c.outcome).where(
            t.rounds.c.asset == asset, t.rounds.c.phase == RoundPhase.RESOLVED.value, t.rounds.c.end_ms <= now_ms
        )
        query = query.order_by(t.rounds.c.end_ms.desc())
    else:
        query = select(t.predictions.c.outcome).where(
            t.predictions.c.asset == asset, t.predictions.c.outcome.is_not(None), t.predictions.c.end_ms <= now_ms
        )
        query = query.order_by(t.predictions.c.start_ms.desc())
    found = connection.execute(query.limit(1)).scalar()
    return None if found is None else Prediction(found)


def real_tally(connection: Connection, item: Round) -> Tally:
    """Count the ballots of a round: so far while it is open, as locked from then on."""
    if item.phase is not RoundPhase.OPEN:
        return locked_tally(connection, item.round_id, simulated=False)
    b = t.ballots.c
    query = select(b.choice, func.count()).where(b.round_id == item.round_id, b.counts.is_(True)).group_by(b.choice)
    counts: dict[str, int] = {row[0]: row[1] for row in connection.execute(query)}
    return Tally(*(counts.get(str(word), 0) for word in (Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL)))


def locked_tally(connection: Connection, round_id: str, *, simulated: bool) -> Tally:
    """Return the votes of a round at its close."""
    c = t.tallies.c
    query = select(c.bullish, c.bearish, c.neutral).where(c.round_id == round_id, c.simulated.is_(simulated))
    row = connection.execute(query).one_or_none()
    return Tally() if row is None else Tally(*row)


def known_txids(connection: Connection, txids: frozenset[str]) -> frozenset[str]:
    """Return which transaction ids were counted before."""
    found: set[str] = set()
    ordered = sorted(txids)
    for begin in range(0, len(ordered), CHUNK):
        query = select(t.ballots.c.txid).where(t.ballots.c.txid.in_(ordered[begin : begin + CHUNK]))
        found.update(connection.execute(query).scalars())
    return frozenset(found)


def store_ballots(connection: Connection, ballots: Sequence[Ballot]) -> None:
    """Store valid ballots; of each voter's in a round only the last by (arrival, txid) counts."""
    if not ballots:
        return
    best: dict[tuple[str, str], tuple[int, str]] = {}
    for round_id in {ballot.round_id for ballot in ballots}:
        b = t.ballots.c
        query = select(b.voter, b.arrived_ms, b.txid).where(b.round_id == round_id, b.counts.is_(True))
        best.update({(round_id, voter): (arrived, txid) for voter, arrived, txid in connection.execute(query)})
    before = dict(best)
    for ballot in ballots:
        key = (ballot.round_id, ballot.voter)
        best[key] = max(best.get(key, (-1, "")), (ballot.arrived_ms, ballot.txid))
    counted = int(get_meta(connection, COUNTED_KEY) or 0) + len(best) - len(before)
    put_meta(connection, COUNTED_KEY, str(counted))
    replaced = [txid for key, (_, txid) in before.items() if best[key][1] != txid]
    for begin in range(0, len(replaced), CHUNK):
        chunk = t.ballots.c.txid.in_(replaced[begin : begin + CHUNK])
        connection.execute(update(t.ballots).where(chunk).values(counts=False))
    connection.execute(
        insert(t.ballots),
        [
            {
                "txid": ballot.txid,
                "round_id": ballot.round_id,
                "voter": ballot.voter,
                "choice": str(ballot.choice),
                "arrived_ms": ballot.arrived_ms,
                "counts": best[ballot.round_id, ballot.voter][1] == ballot.txid,
            }
            for ballot in ballots
        ],
    )


def count_refusals(
    connection: Connection, verdicts: Iterable[BallotVerdict], on_chain: frozenset[str]
) -> dict[str, int]:
    """Add to the counts of refused ballots by reason, and return what was added.

    Args:
        connection: of the tick's transaction.
        verdicts: of this tick.
        on_chain: names of the ballots that are read again after every restart: what was counted or refused before is
            nothing new of them.
    """
    refused = [verdict for verdict in verdicts if verdict.reason is not None]
    again = _refused_before(connection, [verdict.name for verdict in refused if verdict.name in on_chain])
    again |= {verdict.name for verdict in refused if verdict.name in on_chain and verdict.reason == REPEATED}
    counts = Counter(str(verdict.reason) for verdict in refused if verdict.name not in again)
    for reason, n in counts.items():
        upsert(connection, t.rejected, {"reason": reason}, {"n": func.coalesce(_stored(reason), 0) + n})
    new = sorted({verdict.name for verdict in refused if verdict.name in on_chain - again})
    _insert_all(connection, t.refused_on_chain, [{"txid": name} for name in new])
    if new:
        forget(connection, t.refused_on_chain, REFUSED_KEPT)
    return dict(counts)


def _refused_before(connection: Connection, names: Sequence[str]) -> set[str]:
    found: set[str] = set()
    c = t.refused_on_chain.c.txid
    for begin in range(0, len(names), CHUNK):
        found.update(connection.execute(select(c).where(c.in_(names[begin : begin + CHUNK]))).scalars())
    return found


def _stored(reason: str) -> Any:
    return select(t.rejected.c.n).where(t.rejected.c.reason == reason).scalar_subquery()


def store_result(connection: Connection, result: PlayResult) -> None:
    """Store what a tick changed."""
    written = json.dumps(
        {
            "minutes": result.schedule.minutes,
            "next_minutes": result.schedule.next_minutes,
            "changes_at_ms": result.schedule.changes_at_ms,
        }
    )
    if get_meta(connection, SCHEDULE_KEY) != written:
        put_meta(connection, SCHEDULE_KEY, written)
    for before, after in result.rounds:
        _store_round(connection, before, after)
    _store_predictions(connection, result.predictions)
    _insert_all(connection, t.lessons, [row_of_lesson(lesson) for lesson in result.lessons])
    _insert_all(connection, t.tallies, [row for lock in result.locks for row in _lock_rows(lock)])
    _insert_all(connection, t.events, [{"at_ms": e.at_ms, "kind": e.kind, "text": e.text} for e in result.events])


def _store_round(connection: Connection, before: Round | None, after: Round) -> None:
    row = row_of_round(after)
    if before is None:
        connection.execute(insert(t.rounds).values(**row))
    else:
        connection.execute(update(t.rounds).where(t.rounds.c.round_id == after.round_id).values(**row))


def _store_predictions(connection: Connection, changes: Sequence[PredictionChange]) -> None:
    """Store what was made and what changed, each in one statement: an hour has one for every asset, twice."""
    _insert_all(connection, t.predictions, [row_of_prediction(after) for before, after in changes if before is None])
    changed = [
        {"of_asset": after.asset, "of_start": after.start_ms, **row_of_prediction(after)}
        for before, after in changes
        if before is not None
    ]
    if changed:
        c = t.predictions.c
        where = (c.asset == bindparam("of_asset"), c.start_ms == bindparam("of_start"))
        connection.execute(update(t.predictions).where(*where), changed)


def _lock_rows(lock: Lock) -> list[dict[str, Any]]:
    return [
        {
            "round_id": lock.round_id,
            "simulated": simulated,
            "bullish": tally.bullish,
            "bearish": tally.bearish,
            "neutral": tally.neutral,
        }
        for simulated, tally in ((False, lock.real), (True, lock.simulated))
    ]


def _insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def newest_lessons(connection: Connection, limit: int) -> tuple[Lesson, ...]:
    """Return the last lessons, newest first."""
    query = select(t.lessons).order_by(t.lessons.c.id.desc()).limit(limit)
    return tuple(lesson_from(row) for row in connection.execute(query).mappings())


def newest_events(connection: Connection, limit: int) -> tuple[Event, ...]:
    """Return the last events, newest first; the opening of a round is told once.

    A round that the rehearsal opened is opened again by the first real tick; only that seal counts.
    """
    query = select(t.events).order_by(t.events.c.id.desc()).limit(2 * limit)
    found: dict[Any, Event] = {}
    for row in connection.execute(query).mappings():
        event = event_from(row)
        found.setdefault(event.text if event.kind == ROUND_OPENED else row["id"], event)
    return tuple(found.values())[:limit]


def ballot_counts(connection: Connection) -> tuple[int, int]:
    """Return how many ballots were counted, one per voter and round, and how many were refused."""
    counted = int(get_meta(connection, COUNTED_KEY) or 0)
    return counted, int(connection.execute(select(func.sum(t.rejected.c.n))).scalar() or 0)


def finished_rounds(connection: Connection, limit: int) -> tuple[Round, ...]:
    """Return the last resolved and void rounds, newest first."""
    query = select(t.rounds).where(t.rounds.c.phase.in_(FINISHED)).order_by(t.rounds.c.start_ms.desc()).limit(limit)
    return tuple(round_of(row) for row in connection.execute(query).mappings())


def settled_predictions(connection: Connection, limit: int) -> tuple[PredictionMade, ...]:
    """Return the last hourly predictions that came due or were void, newest first, the assets in their order."""
    c = t.predictions.c
    query = select(t.predictions).where(c.settled.is_(True)).order_by(c.start_ms.desc(), c.id).limit(limit)
    return tuple(prediction_of(row) for row in connection.execute(query).mappings())


def lesson_by_round(connection: Connection, round_ids: Sequence[str]) -> dict[str, Lesson]:
    """Return the lessons of these rounds."""
    found: dict[str, Lesson] = {}
    for begin in range(0, len(round_ids), CHUNK):
        query = select(t.lessons).where(t.lessons.c.round_id.in_(round_ids[begin : begin + CHUNK]))
        found.update({row["round_id"]: lesson_from(row) for row in connection.execute(query).mappings()})
    return found


def tallies_by_round(connection: Connection, round_ids: Sequence[str]) -> dict[tuple[str, bool], Tally]:
    """Return the locked votes of these rounds by (round, simulated)."""
    found: dict[tuple[str, bool], Tally] = {}
    for begin in range(0, len(round_ids), CHUNK):
        query = select(t.tallies).where(t.tallies.c.round_id.in_(round_ids[begin : begin + CHUNK]))
        for row in connection.execute(query).mappings():
            found[row["round_id"], bool(row["simulated"])] = Tally(row["bullish"], row["bearish"], row["neutral"])
    return found


def forget(connection: Connection, table: Table, keep: int, *where: Any) -> None:
    """Delete all but the newest rows of a log, by number and never by clock, which may jump."""
    newest = connection.execute(select(func.max(table.c.id))).scalar()
    if newest is not None and newest > keep:
        connection.execute(delete(table).where(table.c.id <= newest - keep, *where))
