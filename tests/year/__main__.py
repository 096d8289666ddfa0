"""Play a year with faults next to the same year without: `python -m tests.year [--days N | --hours N] [--seed N]`.

It prints what both have in common, what the disturbed one lacks and why, and fails on any other difference. The two
are played at the same time; figures are measured at equal distances in the undisturbed one (`--points`).
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Final

from gateway.errors import GatewayError
from gateway.ledger.audit import audit_ledger
from gateway.settings import DEMO_PAYEE
from generator.errors import BackupError
from generator.operate.keep.audit import audit_memory
from tests.journeys.test_upgrade import VERSION
from tests.year.compare import Comparison, check_begin, check_ledger, check_statistics, compare, compare_payments
from tests.year.figures import Point, drawn, measure, table
from tests.year.generator import salt_at
from tests.year.journal import Journal
from tests.year.outside import transfers
from tests.year.plan import Plan
from tests.year.play import BEGIN, Year
from tests.year.published import Published

HOURS_A_DAY: Final = 24
HOURS_A_YEAR: Final = 365 * HOURS_A_DAY
SECOND_HOURS: Final = 24
YEARS: Final = ("undisturbed", "disturbed")
MOST_GROWTH: Final = 1.05  # of the memory of a process
WINDOW_DAYS: Final = 31  # from then on: what is kept of the last month is full


def main() -> int:
    """Play both, compare them and print what was found."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--days", type=int)
    options.add_argument("--hours", type=int)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options.add_argument("--points", type=int, default=12, help="moments at which figures are measured; 0 for none")
    options.add_argument("--folder", type=Path, help="where the years are kept; else a temporary folder, removed")
    chosen = options.parse_args()
    hours = chosen.hours or (chosen.days * HOURS_A_DAY if chosen.days else HOURS_A_YEAR)
    print(f"seed {chosen.seed}; the salt of the first hour is {salt_at(chosen.seed, BEGIN.timestamp())}", flush=True)

    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="year-"))
    try:
        failed = _played(folder / "first", Plan(chosen.seed, hours), chosen.points)
        failed += _played(folder / "second", Plan(chosen.seed + 1, min(hours, SECOND_HOURS)), 0)
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    return failed


def _played(folder: Path, plan: Plan, points: int) -> int:
    """Play both years at the same time; return how much was found that must not be."""
    began = time.monotonic()
    players = [_started(_play, folder / name, plan, points, name) for name in YEARS]
    for player in players:
        player.join()
    if any(player.exitcode for player in players):
        print("FAILED: a year did not come to its end")
        return 1

    found = compared(folder)
    print(f"\n## {plan.hours} hours, begun in the state of {VERSION}\n")
    print("\n".join(report(folder, found)))
    print(f"{time.monotonic() - began:.0f} s")
    return len(found.different) + _grown(folder)


def _started(work: Callable[..., None], *arguments: object) -> ForkProcess:
    process = ForkProcess(target=work, args=arguments)
    process.start()
    return process


def _play(folder: Path, plan: Plan, points: int, name: str) -> None:
    folder.mkdir(parents=True)
    year = Year(folder, plan, disturbed=name == "disturbed")
    found: list[Point] = []
    if points and name == "undisturbed":
        each = max(1, plan.hours // points)

        def on_hour(hour: int) -> None:
            if hour and hour % each == 0:
                found.append(measure(year, hour))

        year.on_hour = on_hour
    year.play().save(folder / "journal.json")
    (folder / "points.json").write_text(json.dumps([asdict(point) for point in found]), encoding="utf-8")


def compared(folder: Path) -> Comparison:
    """Compare two years that were played."""
    one, two = (folder / name for name in YEARS)
    journals = Journal.load(one / "journal.json"), Journal.load(two / "journal.json")
    records = Published.read(one / "state" / "site"), Published.read(two / "state" / "site")
    found = compare(*records, journals[1].gaps)
    compare_payments(found, *journals, (one, two))
    for name, journal, record in zip(YEARS, journals, records, strict=True):
        state = folder / name / "state"
        check_begin(found, name, state / "site", journal)
        check_statistics(found, name, state / "site", record)
        chain = transfers(folder / name / "outside", DEMO_PAYEE)
        check_ledger(found, name, state / "payments.sqlite3", chain, journal.bought)
        _audit(found, name, state)
    return found


def _audit(found: Comparison, name: str, state: Path) -> None:
    """Let the program's own audits read everything as well."""
    try:
        audit_memory(f"sqlite:///{state / 'memory.sqlite3'}", state / "site" / "once")
        audit_ledger(state / "payments.sqlite3")
    except (BackupError, GatewayError) as error:
        found.fault(f"the audit of the {name} year: {error}")


def report(folder: Path, found: Comparison) -> list[str]:
    """Return the lines that say what was found."""
    journals = [Journal.load(folder / name / "journal.json") for name in YEARS]
    lines = ["| what befell the disturbed year | times |", "|---|---|"]
    lines += [f"| {fault} | {count} |" for fault, count in sorted(journals[1].faults.items())]
    lines += [f"| processes killed: {name} | {count} |" for name, count in sorted(journals[1].killed.items())]
    lines += ["", "| compared | equal | missing, explained |", "|---|---|---|"]
    names = sorted(found.equal.keys() | found.missing.keys())
    lines += [f"| {name} | {found.equal[name]:,} | {found.missing[name]:,} |" for name in names]
    lines += ["", f"different and not explained: {len(found.different)}"]
    lines += [f"DIFFERENT {text}" for text in found.different[:50]]
    for name, journal in zip(YEARS, journals, strict=True):
        lines.append(f"{name}: {journal.cpu_s:.0f} CPU s, {journal.cpu_s / journal.hours:.2f} an hour")
    if points := _points(folder):
        lines += ["", *table(points)]
        (folder / "figures.svg").write_text(drawn(points), encoding="utf-8")
    return lines


def _points(folder: Path) -> list[Point]:
    return [Point(**row) for row in json.loads((folder / "undisturbed" / "points.json").read_text(encoding="utf-8"))]


def _grown(folder: Path) -> int:
    """Return how many processes have grown by more than they may since the end of the first month."""
    points = [point for point in _points(folder) if point.day >= WINDOW_DAYS]
    if not points:
        return 0
    count = 0
    for name in ("memory_mb", "gateway_mb"):
        first, last = getattr(points[0], name), getattr(points[-1], name)
        if last > MOST_GROWTH * first:
            print(f"GROWN {name} from {first:.1f} to {last:.1f}")
            count += 1
    return count


if __name__ == "__main__":
    sys.exit(main())
