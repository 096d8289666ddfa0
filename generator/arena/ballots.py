"""Judge ballots, whose form `gateway.wire.ballots` reads.

A ballot of the inbox is a free one, which no
chain takes; one on chain arrived with its block. It counts when it arrived before its round's start and was read by the tick that takes the round live or an earlier one; a reader can copy the
brain's revealed forecast only after that tick.
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
    NOTE_PREFIX,
    Refusal,
    RefusedError,
    SignedBallot,
    check_form,
    note_of,
    read_ballot,
)
from generator.arena.values import BallotVerdict, Round
from generator.catalog.words import Prediction, RoundPhase

__all__ = [
    "FIRST_FORM",
    "FORM",
    "MAX_FILE_BYTES",
    "NOTE_PREFIX",
    "Ballot",
    "BallotFile",
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


@dataclass(frozen=True, slots=True)
class Poll:
    """What ballots are judged against."""

    address: str
    genesis_hash: str  # standard base64
    rounds: Mapping[str, Round]  # by id: the rounds that take votes before this tick moves them
    now_ms: int
    forms: Mapping[str, int] = field(
        default_factory=dict
    )  # of ballots, by round id: of each round that was not opened under today's form


def judge(
    files: Iterable[BallotFile], poll: Poll, known: Callable[[frozenset[str]], frozenset[str]]
) -> tuple[tuple[BallotVerdict, ...], tuple[Ballot, ...]]:
    """Return one verdict per ballot file, and the valid ballots in order of (arrival, txid).

    `known` returns which of these transaction ids were counted before.
    """
    receiver, genesis = key_of(poll.address), base64.b64decode(poll.genesis_hash)
    ordered = sorted(files, key=lambda file: (file.arrived_ms, file.name))
    read = [(file, _read(file, receiver, genesis)) for file in ordered]
    seen = set(known(frozenset(found.txid for _, found in read if not isinstance(found, Refusal))))
    verdicts: list[BallotVerdict] = []
    ballots: list[Ballot] = []
    for file, found in read:
        if isinstance(found, Refusal):
            verdicts.append(BallotVerdict(file.name, found.value))
            continue
        arrived_ms = min(file.arrived_ms, poll.now_ms)
        refusal = Refusal.REPEATED if found.txid in seen else _refusal(found, file, arrived_ms, poll)
        verdicts.append(BallotVerdict(file.name, refusal and refusal.value, found.txid))
        if refusal is None:
            seen.add(found.txid)
            choice = Prediction(found.choice)
            ballots.append(Ballot(found.txid, found.voter, found.round_id, choice, arrived_ms, found.raw))
    return tuple(verdicts), tuple(sorted(ballots, key=lambda ballot: (ballot.arrived_ms, ballot.txid)))


def _read(file: BallotFile, receiver: bytes, genesis: bytes) -> SignedBallot | Refusal:
    try:
        return file.refusal or read_ballot(file.data, receiver, genesis)
    except RefusedError as refused:
        return refused.refusal


def _refusal(ballot: SignedBallot, file: BallotFile, arrived_ms: int, poll: Poll) -> Refusal | None:
    """Return why a ballot that was not counted before does not count; the signature comes last, as it costs most."""
    refusal = _round_refusal(ballot.round_id, arrived_ms, poll, file)
    if refusal is None and poll.forms.get(ballot.round_id, FORM) != FIRST_FORM:
        refusal = _form_refusal(ballot, file)
    if refusal is None and not ballot.is_signed():
        refusal = Refusal.BAD_SIGNATURE
    return refusal


def _form_refusal(ballot: SignedBallot, file: BallotFile) -> Refusal | None:
    try:
        check_form(ballot)
    except RefusedError as refused:
        return refused.refusal
    return None if file.confirmed or ballot.is_free else Refusal.NOT_FREE


def _round_refusal(round_id: str, arrived_ms: int, poll: Poll, file: BallotFile) -> Refusal | None:
    found = poll.rounds.get(round_id)
    if found is None:
        return Refusal.NO_SUCH_ROUND
    if not round_id.startswith(f"{found.asset}-"):
        return Refusal.OTHER_ASSET
    if arrived_ms >= found.start_ms:
        return Refusal.CLOSED
    if found.phase is RoundPhase.OPEN:
        return None
    if file.confirmed:
        return Refusal.SEEN_LATE
    return Refusal.READ_LATE if found.phase in {RoundPhase.LIVE, RoundPhase.RESOLVED} else Refusal.CLOSED
