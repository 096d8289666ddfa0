"""Hold every sentence to the table of contradictions: `python -m tests.contradictions --candles DIR --seeds 1-10`."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from generator.catalog.assets import ASSETS
from generator.lab.__main__ import span_of
from generator.lab.evaluate import read_candles
from generator.market.bars import BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording
from generator.market.simulated.market import SimulatedMarket
from tests.contradictions.sweep import sweep, sweep_hourly

START_MS = 1_795_132_800_000  # 2026-11-20T00:00:00Z
DAY_MS = 86_400_000


def main(
    *,
    candles: Annotated[
        list[Path] | None, typer.Option(help="A folder of candles of 5 or 60 minutes; may be repeated.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="FIRST-LAST of the simulated market; empty: none.")] = "1-10",
    days: Annotated[int, typer.Option(help="Of each simulated market.")] = 14,
    every: Annotated[int, typer.Option(help="Look at each so many bars.")] = 1,
    bodies: Annotated[
        int, typer.Option(help="Drawn moments of each market at which whole bodies and a page are checked.")
    ] = 50,
) -> None:
    """Print what was read and each contradiction found; 1 if there is any."""
    wrong = 0
    for name, frame in _markets(candles or [], seeds, days):
        began = time.monotonic()
        hourly = frame.interval_ms != BAR_MS
        found = sweep_hourly(frame) if hourly else sweep(frame, every=every, bodies=bodies)
        wrong += found.rows.total()
        print(
            f"{name}: {found.bars} bars, {found.texts} texts, {found.bodies} whole ticks: "
            f"{found.rows.total()} contradictions ({time.monotonic() - began:.0f} s)",
            flush=True,
        )
        for row, count in found.rows.most_common():
            print(f"  {count} x {row}; first: {found.examples[row]}")
    sys.exit(wrong > 0)


def _markets(candles: list[Path], seeds: str, days: int) -> list[tuple[str, BarFrame]]:
    known = []
    for folder in candles:
        frame = load_recording([folder], ASSETS).frame
        known.append((folder.name, read_candles(folder) if frame.interval_ms == BAR_MS else frame))
    made = [
        (f"simulated, seed {seed}", SimulatedMarket(seed).bars(START_MS, START_MS + days * DAY_MS))
        for seed in (span_of(seeds) if seeds else ())
    ]
    assert all(frame.assets == ASSETS for _, frame in made)
    return [*known, *made]


if __name__ == "__main__":
    typer.run(main)
