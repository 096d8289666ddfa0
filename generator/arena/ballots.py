"""Judge ballots, whose form `gateway.wire.ballots` reads.

A ballot of the inbox is a free one, which no chain takes; one on chain arrived with its block. It counts when it
arrived before its round's start and was read by the tick that takes the round live or an earlier one; a reader can copy
the brain's revealed forecast only after that tick.
Of one voter's ballots the latest arrival counts; two at the same millisecond are ordered by transaction id.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from gateway.wire.algorand import key_of
from gateway.wire.ballots import (
    FIRST_FORM,
    FORM,
    MAX_FILE_BYTES,
    SignedBallot,
    check_form,
    read_ballot,
)
from gateway.wire.daily import DailyAnswer, Ends
from gateway.wire.notes import ANY_PREFIX, Chances, Vote, note_of
from gateway.wire.refusals import Refusal, RefusedError
from generator.catalog.words import Prediction, RoundPhase
from generator.values.rounds import Round
from generator.values.votes import BallotVerdict

__all__ = [
    "ANY_PREFIX",
    "FIRST_FORM",
    "FORM",
    "MAX_FILE_BYTES",
    "Ballot",
    "BallotFile",
    "Chances",
    "DailyBallot",
    "Poll",
    "Refusal",
    "judge",
    "judge_all",
    "note_of",
]

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class BallotFile:
    """One file of the inbox (or one chain transaction) as it came."""

    name: str  # the file's name
    data: bytes  # base64 of the msgpack of a signed transaction
    arrived_ms: int  # wall time of arrival
    refusal: Refusal | None = None  # set by the adapter when there is nothing to read
    confirmed: bool = False  # a chain vouches for the time of arrival


class Ballot(NamedTuple):
    """One valid ballot."""

    txid: str
    voter: str  # address
    round_id: str
    choice: Prediction
    arrived_ms: int
    signed: bytes = b""  # msgpack of the signed transaction
    chances: Chances | None = None  # None: a word alone


class DailyBallot(NamedTuple):
    """One valid answer to the daily question."""

    txid: str
    voter: str  # address
    question_id: str
    ends: Ends
    arrived_ms: int
    signed: bytes = b""  # msgpack of the signed transaction


class TakesBallots(Protocol):
    """What a ballot may be for: a round, or a daily question."""

    @property
    def asset(self) -> str:
        """Whose price it is about."""
        ...

    @property
    def start_ms(self) -> int:
        """When it takes no more ballots."""
        ...

    @property
    def phase(self) -> RoundPhase:
        """Whether it takes some."""
        ...


@dataclass(frozen=True, slots=True)
class Poll:
    """What ballots are judged against."""

    address: str
    genesis_hash: str  # standard base64
    rounds: Mapping[str, Round]  # by id: the rounds that take votes before this tick moves them
    now_ms: int
    # of ballots, by round id: of each round that was not opened under today's form
    forms: Mapping[str, int] = field(default_factory=dict)
    questions: Mapping[str, TakesBallots] = field(default_factory=dict)  # by id: the daily questions that are not over


class Judged(NamedTuple):
    """One verdict per ballot file; the valid ballots, and the valid answers to daily questions, by (arrival, txid)."""

    verdicts: tuple[BallotVerdict, ...]
    ballots: tuple[Ballot, ...]
    answers: tuple[DailyBallot, ...]


def judge(
    files: Iterable[BallotFile], poll: Poll, known: Callable[[frozenset[str]], frozenset[str]]
) -> tuple[tuple[BallotVerdict, ...], tuple[Ballot, ...]]:
    """Return one verdict per ballot file, and the valid ballots of rounds in order of (arrival, txid).

    `known` returns which of these transaction ids were counted before.
    """
    judged = judge_all(files, poll, known)
    return judged.verdicts, judged.ballots


def judge_all(files: Iterable[BallotFile], poll: Poll, known: Callable[[frozenset[str]], frozenset[str]]) -> Judged:
    """Do what `judge` does, for answers to daily questions too."""
    receiver = key_of(poll.address)
    genesis = base64.b64decode(poll.genesis_hash)
    ordered = sorted(files, key=lambda file: (file.arrived_ms, file.name))
    read = [(file, _without_exception(partial(_read, file, receiver, genesis))) for file in ordered]
    counted = set(known(frozenset(signed.txid for _, signed in read if not isinstance(signed, Refusal))))

    verdicts: list[BallotVerdict] = []
    ballots: list[Ballot] = []
    answers: list[DailyBallot] = []
    for file, signed in read:
        if isinstance(signed, Refusal):
            verdicts.append(BallotVerdict(file.name, signed.value))
            continue

        arrived_ms = min(file.arrived_ms, poll.now_ms)
        refusal: Refusal | None = Refusal.REPEATED
        if signed.txid not in counted:
            refusal = _without_exception(partial(_refusal, signed, file, arrived_ms, poll))
        if refusal is not None:
            verdicts.append(BallotVerdict(file.name, refusal.value, signed.txid))
            continue

        verdicts.append(BallotVerdict(file.name, None, signed.txid))
        counted.add(signed.txid)
        vote = signed.vote
        if isinstance(vote, DailyAnswer):
            answers.append(DailyBallot(signed.txid, signed.voter, vote.question_id, vote.ends, arrived_ms, signed.raw))
            continue
        choice = Prediction(vote.choice)
        ballots.append(Ballot(signed.txid, signed.voter, vote.round_id, choice, arrived_ms, signed.raw, vote.chances))

    return Judged(tuple(verdicts), tuple(sorted(ballots, key=_in_order)), tuple(sorted(answers, key=_in_order)))


def _in_order(ballot: Ballot | DailyBallot) -> tuple[int, str]:
    return ballot.arrived_ms, ballot.txid


def _without_exception(step: Callable[[], Answer]) -> Answer | Refusal:
    """Return what a step gives of one ballot, which others wrote: whatever it raises refuses that ballot alone."""
    try:
        return step()
    except Exception:  # noqa: BLE001  one file must not keep the others, and the tick, from being played
        return Refusal.UNREADABLE


def _read(file: BallotFile, receiver: bytes, genesis: bytes) -> SignedBallot | Refusal:
    try:
        return file.refusal or read_ballot(file.data, receiver, genesis)
    except RefusedError as refused:
        return refused.refusal


def _refusal(ballot: SignedBallot, file: BallotFile, arrived_ms: int, poll: Poll) -> Refusal | None:
    """Return why a ballot that was not counted before does not count; the signature comes last, as it costs most."""
    subject = ballot.vote.subject
    refusal = _round_refusal(ballot.vote, arrived_ms, poll, file)
    if refusal is None:
        refusal = _form_refusal(ballot, file, poll.forms.get(subject, FORM))
    if refusal is None and not ballot.is_signed():
        refusal = Refusal.BAD_SIGNATURE
    return refusal


def _form_refusal(ballot: SignedBallot, file: BallotFile, form: int) -> Refusal | None:
    try:
        check_form(ballot, form)
    except RefusedError as refused:
        return refused.refusal
    if form == FIRST_FORM or file.confirmed or ballot.is_free:
        return None
    return Refusal.NOT_FREE


def _round_refusal(vote: Vote, arrived_ms: int, poll: Poll, file: BallotFile) -> Refusal | None:
    taking: Mapping[str, TakesBallots] = poll.questions if isinstance(vote, DailyAnswer) else poll.rounds
    round_ = taking.get(vote.subject)
    if round_ is None:
        return Refusal.NO_SUCH_ROUND
    if not vote.subject.startswith(f"{round_.asset}-"):
        return Refusal.OTHER_ASSET
    if arrived_ms >= round_.start_ms:
        return Refusal.CLOSED
    if round_.phase is RoundPhase.OPEN:
        return None

    # It arrived in time, but the round had been moved on before it was read.
    if file.confirmed:
        return Refusal.SEEN_LATE
    return Refusal.READ_LATE if round_.phase in {RoundPhase.LIVE, RoundPhase.RESOLVED} else Refusal.CLOSED


def digest_of_ballots(txids: Iterable[str]) -> str:
    """Return SHA-256 hex over the transaction ids of a round's counted ballots, sorted, one a line."""
    return hashlib.sha256("".join(f"{txid}\n" for txid in sorted(txids)).encode()).hexdigest()
