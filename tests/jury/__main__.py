"""Print what the programs of others make of this service: `python -m tests.jury [WORD]`, else all of them.

JURY_JS and JURY_PYTHON name their environments, as `.ci/outside` makes them; WORD picks tools with it in the name.
Two rows run at a time, against one service and its devnet; all of them take some 165 s of processor.
"""

import resource
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from tests.jury.court import WANTED, Court, Judge
from tests.jury.sitting import JUDGES, court

LOST: Final = "LOST"
AT_ONCE: Final = 2


def main() -> int:
    """Put the service before every judge, and print a row for each; 1 if one lost an answer."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    judges = [row for row in JUDGES if word in row.tool]
    began = time.monotonic()
    print("| family | tool | version | result | s |\n|---|---|---|---|---|", flush=True)

    lost = 0
    with tempfile.TemporaryDirectory() as name, court(Path(name)) as place, ThreadPoolExecutor(AT_ONCE) as pool:
        for judge, (result, seconds) in zip(judges, pool.map(partial(judged, place), judges), strict=True):
            lost += result.startswith(LOST)
            print(f"| {judge.family} | {judge.tool} | {judge.version} | {result} | {seconds:.0f} |", flush=True)

    wall_s = time.monotonic() - began
    print(f"\n{len(judges)} rows, {lost} lost, {wall_s:.0f} s, {processor_s():.0f} s of processor", flush=True)
    return 1 if lost else 0


def judged(place: Court, judge: Judge) -> tuple[str, float]:
    """Return the result of one judge in words, and how many seconds it took."""
    began = time.monotonic()
    try:
        result = judge.judge(place) if judge.is_here else f"not run: {WANTED[judge.needs]}"
    except Exception as error:  # noqa: BLE001  whatever it is, an answer was lost
        result = f"{LOST}: {' '.join(str(error).split())[:600]}"
    return result, time.monotonic() - began


def processor_s() -> float:
    """Return what this process used, with all that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(row.ru_utime + row.ru_stime for row in used)


if __name__ == "__main__":
    sys.exit(main())
