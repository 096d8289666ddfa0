"""The releases for fixed seeds and clock, to compare before and after a change that must not move a published byte.

`python -m tests.snapshot FOLDER [simulated|recorded|live ...]` writes a folder for each market with its site and vault
after a backtest and some ticks, across a full hour. Run it before and after, then `diff -r BEFORE AFTER`. The live
market is one of synthetic venues on loopback; the recorded one needs the recordings next to the project.
"""

import asyncio
import hashlib
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import nacl.bindings
import nacl.utils

from generator.market.live.source import LiveSource
from generator.runtime.app import App, build
from generator.runtime.market import no_progress
from generator.runtime.startup import open_market
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.support.clock import ManualClock
from tests.support.exchange_server import serving
from tests.support.synthetic_bodies import SyntheticMarket

RECORDING: Final = Path(__file__).parents[2] / "shared" / "market-data" / "candles" / "binance-spot-5m-2022-10"
NOON: Final = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
IN_RECORDING: Final = datetime(2022, 10, 30, 12, 0, tzinfo=UTC)
BACKTEST_HOURS: Final = 26
MINUTES: Final = (2, 3, 16, 56, 60, 61)
"""Of the ticks after the start: within an hour, at its 15 minutes, before and after its lock, at the next."""


def without_chance() -> None:
    """Draw every secret and key from one fixed sequence, and run what a thread would do at once."""
    count = itertools.count()

    def drawn(size: int = 32) -> bytes:
        blocks = (hashlib.sha256(f"{next(count)}".encode()).digest() for _ in range(0, size, 32))
        return b"".join(blocks)[:size]

    def submit(_pool: ThreadPoolExecutor, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*given, **named))
        except BaseException as error:  # noqa: BLE001 - the future raises it where it is asked
            done.set_exception(error)
        return done

    os.urandom = drawn
    random._urandom = drawn  # type: ignore[attr-defined]
    nacl.utils.random = drawn
    nacl.bindings.randombytes = drawn
    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]


@asynccontextmanager
async def opened(settings: GeneratorSettings, clock: ManualClock, at: datetime | None = None) -> AsyncIterator[App]:
    """Build a generator; close it at the end."""
    app = build(settings, clock, at, days=3)
    try:
        yield app
    finally:
        await app.aclose()


async def simulated(state: Path) -> None:
    """The simulated market of seed 7, with its crowd."""
    clock = ManualClock(NOON)
    settings = GeneratorSettings(state_dir=state, seed=7, source="simulated")
    async with opened(settings, clock) as app:
        await played(app, clock, BACKTEST_HOURS)


async def recorded(state: Path) -> None:
    """Five-minute candles of October 2022."""
    clock = ManualClock(NOON)
    settings = GeneratorSettings(state_dir=state, source="recorded", data_dir=(RECORDING,))
    async with opened(settings, clock, IN_RECORDING) as app:
        await played(app, clock, BACKTEST_HOURS)


async def live(state: Path) -> None:
    """The live source over the real ccxt, asking synthetic venues; prices move with the minutes."""
    clock = ManualClock(NOON)
    market = SyntheticMarket(round(1000 * NOON.timestamp()))
    settings = GeneratorSettings(state_dir=state, source="live")

    def move(at: datetime) -> None:
        market.now_ms = round(1000 * at.timestamp())
        minute = round((at - NOON).total_seconds() / 60)
        market.prices = {asset: value * (1 + 0.0003 * (minute % 7 - 3)) for asset, value in first.items()}

    first = dict(market.prices)
    async with serving(market) as venues, opened(settings, clock) as app:
        app.market.source = LiveSource(exchange_factory=venues.factory)
        await played(app, clock, 0, move)


async def played(app: App, clock: ManualClock, hours: int, move: Callable[[datetime], None] | None = None) -> None:
    """Run the backtest and the ticks."""
    await open_market(app, clock.now(), no_progress, hours)
    for minute in MINUTES:
        at = clock.step(NOON + timedelta(minutes=minute) - clock.now())
        if move is not None:
            move(at)
        await tick(app, at)


MARKETS: Final = {"simulated": simulated, "recorded": recorded, "live": live}


def main() -> None:
    """Write the folders of the markets named, or of all."""
    folder, *named = sys.argv[1:]
    target = Path(folder)
    names = named or [name for name in MARKETS if name != "recorded" or RECORDING.is_dir()]
    if len(names) > 1:
        # Each in a process of its own: what one draws does not depend on another.
        commands = ([sys.executable, "-m", "tests.snapshot", folder, name] for name in names)
        sys.exit(max(os.spawnv(os.P_WAIT, sys.executable, command) for command in commands))

    (name,) = names
    without_chance()
    with tempfile.TemporaryDirectory() as scratch:
        state = Path(scratch) / "state"
        asyncio.run(MARKETS[name](state))
        published = target / name
        shutil.rmtree(published, ignore_errors=True)
        for part in ("site", "vault"):
            shutil.copytree(state / part, published / part, symlinks=False)
    files = [path for path in published.rglob("*") if path.is_file()]
    digest = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in sorted(files)))
    print(json.dumps({"market": name, "files": len(files), "digest": digest.hexdigest()}))


if __name__ == "__main__":
    main()
