"""Tick with a poisoned inbox and a hostile indexer: python -m tests.doors.ticks [--ticks N] [--seed N].

Before each tick the inbox gets all files of `poison`, and each answer of the indexer is another draw. Prints how many
ticks published a release and why ballots were refused; exit code 1 where a release was missed or a ballot quarantined.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import structlog

from generator.runtime.tick import tick
from tests.doors.poison import named_files, poison, use_poisoned_sources
from tests.support.clock import ManualClock
from tests.support.services import MINUTE, opened

ROUND = "BTC-20261120-130000"


async def play(state: Path, ticks: int, seed: int) -> tuple[Counter[str], Mapping[str, int], int]:
    """Return what the ticks came to, the refusals by reason, and how many ballots were quarantined."""
    clock = ManualClock()
    outcomes: Counter[str] = Counter()
    files = named_files(ROUND)
    async with opened(state, clock) as app:
        inbox = use_poisoned_sources(app, seed)
        for _ in range(ticks):
            poison(inbox, files)
            try:
                await tick(app, clock.now())
            except Exception as error:  # noqa: BLE001  what is looked for
                outcomes[f"{type(error).__name__}: {error}"] += 1
            else:
                outcomes["published"] += 1
            clock.step(MINUTE)

        left = [path.name for path in inbox.iterdir() if not path.is_dir() and not path.name.startswith(".")]
        outcomes.update({f"left in the inbox: {name!r}": 1 for name in left})
        return outcomes, app.record.box.refused, app.record.box.quarantined


def main() -> int:
    """Play them and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.doors.ticks")
    parser.add_argument("--ticks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

    with tempfile.TemporaryDirectory() as folder:
        outcomes, refused, quarantined = asyncio.run(play(Path(folder), chosen.ticks, chosen.seed))
    for outcome, number in outcomes.items():
        print(f"{number:6} {outcome}")
    reasons = {reason: number for reason, number in refused.items() if number}
    print(f"refused, by reason: {reasons}; quarantined: {quarantined}")
    return 0 if outcomes == {"published": chosen.ticks} and not quarantined else 1


if __name__ == "__main__":
    sys.exit(main())
