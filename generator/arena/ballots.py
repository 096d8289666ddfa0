"""Judge ballots, whose form `gateway.wire.ballots` reads.

A ballot of the inbox is a free one, which no chain takes; one on chain arrived with its block. It counts when it
arrived before its round's start and was read by the tick that takes the round live or an earlier one; a reader can copy
the brain's revealed forecast only after that tick.
Of one voter's ballots the latest arrival counts; two at the same millisecond are ordered by transaction id.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.wire.algorand import key_of
from gateway.wire.ballots import (
    FIRST_FORM,
    FORM,
    MAX_FILE_BYTES,
    SignedBallot,
    check_form,
    read_ballot,
)
from gateway.wire.notes import ANY_PREFIX, Chances, note_of
from gateway.wire.refusals import Refusal, RefusedError
from generator.arena.values import BallotVerdict, Round
from generator.catalog.words import Prediction, RoundPhase

__all__ = [
    "ANY_PREFIX",
    "FIRST_FORM",
    "FORM",
    "MAX_FILE_BYTES",
    "Ballot",
    "BallotFile",
    "Chances",
    "Poll",
    "Refusal",
    "judge",
    "note_of",
]


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


@dataclass(frozen=True, slots=True)
class Poll:
    """What ballots are judged against."""

    address: str
    genesis_hash: str  # standard base64
    rounds: Mapping[str, Round]  # by id: the rounds that take votes before this tick moves them
    now_ms: int
    # of ballots, by round id: of each round that was not opened under today's form
    forms: Mapping[str, int] = field(default_factory=dict)


def judge(
    files: Iterable[BallotFile], poll: Poll, known: Callable[[frozenset[str]], frozenset[str]]
) -> tuple[tuple[BallotVerdict, ...], tuple[Ballot, ...]]:
    """Return one verdict per ballot file, and the valid ballots in order of (arrival, txid).

    `known` returns which of these transaction ids were counted before.
    """
    receiver = key_of(poll.address)
    genesis = base64.b64decode(poll.genesis_hash)
    ordered = sorted(files, key=lambda file: (file.arrived_ms, file.name))
    read = [(file, _read(file, receiver, genesis)) for file in ordered]
    counted = set(known(frozenset(signed.txid for _, signed in read if not isinstance(signed, Refusal))))

    verdicts: list[BallotVerdict] = []
    ballots: list[Ballot] = []
    for file, signed in read:
        if isinstance(signed, Refusal):
            verdicts.append(BallotVerdict(file.name, signed.value))
            continue

        arrived_ms = min(file.arrived_ms, poll.now_ms)
        refusal = Refusal.REPEATED if signed.txid in counted else _refusal(signed, file, arrived_ms, poll)
        if refusal is not None:
            verdicts.append(BallotVerdict(file.name, refusal.value, signed.txid))
            continue

        verdicts.append(BallotVerdict(file.name, None, signed.txid))
        counted.add(signed.txid)
        vote = signed.vote
        choice = Prediction(vote.choice)
        ballots.append(Ballot(signed.txid, signed.voter, vote.round_id, choice, arrived_ms, signed.raw, vote.chances))

    return tuple(verdicts), tuple(sorted(ballots, key=lambda ballot: (ballot.arrived_ms, ballot.txid)))


def _read(file: BallotFile, receiver: bytes, genesis: bytes) -> SignedBallot | Refusal:
    try:
        return file.refusal or read_ballot(file.data, receiver, genesis)
    except RefusedError as refused:
        return refused.refusal


def _refusal(ballot: SignedBallot, file: BallotFile, arrived_ms: int, poll: Poll) -> Refusal | None:
    """Return why a ballot that was not counted before does not count; the signature comes last, as it costs most."""
    round_id = ballot.vote.round_id
    refusal = _round_refusal(round_id, arrived_ms, poll, file)
    if refusal is None:
        refusal = _form_refusal(ballot, file, poll.forms.get(round_id, FORM))
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


def _round_refusal(round_id: str, arrived_ms: int, poll: Poll, file: BallotFile) -> Refusal | None:
    round_ = poll.rounds.get(round_id)
    if round_ is None:
        return Refusal.NO_SUCH_ROUND
    if not round_id.startswith(f"{round_.asset}-"):
        return Refusal.OTHER_ASSET
    if arrived_ms >= round_.start_ms:
        return Refusal.CLOSED
    if round_.phase is RoundPhase.OPEN:
        return None

    # It arrived in time, but the round had been moved on before it was read.
    if file.confirmed:
        return Refusal.SEEN_LATE
    return Refusal.READ_LATE if round_.phase in {RoundPhase.LIVE, RoundPhase.RESOLVED} else Refusal.CLOSED
