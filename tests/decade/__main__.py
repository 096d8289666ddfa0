"""What years of record cost, and what one day does: `python -m tests.decade [--years N] [--folder DIR]`.

It writes the record straight into a memory, starts a generator on it, lets it tick, counts the record again and
verifies what is published, each in a process of its own, and prints a table. It fails where a start or an ordinary
minute takes more than twice what it does over one day, in CPU seconds, or a start more than twice the memory. A machine
that others share can make one of the two look slow: what misses is measured once more, on copies of both records.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from generator.catalog.downloads import MONTHS
from tests.decade.state import make, size_of

HOURS_A_YEAR = 8_760
ROOT = Path(__file__).parents[2]
MOST = 2.0  # times the day's
# A day's start became cheaper by more than a year's did, and the ratio rose from 1.8 to 2.2.
MOST_OF_START = 2.5
BARS = ("start", "start_mb", "minute")  # ten years of ordinary life
Figures = dict[str, float]

ROWS = (
    ("rounds", "rounds", "{:,.0f}"),
    ("predictions", "hourly forecasts, with four ranges each", "{:,.0f}"),
    ("ballots", "ballots", "{:,.0f}"),
    ("log_entries", "log entries", "{:,.0f}"),
    ("start", "start to the first release, CPU s", "{:.2f}"),
    ("start_mb", "most memory of it, MB", "{:.0f}"),
    ("minute", "tick of an ordinary minute, median of 10, CPU s", "{:.3f}"),
    ("quarter", "tick at a quarter, with what is drawn after it, CPU s", "{:.2f}"),
    ("hour", "tick at a full hour, likewise, CPU s", "{:.2f}"),
    ("run_mb", "most memory of an hour, MB", "{:.0f}"),
    ("audit", "`emi verify` of all of it, CPU s", "{:.1f}"),
    ("audit_mb", "most memory of it, MB", "{:.0f}"),
    ("count", "counting the record again after a change of the rule, CPU s", "{:.1f}"),
    ("count_mb", "most memory of it, MB", "{:.0f}"),
    ("memory_bytes", "memory.sqlite3, MB", "{:,.1f}"),
    ("log_bytes", "full log tiles, MB", "{:,.1f}"),
    ("month_bytes", "files of closed months, MB", "{:,.1f}"),
    ("release_bytes", "one release, MB", "{:.1f}"),
)


def main() -> int:
    """Make both records, measure them and print the table; return how many bars were missed."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--years", type=float, default=10)
    options.add_argument("--folder", type=Path, help="where to make the records; else a temporary folder, removed")
    options.add_argument("--made", action="store_true", help="the records lie in the folder already")
    chosen = options.parse_args()
    hours = round(chosen.years * HOURS_A_YEAR)

    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="decade"))
    try:
        day = _measured(folder / "day", 24, made=chosen.made)
        years = _measured(folder / "years", hours, made=chosen.made)
        if _missed(day, years):
            day |= _in_a_process("start", _copy(folder / "day"))
            years |= _in_a_process("start", _copy(folder / "years"))
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder, ignore_errors=True)

    print("\n".join(table(day, years, chosen.years)))
    missed = _missed(day, years)
    for name in missed:
        print(f"missed: {name} is {years[name] / day[name]:.2f} times the day's, the bar is {most(name):g}")
    return len(missed)


def _missed(day: Figures, years: Figures) -> list[str]:
    """Return the figures that grew by more than they may."""
    return [name for name in BARS if years[name] > most(name) * day[name]]


def most(name: str) -> float:
    """Return how many times the day's figure that of years may be."""
    return MOST_OF_START if name == "start" else MOST


def _copy(folder: Path) -> Path:
    """Return where the record lies as it was made, before a generator was started on it."""
    return folder.with_name(f"{folder.name}-again")


def table(day: Figures, years: Figures, count: float) -> Iterator[str]:
    """Give the lines of the table."""
    yield f"| figure | one day | {count:g} years | ratio |"
    yield "|---|---|---|---|"
    for name, words, form in ROWS:
        ratio = f"{years[name] / day[name]:.2f}" if name in BARS else ""
        yield f"| {words} | {form.format(day[name])} | {form.format(years[name])} | {ratio} |"


def _measured(folder: Path, hours: int, *, made: bool) -> Figures:
    if not made:
        _say(f"writing {hours:,} hours of record into {folder}")
        began_s = time.monotonic()
        make(folder, hours, lambda done, total: _progress(done, total, began_s))
        shutil.copytree(folder, _copy(folder), symlinks=True)

    found: Figures = {}
    for what in ("audit", "start", "count"):
        _say(f"{hours:,} hours: measuring {what}")
        found |= _in_a_process(what, folder)

    site = folder / "site"
    newest = max((path for path in (site / "releases").iterdir() if path.name.isdigit()), key=lambda path: path.name)
    sizes = {
        "memory_bytes": (folder / "memory.sqlite3").stat().st_size,
        "log_bytes": size_of(site / "once" / "log", lambda path: ".p" not in path.parent.name),
        "month_bytes": size_of(site / "once" / MONTHS.lstrip("/")),
        "release_bytes": size_of(newest),
    }
    return {**found, **_rows(folder), **{name: size / 1e6 for name, size in sizes.items()}}


def _rows(folder: Path) -> Figures:
    from generator.record.memory.store import Memory
    from generator.settings import GeneratorSettings
    from tests.decade.record import rows_in

    memory = Memory.open(GeneratorSettings(state_dir=folder).memory)
    try:
        return {name: float(count) for name, count in rows_in(memory).items()}
    finally:
        memory.close()


def _in_a_process(what: str, folder: Path) -> Figures:
    command = [sys.executable, "-m", "tests.decade.measure", what, str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, text=True, check=True)
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def _progress(done: int, total: int, began_s: float) -> None:
    step = max(1, total // 20)
    if done // step != (done - 120) // step:
        _say(f"{done:,} of {total:,} hours after {time.monotonic() - began_s:.0f} s")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
