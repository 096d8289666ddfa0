"""The doors: of each, good bytes to begin from, how they are read, and what may be raised."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.wire.foreign import ForeignBytesError, read_json, read_msgpack
from generator.arena.ballots import BallotFile, Chances, Refusal, judge_all
from generator.inbox.chain import ballot_of
from tests.arena.test_ballots import OPEN, POLL
from tests.doors.mutate import HOSTILE_JSON, HOSTILE_MSGPACK
from tests.inbox.test_chain import row
from tests.support.arena_inputs import Vote

Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Door:
    """One way in."""

    samples: tuple[bytes, ...]
    read: Read
    hostile: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = ()  # none: whatever is wrong is answered, and nothing is raised


def _json(*values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


def _ballot(raw: bytes) -> None:
    """Judge one as the tick does; the desk reads it by the same function."""
    _judge(BallotFile("x", base64.b64encode(raw), 1))


def _row(data: bytes) -> None:
    """Read an indexer's row, and judge it."""
    value = read_json(data)
    if isinstance(value, dict):
        _judge(ballot_of(value))


def _judge(file: BallotFile) -> None:
    """Judge a ballot; what a reader raised where it should have refused is refused by this name."""
    verdict = judge_all([file], POLL, lambda _: frozenset()).verdicts[0]
    assert verdict.reason != Refusal.UNREADABLE.value


GOOD: Final = tuple(
    base64.b64decode(vote.file().data)
    for vote in (Vote(OPEN.round_id), Vote(OPEN.round_id, chances=Chances(60, 25, 15), change=1))
)
ROWS: Final = _json(row(), row(chances=Chances(60, 25, 15)), row(signature={"multisig": {}}))

DOORS: Final[Mapping[str, Door]] = {
    "JSON": Door(ROWS, read_json, HOSTILE_JSON, (ForeignBytesError,)),
    "msgpack": Door(GOOD, read_msgpack, HOSTILE_MSGPACK, (ForeignBytesError,)),
    "ballot": Door(GOOD, _ballot, HOSTILE_MSGPACK),
    "row of an indexer": Door(ROWS, _row, HOSTILE_JSON, (ForeignBytesError,)),
}
