"""Sixty-eight hours of an Arena in which everything happens: a backtest, votes, thin markets, a gap, a replay moved."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.daily import DailyAnswer
from gateway.wire.notes import Chances
from generator.arena.ballots import BallotFile
from generator.arena.daily import day_now, question_id_of
from generator.catalog.words import Prediction
from generator.client.ballot import sign_ballot
from generator.record.log.note import Signer
from generator.record.log.tiles import unbundle
from generator.record.memory.store import Memory
from generator.runtime import tick
from generator.values.hours import PredictionMade
from generator.values.rows import PublishedRound
from generator.values.view import ArenaView
from tests.support.arena_inputs import GENESIS, HOUR, MINUTE, Vote, inputs_at, voter
from tests.support.builders import NOW_MS
from tests.support.ladders import reached_at, said_at
from tests.support.log_records import CROWDED, NAME, Record
from tests.support.once import once

END_MS: Final = NOW_MS
HOURS: Final = 68
BACKTEST: Final = range(20)  # hours since the start, as all that follow
THIN: Final = 31
GAP: Final = range(40, 43)
MOVED: Final = 51
MINUTES: Final = (0, 15, 53)
VOTERS: Final = (
    (Prediction.BULLISH, Chances(60, 25, 15)),
    (Prediction.BEARISH, Chances(20, 30, 50)),
    (Prediction.NEUTRAL, None),
)


@dataclass(frozen=True)
class Moment:
    """What the memory shows after a tick."""

    arena: ArenaView
    rounds: Sequence[PublishedRound]
    predictions: Sequence[PredictionMade]


@dataclass(frozen=True)
class Played:
    """What is known at the end and after the first hours that were published, and every entry of the log."""

    young: Moment
    end: Moment
    log: tuple[dict[str, Any], ...]


@cache
def played() -> Played:
    """Return the record, played once a run."""
    return once("played", _play)


def _play() -> Played:
    with tempfile.TemporaryDirectory() as folder:
        record = Record(Path(folder))
        # The salts of what is sealed follow from the log's key.
        record.key_file.parent.mkdir(mode=0o700)
        record.key_file.touch(mode=0o600)
        record.key_file.write_text(Signer(NAME, bytes(32)).text + "\n")

        backtest = [at for hour in BACKTEST for at in _ticks(hour)]
        early = [at for hour in range(BACKTEST.stop, BACKTEST.stop + 5) for at in _ticks(hour)]
        later = [at for hour in range(BACKTEST.stop + 5, HOURS) if hour not in GAP for at in _ticks(hour)]

        _store(record.memory, backtest, is_backtest=True)
        record.published.begin(early[0])
        _store(record.memory, early)
        young = _moment(record.memory, early[-1])
        _store(record.memory, later)
        record.publish()

        end = _moment(record.memory, later[-1])
        log = tuple(json.loads(entry) for entry in _entries(record))
        record.memory.close()
    return Played(young, end, log)


def _ticks(hour: int) -> list[int]:
    first = END_MS - END_MS % HOUR - (HOURS - 1) * HOUR
    return [first + hour * HOUR + minute * MINUTE for minute in MINUTES]


def _store(memory: Memory, times: Sequence[int], *, is_backtest: bool = False) -> None:
    with memory.batch():
        for now_ms in times:
            hour = (now_ms - _ticks(0)[0]) // HOUR
            inputs = inputs_at(
                now_ms,
                config=CROWDED,
                usual_day=0.02,
                seals_labels=True,
                venues=1 if hour == THIN else 3,
                ballots=() if is_backtest else _ballots(now_ms, hour),
            )
            reason = "moved" if hour == MOVED and now_ms % HOUR else None
            inputs = replace(
                inputs, ladders=said_at(now_ms), reached=reached_at, interrupted=reason, warm_up=is_backtest
            )
            with memory.tick() as transaction:
                tick.store_tick(transaction, inputs)


def _ballots(now_ms: int, hour: int) -> list[BallotFile]:
    """Return the votes of a tick: at most quarters past, in the round that is open, and in one that is not."""
    if now_ms // MINUTE % 60 != MINUTES[1] or hour % 12 == 0:
        return []

    start = datetime.fromtimestamp(now_ms // HOUR * HOUR / 1000, UTC) + timedelta(hours=1)
    rounds = [f"{asset}-{start:%Y%m%d-%H%M%S}" for asset in CROWDED.assets]
    votes = [
        Vote(round_id, choice, by=by, at_ms=now_ms, chances=chances).file()
        for by, (choice, chances) in enumerate(VOTERS)
        for round_id in rounds
    ]
    return [*votes, *(_answer(now_ms, by) for by in range(2) if hour % 24 == 1)]


def _answer(now_ms: int, by: int) -> BallotFile:
    """Return an answer to the question that is open: the first narrow, the second wide."""
    day = day_now(now_ms)
    assert day is not None
    answer = DailyAnswer(question_id_of(day), ((-120, -40, 35, 110), (-500, -200, 210, 520))[by])
    txid, data = sign_ballot(voter(by), answer, DEMO_ARENA, GENESIS)
    return BallotFile(f"{txid}.ballot", data, now_ms)


def _moment(memory: Memory, now_ms: int) -> Moment:
    return Moment(memory.view(now_ms), memory.resolved_rounds(500), memory.settled_predictions(500))


def _entries(record: Record) -> list[bytes]:
    folder = record.site / "log" / "tile" / "entries"
    newest: dict[str, Path] = {}
    for path in sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.name.rjust(9)):
        newest[path.relative_to(folder).parts[0].removesuffix(".p")] = path
    return [entry for _, path in sorted(newest.items()) for entry in unbundle(path.read_bytes())]
