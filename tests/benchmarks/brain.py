"""Print what one tick of the brain costs, fed and read. Run: python -m tests.benchmarks.brain."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the bars are for one core

import time

import numpy as np

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from tests.brain.markets import market

DAY = 288


def main() -> None:
    """Measure and print; every figure beside its bar."""
    print("| figure | median | 99th percentile | bar, 99th percentile |\n|---|---|---|---|")
    for assets, warm, ticks, bar in ((7, 8 * DAY, 3000, "<= 1 ms"), (1000, DAY, 60, "<= 60 ms")):
        fed, whole, state = _ticks(assets, warm, ticks)
        print(f"| {assets} assets, bar fed | {_cell(fed)} | |")
        print(f"| {assets} assets, bar fed and reading made | {_cell(whole)} | {bar} |")
        print(f"| {assets} assets, state | {state / 1000:.1f} kB | | {'<= 10 kB' if assets == 7 else ''} |")


def _ticks(assets: int, warm: int, ticks: int) -> tuple[list[float], list[float], int]:
    """Return seconds of processor time for each tick, of feeding and of all, and the bytes of state."""
    names = tuple(f"A{number}" for number in range(assets))
    frame = market(warm + ticks, assets=names)
    engine = Engine(Weights.load(), names)
    engine.advance(frame.rows(0, warm))
    fed, whole = [], []
    for row in range(warm, warm + ticks):
        one = frame.rows(row, row + 1)
        began = time.thread_time()  # of this thread: other programs on the machine do not count
        engine.advance(one)
        middle = time.thread_time()
        engine.reading()
        fed.append(middle - began)
        whole.append(time.thread_time() - began)
    return fed, whole, len(engine.dump())


def _cell(seconds: list[float]) -> str:
    middle, worst = np.percentile(seconds, (50, 99)) * 1000
    return f"{middle:.2f} ms | {worst:.2f} ms"


if __name__ == "__main__":
    main()
