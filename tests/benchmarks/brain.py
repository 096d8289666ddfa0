"""Print what one tick of the brain costs, fed and read, and a start. Run: python -m tests.benchmarks.brain."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the bars are for one core

import time
from typing import Final, NamedTuple

import numpy as np

from generator.brain.engine import Engine
from generator.brain.packing import packed
from generator.brain.weights import Weights
from generator.market.bars import BARS_A_DAY
from tests.support.markets import market

START_BARS: Final = 30 * BARS_A_DAY
AT_ONCE: Final = BARS_A_DAY  # bars, as a start reads them
STARTS: Final = 3
PEER_STEPS: Final = 100
SHARES: Final = (50, 99)  # percentiles
HOURLY: Final = "hours"  # the tables by the hour of a year


class Ticks(NamedTuple):
    """Milliseconds of processor time of each tick."""

    fed: list[float]
    read: list[float]  # the market's reading
    asked: list[float]  # and every asset's, as a tick asks for them
    peer: list[float]


def main() -> None:
    """Measure and print; every figure with its bar and a peer of fixed work in the same run."""
    print("| figure, milliseconds of processor time | median | 99th percentile | bar |\n|---|---|---|---|")
    for assets, warm, ticks, bar in ((7, 8 * BARS_A_DAY, 2000, "2, 3.5"), (1000, BARS_A_DAY, 60, "25")):
        found = _ticks(assets, warm, ticks)
        read = np.add(found.fed, found.read)
        whole = np.add(read, found.asked)
        print(f"| {assets:,} assets: a bar fed | {_cells(found.fed)} | |")
        print(f"| the market read | {_cells(found.read)} | |")
        print(f"| every asset read | {_cells(found.asked)} | |")
        print(f"| fed, and the market read | {_cells(read)} | |")
        print(f"| fed, and all read, as a tick does | {_cells(whole)} | {bar} |")
        print(f"| peer: {PEER_STEPS} steps of an EWMA over seven columns | {_cells(found.peer)} | |")
        ratios = (np.percentile(whole, share) / np.percentile(found.peer, share) for share in SHARES)
        print(f"| fed and all read, over the peer | {' | '.join(f'{ratio:.1f} x' for ratio in ratios)} | |")

    seconds, engine = _replayed()
    print(f"| {START_BARS:,} bars of 7 assets replayed at a start, CPU s | {seconds:.2f} | | 1 |")
    print(_state_row(engine))


def _replayed() -> tuple[float, Engine]:
    """Return the median of the seconds of processor time in which a brain reads the history of a start, and it."""
    names = tuple("ABCDEFG")
    frame = market(START_BARS, assets=names)
    engine = Engine(Weights.load(), names)
    seconds = []
    for _ in range(STARTS):
        engine = Engine(Weights.load(), names)
        began = time.thread_time()
        for row in range(0, START_BARS, AT_ONCE):
            engine.advance(frame.rows(row, row + AT_ONCE))
        seconds.append(time.thread_time() - began)
    return float(np.median(seconds)), engine


def _state_row(engine: Engine) -> str:
    """Return the row of the size of the state, and of what of it is not a table by the hour of a year."""
    rest = packed({}, [array for _, name, array in engine.arrays() if name != HOURLY])
    whole = engine.dump()
    return f"| its state, kB; without the hourly tables | {len(whole) / 1000:.0f}; {len(rest) / 1000:.0f} | | 150 |"


def _peer(levels: np.ndarray, values: np.ndarray) -> None:
    """Do a fixed amount of small-array work: its cost shows how fast the machine is at this moment."""
    for _ in range(PEER_STEPS):
        levels += (values - levels) * 0.01


def _ticks(assets: int, warm: int, ticks: int) -> Ticks:
    """Return what each tick costs."""
    names = tuple(f"A{number}" for number in range(assets))
    frame = market(warm + ticks, assets=names)
    engine = Engine(Weights.load(), names)
    engine.advance(frame.rows(0, warm))
    found = Ticks([], [], [], [])
    levels, values = np.zeros((8, 7)), np.ones((8, 7))

    for row in range(warm, warm + ticks):
        one = frame.rows(row, row + 1)
        times = [time.thread_time()]  # of this thread: other programs on the machine do not count
        engine.advance(one)
        times.append(time.thread_time())
        reading = engine.reading()
        times.append(time.thread_time())
        for _ in reading.assets.values() if reading else ():
            pass
        times.append(time.thread_time())
        _peer(levels, values)
        times.append(time.thread_time())
        for column, step in zip(found, np.diff(times), strict=True):
            column.append(1000.0 * float(step))
    return found


def _cells(milliseconds: list[float] | np.ndarray) -> str:
    return " | ".join(f"{value:.2f}" for value in np.percentile(milliseconds, SHARES))


if __name__ == "__main__":
    main()
