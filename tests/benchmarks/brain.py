"""Print what one tick of the brain costs, fed and read, and a start. Run: python -m tests.benchmarks.brain."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the bars are for one core

import time

import numpy as np

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from tests.support.markets import market

DAY = 288
START_BARS = 30 * DAY
AT_ONCE = DAY  # bars, as a start reads them
PEER_STEPS = 100


def main() -> None:
    """Measure and print; every figure with its bar and a peer of fixed work in the same run."""
    print("| figure | median | 99th percentile | bar, 99th percentile |\n|---|---|---|---|")
    for assets, warm, ticks, bar in ((7, 8 * DAY, 3000, "<= 5 ms"), (1000, DAY, 60, "<= 60 ms")):
        fed, whole, peer, state = _ticks(assets, warm, ticks)
        print(f"| {assets} assets, bar fed | {_cell(fed)} | |")
        print(f"| {assets} assets, bar fed and reading made | {_cell(whole)} | {bar} |")
        print(f"| peer: {PEER_STEPS} steps of an EWMA over seven columns | {_cell(peer)} | |")
        ratios = (np.percentile(whole, share) / np.percentile(peer, share) for share in (50, 99))
        print(f"| {assets} assets, fed and read, over the peer | {' | '.join(f'{r:.1f} x' for r in ratios)} | |")
        print(f"| {assets} assets, state | {state / 1000:.1f} kB | | {'<= 200 kB' if assets == 7 else ''} |")

    print(f"| {START_BARS:,} bars of 7 assets replayed at a start | {_replayed():.2f} CPU s | | 2 CPU s |")


def _replayed() -> float:
    """Return the seconds of processor time in which the brain reads the history of a start."""
    names = tuple("ABCDEFG")
    frame = market(START_BARS, assets=names)
    engine = Engine(Weights.load(), names)
    began = time.thread_time()
    for row in range(0, START_BARS, AT_ONCE):
        engine.advance(frame.rows(row, row + AT_ONCE))
    return time.thread_time() - began


def _peer(levels: np.ndarray, values: np.ndarray) -> None:
    """Do a fixed amount of small-array work: its cost shows how fast the machine is at this moment."""
    for _ in range(PEER_STEPS):
        levels += (values - levels) * 0.01


def _ticks(assets: int, warm: int, ticks: int) -> tuple[list[float], list[float], list[float], int]:
    """Return seconds of processor time for each tick, of feeding, of all and of the peer, and the bytes of state."""
    names = tuple(f"A{number}" for number in range(assets))
    frame = market(warm + ticks, assets=names)
    engine = Engine(Weights.load(), names)
    engine.advance(frame.rows(0, warm))
    fed, whole, peer = [], [], []
    levels, values = np.zeros((8, 7)), np.ones((8, 7))
    for row in range(warm, warm + ticks):
        one = frame.rows(row, row + 1)
        began = time.thread_time()  # of this thread: other programs on the machine do not count
        engine.advance(one)
        middle = time.thread_time()
        engine.reading()
        fed.append(middle - began)
        ended = time.thread_time()
        whole.append(ended - began)
        _peer(levels, values)
        peer.append(time.thread_time() - ended)
    return fed, whole, peer, len(engine.dump())


def _cell(seconds: list[float]) -> str:
    middle, worst = np.percentile(seconds, (50, 99)) * 1000
    return f"{middle:.2f} ms | {worst:.2f} ms"


if __name__ == "__main__":
    main()
