"""Intervals of measured figures by the block bootstrap."""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.market.bars import FloatArray

_DRAWS: Final = 200
Labels = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def resampled(
    measure: Callable[[npt.NDArray[np.int64]], float], size: int, block: int = 1, draws: int = _DRAWS
) -> tuple[float, float]:
    """Return the 95% interval of a measure over `size` cases by the block bootstrap (Kuensch 1989).

    Args:
        measure: gives the figure of some cases, drawn with replacement.
        size: how many cases there are, in the order of time.
        block: cases that are drawn together, since neighbours are alike.
        draws: how many figures the interval is read from.
    """
    if size == 1:  # every draw is this case
        figure = measure(np.zeros(1, np.int64))
        return figure, figure
    rng = np.random.default_rng(0)
    return interval_of(np.array([measure(draw(rng, size, block)[0]) for _ in range(draws)]))


def draw(rng: np.random.Generator, size: int, block: int, draws: int = 1) -> npt.NDArray[np.int64]:
    """Return the cases of some draws of the block bootstrap, a row each: all at once where there are few cases."""
    block = min(block, max(size // 2, 1))
    starts = rng.integers(0, size - block + 1, (draws, max(size // block, 1)))
    return (starts[..., None] + np.arange(block)).reshape(draws, -1)


def interval_of(figures: FloatArray) -> tuple[float, float]:
    """Return the 95% interval of the figures of many draws."""
    low, high = np.nanpercentile(np.asarray(figures), (2.5, 97.5))
    return float(low), float(high)
