"""The daily questions and their answers as they are stored.

What a tick changes is stored in its transaction with the log's entries about it. Every function takes the connection of
the transaction.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from gateway.wire.daily import Ends
from gateway.wire.foreign import read_json
from generator.arena.ballots import DailyBallot
from generator.arena.daily import DailyChange, DailyState, day_now, question_id_of, ranked, saved_of, score
from generator.arena.inputs import PlayInputs
from generator.arena.ranks import Entrant, Saved
from generator.arena.sealed import SaltOf
from generator.catalog.links import DAILY_PUBLISHED
from generator.catalog.words import RoundPhase
from generator.record.audit.entries import Entry, daily_entry
from generator.record.memory import tables as t
from generator.record.memory.game import GameStore
from generator.record.memory.rows import insert_all, values_in, where_in, within
from generator.values.questions import DailyQuestion
from generator.values.rows import DailyRanking

_Q = t.daily_questions.c
_A = t.daily_answers.c
_ACTIVE = (
    select(t.daily_questions)
    .where(_Q.phase.in_([str(RoundPhase.OPEN), str(RoundPhase.LIVE)]))
    .order_by(_Q.phase, _Q.closes_ms)
)
_IS_ASKED = select(_Q.id).where(_Q.question_id == bindparam("question_id"))
_NEWEST = select(t.daily_questions).order_by(_Q.id.desc()).limit(DAILY_PUBLISHED)
_MEASURED = select(_Q.closes_ms).where(_Q.phase == str(RoundPhase.RESOLVED), _Q.base_price.is_not(None))
# Of each voter: answers, what they saved, its squares, and when the first of these questions closed.
_SAVED = (
    select(_A.voter, func.count(), func.sum(_A.saved), func.sum(_A.saved * _A.saved), func.min(_Q.closes_ms))
    .select_from(t.daily_answers.join(t.daily_questions, _A.question_id == _Q.question_id))
    .where(_A.saved.is_not(None))
    .group_by(_A.voter)
)
_COUNTED = select(_A.txid, _A.ranges).where(_A.question_id == bindparam("question_id"), _A.counts.is_(True))


def active(connection: Connection) -> tuple[DailyQuestion, ...]:
    """Return the questions that are not over."""
    return values_in(connection, DailyQuestion, _ACTIVE)


def newest(connection: Connection) -> tuple[DailyQuestion, ...]:
    """Return the last questions, the newest first."""
    return values_in(connection, DailyQuestion, _NEWEST)


class DailyStore(GameStore[DailyState, tuple[DailyChange, ...]]):
    """The store of daily questions; it keeps the newest of them, which change a few times a day."""

    kind = "daily"
    table = t.daily_questions
    key = ("question_id",)

    def __init__(self) -> None:
        self._newest: tuple[DailyQuestion, ...] | None = None
        self._ranking: tuple[DailyRanking | None] | None = None  # in a tuple of one, as there may be none

    def load(self, connection: Connection, inputs: PlayInputs) -> DailyState:
        """Load what the rules need of daily questions; nothing for a backtest, which has none."""
        if inputs.warm_up:
            return DailyState()
        day = day_now(inputs.now_ms)
        asked = {"question_id": "" if day is None else question_id_of(day)}
        is_asked = connection.execute(_IS_ASKED, asked).scalar() is not None
        return DailyState(active(connection), is_asked, partial(counted, connection))

    def changes(self, played: tuple[DailyChange, ...]) -> tuple[DailyChange, ...]:
        """Return the questions that a tick changed."""
        return played

    def store(self, connection: Connection, played: tuple[DailyChange, ...], *, in_batch: bool) -> None:
        """Store the questions that a tick changed, and close the answers to them."""
        super().store(connection, played, in_batch=in_batch)
        for _, question in played:
            if question.phase is RoundPhase.LIVE:
                _close(connection, question)
            if question.phase is RoundPhase.RESOLVED:
                _save(connection, question)
                self._ranking = None
        if played:
            self._newest = None

    def entries(
        self,
        connection: Connection,
        played: tuple[DailyChange, ...],
        now_ms: int,
        salt: SaltOf,
    ) -> list[Entry]:
        """Return what the log holds of them."""
        return [daily_entry(question, now_ms) for _, question in played]

    def forget(self) -> None:
        """Drop the newest questions and the ranking."""
        self._newest = None
        self._ranking = None

    def view(self, connection: Connection) -> dict[str, Any]:
        """Return the newest questions, and the ranking, which changes when one is measured."""
        if self._newest is None:
            self._newest = newest(connection)
        if self._ranking is None:
            self._ranking = (rank(connection),)
        return {"daily": self._newest, "daily_ranking": self._ranking[0]}


def _close(connection: Connection, question: DailyQuestion) -> None:
    """Forget the answers that were replaced, and queue the others for publication."""
    name = question.question_id
    connection.execute(delete(t.daily_answers).where(_A.question_id == name, _A.counts.is_(False)))
    if question.answers:
        sheet = {"round_id": name, "start_ms": question.closes_ms, "ballots": question.answers, "published": 0}
        connection.execute(insert(t.ballot_sheets).values(**sheet))


def _save(connection: Connection, question: DailyQuestion) -> None:
    """Note what each answer to a measured question saved against a usual day."""
    answers = counted(connection, question.question_id)
    rows = [{"answer": txid, "points": saved_of(question, ends)} for txid, ends in answers.items()]
    if rows and question.base_price is not None:
        by_txid = update(t.daily_answers).where(_A.txid == bindparam("answer"))
        connection.execute(by_txid.values(saved=bindparam("points")), rows)


def rank(connection: Connection) -> DailyRanking | None:
    """Rank everyone who answered a question that has a base and was measured."""
    closes_ms = sorted(connection.execute(_MEASURED).scalars())

    # A day has one question: the sum of a day is one answer, so the squares of the days' sums are those of the answers.
    entrants = [
        Entrant(voter, Saved(answers, int(total), int(squares)), since_ms)
        for voter, answers, total, squares, since_ms in connection.execute(_SAVED)
    ]
    return ranked(entrants, closes_ms)


def counted(connection: Connection, question_id: str) -> dict[str, Ends]:
    """Return the ranges of each answer that counts, by transaction id."""
    rows = connection.execute(_COUNTED, {"question_id": question_id})
    return {txid: _ends(ranges) for txid, ranges in rows}


def known_txids(connection: Connection, txids: frozenset[str]) -> frozenset[str]:
    """Return which transaction ids were taken as answers before."""
    return frozenset(row[0] for row in where_in(connection, select(_A.txid), _A.txid, txids))


def store_answers(connection: Connection, answers: Sequence[DailyBallot]) -> None:
    """Store valid answers; of each voter's to a question only the last by (arrival, txid) counts."""
    if not answers:
        return

    # By question and voter: arrival and transaction id of the answer that counts.
    before: dict[tuple[str, str], tuple[int, str]] = {}
    for question_id in {answer.question_id for answer in answers}:
        query = select(_A.voter, _A.arrived_ms, _A.txid).where(_A.question_id == question_id, _A.counts.is_(True))
        before.update({(question_id, voter): (arrived, txid) for voter, arrived, txid in connection.execute(query)})

    last = dict(before)
    for answer in answers:
        key = (answer.question_id, answer.voter)
        last[key] = max(last.get(key, (-1, "")), (answer.arrived_ms, answer.txid))

    replaced = [txid for key, (_, txid) in before.items() if last[key][1] != txid]
    if replaced:
        by_txid = update(t.daily_answers).where(_A.txid == bindparam("replaced"))
        connection.execute(by_txid.values(counts=False), [{"replaced": txid} for txid in replaced])

    rows = [
        {
            "txid": answer.txid,
            "question_id": answer.question_id,
            "voter": answer.voter,
            "ranges": json.dumps(answer.ends),
            "arrived_ms": answer.arrived_ms,
            "counts": last[answer.question_id, answer.voter][1] == answer.txid,
            "data": answer.signed,
        }
        for answer in answers
    ]
    insert_all(connection, t.daily_answers, rows)


def waiting(connection: Connection, since_ms: int, until_ms: int) -> int:
    """Return how many questions that close in [since, until) are not over."""
    return sum(since_ms <= question.closes_ms < until_ms for question in active(connection))


def answers_between(connection: Connection, since_ms: int, until_ms: int) -> Iterator[tuple[Any, ...]]:
    """Give voter, question, ranges, move and the scores of each answer to questions that closed in [since, until).

    The scores are the answer's, a usual day's and the brain's; only measured questions have some.
    """
    closed = select(t.daily_questions).where(within(_Q.closes_ms, since_ms, until_ms)).order_by(_Q.closes_ms)
    of_question = select(_A.voter, _A.ranges).where(_A.question_id == bindparam("question_id"), _A.counts.is_(True))

    for question in values_in(connection, DailyQuestion, closed):
        if question.move is None:
            continue

        # The brain's and a usual day's score are the same for every answer.
        brain, usual = (score(ends, question.move) for ends in question.compared)
        rows = connection.execute(of_question.order_by(_A.voter), {"question_id": question.question_id})
        for voter, ranges in rows:
            ends = _ends(ranges)
            yield voter, question.question_id, ends, question.move, score(ends, question.move), usual, brain


def part(connection: Connection, question_id: str, size: int, begin: int) -> tuple[DailyBallot, ...]:
    """Return `size` answers of a closed question from a place on, in order of their ids."""
    query = (
        select(_A.txid, _A.voter, _A.question_id, _A.ranges, _A.arrived_ms, _A.data)
        .where(_A.question_id == question_id, _A.counts.is_(True))
        .order_by(_A.txid)
        .limit(size)
        .offset(begin)
    )

    return tuple(
        DailyBallot(txid, voter, question, _ends(ranges), arrived_ms, data)
        for txid, voter, question, ranges, arrived_ms, data in connection.execute(query)
    )


def _ends(text: str) -> Ends:
    low_90, low_50, high_50, high_90 = read_json(text)
    return (low_90, low_50, high_50, high_90)
