"""Ten thousand ballots through a whole tick: `python -m tests.benchmarks.arena [--ballots N]`."""

import argparse
import asyncio
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from generator.record.audit.recount import path_of
from generator.runtime.tick import tick
from tests.inbox.many_ballots import flood
from tests.support.arena_inputs import MINUTE, NOON
from tests.support.clock import ManualClock
from tests.support.services import opened

ROUND = "BTC-20261120-130000"


def main() -> None:
    """Measure and print; the bar is 5 s from files to counts on disk."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ballots", type=int, default=10_000)
    count = options.parse_args().ballots
    print(f"| {count} ballots | seconds | CPU seconds | bar |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(_whole_ticks(Path(name), count))


async def _whole_ticks(folder: Path, count: int) -> None:
    """Time ticks of a whole generator: without ballots, with all of them in the inbox, and at the lock."""
    clock = ManualClock()
    async with opened(folder, clock, days=3) as app:
        await tick(app, clock.now())
        await _tick(app, clock, "a whole tick without ballots")
        app.settings.inbox_path.mkdir(parents=True, exist_ok=True)
        for file in flood(count, ROUND, NOON + MINUTE):
            (app.settings.inbox_path / file.name).write_bytes(file.data)
        await _tick(app, clock, "a whole tick that takes them all from the folder", bar="< 5 s")
        left = len(list(app.settings.inbox_path.glob("*.ballot")))
        await _tick(app, clock, "the tick that locks the round and publishes them", minutes=58)
        view = app.record.memory.view(round(clock.now().timestamp() * 1000))
        assert (left, view.live_tally.total - view.live_simulated_tally.total) == (0, count)
        assert (app.settings.site_path / "once" / path_of(ROUND).lstrip("/")).exists()


async def _tick(app: Any, clock: ManualClock, what: str, minutes: int = 1, bar: str = "") -> None:
    at = clock.step(timedelta(minutes=minutes))
    began, cpu = time.perf_counter(), time.process_time()
    await tick(app, at)
    print(f"| {what} | {time.perf_counter() - began:.2f} | {time.process_time() - cpu:.2f} | {bar} |")


if __name__ == "__main__":
    main()
