"""Print what a buyer loses to sellers that lie: `python -m tests.sellers [SEEDS]`, else 200 seeds of each kind."""

import sys
import tempfile
from pathlib import Path

from tests.sellers.kinds import CONTROLS, KINDS
from tests.sellers.play import HEAD, play_kind, show

SEEDS = 200


def main() -> int:
    """Play all kinds, print the table as it grows; 1 if any row is not as it must be."""
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
    print(HEAD, flush=True)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for number, kind in enumerate([*CONTROLS, *KINDS]):
            row = play_kind(kind, seeds, Path(folder) / str(number))
            print(show([row]).split("\n")[1], flush=True)
            wrong += [f"{kind.name}: {', '.join(row.wrong)}"] if row.wrong else []
    for line in wrong:
        print(f"NOT AS IT MUST BE: {line}")
    return 1 if wrong else 0


sys.exit(main())
