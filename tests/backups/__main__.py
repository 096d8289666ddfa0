"""Back up a state of one day at random instants: `python -m tests.backups [--instants N] [--seed N]`.

Two processes write it meanwhile: one sells, one ticks. A quarter of the backups is left alone, a quarter is killed in
the middle, a quarter may write files of a random size at most, a quarter goes onto a file system of a random size (as
root; else those are limited too). Each backup verifies or is not there, and no verified one lacks a payment that was
settled before its cut. The exit code is 1 where that does not hold. About a second an instant.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.backups.instants import Instants, Tally, Way
from tests.backups.load import play, sell, start
from tests.decade.state import END, make

HOURS = 24


def main() -> int:
    """Run and print the table."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--instants", type=int, default=500)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    chosen = options.parse_args()
    print(f"seed {chosen.seed}", flush=True)

    with tempfile.TemporaryDirectory(prefix="backups-") as name:
        folder = Path(name)
        make(folder / "state", HOURS, lambda *_: None)
        tally = _under_load(folder, chosen.instants, chosen.seed)
    _print(tally)
    return 1 if tally.faults or tally.lost else 0


def _under_load(folder: Path, count: int, seed: int) -> Tally:
    state, journal = folder / "state", folder / "settled"
    journal.touch()
    writers = [start(sell, state / "payments.sqlite3", journal), start(play, state, END)]
    try:
        while not journal.read_text():
            time.sleep(0.05)
        full: Way = "full" if os.geteuid() == 0 else "limited"
        tally = Instants(state, journal, folder, seed).run(count, ("undisturbed", "killed", "limited", full))
        for writer in writers:
            if not writer.is_alive():
                tally.faults.append(f"{writer} ended with {writer.exitcode}")
        return tally
    finally:
        for writer in writers:
            writer.kill()
            writer.join()


def _print(tally: Tally) -> None:
    print("| way | instants | a backup is there |\n|---|---|---|")
    for way, tried in tally.tried.items():
        print(f"| {way} | {tried} | {tally.there[way]} |")
    total = sum(tally.there.values())
    print(f"verified {tally.verified} of {total}; payments before a cut {tally.payments}, lost {tally.lost}")
    for fault in tally.faults:
        print(f"FAULT {fault}")


if __name__ == "__main__":
    sys.exit(main())
