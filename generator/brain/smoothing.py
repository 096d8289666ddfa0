"""Exponentially weighted means that start as plain means, so that they are unbiased from the first value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generator.market.values import BAR_MS, FloatArray

HOUR_BARS = 3_600_000 // BAR_MS
DAY_BARS = 24 * HOUR_BARS


def rates(half_lives_bars: Sequence[float], dimensions: int) -> FloatArray:
    """Return the weight of a new value for each half-life, shaped to broadcast over `dimensions` more axes."""
    alpha = 1.0 - 0.5 ** (1.0 / np.asarray(half_lives_bars, dtype=np.float64))
    return alpha.reshape((-1,) + (1,) * dimensions)


def step(levels: FloatArray, values: FloatArray, alpha: FloatArray, count: FloatArray, seen: FloatArray) -> None:
    """Move `levels` towards `values` in place where `seen` is 1.

    Args:
        levels: (k, ..., columns), changed in place.
        values: the same shape, finite.
        alpha: weight of a new value, from `rates`.
        count: values seen so far including this one, (..., columns), at least 1.
        seen: 1.0 where this value counts, else 0.0.
    """
    levels += (values - levels) * (np.maximum(alpha, 1.0 / count) * seen)


def clipped(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return the values held within limits; several times as fast as numpy's own on small arrays."""
    out: FloatArray = np.minimum(np.maximum(values, low), high)
    return out
