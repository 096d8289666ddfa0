"""Command line of the training: `python -m generator.brain.training train|evaluate`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from generator.brain.training.evaluate import evaluate
from generator.brain.training.train import train
from generator.brain.weights import PACKAGED


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; None reads the process's arguments."""
    parser = argparse.ArgumentParser(prog="python -m generator.brain.training", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("train", help="simulate, fit and write the weights")
    fit.add_argument("--out", type=Path, default=PACKAGED)
    score = commands.add_parser(
        "evaluate", help="score the packaged weights on fresh simulated markets and real candles"
    )
    score.add_argument("--seeds", default="50001-50006", help="FIRST-LAST, outside 1000-1999")
    score.add_argument("--candles", type=Path, help="a folder of 5-minute candles, one PAIR.csv.gz each")
    chosen = parser.parse_args(arguments)
    if chosen.command == "train":
        body = train(chosen.out, _show)
        sys.stdout.write(f"\nwrote {chosen.out} {body['digest']}\n")
        return
    first, last = (int(part) for part in chosen.seeds.split("-"))
    if first < 2000 and last >= 1000:
        parser.error("seeds 1000-1999 are for training; choose others")
    sys.stdout.write(evaluate(range(first, last + 1), chosen.candles, _show))


def _show(done: int, total: int) -> None:
    """Show progress on one line."""
    sys.stderr.write(f"\rday {done + 1} of {total}")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
