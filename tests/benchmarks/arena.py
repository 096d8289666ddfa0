"""Ten thousand ballots: `python -m tests.benchmarks.arena [--ballots N]`.

They are verified and counted, through the memory and through a whole tick. The peer is the floor of the work: the same
signatures checked by libsodium in a plain loop, in the same run.
"""

import argparse
import asyncio
import base64
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from nacl.signing import VerifyKey

from gateway.wire.algorand import TRANSACTION_PREFIX, pack, unpack
from generator.arena.ballots import BallotFile, Poll, judge
from generator.inbox.folder import Inbox
from generator.record.audit.recount import path_of
from generator.record.memory.store import Memory
from generator.runtime.tick import tick
from tests.inbox.many_ballots import flood
from tests.support.arena_inputs import CONFIG, GENESIS, HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.clock import ManualClock
from tests.support.databases import url_in
from tests.support.services import opened

ROUND = "BTC-20261120-130000"
RUNS = 3


def main() -> None:
    """Measure and print; the bar is 5 s from files to counts on disk."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ballots", type=int, default=10_000)
    count = options.parse_args().ballots
    files = flood(count, ROUND, NOON + MINUTE)
    floor = timed(lambda: plain(files))
    print(f"| {count} ballots, median of {RUNS} | seconds | CPU seconds | CPU against the floor | bar |")
    print("|---|---|---|---|---|")
    show("signatures alone, libsodium in a plain loop (the floor)", floor, floor)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        show("judged: decoded, every rule, signature", timed(lambda: judged(files)), floor)
        lay_down(folder / "inbox", files)
        show("read from the inbox folder", timed(lambda: Inbox(folder / "inbox").files()), floor)
        counts = [in_memory(folder / f"memory-{run}", files) for run in range(RUNS)]
        show("verified and counted, on disk when it returns", middle(counts), floor, "< 5 s")
        asyncio.run(whole_tick(folder, files, floor))


@dataclass(frozen=True)
class Spent:
    """Seconds on the wall and of this process's CPU; a busy machine changes the first only."""

    wall: float
    cpu: float


def show(what: str, spent: Spent, floor: Spent, bar: str = "") -> None:
    """Print one row."""
    print(f"| {what} | {spent.wall:.2f} | {spent.cpu:.2f} | {spent.cpu / floor.cpu:.1f} | {bar} |")


def timed(work: Callable[[], object]) -> Spent:
    """Return the median of some runs."""
    return middle([once(work) for _ in range(RUNS)])


def middle(runs: list[Spent]) -> Spent:
    """Return the medians."""
    return Spent(statistics.median(run.wall for run in runs), statistics.median(run.cpu for run in runs))


def once(work: Callable[[], object]) -> Spent:
    """Return what one run takes."""
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - began, time.process_time() - cpu)


def plain(files: list[BallotFile]) -> None:
    """Check signatures and nothing else; decoding is not counted."""
    for key, message, signature in _signatures(files):
        VerifyKey(key).verify(message, signature)


_KNOWN: list[tuple[bytes, bytes, bytes]] = []


def _signatures(files: list[BallotFile]) -> list[tuple[bytes, bytes, bytes]]:
    if not _KNOWN:
        for file in files:
            envelope = unpack(base64.b64decode(file.data))
            transaction = envelope["txn"]
            _KNOWN.append((transaction["snd"], TRANSACTION_PREFIX + pack(transaction), envelope["sig"]))
    return _KNOWN


def judged(files: list[BallotFile]) -> None:
    """Judge as the tick does."""
    from tests.arena.test_ballots import OPEN

    poll = Poll(CONFIG.address, GENESIS, {ROUND: OPEN}, NOON + 30 * MINUTE)
    _, ballots = judge(files, poll, lambda _: frozenset())
    assert len(ballots) == len(files)


def lay_down(folder: Path, files: list[BallotFile]) -> None:
    """Fill an inbox."""
    folder.mkdir(parents=True)
    for file in files:
        (folder / file.name).write_bytes(file.data)


def in_memory(folder: Path, files: list[BallotFile]) -> Spent:
    """Return what the transaction takes that counts them."""
    folder.mkdir()
    memory = Memory.open(url_in(folder))
    play_tick(memory, inputs_at(NOON))
    spent = once(lambda: play_tick(memory, replace(inputs_at(NOON + 5 * MINUTE), ballots=tuple(files))))
    assert play_tick(memory, inputs_at(NOON + HOUR)).live_tally.total == len(files)
    memory.close()
    return spent


async def whole_tick(folder: Path, files: list[BallotFile], floor: Spent) -> None:
    """Time ticks of a whole generator: without ballots, with all of them in the inbox, and at the lock."""
    clock = ManualClock()
    async with opened(folder / "state", clock, days=3) as app:
        await tick(app, clock.now())
        usual = await _tick(app, clock, timedelta(minutes=1))
        lay_down(app.settings.inbox_path, files)
        flooded = await _tick(app, clock, timedelta(minutes=1))
        left = len(list(app.settings.inbox_path.glob("*.ballot")))
        lock = await _tick(app, clock, timedelta(minutes=58))
        view = app.record.memory.view(round(clock.now().timestamp() * 1000))
        assert (left, view.live_tally.total - view.live_simulated_tally.total) == (0, len(files))
        put = app.settings.site_path / "once" / path_of(ROUND).lstrip("/")
        assert put.exists()
    show("a whole tick without ballots", usual, floor)
    show("a whole tick that takes them all from the folder", flooded, floor, "< 5 s")
    show("the tick that locks the round and publishes them", lock, floor)


async def _tick(app: Any, clock: ManualClock, step: timedelta) -> Spent:
    at = clock.step(step)
    began, cpu = time.perf_counter(), time.process_time()
    await tick(app, at)
    return Spent(time.perf_counter() - began, time.process_time() - cpu)


if __name__ == "__main__":
    main()
