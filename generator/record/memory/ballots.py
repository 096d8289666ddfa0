"""Ballots: counted and refused ones, the crowds as locked, voters' records, and the signed bytes that are published.

Every function takes the connection of the transaction. A release publishes one part of one round's ballots.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, union, update

from gateway.wire.daily import is_daily
from gateway.wire.foreign import read_json
from generator.arena.ballots import Ballot, Chances, Refusal
from generator.arena.ranks import Calendar, Saved
from generator.arena.rounds import Lock, RoundsPlayed
from generator.arena.voters import ChanceScores, CountedVote, Voter, bursts, by_record, leaderboard
from generator.catalog.words import Prediction, RoundPhase
from generator.record.audit.recount import BallotPart
from generator.record.memory import daily
from generator.record.memory import tables as t
from generator.record.memory.rows import forget, get_meta, insert_all, put_meta, upsert, where_in
from generator.values.rounds import Round
from generator.values.votes import (
    BallotVerdict,
    Burst,
    ChanceSums,
    Leaderboard,
    LockedCrowd,
    RecordCrowd,
    Tally,
    Votes,
)

COUNTED_KEY: Final = "arena.ballots_counted"
REPEATED: Final = Refusal.REPEATED.value
REFUSED_KEPT: Final = 100_000
EARLIER_ROUNDS: Final = 3
"""Who was counted in so many rounds, on two days, is not a newcomer."""


_B = t.ballots.c
# By choice how many votes, and of those that gave chances how many and their sums.
_CHOICES = (
    select(_B.choice, *(func.count(), func.count(_B.q_up), *map(func.sum, (_B.q_up, _B.q_neutral, _B.q_down))))
    .where(_B.round_id == bindparam("round_id"), _B.counts.is_(True))
    .group_by(_B.choice)
)
_T = t.tallies.c
TALLY: Final = (
    *(_T.bullish, _T.bearish, _T.neutral),
    *(_T.gave_chances, _T.sum_up, _T.sum_neutral, _T.sum_down),
)
_LOCKED = select(*TALLY).where(_T.round_id == bindparam("round_id"), _T.simulated == bindparam("simulated"))
_REFUSED = select(func.sum(t.rejected.c.n))
_REFUSED_SO = select(t.rejected.c.n).where(t.rejected.c.reason == bindparam("reason"))
SCORE_COLUMNS: Final = ("scored", "brier", "base_brier", "log_score", "base_log_score")
NO_SCORES: Final = (None,) * len(SCORE_COLUMNS)
_V = t.voters.c
_RECORD: Final = (_V.resolved, _V.hits, _V.since_ms, _V.by_hits, _V.by_chances, *(_V[name] for name in SCORE_COLUMNS))
_RESOLVED_STARTS = (
    select(t.rounds.c.start_ms)
    .where(t.rounds.c.phase == str(RoundPhase.RESOLVED), t.rounds.c.warm_up.is_(False))
    .order_by(t.rounds.c.start_ms)
)
_CROWD = select(t.locked_crowds.c.crowd).where(t.locked_crowds.c.round_id == bindparam("round_id"))


def real_tally(connection: Connection, item: Round) -> Tally:
    """Count the ballots of a round: so far while it is open, as locked from then on."""
    if item.phase is not RoundPhase.OPEN:
        return locked_tally(connection, item.round_id, simulated=False)

    tally = Tally()
    for choice, votes, *sums in connection.execute(_CHOICES, {"round_id": item.round_id}):
        chances = ChanceSums(*(int(number or 0) for number in sums))
        tally = tally.plus(Tally(**{choice.lower(): votes}, chances=chances))
    return tally


def locked_tally(connection: Connection, round_id: str, *, simulated: bool) -> Tally:
    """Return the votes of a round at its close."""
    row = connection.execute(_LOCKED, {"round_id": round_id, "simulated": simulated}).one_or_none()
    return Tally() if row is None else tally_of(row)


def locked_votes(connection: Connection, round_ids: Iterable[str]) -> dict[str, Votes]:
    """Return the votes of these rounds at their close; a round that was never locked is left out."""
    query = select(_T.round_id, _T.simulated, *TALLY)
    by_round: dict[str, Votes] = {}
    for round_id, simulated, *row in where_in(connection, query, _T.round_id, round_ids):
        votes = by_round.get(round_id, Votes())
        by_round[round_id] = votes._replace(**{"simulated" if simulated else "real": tally_of(row)})
    return by_round


def tally_of(row: Sequence[int | None]) -> Tally:
    """Read a tally from the columns of `TALLY`; one of before votes gave chances has none."""
    bullish, bearish, neutral, *sums = (number or 0 for number in row)
    return Tally(bullish, bearish, neutral, ChanceSums(*sums))


def tally_row(tally: Tally) -> dict[str, int]:
    """Write a tally as columns."""
    of = tally.chances

    return {
        "bullish": tally.bullish,
        "bearish": tally.bearish,
        "neutral": tally.neutral,
        "gave_chances": of.votes,
        "sum_up": of.up,
        "sum_neutral": of.neutral,
        "sum_down": of.down,
    }


def known_txids(connection: Connection, txids: frozenset[str]) -> frozenset[str]:
    """Return which transaction ids were counted before."""
    c = t.ballots.c.txid
    return frozenset(row[0] for row in where_in(connection, select(c), c, txids))


def store_ballots(connection: Connection, ballots: Sequence[Ballot]) -> None:
    """Store valid ballots; of each voter's in a round only the last by (arrival, txid) counts."""
    if not ballots:
        return

    # By round and voter: arrival and transaction id of the ballot that counts.
    before: dict[tuple[str, str], tuple[int, str]] = {}
    for round_id in {ballot.round_id for ballot in ballots}:
        b = t.ballots.c
        query = select(b.voter, b.arrived_ms, b.txid).where(b.round_id == round_id, b.counts.is_(True))
        before.update({(round_id, voter): (arrived, txid) for voter, arrived, txid in connection.execute(query)})

    last = dict(before)
    for ballot in ballots:
        key = (ballot.round_id, ballot.voter)
        last[key] = max(last.get(key, (-1, "")), (ballot.arrived_ms, ballot.txid))

    counted = int(get_meta(connection, COUNTED_KEY) or 0) + len(last) - len(before)
    put_meta(connection, COUNTED_KEY, str(counted))

    replaced = [txid for key, (_, txid) in before.items() if last[key][1] != txid]
    if replaced:
        by_txid = update(t.ballots).where(t.ballots.c.txid == bindparam("replaced"))
        connection.execute(by_txid.values(counts=False), [{"replaced": txid} for txid in replaced])

    connection.execute(
        insert(t.ballots),
        [
            {
                "txid": ballot.txid,
                "round_id": ballot.round_id,
                "voter": ballot.voter,
                "choice": str(ballot.choice),
                "arrived_ms": ballot.arrived_ms,
                "counts": last[ballot.round_id, ballot.voter][1] == ballot.txid,
                **_chances_row(ballot.chances),
            }
            for ballot in ballots
        ],
    )
    signed = [{"txid": ballot.txid, "round_id": ballot.round_id, "data": ballot.signed} for ballot in ballots]
    connection.execute(insert(t.signed_ballots), signed)


def _chances_row(chances: Chances | None) -> dict[str, int | None]:
    up, neutral, down = (None, None, None) if chances is None else chances
    return {"q_up": up, "q_neutral": neutral, "q_down": down}


def _chances_of(up: int | None, neutral: int | None, down: int | None) -> Chances | None:
    if up is None or neutral is None or down is None:
        return None
    return Chances(up, neutral, down)


def count_refusals(
    connection: Connection, verdicts: Iterable[BallotVerdict], on_chain: frozenset[str]
) -> dict[str, int]:
    """Add to the counts of refused ballots by reason, and return what was added.

    Args:
        on_chain: names of the ballots that are read again after every restart: what was counted or refused before is
            nothing new of them.
    """
    refused = [verdict for verdict in verdicts if verdict.reason is not None]
    refused_on_chain = [verdict for verdict in refused if verdict.name in on_chain]

    c = t.refused_on_chain.c.txid
    names = [verdict.name for verdict in refused_on_chain]
    again = {row[0] for row in where_in(connection, select(c), c, names)}
    again |= {verdict.name for verdict in refused_on_chain if verdict.reason == REPEATED}

    counts = Counter(str(verdict.reason) for verdict in refused if verdict.name not in again)
    for reason, n in counts.items():
        before = connection.execute(_REFUSED_SO, {"reason": reason}).scalar() or 0
        upsert(connection, t.rejected, {"reason": reason}, {"n": before + n})

    new = sorted({verdict.name for verdict in refused_on_chain} - again)
    insert_all(connection, t.refused_on_chain, [{"txid": name} for name in new])
    if new:
        forget(connection, t.refused_on_chain, REFUSED_KEPT)
    return dict(counts)


def ballot_counts(connection: Connection) -> tuple[int, int]:
    """Return how many ballots were counted, one per voter and round, and how many were refused."""
    counted = int(get_meta(connection, COUNTED_KEY) or 0)
    return counted, int(connection.execute(_REFUSED).scalar() or 0)


def enqueue_for_publication(connection: Connection, played: RoundsPlayed) -> None:
    """Queue the counted ballots of locked rounds for publication; forget the signed bytes of those replaced."""
    b = t.ballots.c
    s = t.signed_ballots.c
    starts = {after.round_id: after.start_ms for _, after in played.changes}

    for lock in played.locks:
        replaced = select(b.txid).where(b.round_id == lock.round_id, b.counts.is_(False))
        connection.execute(delete(t.signed_ballots).where(s.round_id == lock.round_id, s.txid.in_(replaced)))

        if lock.real.total:
            row = {"round_id": lock.round_id, "start_ms": starts[lock.round_id], "ballots": lock.real.total}
            connection.execute(insert(t.ballot_sheets).values(**row, published=0))


def due(connection: Connection, size: int) -> BallotPart | None:
    """Return the next part that is to be published, of `size` ballots at most, None when all are.

    The newest round is first: where those of years are requeued, the release that shows a lock still has its ballots.
    """
    c = t.ballot_sheets.c
    query = (
        select(c.round_id, c.start_ms, c.ballots, c.published)
        .where(c.published < c.ballots)
        .order_by(c.start_ms.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    round_id, start_ms, total, published = row

    if is_daily(round_id):
        answers = daily.part(connection, round_id, size, published)
        return BallotPart(round_id, start_ms, total, published // size + 1, answers, size)

    b = t.ballots.c
    s = t.signed_ballots.c
    next_part = (
        select(b.txid, b.voter, b.choice, b.arrived_ms, s.data, b.q_up, b.q_neutral, b.q_down)
        .select_from(t.ballots.join(t.signed_ballots, b.txid == s.txid))
        .where(b.round_id == round_id, b.counts.is_(True))
        .order_by(b.txid)
        .limit(size)
        .offset(published)
    )
    ballots = tuple(
        Ballot(txid, voter, round_id, Prediction(choice), arrived_ms, signed, _chances_of(*chances))
        for txid, voter, choice, arrived_ms, signed, *chances in connection.execute(next_part)
    )
    return BallotPart(round_id, start_ms, total, published // size + 1, ballots, size)


def done(connection: Connection, sheet: BallotPart) -> None:
    """Note that a part is published."""
    c = t.ballot_sheets.c
    published = min(sheet.total, sheet.part * sheet.size)
    connection.execute(update(t.ballot_sheets).where(c.round_id == sheet.round_id).values(published=published))


def requeue_all(connection: Connection) -> None:
    """Queue again what is kept (earlier versions dropped it after a week): the site that held it was lost."""
    kept = union(select(t.signed_ballots.c.round_id), select(t.daily_answers.c.question_id))
    connection.execute(update(t.ballot_sheets).where(t.ballot_sheets.c.round_id.in_(kept)).values(published=0))


def store_crowds(connection: Connection, played: RoundsPlayed) -> None:
    """Work out the crowds of the rounds that were locked, and count the voters of those that resolved."""
    after = {changed.round_id: changed for _, changed in played.changes}
    for lock in played.locks:
        _store_crowd(connection, lock, after[lock.round_id])
    for lesson in played.lessons:
        _count(connection, after[lesson.round_id], lesson.actual_outcome)


def crowd_of(connection: Connection, round_id: str) -> LockedCrowd | None:
    """Return what was worked out at a round's lock, None before it."""
    text = connection.execute(_CROWD, {"round_id": round_id}).scalar()
    if text is None:
        return None

    stored = read_json(text)
    by_record_then = stored["by_record"]
    tally = Tally(**{word: by_record_then.get("said", {}).get(word, 0) for word in Tally().votes})
    by_record_then.pop("said", None)
    return LockedCrowd(
        RecordCrowd(**by_record_then, said=tally),
        tuple(_burst(**burst) for burst in stored["bursts"]),
    )


def _burst(at_ms: int, votes: int, same_choice: float, new_voters: float) -> Burst:
    """Read a burst; earlier versions wrote the fractions of its votes in place of their counts."""
    same = round(same_choice * votes) if isinstance(same_choice, float) else same_choice
    new = round(new_voters * votes) if isinstance(new_voters, float) else new_voters
    return Burst(at_ms, votes, same, new)


def rank(connection: Connection) -> Leaderboard:
    """Rank all voters."""
    query = select(_V.address, *_RECORD)
    calendar = Calendar(connection.execute(_RESOLVED_STARTS).scalars().all())
    return leaderboard((_voter(*row) for row in connection.execute(query)), calendar)


def _voter(address: str, resolved: int, hits: int, since_ms: int, *sums: Any) -> Voter:
    """Read a voter; scores of chances are NULL before the first round with some."""
    by_hits, by_chances, *scores = sums
    return Voter(
        address=address,
        resolved=resolved,
        hits=hits,
        given=ChanceScores(*(number or 0 for number in scores)),
        since_ms=since_ms,
        by_hits=Saved(*read_json(by_hits)),
        by_chances=Saved(*read_json(by_chances)),
    )


def _row_of(voter: Voter) -> dict[str, Any]:
    """Write a voter."""
    return {
        "address": voter.address,
        "resolved": voter.resolved,
        "hits": voter.hits,
        "since_ms": voter.since_ms,
        "by_hits": json.dumps(astuple(voter.by_hits)),
        "by_chances": json.dumps(astuple(voter.by_chances)),
        **dict(zip(SCORE_COLUMNS, astuple(voter.given) if voter.given.rounds else NO_SCORES, strict=True)),
    }


def earlier_voters(connection: Connection, most: int, midnight_ms: int) -> tuple[str, ...]:
    """Return who is not a newcomer, in order of address: at most so many, those of most rounds.

    They were counted in three rounds that resolved, not all of them since midnight: whoever fills a round with new
    addresses has to come on two days before these have a place that newcomers lack.

    Args:
        connection: of the transaction.
        most: so many.
        midnight_ms: the begin of this UTC day.
    """
    b = t.ballots.c
    r = t.rounds.c
    today = select(r.round_id).where(r.phase == str(RoundPhase.RESOLVED), r.start_ms >= midnight_ms)
    counted = func.count()
    since = (
        select(b.voter, counted)
        .where(b.round_id.in_(today), b.counts.is_(True))
        .group_by(b.voter)
        .having(counted >= EARLIER_ROUNDS)
    )
    rounds_today = {row.voter: int(row[1]) for row in connection.execute(since)}

    v = t.voters.c
    query = (
        select(v.address, v.resolved)
        .where(v.resolved >= EARLIER_ROUNDS)
        .order_by(v.resolved.desc(), v.address)
        .limit(most + len(rounds_today))
    )
    known = [address for address, resolved in connection.execute(query) if resolved > rounds_today.get(address, 0)]
    return tuple(sorted(known[:most]))


def _store_crowd(connection: Connection, lock: Lock, live: Round) -> None:
    if not lock.real.total:
        return

    votes = []
    for row in _votes(connection, lock.round_id):
        earlier = None if row.resolved is None else Voter(row.voter, row.resolved, row.hits)
        votes.append(CountedVote(Prediction(row.choice), row.arrived_ms, earlier))
    crowd = LockedCrowd(by_record(votes), bursts(votes, live.opens_ms, live.start_ms))
    connection.execute(insert(t.locked_crowds).values(round_id=lock.round_id, crowd=json.dumps(asdict(crowd))))


def _count(connection: Connection, played: Round, outcome: Prediction) -> None:
    """Add one resolved round to every voter of it."""
    voters = []
    for row in _votes(connection, played.round_id):
        before = Voter(row.voter, 0, 0) if row.resolved is None else _voter(row.voter, *row[-len(_RECORD) :])
        chances = _chances_of(row.q_up, row.q_neutral, row.q_down)
        voters.append(before.voted(Prediction(row.choice), chances, played, outcome))

    b = t.ballots.c
    voted = select(b.voter).where(b.round_id == played.round_id, b.counts.is_(True))
    connection.execute(delete(t.voters).where(t.voters.c.address.in_(voted)))
    insert_all(connection, t.voters, [_row_of(voter) for voter in voters])


def _votes(connection: Connection, round_id: str) -> Sequence[Any]:
    """Return voter, vote and arrival of each counted ballot of a round, by arrival, and the voter's record before."""
    b = t.ballots.c
    query = (
        select(b.voter, b.choice, b.arrived_ms, b.q_up, b.q_neutral, b.q_down, *_RECORD)
        .select_from(t.ballots.outerjoin(t.voters, _V.address == b.voter))
        .where(b.round_id == round_id, b.counts.is_(True))
    )
    return connection.execute(query.order_by(b.arrived_ms, b.txid)).all()
