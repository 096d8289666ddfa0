"""Judge ballots, whose form `gateway.wire.ballots` reads.

A ballot of the inbox was never submitted to a
chain, so its fee and validity rounds do not matter; one on chain arrived with its block. It counts when it arrived
before its round's start and was read by the tick that takes the round live or an earlier one; a reader can copy the
brain's revealed forecast only after that tick.
Of one voter's ballots the latest arrival counts; two at the same millisecond are ordered by transaction id.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from gateway.wire.algorand import key_of
from gateway.wire.ballots import MAX_FILE_BYTES, NOTE_PREFIX, Refusal, RefusedError, SignedBallot, note_of, read_ballot
from generator.arena.values import BallotVerdict, Round
from generator.catalog.words import Prediction, RoundPhase

__all__ = ["MAX_FILE_BYTES", "NOTE_PREFIX", "Ballot", "BallotFile", "Poll", "Refusal", "judge", "note_of"]


@dataclass(frozen=True, slots=True)
class BallotFile:
    """One file of the inbox (or one chain transaction) as it came."""

    name: str  # the file's name
    data: bytes  # base64 of the msgpack of a signed transaction
    arrived_ms: int  # wall time of arrival
    refusal: Refusal | None = None  # set by the adapter when there is nothing to read
    confirmed: bool = False  # a chain vouches for the time of arrival


@dataclass(frozen=True, slots=True)
class Ballot:
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


@dataclass(frozen=True, slots=True)
class _Signed:
    ballot: Ballot
    signed: SignedBallot
    refusal: Refusal | None  # of its round, unless it was counted before


def judge(
    files: Iterable[BallotFile], poll: Poll, known: Callable[[frozenset[str]], frozenset[str]]
) -> tuple[tuple[BallotVerdict, ...], tuple[Ballot, ...]]:
    """Return one verdict per ballot file, and the valid ballots in order of (arrival, txid).

    Args:
        known: returns which of these transaction ids were counted before.
    """
    read = [(file, _read(file, poll)) for file in sorted(files, key=lambda file: (file.arrived_ms, file.name))]
    seen = set(known(frozenset(item.ballot.txid for _, item in read if isinstance(item, _Signed))))
    verdicts: list[BallotVerdict] = []
    ballots: list[Ballot] = []
    for file, item in read:
        refusal = item if isinstance(item, Refusal) else _last_checks(item, seen)
        txid = None if isinstance(item, Refusal) else item.ballot.txid
        verdicts.append(BallotVerdict(file.name, None if refusal is None else refusal.value, txid))
        if refusal is None and isinstance(item, _Signed):
            seen.add(item.ballot.txid)
            ballots.append(item.ballot)
    return tuple(verdicts), tuple(sorted(ballots, key=lambda ballot: (ballot.arrived_ms, ballot.txid)))


def _last_checks(item: _Signed, seen: set[str]) -> Refusal | None:
    """One that was counted is that, whatever became of its round; the signature comes last, as it costs most."""
    if item.ballot.txid in seen:
        return Refusal.REPEATED
    if item.refusal is not None:
        return item.refusal
    return None if item.signed.is_signed() else Refusal.BAD_SIGNATURE


def _read(file: BallotFile, poll: Poll) -> _Signed | Refusal:
    if file.refusal is not None:
        return file.refusal
    try:
        signed = read_ballot(file.data, *_expected(poll.address, poll.genesis_hash))
    except RefusedError as refused:
        return refused.refusal
    arrived_ms = min(file.arrived_ms, poll.now_ms)
    late = _round_refusal(signed.round_id, arrived_ms, poll, confirmed=file.confirmed)
    ballot = Ballot(signed.txid, signed.voter, signed.round_id, Prediction(signed.choice), arrived_ms, signed.raw)
    return _Signed(ballot, signed, late)


@lru_cache(maxsize=8)
def _expected(address: str, genesis_hash: str) -> tuple[bytes, bytes]:
    """Return receiver and genesis hash as a transaction has them; the same for every ballot of a poll."""
    return key_of(address), base64.b64decode(genesis_hash)


def _round_refusal(round_id: str, arrived_ms: int, poll: Poll, *, confirmed: bool) -> Refusal | None:
    found = poll.rounds.get(round_id)
    if found is None:
        return Refusal.NO_SUCH_ROUND
    if not round_id.startswith(f"{found.asset}-"):
        return Refusal.OTHER_ASSET
    if arrived_ms >= found.start_ms:
        return Refusal.CLOSED
    if found.phase is not RoundPhase.OPEN:
        if confirmed:
            return Refusal.SEEN_LATE
        return Refusal.READ_LATE if found.phase in {RoundPhase.LIVE, RoundPhase.RESOLVED} else Refusal.CLOSED
    return None
