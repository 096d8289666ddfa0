"""Send a million hostile cases through each door: python -m tests.doors [--cases N] [--seed N] [--door NAME].

Prints a row for each door; exit code 1 where anything but the door's refusal was raised.
"""

import argparse
import sys
import time

from tests.doors.fuzz import fuzz
from tests.doors.table import DOORS


def main() -> int:
    """Run them all, or one."""
    parser = argparse.ArgumentParser(prog="python -m tests.doors")
    parser.add_argument("--cases", type=int, default=1_000_000, help="of each door")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--door", choices=DOORS, action="append", help="this one alone; may be given more than once")
    chosen = parser.parse_args()

    failed = 0
    print("| door | cases | read | refused | anything else | seconds |\n|---|---|---|---|---|---|")
    for name in chosen.door or DOORS:
        began = time.perf_counter()
        outcome = fuzz(DOORS[name](), chosen.cases, chosen.seed)
        seconds = time.perf_counter() - began
        refused = outcome.refused.total()
        others = chosen.cases - outcome.read - refused
        print(
            f"| {name} | {chosen.cases:,} | {outcome.read:,} | {refused:,} | {others:,} | {seconds:.0f} |", flush=True
        )
        for case, error in outcome.failed:
            print(f"    {error}: {case[:300]!r}")
        failed += others
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
