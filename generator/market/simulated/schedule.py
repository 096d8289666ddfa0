"""What rules the simulated market when: its regimes, how one passes into the next, and its crashes and rallies."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.random import Generator

from generator.catalog.durations import DAY_MINUTES
from generator.catalog.words import RegimeLabel
from generator.market.bars import FloatArray, IntArray
from generator.market.simulated import params
from generator.market.simulated.random import Draws, Stream, generator

FIRST_SEED: Final = 2026
SEEDS_TRIED: Final = 5_000
QUIET_SINCE_MINUTES: Final = 18 * 60
QUIET_UNTIL_MINUTES: Final = 3 * 60


@dataclass(frozen=True, slots=True)
class Schedule:
    """Regimes of one block."""

    starts: tuple[int, ...]  # minutes from the block's start at which a regime takes over; the first is 0
    labels: tuple[int, ...]  # index into REGIMES, one per start
    widths: tuple[int, ...]  # minutes that the passage from the regime before takes

    def at(self, minute: int) -> tuple[int, bool]:
        """Return the ruling regime at a minute of the block and whether it is still passing in."""
        index = bisect_right(self.starts, minute) - 1
        return self.labels[index], minute - self.starts[index] < self.widths[index]

    def minutes_by_regime(self) -> FloatArray:
        """Return how many minutes each regime rules, shape (4,)."""
        lengths = np.diff(np.array((*self.starts, params.BLOCK_MINUTES), dtype=np.float64))
        minutes = np.zeros(len(params.REGIMES))
        np.add.at(minutes, np.array(self.labels), lengths)
        return minutes


def _next_label(rng: np.random.Generator, current: int) -> int:
    weights = params.NEXT_WEIGHTS.copy()
    weights[current] = 0.0
    return int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))


@lru_cache(maxsize=256)
def _drawn(seed: int, block: int) -> Schedule:
    rng = generator(seed, Stream.REGIME, block)
    stationary = params.NEXT_WEIGHTS * (1.0 - params.NEXT_WEIGHTS)
    label = int(np.searchsorted(np.cumsum(stationary), rng.random() * stationary.sum(), side="right"))

    starts: list[int] = []
    labels: list[int] = []
    widths: list[int] = []
    minute = 0
    while minute == 0 or minute < params.BLOCK_MINUTES - params.DWELL_MIN_MINUTES:
        starts.append(minute)
        labels.append(label)
        widths.append(int(rng.integers(*params.TRANSITION_MINUTES, endpoint=True)))
        dwell = rng.gamma(params.DWELL_SHAPE, params.DWELL_HOURS * 60.0 / params.DWELL_SHAPE)
        minute += max(params.DWELL_MIN_MINUTES, int(dwell))
        label = _next_label(rng, label)

    return Schedule(tuple(starts), tuple(labels), tuple(widths))


def schedule(seed: int, block: int) -> Schedule:
    """Return a block's regimes: a semi-Markov chain with gamma dwell.

    No regime starts in the last two hours of a block, so that no passage is cut off by the boundary. A block that
    opens with the regime its predecessor closed with has no passage at its start.
    """
    drawn = _drawn(seed, block)
    if block > 0 and _drawn(seed, block - 1).labels[-1] != drawn.labels[0]:
        return drawn
    return Schedule(drawn.starts, drawn.labels, (0, *drawn.widths[1:]))


@dataclass(frozen=True, slots=True)
class Event:
    """A crash or a rally: `minutes` long from minute `start` of its block, `moves` the log move of each asset."""

    start: int
    minutes: int
    moves: FloatArray


@lru_cache(maxsize=256)
def events(seed: int, block: int) -> tuple[Event, ...]:
    """Return the crashes and rallies of a block, as many and as large of the one as of the other in the long run.

    None begins in the last day of a block, so that the rough hours after it are over at the boundary.
    """
    rng = generator(seed, Stream.EVENTS, block)
    drawn: list[Event] = []
    for side in (-1.0, 1.0):
        for _ in range(1 + int(rng.poisson(params.EVENTS_MORE))):
            size = min(params.EVENT_LEAST + rng.exponential(params.EVENT_MORE), params.EVENT_MOST)
            start = int(rng.integers(0, params.BLOCK_MINUTES - DAY_MINUTES))
            minutes = int(rng.integers(*params.EVENT_MINUTES, endpoint=True))
            draws = Draws(seed, Stream.EVENTS, block, 1 + len(drawn))
            own = 1.0 + params.EVENT_OWN_SD * draws.each(Generator.standard_normal)
            drawn.append(Event(start, minutes, side * size * params.BETA * own))
    return tuple(drawn)


def quiet_seed(minute: int) -> int:
    """Return the first seed from `FIRST_SEED` on whose market is quiet at a minute since 1970.

    Quiet is: a range has ruled for the last 18 hours and rules for the next 3, without a crash or a rally. Which market
    a start shows first is then no matter of luck, and no other market is made: the same seed gives the same prices
    whenever it is asked.
    """
    moments = range(minute - QUIET_SINCE_MINUTES, minute + QUIET_UNTIL_MINUTES + 1, params.DWELL_MIN_MINUTES // 2)
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS_TRIED):
        in_range = all(params.REGIMES[_ruling(seed, moment)] is RegimeLabel.RANGE for moment in moments)
        if in_range and not _is_sudden(seed, moments):
            return seed
    return FIRST_SEED


def _is_sudden(seed: int, minutes: range) -> bool:
    """Return whether a crash or a rally begins in a span of minutes since 1970."""
    blocks = {max(minute, 0) // params.BLOCK_MINUTES for minute in (minutes[0], minutes[-1])}
    begun = [block * params.BLOCK_MINUTES + event.start for block in blocks for event in events(seed, block)]
    return any(minutes[0] <= minute <= minutes[-1] for minute in begun)


def _ruling(seed: int, minute: int) -> int:
    block, rest = divmod(max(minute, 0), params.BLOCK_MINUTES)
    return schedule(seed, block).at(rest)[0]


def regime_mix(seed: int, block: int, lead_bars: int = 0) -> FloatArray:
    """Return the weight of each regime at each bar, shape (lead_bars + BLOCK_BARS, 4), the lead of the block before.

    Rows sum to 1. A passage is a smoothstep from the old regime.
    """
    now = schedule(seed, block)
    before = schedule(seed, max(block - 1, 0))
    shifted = tuple(start - params.BLOCK_MINUTES for start in before.starts)
    starts: IntArray = np.array((*shifted, *now.starts), dtype=np.int64)
    labels: IntArray = np.array((*before.labels, *now.labels), dtype=np.int64)
    widths: IntArray = np.array((*before.widths, *now.widths), dtype=np.int64)

    minutes = np.arange(-lead_bars, params.BLOCK_BARS) * params.BAR_MINUTES
    index = np.searchsorted(starts, minutes, side="right") - 1
    progress = np.clip((minutes - starts[index] + params.BAR_MINUTES) / np.maximum(widths[index], 1), 0.0, 1.0)
    entered = progress * progress * (3.0 - 2.0 * progress)

    mix = np.zeros((len(minutes), len(params.REGIMES)))
    rows = np.arange(len(minutes))
    mix[rows, labels[index]] = entered
    np.add.at(mix, (rows, labels[np.maximum(index - 1, 0)]), 1.0 - entered)
    return mix
