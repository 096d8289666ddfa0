"""How much of each room the whole suite runs: `python -m tests.covered [TEST ...]` fails under a room's floor.

A line counts as much as a way out of a branch. What a started process runs is not seen, so `cli` and `operate` stand
lower than they are tested. Whether tests pass is for `pytest` alone to say: watched, a test that waits for a clock may
fail. With tests named, only those run, and the table is printed without a verdict.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import coverage

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ("generator", "gateway")
DATA: Final = "COVERED_DATA"
"""The variable that names the files of what was run: where it is set, this module is a plugin of pytest."""

FLOORS: Final[Mapping[str, int]] = {
    "gateway": 95,
    "gateway/app": 93,
    "gateway/buyer": 95,
    "gateway/devnet": 90,
    "gateway/http": 95,
    "gateway/ledger": 95,
    "gateway/payments": 96,
    "gateway/upstream": 93,
    "gateway/vault": 93,
    "gateway/wire": 92,
    "generator": 88,
    "generator/arena": 96,
    "generator/brain": 95,
    "generator/catalog": 95,
    "generator/cli": 80,
    "generator/client": 88,
    "generator/compose": 96,
    "generator/lab": 82,
    "generator/market": 93,
    "generator/operate": 90,
    "generator/record": 93,
    "generator/release": 96,
    "generator/runtime": 88,
    "generator/site": 97,
    "generator/values": 98,
}
"""Room to the least percentage of its lines and branches; a floor may only rise.

Some points lie between a floor and what ran: recordings, root and namespaces are not everywhere.
"""

TESTS_FAILED: Final = 1  # pytest's status; those above say that it did not run them
Counts = Mapping[str, int]


def measured() -> coverage.Coverage:
    """Return coverage of both programs with branches, kept in a file of this process."""
    watch = coverage.Coverage(
        data_file=os.environ[DATA],
        data_suffix=True,
        branch=True,
        config_file=False,
        source=[str(ROOT / program) for program in PROGRAMS],
    )
    # The process that hands out the tests runs none.
    watch.set_option("run:disable_warnings", ["no-data-collected"])
    return watch


# Started at import: pytest loads it in each worker before `conftest.py`, and so before the programs.
WATCH: Final = measured() if DATA in os.environ and __name__ != "__main__" else None
if WATCH:
    WATCH.start()


def pytest_unconfigure() -> None:
    """Write what this process ran."""
    if WATCH:
        WATCH.stop()
        WATCH.save()


def room_of(file: str) -> str:
    """Return the room of a source: the folder below its program, or the program itself.

    >>> room_of("gateway/payments/decide.py"), room_of("gateway/clock.py")
    ('gateway/payments', 'gateway')
    """
    program, *inner = Path(file).parts
    return f"{program}/{inner[0]}" if inner[1:] else program


def shares(summaries: Mapping[str, Counts]) -> dict[str, float]:
    """Return the percentage of lines and branches that ran, by room, from the summaries of coverage.py by file."""
    rooms: dict[str, list[Counts]] = {}
    for file, summary in sorted(summaries.items()):
        rooms.setdefault(room_of(file), []).append(summary)
    return {room: _percent(rows) for room, rows in rooms.items()}


def _percent(rows: Iterable[Counts]) -> float:
    ran = sum(row["covered_lines"] + row["covered_branches"] for row in rows)
    of = sum(row["num_statements"] + row["num_branches"] for row in rows)
    return 100 * ran / of if of else 100.0


def broken(ran: Mapping[str, float], floors: Mapping[str, int]) -> list[str]:
    """Return a line for each room below its floor or without one, and for each floor without a room."""
    low = [
        f"{room}: {share:.1f}%, its floor is {floors[room]}%"
        for room, share in ran.items()
        if room in floors and share < floors[room]
    ]
    new = [
        f"{room}: {share:.1f}%, and no floor in tests/covered.py" for room, share in ran.items() if room not in floors
    ]
    gone = [f"{room}: a floor in tests/covered.py, and no such room" for room in floors if room not in ran]
    return [*low, *new, *gone]


def run(tests: Iterable[str]) -> tuple[int, dict[str, Counts]]:
    """Run tests in processes that are watched; return pytest's status and what ran, by source."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "covered")
        environment = {**os.environ, DATA: data, "PYTEST_PLUGINS": "tests.covered"}
        done = subprocess.run([sys.executable, "-m", "pytest", *tests], check=False, cwd=ROOT, env=environment)

        seen = coverage.Coverage(data_file=data, branch=True, config_file=False)
        seen.combine([folder])
        report = Path(folder) / "report.json"
        seen.json_report(outfile=str(report))
        files: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["files"]
    return done.returncode, {file: row["summary"] for file, row in files.items()}


def main() -> int:
    """Run, print a row for each room, say what is broken."""
    tests = sys.argv[1:]
    status, summaries = run(tests or ["tests"])
    ran = shares(summaries)
    for room, share in ran.items():
        print(f"{room:24}{share:6.1f}%{FLOORS.get(room, ''):>6}")
    if tests:
        return status

    lines = broken(ran, FLOORS)
    print(*lines, sep="\n")
    return status if status > TESTS_FAILED else bool(lines)


if __name__ == "__main__":
    sys.exit(main())
