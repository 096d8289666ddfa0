"""What a year costs and weighs as it goes by: measured at equal distances in the undisturbed one."""

import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import log10
from pathlib import Path
from typing import Any, Final

from generator.operate.keep.audit import audit_memory
from generator.operate.keep.backup import make_backup
from generator.operate.keep.targets import FolderTarget
from tests.decade.state import size_of
from tests.journeys.test_upgrade import settings_of
from tests.year.generator import generator
from tests.year.play import Year
from tests.year.process import Child, Commands

LAST: Final = 24  # ticks whose median counts
HOURS_A_DAY: Final = 24


@dataclass(frozen=True)
class Point:
    """The figures of one moment.

    Args:
        day: of the year.
        start_s: processor time of a start up to its first release.
        audit_s: processor time of an audit of the log, entry by entry, and of its published tiles.
        backup_s: processor time of a backup.
        tick_s: processor time of a tick without its release, median.
        memory_mb: of the generator that has run since the begin, median.
        gateway_mb: of the gateway, likewise.
        record_mb: of the generator's database.
        ledger_mb: of the gateway's.
        once_mb: of what is published once and for all.
        backup_mb: of a backup.
    """

    day: float
    start_s: float
    audit_s: float
    backup_s: float
    tick_s: float
    memory_mb: float
    gateway_mb: float
    record_mb: float
    ledger_mb: float
    once_mb: float
    backup_mb: float


def measure(year: Year, hour: int) -> Point:
    """Measure now; nothing of it is left behind."""
    machine = year.machine
    scratch = machine.folder / "scratch-of-figures"
    shutil.copytree(machine.state, scratch / "state", symlinks=True)
    start_s = _start_s(year, scratch / "state")
    audit_s = _cpu_of(lambda: _audit(scratch / "state"))
    backup_s, backup_mb = _cpu_of(lambda: _backup(year, scratch / "backups"))
    shutil.rmtree(scratch)

    last = year.ticks[-LAST:]
    return Point(
        day=hour / HOURS_A_DAY,
        start_s=start_s,
        audit_s=audit_s,
        backup_s=backup_s,
        tick_s=statistics.median(tick.cpu_s for tick in last),
        memory_mb=statistics.median(tick.memory_mb for tick in last),
        gateway_mb=machine.gateway.ask("look") if machine.gateway else 0.0,
        record_mb=(machine.state / "memory.sqlite3").stat().st_size / 1e6,
        ledger_mb=(machine.state / "payments.sqlite3").stat().st_size / 1e6,
        once_mb=size_of(machine.state / "site" / "once") / 1e6,
        backup_mb=backup_mb,
    )


def _start_s(year: Year, state: Path) -> float:
    child = Child(generator(settings_of(state), year.clock, year.plan.seed))
    started = child.answer()
    child.kill()
    return float(started.cpu_s)


def _audit(state: Path) -> float:
    began = time.process_time()
    audit_memory(f"sqlite:///{state / 'memory.sqlite3'}", state / "site" / "once")
    return time.process_time() - began


def _backup(year: Year, folder: Path) -> tuple[float, float]:
    began = time.process_time()
    made = make_backup(year.machine.places, FolderTarget(folder), year.clock.now, "test")
    return time.process_time() - began, made.manifest.total_bytes / 1e6


def _cpu_of(work: Callable[[], Any]) -> Any:
    """Do something in a process of its own."""

    def answer(commands: Commands) -> None:
        commands.done(work())
        for _ in commands:
            pass

    child = Child(answer)
    found = child.answer()
    child.kill()
    return found


def table(points: Sequence[Point]) -> list[str]:
    """Return the lines of a Markdown table; times are multiples of the first, sizes are MB."""
    names = list(asdict(points[0]))
    lines = [
        "| " + " | ".join([name.replace("_s", ", times the first").replace("_mb", ", MB") for name in names]) + " |",
        "|" + "---|" * len(names),
    ]
    first = asdict(points[0])
    for point in points:
        cells = [_cell(name, value, first[name]) for name, value in asdict(point).items()]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _cell(name: str, value: float, first: float) -> str:
    if name == "day":
        return f"{value:.0f}"
    return f"{value / first:.2f}" if name.endswith("_s") else f"{value:.1f}"


def drawn(points: Sequence[Point]) -> str:
    """Return an SVG of every figure as a multiple of what it was first, on a logarithmic scale."""
    names = [name for name in asdict(points[0]) if name != "day"]
    rows = [asdict(point) for point in points]
    most = max(row[name] / rows[0][name] for row in rows for name in names)
    width, height, top = 640, 40 + 22 * len(names), log10(max(most, 10))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">']
    for place, name in enumerate(names):
        base = 30 + 22 * place
        ratios = [row[name] / rows[0][name] for row in rows]
        marks = " ".join(
            f"{150 + 400 * index / max(1, len(rows) - 1):.1f},{base - 18 * log10(max(ratio, 1)) / top:.1f}"
            for index, ratio in enumerate(ratios)
        )
        parts.append(f'<text x="4" y="{base}" font-size="11">{name}</text>')
        parts.append(f'<polyline points="{marks}" fill="none" stroke="#0a6" stroke-width="1.5"/>')
        parts.append(f'<text x="556" y="{base}" font-size="11">{ratios[-1]:.2f} times</text>')
    return "\n".join([*parts, "</svg>", ""])
