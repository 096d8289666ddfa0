"""The voters' records and the crowds as locked. Every function takes the connection of the tick's transaction."""

from __future__ import annotations

import json
from dataclasses import asdict

from sqlalchemy import Connection, bindparam, insert, select, update

from generator.arena.play import Lock, PlayResult
from generator.arena.values import Burst, Leaderboard, LockedCrowd, RecordCrowd, Round
from generator.arena.voters import CountedVote, Voter, bursts, by_record, leaderboard
from generator.catalog.words import Prediction
from generator.record.memory import tables as t


def store(connection: Connection, result: PlayResult) -> None:
    """Work out the crowds of the rounds that were locked, and count the voters of those that resolved."""
    after = {changed.round_id: changed for _, changed in result.rounds}
    for lock in result.locks:
        _store_crowd(connection, lock, after[lock.round_id])
    for before, changed in result.rounds:
        if before is not None and before.outcome is not None and changed.outcome is None:
            _count(connection, before.round_id, before.outcome, -1)
    for lesson in result.lessons:
        _count(connection, lesson.round_id, lesson.actual_outcome, 1)


def crowd_of(connection: Connection, round_id: str) -> LockedCrowd | None:
    """Return what was worked out at a round's lock, None before it."""
    c = t.locked_crowds.c
    text = connection.execute(select(c.crowd).where(c.round_id == round_id)).scalar()
    if text is None:
        return None
    noted = json.loads(text)
    return LockedCrowd(RecordCrowd(**noted["by_record"]), tuple(Burst(**burst) for burst in noted["bursts"]))


def best(connection: Connection) -> Leaderboard:
    """Rank all voters."""
    v = t.voters.c
    return leaderboard(Voter(*row) for row in connection.execute(select(v.address, v.resolved, v.hits)))


def _store_crowd(connection: Connection, lock: Lock, live: Round) -> None:
    if not lock.real.total:
        return
    b, v = t.ballots.c, t.voters.c
    query = (
        select(b.choice, b.arrived_ms, b.voter, v.resolved, v.hits)
        .select_from(t.ballots.outerjoin(t.voters, v.address == b.voter))
        .where(b.round_id == lock.round_id, b.counts.is_(True))
        .order_by(b.arrived_ms, b.txid)
    )
    votes = [
        CountedVote(Prediction(choice), arrived, None if resolved is None else Voter(voter, resolved, hits))
        for choice, arrived, voter, resolved, hits in connection.execute(query)
    ]
    crowd = LockedCrowd(by_record(votes), bursts(votes, live.opens_ms, live.start_ms))
    connection.execute(insert(t.locked_crowds).values(round_id=lock.round_id, crowd=json.dumps(asdict(crowd))))


def _count(connection: Connection, round_id: str, outcome: Prediction, sign: int) -> None:
    """Add one resolved round to every voter of it, or take it out again."""
    b, v = t.ballots.c, t.voters.c
    query = (
        select(b.voter, b.choice, v.resolved, v.hits)
        .select_from(t.ballots.outerjoin(t.voters, v.address == b.voter))
        .where(b.round_id == round_id, b.counts.is_(True))
    )
    fresh, known = [], []
    for voter, choice, resolved, hits in connection.execute(query):
        hit = int(choice == str(outcome))
        if resolved is None:
            fresh.append({"address": voter, "resolved": 1, "hits": hit})
        else:
            known.append({"who": voter, "resolved": resolved + sign, "hits": hits + sign * hit})
    if fresh:
        connection.execute(insert(t.voters), fresh)
    if known:
        where = v.address == bindparam("who")
        connection.execute(
            update(t.voters).where(where).values(resolved=bindparam("resolved"), hits=bindparam("hits")), known
        )
