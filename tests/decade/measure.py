"""What one process costs over a state: `python -m tests.decade.measure start|count|audit FOLDER` prints JSON.

CPU seconds are those of the whole process, its imports and threads included; memory is the most that was resident.
"""

import asyncio
import json
import statistics
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import update

from generator.record.memory import tables as t
from generator.record.memory.store import Memory
from generator.record.verify import open_log, verify_all
from generator.runtime.app import App, build
from generator.runtime.market import no_progress
from generator.runtime.startup import open_market
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.decade.state import END
from tests.support.clock import ManualClock

MINUTES = 10
MINUTE = timedelta(minutes=1)
Figures = dict[str, float]


def peak_mb() -> float:
    """Return the most memory that this program had resident, in MB; `getrusage` would count the one that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def start(folder: Path) -> Figures:
    """Start a generator, make its first release, ten ordinary minutes, and the ticks of a full hour."""
    return asyncio.run(_start(folder))


async def _start(folder: Path) -> Figures:
    clock = ManualClock(END + MINUTE)
    app = build(GeneratorSettings(state_dir=folder), clock)
    await open_market(app, clock.now(), no_progress)
    opened = time.process_time()
    await tick(app, clock.now())
    _rest(app)
    found = {"start": time.process_time(), "opening": opened, "start_mb": peak_mb()}

    minutes = [await _tick(app, clock) for _ in range(MINUTES)]
    found["minute"] = statistics.median(minutes)
    clock.at = END + timedelta(minutes=14)
    found["quarter"] = await _tick(app, clock)
    clock.at = END + timedelta(minutes=54)
    await _tick(app, clock)
    clock.at = END + timedelta(minutes=59)
    found["hour"] = await _tick(app, clock)
    found["run_mb"] = peak_mb()
    await app.aclose()
    return found


async def _tick(app: App, clock: ManualClock) -> float:
    began = time.process_time()
    await tick(app, clock.step(MINUTE))
    _rest(app)
    return time.process_time() - began


def _rest(app: App) -> None:
    """Wait until what is made between two ticks is made."""
    app.publisher.background._pool.submit(lambda: None).result()


def count(folder: Path) -> Figures:
    """Count the whole record again, as after a change of the rule."""
    memory = Memory.open(GeneratorSettings(state_dir=folder).memory)
    with memory.writing() as connection:
        connection.execute(update(t.totals).values(rule="another"))
    began = time.process_time()
    steps = sum(1 for _ in memory.count_again())
    memory.close()
    return {"count": time.process_time() - began, "count_mb": peak_mb(), "steps": steps}


def audit(folder: Path) -> Figures:
    """Verify the published record as a reader does."""
    site = folder / "site"

    def read(path: str) -> bytes | None:
        for place in ("current", "once"):
            file = site / place / path.lstrip("/")
            if file.is_file():
                return file.read_bytes()
        return None

    rounds = read("/arena/rounds.json")
    assert rounds is not None
    began = time.process_time()
    verified = verify_all(open_log(read), json.loads(rounds), read, lambda *_: None)
    return {
        "audit": time.process_time() - began,
        "audit_mb": peak_mb(),
        "entries": verified.log.head.size,
        "recounted": len(verified.audit.rounds.voted),
    }


def main() -> None:
    """Measure one thing."""
    what, folder = sys.argv[1:]
    work: dict[str, Any] = {"start": start, "count": count, "audit": audit}
    print(json.dumps(work[what](Path(folder))))


if __name__ == "__main__":
    main()
