"""Randomness that depends on (seed, stream, block) alone, and the processes made of it."""

from collections.abc import Callable
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.random import Generator

from generator.catalog.assets import ASSETS
from generator.market.bars import FloatArray
from generator.market.simulated.params import BLOCK_BARS

_DRAWN_TOGETHER: Final = 7  # assets in one draw; each later one is drawn alone, so that it changes no other
_SEAM_BARS: Final = 288  # each side of a block boundary
_TAIL_CAP: Final = 15.0  # a 5-minute scale never exceeds fifteen times its own; keeps years plausible


class Stream(IntEnum):
    """Independent sources of randomness of one market."""

    REGIME = 1
    LEVEL = 2
    NOISE = 3
    EXTREMES = 4
    JUMPS = 5
    VOLATILITY_SLOW = 6
    VOLATILITY_FAST = 7
    DEPTH = 8
    SPREAD = 9
    IMBALANCE = 10
    FUNDING = 11
    OPEN_INTEREST = 12
    VOLUME = 13
    LIQUIDATIONS = 14
    VENUES = 15
    EVENTS = 16
    VOLATILITY_WEEK = 17


def generator(seed: int, stream: Stream, index: int, part: int = 0, *more: int) -> Generator:
    """Make the generator of one block (or minute) of one stream; the same arguments give the same numbers."""
    return Generator(np.random.PCG64(np.random.SeedSequence((seed, int(stream), index, part, *more))))


class Draws:
    """Random numbers for every asset from one block (or minute) of one stream."""

    def __init__(self, seed: int, stream: Stream, index: int, part: int = 0, assets: int = len(ASSETS)) -> None:
        self.common = generator(seed, stream, index, part)
        self._alone = [generator(seed, stream, index, part, at) for at in range(_DRAWN_TOGETHER, assets)]

    def each(
        self,
        draw: Callable[[Generator, tuple[int, ...]], FloatArray],
        before: tuple[int, ...] = (),
        after: tuple[int, ...] = (),
        shared: int = 0,
    ) -> FloatArray:
        """Draw shape (*before, shared + assets, *after); what all have in common comes before the first asset."""
        first = draw(self.common, (*before, shared + _DRAWN_TOGETHER, *after))
        return np.concatenate([first, *(draw(one, (*before, 1, *after)) for one in self._alone)], axis=len(before))


def autoregress(shocks: FloatArray, memory: float) -> FloatArray:
    """Return y[t] = memory * y[t-1] + shocks[t] along axis 0, 0 < memory < 1, by doubling instead of a loop."""
    path = shocks.copy()
    power, step = memory, 1
    while step < len(path) and power > 1e-10:
        path[step:] += power * path[:-step]
        power *= power
        step *= 2
    return path


def _stationary(draws: Draws, bars: int, half_life_bars: float) -> FloatArray:
    memory = 0.5 ** (1.0 / half_life_bars)
    shocks = draws.each(Generator.standard_normal, (bars,), shared=1)
    shocks[1:] *= np.sqrt(1.0 - memory * memory)
    return autoregress(shocks, memory)


def ornstein_uhlenbeck(seed: int, stream: Stream, block: int, half_life_bars: float) -> FloatArray:
    """Return a unit-variance mean-reverting path over one block that joins its neighbours without a step.

       Each block has its own path and each boundary has one too; near a boundary the block's path fades into the
       boundary's with weights whose squares sum to 1, so the variance stays 1 and no earlier block is needed.
    The
       shape is (BLOCK_BARS, 1 + assets): a path that all share, then each its own.
    """
    path = _stationary(Draws(seed, stream, block), BLOCK_BARS, half_life_bars)
    fade = np.linspace(0.0, np.pi / 2.0, _SEAM_BARS + 1)[1:, None]
    left = _stationary(Draws(seed, stream, block, 1), 2 * _SEAM_BARS, half_life_bars)
    right = _stationary(Draws(seed, stream, block + 1, 1), 2 * _SEAM_BARS, half_life_bars)
    path[:_SEAM_BARS] = np.sin(fade) * path[:_SEAM_BARS] + np.cos(fade) * left[_SEAM_BARS:]
    path[-_SEAM_BARS:] = np.cos(fade) * path[-_SEAM_BARS:] + np.sin(fade) * right[:_SEAM_BARS]
    return path


def tail_scale(rng: Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return scales that turn unit normals into unit-variance Student t with five degrees of freedom."""
    scale: FloatArray = np.sqrt(3.0 / rng.chisquare(5.0, shape))
    return np.minimum(scale, _TAIL_CAP)
