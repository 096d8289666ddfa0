"""Exponentially weighted means that start as plain means, so that they are unbiased from the first value."""

from collections.abc import Sequence

import numpy as np

from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

HOUR_BARS = HOUR_MS // BAR_MS
DAY_BARS = 24 * HOUR_BARS


def rates(half_lives_bars: Sequence[float], dimensions: int) -> FloatArray:
    """Return the weight of a new value for each half-life, shaped to broadcast over `dimensions` more axes.

    >>> rates((1, 2), dimensions=1).round(3).tolist()
    [[0.5], [0.293]]
    """
    alpha = 1.0 - 0.5 ** (1.0 / np.asarray(half_lives_bars, dtype=np.float64))
    return alpha.reshape((-1,) + (1,) * dimensions)


class Pace:
    """How far running means move at one bar: never less than a plain mean of what was seen would.

    >>> level = np.zeros((1, 1))
    >>> for count, value in enumerate((4.0, 2.0, 8.0), start=1):
    ...     pace = Pace(count=np.array([float(count)]), seen=np.array([1.0]))
    ...     pace.step(level, np.array([[value]]), alpha=rates((1,), 1))
    ...     print(level.tolist())
    [[4.0]]
    [[3.0]]
    [[5.5]]
    """

    def __init__(self, count: FloatArray, seen: FloatArray) -> None:
        """Take how many values each column has seen with this one, and 1.0 where this bar's counts, else 0.0."""
        self._first = 1.0 / np.maximum(count, 1.0)
        self._seen = seen

    def step(self, levels: FloatArray, values: FloatArray, alpha: FloatArray) -> None:
        """Move `levels`, (k, ..., columns), in place towards finite `values`; `alpha` is from `rates`."""
        levels += (values - levels) * (np.maximum(alpha, self._first) * self._seen)


def clipped(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return the values held within limits; several times as fast as numpy's own on small arrays.

    >>> clipped(np.array([-2.0, 0.5, 2.0]), -1.0, 1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    out: FloatArray = np.minimum(np.maximum(values, low), high)
    return out
