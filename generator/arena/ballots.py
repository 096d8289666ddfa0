"""Ballots: signed zero-amount Algorand payments to the arena address, with an ARC-2 note.

Note: `emi-arena/v1:j{"r":"<round_id>","p":"BULLISH|BEARISH|NEUTRAL"}`. A ballot of the inbox was never submitted to a
chain, so its fee and validity rounds do not matter; one on chain arrived with its block. It counts when it arrived
before its round's start and was read by the tick that takes the round live or an earlier one; a reader can copy the
brain's revealed forecast only after that tick.
Of one voter's ballots the latest arrival counts; two at the same millisecond are ordered by transaction id.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from gateway.wire.algorand import TRANSACTION_PREFIX, address_of, key_of, pack, signature_holds, txid_of, unpack
from generator.arena.values import BallotVerdict, Round
from generator.catalog.words import Prediction, RoundPhase

NOTE_PREFIX: Final = b"emi-arena/v1:j"
MAX_FILE_BYTES: Final = 4_096
MAX_NOTE_BYTES: Final = 256
_KEYS: Final = frozenset({"fee", "fv", "gen", "gh", "grp", "lv", "lx", "note", "rcv", "snd", "type"})


class Refusal(StrEnum):
    """Why a ballot does not count."""

    TOO_LARGE = "larger than 4096 bytes"
    UNREADABLE = "file cannot be read"
    NOT_BASE64 = "not base64"
    NOT_A_TRANSACTION = "not one canonical signed transaction"
    MULTISIG = "multisig ballots are not counted"
    LOGICSIG = "logic signature ballots are not counted"
    REKEYED = "signed by another key than the sender's"
    NOT_A_PAYMENT = "not a payment"
    REKEYS = "would rekey the account"
    CLOSES = "would close the account"
    NOT_ZERO = "amount is not zero"
    OTHER_NETWORK = "signed for another network"
    OTHER_RECEIVER = "not addressed to the arena"
    UNKNOWN_FIELD = "carries a field that a ballot must not have"
    NOTE_FORM = "note is not a ballot's"
    CHOICE = "choice is not BULLISH, BEARISH or NEUTRAL"
    NO_SUCH_ROUND = "no such round takes votes"
    OTHER_ASSET = "round id and asset do not agree"
    CLOSED = "round is closed"
    SEEN_LATE = "confirmed in time, seen after the lock"
    READ_LATE = "arrived in time, read after the lock"
    REPEATED = "already counted"
    BAD_SIGNATURE = "signature is wrong"


@dataclass(frozen=True, slots=True)
class BallotFile:
    """One file of the inbox (or one chain transaction) as it came.

    Args:
        name: the file's name.
        data: base64 of the msgpack of a signed transaction.
        arrived_ms: wall time of arrival.
        refusal: set by the adapter when there is nothing to read.
        confirmed: a chain vouches for the time of arrival.
    """

    name: str
    data: bytes
    arrived_ms: int
    refusal: Refusal | None = None
    confirmed: bool = False


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
    key: bytes
    message: bytes
    signature: bytes
    refusal: Refusal | None  # of its round, unless it was counted before


class _RefusedError(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


def judge(
    files: Iterable[BallotFile], poll: Poll, known: Callable[[frozenset[str]], frozenset[str]]
) -> tuple[tuple[BallotVerdict, ...], tuple[Ballot, ...]]:
    """Judge every ballot file.

    Args:
        files: as they came; their order does not matter.
        poll: network, address and rounds.
        known: returns which of these transaction ids were counted before.

    Returns:
        One verdict per file, and the valid ballots in order of (arrival, txid).
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
    return None if signature_holds(item.key, item.message, item.signature) else Refusal.BAD_SIGNATURE


def _read(file: BallotFile, poll: Poll) -> _Signed | Refusal:
    try:
        return _checked(file, poll)
    except _RefusedError as refused:
        return refused.refusal


def _checked(file: BallotFile, poll: Poll) -> _Signed:
    if file.refusal is not None:
        raise _RefusedError(file.refusal)
    raw, envelope = _decode(file.data)
    transaction: dict[str, Any] = envelope["txn"]
    _check_payment(transaction, poll)
    round_id, choice = _read_note(transaction.get("note"))
    arrived_ms = min(file.arrived_ms, poll.now_ms)
    late = _round_refusal(round_id, arrived_ms, poll, confirmed=file.confirmed)
    message, txid, voter = _identity(transaction)
    ballot = Ballot(txid, voter, round_id, choice, arrived_ms, raw)
    return _Signed(ballot, transaction["snd"], message, envelope["sig"], late)


def _decode(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Unpack a file; whatever does not pack to the same bytes again is refused."""
    if len(data) > MAX_FILE_BYTES:
        raise _RefusedError(Refusal.TOO_LARGE)
    try:
        raw = base64.b64decode(data.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise _RefusedError(Refusal.NOT_BASE64) from None
    try:
        envelope = unpack(raw)
    except ValueError:
        raise _RefusedError(Refusal.NOT_A_TRANSACTION) from None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("txn"), dict):
        raise _RefusedError(Refusal.NOT_A_TRANSACTION)
    _check_envelope(envelope)
    if pack(envelope) != raw:
        raise _RefusedError(Refusal.NOT_A_TRANSACTION)
    return raw, envelope


def _check_envelope(envelope: dict[Any, Any]) -> None:
    for key, refusal in (("msig", Refusal.MULTISIG), ("lsig", Refusal.LOGICSIG), ("sgnr", Refusal.REKEYED)):
        if key in envelope:
            raise _RefusedError(refusal)
    signature = envelope.get("sig")
    if set(envelope) != {"sig", "txn"} or not isinstance(signature, bytes) or len(signature) != 64:
        raise _RefusedError(Refusal.NOT_A_TRANSACTION)
    if any(not isinstance(value, bytes | str | int) for value in envelope["txn"].values()):
        raise _RefusedError(Refusal.NOT_A_TRANSACTION)


def _check_payment(transaction: dict[str, Any], poll: Poll) -> None:
    receiver, genesis = _expected(poll.address, poll.genesis_hash)
    refusals = (
        (transaction.get("type") != "pay", Refusal.NOT_A_PAYMENT),
        ("rekey" in transaction, Refusal.REKEYS),
        ("close" in transaction, Refusal.CLOSES),
        ("amt" in transaction, Refusal.NOT_ZERO),
        (transaction.get("gh") != genesis, Refusal.OTHER_NETWORK),
        (transaction.get("rcv") != receiver, Refusal.OTHER_RECEIVER),
        (not _KEYS.issuperset(transaction), Refusal.UNKNOWN_FIELD),
    )
    for wrong, refusal in refusals:
        if wrong:
            raise _RefusedError(refusal)
    sender = transaction.get("snd")
    numbers = [transaction.get(name, 0) for name in ("fee", "fv", "lv")]
    if not isinstance(sender, bytes) or len(sender) != 32 or any(type(value) is not int for value in numbers):
        raise _RefusedError(Refusal.NOT_A_TRANSACTION)


@lru_cache(maxsize=8)
def _expected(address: str, genesis_hash: str) -> tuple[bytes, bytes]:
    """Return receiver and genesis hash as a transaction has them; the same for every ballot of a poll."""
    return key_of(address), base64.b64decode(genesis_hash)


def _read_note(note: object) -> tuple[str, Prediction]:
    if not isinstance(note, bytes) or len(note) > MAX_NOTE_BYTES or not note.startswith(NOTE_PREFIX):
        raise _RefusedError(Refusal.NOTE_FORM)
    try:
        pairs = json.loads(note[len(NOTE_PREFIX) :], object_pairs_hook=list)
        fields = dict(pairs)
    except (ValueError, TypeError, RecursionError):
        raise _RefusedError(Refusal.NOTE_FORM) from None
    if len(pairs) != 2 or set(fields) != {"r", "p"} or not all(isinstance(value, str) for value in fields.values()):
        raise _RefusedError(Refusal.NOTE_FORM)
    if fields["p"] not in set(Prediction):
        raise _RefusedError(Refusal.CHOICE)
    return fields["r"], Prediction(fields["p"])


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


def _identity(transaction: dict[str, Any]) -> tuple[bytes, str, str]:
    """Return the signed bytes, the transaction id and the voter's address."""
    message = TRANSACTION_PREFIX + pack(transaction)
    return message, txid_of(message), address_of(transaction["snd"])


def note_of(round_id: str, choice: Prediction) -> bytes:
    """Write a ballot's note."""
    return NOTE_PREFIX + json.dumps({"r": round_id, "p": str(choice)}, separators=(",", ":")).encode()
