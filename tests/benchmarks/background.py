"""What feeds, pictures and downloads cost a tick. Run: python -m tests.benchmarks.background.

Two services on the same market tick in turn, one with them and one without; what is made between ticks is waited for
before the next, as the rest of a minute would. Then what a year of record costs, next to a writer.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from generator.catalog.words import SourceMode
from generator.record.memory.store import Memory
from generator.runtime.app import App
from generator.runtime.tick import tick
from generator.site.background import BackgroundFiles
from generator.site.downloads import downloads
from tests.support.clock import ManualClock
from tests.support.databases import url_in
from tests.support.filled_memory import record
from tests.support.services import NoBackground, opened

MINUTES: Final = 121  # two hours ended, eight quarters
NOON: Final = datetime(2026, 11, 20, 12, 50, tzinfo=UTC)
TMPFS: Final = Path("/dev/shm")


def main() -> None:
    """Measure and print."""
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory(dir=TMPFS if TMPFS.is_dir() else None) as folder:
        rows = [*asyncio.run(_ticks(Path(folder))), *_year(Path(folder) / "year")]
    print("| figure | measured | bar |\n|---|---|---|")
    for name, value, bar in rows:
        print(f"| {name} | {value} | {bar} |")
    print(f"\nload of the machine after: {os.getloadavg()[0]:.1f}")


async def _ticks(folder: Path) -> list[tuple[str, str, str]]:
    clocks = ManualClock(NOON), ManualClock(NOON)
    async with (
        opened(folder / "with", clocks[0], days=3) as whole,
        opened(folder / "without", clocks[1], days=3) as bare,
    ):
        whole.publisher.background = BackgroundFiles(whole.record.memory)
        walls: tuple[list[float], list[float]] = ([], [])
        cpus: tuple[list[float], list[float]] = ([], [])
        for minute in range(MINUTES):
            order = (0, 1) if minute % 2 else (1, 0)  # both go first as often
            for place in order:
                wall, cpu = await _one((whole, bare)[place], clocks[place])
                walls[place].append(wall)
                cpus[place].append(cpu)
    return [
        ("a tick with them, median", _ms(walls[0]), ""),
        ("a tick without, median", _ms(walls[1]), ""),
        ("difference by the wall, median of pairs", _difference(walls), "< 3 ms"),
        ("difference in CPU of the tick's thread, median of pairs", _difference(cpus), "< 3 ms"),
    ]


async def _one(app: App, clock: ManualClock) -> tuple[float, float]:
    at = clock.step(timedelta(minutes=1))
    wall, cpu = time.perf_counter(), time.thread_time()
    await tick(app, at)
    took = time.perf_counter() - wall, time.thread_time() - cpu
    if not isinstance(app.publisher.background, NoBackground):
        app.publisher.background._pool.submit(int).result()
    return took


def _year(folder: Path) -> list[tuple[str, str, str]]:
    """Export a record of 61,320 hourly forecasts and 8,760 rounds."""
    folder.mkdir()
    memory = Memory.open(url_in(folder))
    for month in range(1, 13):
        until = f"2026-{month + 1:02d}-01 00:00" if month < 12 else "2027-01-01 00:00"
        record(memory, f"2026-{month:02d}-01 00:00", until)
    at = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)

    def make() -> dict[str, str]:
        found = downloads(memory.exports(), SourceMode.SIMULATED, at)
        memory.note_months(found.notes)
        return dict(found.notes)

    closing = []
    begin = time.process_time()
    while make():
        closing.append(time.process_time() - begin)
        begin = time.process_time()
    begin = time.process_time()
    make()
    steady = time.process_time() - begin
    alone = [_write(memory) for _ in range(60)]
    reader = threading.Thread(target=make)
    reader.start()
    meanwhile = []
    while reader.is_alive():
        meanwhile.append(_write(memory))
    memory.close()
    return [
        ("closing a month that is over, CPU in the thread, median", _ms(closing), ""),
        ("the files of a full running month, CPU in the thread, once an hour", f"{1000 * steady:.0f} ms", ""),
        ("a write of the tick, alone, median", _ms(alone), ""),
        (f"a write of the tick while the record is read, median of {len(meanwhile)}", _ms(meanwhile), ""),
    ]


def _write(memory: Memory) -> float:
    begin = time.perf_counter()
    memory.set_meta("benchmark", str(begin))
    return time.perf_counter() - begin


def _difference(pairs: tuple[Sequence[float], Sequence[float]]) -> str:
    found = [1000 * (one - other) for one, other in zip(*pairs, strict=True)][1:]
    return f"{statistics.median(found):+.2f} ms"


def _ms(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds[1:] or seconds)
    return f"{1000 * statistics.median(ordered):.1f} ms (worst {1000 * ordered[-1]:.1f})"


if __name__ == "__main__":
    main()
