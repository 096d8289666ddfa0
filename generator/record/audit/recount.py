"""The counted ballots of a round as published, and counting them again from the published files alone.

A round's ballots are in `/files/ballots/<round_id>.json`, further parts in `<round_id>.2.json` and so on, immutable. A
row holds the ballot as it was signed, so that the rest of it need not be believed.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

from typing_extensions import TypedDict

from gateway.wire.algorand import address_of
from gateway.wire.daily import is_daily
from gateway.wire.foreign import read_json, read_msgpack
from generator.arena.ballots import (
    FIRST_FORM,
    FORM,
    Ballot,
    BallotFile,
    Chances,
    DailyBallot,
    Poll,
    digest_of_ballots,
    judge,
)
from generator.arena.daily import named
from generator.arena.life import schedule_round
from generator.arena.published import chance_sums_of
from generator.arena.timetable import Slot
from generator.catalog.formats import iso, ms_of
from generator.catalog.words import RoundPhase
from generator.values.rows import RangeEnds
from generator.values.votes import ChanceSums

PART: Final = 10_000  # ballots a file, about 6 MB
PREFIX: Final = "/files/ballots/"
MOST_PARTS: Final = 1_000
NOTE: Final = (
    "Every counted ballot of this round. `signed` is base64 of the msgpack of the signed Algorand transaction, from "
    "which txid, voter and choice follow. SHA-256 over all txids, sorted, each with a newline, is `ballots_sha256` of "
    "the log's entry round.locked. Simulated votes are not ballots."
)

DAILY_NOTE: Final = (
    "Every counted answer to this daily question. `signed` is base64 of the msgpack of the signed Algorand "
    "transaction, from which txid, voter and ranges (hundredths of a percent) follow. SHA-256 over all txids, sorted, "
    "each with a newline, is `answers_sha256` of the log's entry daily.closed."
)


class ChancesRow(TypedDict):
    """Three chances in whole percent that add up to 100."""

    up: int
    """Of a rise beyond the band."""
    neutral: int
    """Of a small move."""
    down: int
    """Of a fall beyond it."""


class BallotSays(TypedDict, total=False):
    """What a ballot says."""

    choice: str
    """Of a round: the word, or that of the largest chance; NEUTRAL where two are."""
    chances: ChancesRow
    """Of a round: absent where it was a word."""
    ranges: RangeEnds
    """Of a daily question."""


class BallotRow(BallotSays):
    """One counted ballot."""

    txid: str
    """Id of its transaction."""
    voter: str
    """Address."""
    arrived_ms: int
    """Wall time, UTC ms."""
    signed: str
    """Base64 of the msgpack of the signed transaction."""


class BallotsOf(TypedDict, total=False):
    """Whose ballots they are."""

    round_id: str
    """Which round."""
    question_id: str
    """Which daily question."""


class BallotsFile(BallotsOf):
    """The counted ballots of a round or a daily question, as signed."""

    closed: str
    """When votes closed, ISO 8601 UTC."""
    ballots_total: int
    """In all parts."""
    part: int
    """From 1."""
    parts: int
    """How many files there are."""
    address: str
    """To which ballots are sent."""
    genesis_hash: str
    """Base64, of the network that they are signed for."""
    note: str
    """How to count again."""
    ballots: list[BallotRow]
    """By txid."""


class RecountError(ValueError):
    """The published ballots are not those that were counted; the message says how."""


@dataclass(frozen=True, slots=True)
class BallotPart:
    """One part of a round's ballots."""

    round_id: str  # whose
    start_ms: int  # when its votes closed, UTC
    total: int  # counted ballots of the round, in all parts
    part: int  # from 1
    ballots: tuple[Ballot | DailyBallot, ...]  # of this part, by txid
    size: int = PART  # how many ballots a part holds, but for the last

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.total // self.size)


class Counted(NamedTuple):
    """What a published row says of a counted ballot, and what its signed transaction does."""

    txid: str
    voter: str
    choice: str
    chances: Chances | None


def path_of(round_id: str, part: int = 1) -> str:
    """Return where a part is published."""
    return f"{PREFIX}{round_id}.json" if part == 1 else f"{PREFIX}{round_id}.{part}.json"


def content(sheet: BallotPart) -> bytes:
    """Write a part; the same ballots give the same bytes."""
    transaction = read_msgpack(sheet.ballots[0].signed)["txn"]
    is_daily_question = is_daily(sheet.round_id)
    subject: BallotsOf = {"question_id": sheet.round_id} if is_daily_question else {"round_id": sheet.round_id}

    body: BallotsFile = {
        **subject,
        "closed": iso(sheet.start_ms),
        "ballots_total": sheet.total,
        "part": sheet.part,
        "parts": sheet.parts,
        "address": address_of(transaction["rcv"]),
        "genesis_hash": base64.b64encode(transaction["gh"]).decode(),
        "note": DAILY_NOTE if is_daily_question else NOTE,
        "ballots": [_row_of(ballot) for ballot in sheet.ballots],
    }

    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


def _row_of(ballot: Ballot | DailyBallot) -> BallotRow:
    return {
        "txid": ballot.txid,
        "voter": ballot.voter,
        **_said(ballot),
        "arrived_ms": ballot.arrived_ms,
        "signed": base64.b64encode(ballot.signed).decode(),
    }


def _said(ballot: Ballot | DailyBallot) -> BallotSays:
    """Write what a ballot says; the row of a word is what it was before there were chances."""
    if isinstance(ballot, DailyBallot):
        return {"ranges": named(ballot.ends)}
    if ballot.chances is None:
        return {"choice": str(ballot.choice)}

    up, neutral, down = ballot.chances
    return {"choice": str(ballot.choice), "chances": {"up": up, "neutral": neutral, "down": down}}


def recount(round_id: str, logged: Mapping[str, Any], read: Callable[[str], bytes | None]) -> int | None:
    """Verify the published ballots of one round and return how many they are; None where none are published.

    `logged` is its row of the audit. RecountError: a part is missing, a ballot does not hold, or the count is another.
    """
    first = read(path_of(round_id))
    if first is None:
        return None

    try:
        rows, address, genesis_hash = all_parts(round_id, first, read)
        files, stated = zip(*map(_file, rows), strict=True) if rows else ((), ())
        ballots = _judged(files, round_id, logged, address, genesis_hash)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, RecountError):
            raise
        raise RecountError(f"not of the form of ballots ({type(error).__name__}: {error})") from error

    if sorted(ballots, key=_by_txid) != sorted(stated, key=_by_txid):
        raise RecountError("a row's txid, voter, choice or chances are not those of its signed transaction")
    _compare(ballots, logged)
    return len(ballots)


def _by_txid(ballot: Counted) -> str:
    return ballot.txid


def all_parts(
    round_id: str, first: bytes, read: Callable[[str], bytes | None]
) -> tuple[list[Mapping[str, Any]], str, str]:
    """Return the rows of all parts, and the address and network that they were signed for."""
    body = read_json(first)
    parts = int(body["parts"])
    if not 1 <= parts <= MOST_PARTS:
        raise RecountError(f"invalid part count: {parts}")

    rows = list(body["ballots"])
    for part in range(2, parts + 1):
        data = read(path_of(round_id, part))
        if data is None:
            raise RecountError(f"part {part} of {parts} is not published")
        rows += read_json(data)["ballots"]
    return rows, str(body["address"]), str(body["genesis_hash"])


def _file(row: Mapping[str, Any]) -> tuple[BallotFile, Counted]:
    chances = row.get("chances")
    given = None if chances is None else Chances(chances["up"], chances["neutral"], chances["down"])
    stated = Counted(str(row["txid"]), str(row["voter"]), str(row["choice"]), given)
    # By which way it came is not published, so that the rule of either is the rule here.
    return BallotFile(stated.txid, str(row["signed"]).encode(), int(row["arrived_ms"]), confirmed=True), stated


def _judged(
    files: Sequence[BallotFile], round_id: str, logged: Mapping[str, Any], address: str, genesis_hash: str
) -> list[Counted]:
    """Judge the ballots as the tick did that locked the round, by the form that the log named when it opened."""
    form = logged["ballot_form"]
    if not FIRST_FORM <= form <= FORM:
        raise RecountError(f"they have form {form}, which this version does not know: verify with a newer one")

    slot = Slot(ms_of(logged["start"]), ms_of(logged["end"]))
    taking = schedule_round(slot, (str(logged["asset"]),), opens_ms=slot.start_ms - 1, warm_up=False)
    if taking.round_id != round_id:
        raise RecountError(f"its id does not fit its asset and start: {taking.round_id}")

    rounds = {round_id: replace(taking, phase=RoundPhase.OPEN)}
    poll = Poll(address, genesis_hash, rounds, slot.start_ms, {round_id: form})
    verdicts, ballots = judge(files, poll, lambda _: frozenset())
    for verdict in verdicts:
        if verdict.reason is not None:
            raise RecountError(f"ballot {verdict.name}: {verdict.reason}")
    return [Counted(ballot.txid, ballot.voter, str(ballot.choice), ballot.chances) for ballot in ballots]


def _compare(ballots: Sequence[Counted], logged: Mapping[str, Any]) -> None:
    most, times = Counter(ballot.voter for ballot in ballots).most_common(1)[0] if ballots else ("", 0)
    if times > 1:
        raise RecountError(f"voter {most} is counted {times} times")

    digest = digest_of_ballots(ballot.txid for ballot in ballots)
    if digest != logged["ballots_sha256"]:
        raise RecountError(f"their digest is {digest}, the log says {logged['ballots_sha256']}")

    counts = Counter(ballot.choice.lower() for ballot in ballots)
    for word, votes in logged["votes"].items():
        real = votes - logged["simulated_votes"][word]
        if counts[word] != real:
            raise RecountError(f"{counts[word]} ballots are {word}, the log counted {real}")

    sums = ChanceSums()
    for ballot in ballots:
        if ballot.chances is not None:
            sums = sums.plus(ChanceSums(1, *ballot.chances))
    stated = chance_sums_of(logged, "chance_sums")
    if sums != stated:
        raise RecountError(f"their chances add up to {asdict(sums)}, the log says {asdict(stated)}")
