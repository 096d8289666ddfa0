"""Print what the programs of others make of this service: `python -m tests.jury [WORD]`, else all of them.

JURY_JS and JURY_PYTHON name their environments, as `.ci/outside` makes them; WORD picks tools with it in the name.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.jury.court import WANTED
from tests.jury.sitting import JUDGES, court


def main() -> int:
    """Put the service before every judge, and print a row for each; 1 if one lost an answer."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    lost = 0
    with tempfile.TemporaryDirectory() as name, court(Path(name)) as place:
        print("| family | tool | version | result | s |\n|---|---|---|---|---|", flush=True)
        for judge in (row for row in JUDGES if word in row.tool):
            began = time.monotonic()
            try:
                result = judge.judge(place) if judge.is_here else f"not run: {WANTED[judge.needs]}"
            except Exception as error:  # noqa: BLE001  whatever it is, an answer was lost
                lost += 1
                result = f"LOST: {' '.join(str(error).split())[:600]}"
            seconds = time.monotonic() - began
            print(f"| {judge.family} | {judge.tool} | {judge.version} | {result} | {seconds:.0f} |", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
