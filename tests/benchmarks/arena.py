"""Ten thousand ballots: `python -m tests.benchmarks.arena [--ballots N]`.

They are verified and counted by every way in, through the memory and through a whole tick, then published and counted
again from the published file. The peer is the floor of the work: the same signatures checked by libsodium in a plain
loop, in the same run.
"""

import argparse
import asyncio
import base64
import gzip
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from nacl.signing import VerifyKey

from gateway.wire.algorand import TRANSACTION_PREFIX, address_of, pack, unpack
from generator.arena.ballots import BallotFile, Poll, judge
from generator.inbox.chain import ballot_of
from generator.inbox.folder import Inbox
from generator.record.audit.recount import path_of, recount
from generator.record.memory.store import Memory
from generator.record.published import PublishedRecord
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
        rows = [row_of(file) for file in files]
        show("from an indexer: put back together, judged", timed(lambda: judged([*map(ballot_of, rows)])), floor)
        lay_down(folder / "inbox", files)
        show("read from the inbox folder", timed(lambda: Inbox(folder / "inbox").files()), floor)
        counts = [in_memory(folder / f"memory-{run}", files) for run in range(RUNS)]
        show("verified and counted, on disk when it returns", middle(counts), floor, "< 5 s")
        asyncio.run(whole_tick(folder, files, floor))
        sheets(folder / "sheet", files, floor)


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


def row_of(file: BallotFile) -> dict[str, Any]:
    """Write a ballot as an indexer returns it."""
    envelope = unpack(base64.b64decode(file.data))
    fields = envelope["txn"]
    return {
        "id": file.name.removesuffix(".ballot"),
        "tx-type": "pay",
        "sender": address_of(fields["snd"]),
        "fee": 0,
        "first-valid": fields["fv"],
        "last-valid": fields["lv"],
        "genesis-hash": GENESIS,
        "note": base64.b64encode(fields["note"]).decode(),
        "payment-transaction": {"receiver": CONFIG.address, "amount": 0},
        "signature": {"sig": base64.b64encode(envelope["sig"]).decode()},
        "round-time": file.arrived_ms // 1000,
    }


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


def sheets(folder: Path, files: list[BallotFile], floor: Spent) -> None:
    """Write the published file of a round and count it again."""
    folder.mkdir()
    memory = Memory.open(url_in(folder))
    play_tick(memory, inputs_at(NOON))
    play_tick(memory, replace(inputs_at(NOON + 5 * MINUTE), ballots=tuple(files)))
    log = PublishedRecord(memory, folder / "log.key", "example.org/log", "simulated", made_if_missing=True)
    log.begin(NOON + 5 * MINUTE)
    play_tick(memory, inputs_at(NOON + HOUR))
    published: dict[str, bytes] = {}

    def write() -> None:
        while (files := log.prepare()).ballots is not None:
            published.update(files.immutable)
            log.done(files, "tick", "1", NOON)

    written = once(write)
    tally = {"bullish": 0, "bearish": 0, "neutral": 0}
    logged = {"asset": "BTC", "start": "2026-11-20T13:00:00Z", "end": "2026-11-20T14:00:00Z", "simulated_votes": tally}
    view = memory.view(NOON + HOUR).live_tally
    votes = {"bullish": view.bullish, "bearish": view.bearish, "neutral": view.neutral}
    digest = next(sheet_digest(memory))
    show("their published file, written", written, floor)
    again = once(lambda: recount(ROUND, {**logged, "votes": votes, "ballots_sha256": digest}, published.get))
    show("counted again from that file, as `emi verify` does", again, floor)
    size = sum(map(len, published.values()))
    packed = sum(len(gzip.compress(data, 6)) for data in published.values())
    print(
        f"\n{len(published)} file(s), {size / 1e6:.1f} MB, {size / len(files):.0f} bytes a ballot; gzip {packed / 1e6:.1f} MB"
    )
    memory.close()


def sheet_digest(memory: Memory) -> Any:
    """Give the digest that the log would hold."""
    from sqlalchemy import create_engine

    from generator.record.memory.log import ballots_sha256

    engine = create_engine(memory._engine.url)
    with engine.connect() as connection:
        yield ballots_sha256(connection, ROUND)
    engine.dispose()


if __name__ == "__main__":
    main()
