"""The counted ballots of locked rounds as they were signed, until they are published and some days longer.

Every function takes the connection of the transaction. At a lock the ballots that were replaced are forgotten; the
others wait for the releases that put them, so many of them a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select, update

from generator.arena.ballots import Ballot
from generator.arena.play import PlayResult
from generator.catalog.words import Prediction, RoundPhase
from generator.record.audit.recount import Counted, Sheet
from generator.record.memory import tables as t

KEPT_MS: Final = 7 * 86_400_000  # so that a site that was lost within a week can be put again


def keep(connection: Connection, ballots: Sequence[Ballot]) -> None:
    """Store the signed bytes of valid ballots."""
    rows = [{"txid": ballot.txid, "round_id": ballot.round_id, "data": ballot.signed} for ballot in ballots]
    if rows:
        connection.execute(insert(t.signed_ballots), rows)


def store(connection: Connection, result: PlayResult, now_ms: int) -> None:
    """Line the counted ballots of locked rounds up for publication; forget those of rounds that never locked."""
    starts = {after.round_id: after.start_ms for _, after in result.rounds}
    for lock in result.locks:
        _forget_replaced(connection, lock.round_id)
        kept = select(func.count()).where(t.signed_ballots.c.round_id == lock.round_id)
        # Fewer are kept of a round that was open while an older version of this program ran.
        if lock.real.total and connection.execute(kept).scalar() == lock.real.total:
            row = {"round_id": lock.round_id, "start_ms": starts[lock.round_id], "ballots": lock.real.total, "put": 0}
            connection.execute(insert(t.ballot_sheets).values(**row))
    sheets = select(t.ballot_sheets.c.round_id)
    for before, after in result.rounds:
        if after.phase is RoundPhase.VOID and before is not None and before.phase is not RoundPhase.LIVE:
            s = t.signed_ballots.c
            connection.execute(delete(t.signed_ballots).where(s.round_id == after.round_id, s.round_id.not_in(sheets)))
    if result.locks:
        _forget_old(connection, now_ms)


def due(connection: Connection, size: int) -> Sheet | None:
    """Return the next part that is to be published, of `size` ballots at most, None when all are."""
    c = t.ballot_sheets.c
    query = select(t.ballot_sheets).where(c.put < c.ballots).order_by(c.start_ms).limit(1)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    b, s = t.ballots.c, t.signed_ballots.c
    found = connection.execute(
        select(b.txid, b.voter, b.choice, b.arrived_ms, s.data)
        .select_from(t.ballots.join(t.signed_ballots, b.txid == s.txid))
        .where(b.round_id == row["round_id"], b.counts.is_(True))
        .order_by(b.txid)
        .limit(size)
        .offset(row["put"])
    )
    ballots = tuple(Counted(txid, voter, Prediction(word), at, data) for txid, voter, word, at, data in found)
    return Sheet(row["round_id"], row["start_ms"], row["ballots"], row["put"] // size + 1, ballots, size)


def done(connection: Connection, sheet: Sheet) -> None:
    """Note that a part is published."""
    c = t.ballot_sheets.c
    put = min(sheet.total, sheet.part * sheet.size)
    connection.execute(update(t.ballot_sheets).where(c.round_id == sheet.round_id).values(put=put))


def put_again(connection: Connection) -> None:
    """Line up again what is still kept: the site that held it was lost."""
    kept = select(t.signed_ballots.c.round_id)
    connection.execute(update(t.ballot_sheets).where(t.ballot_sheets.c.round_id.in_(kept)).values(put=0))


def _forget_replaced(connection: Connection, round_id: str) -> None:
    b, s = t.ballots.c, t.signed_ballots.c
    replaced = select(b.txid).where(b.round_id == round_id, b.counts.is_(False))
    connection.execute(delete(t.signed_ballots).where(s.round_id == round_id, s.txid.in_(replaced)))


def _forget_old(connection: Connection, now_ms: int) -> None:
    c = t.ballot_sheets.c
    old = select(c.round_id).where(c.put == c.ballots, c.start_ms < now_ms - KEPT_MS)
    connection.execute(delete(t.signed_ballots).where(t.signed_ballots.c.round_id.in_(old)))
