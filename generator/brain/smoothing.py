"""Running means, ages and latches over a block of bars, each bar from the ones before it alone.

Exponentially weighted means start as plain means, so that they are unbiased from the first value. Bars are the first
axis, or the second after the axis of `k` half-lives.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

HOUR_BARS = HOUR_MS // BAR_MS
DAY_BARS = 24 * HOUR_BARS
Flags = npt.NDArray[np.bool_]


def rates(half_lives_bars: Sequence[float], dimensions: int) -> FloatArray:
    """Return the weight of a new value for each half-life, shaped to broadcast over `dimensions` more axes.

    >>> rates((1, 2), dimensions=1).round(3).tolist()
    [[0.5], [0.293]]
    """
    alpha = 1.0 - 0.5 ** (1.0 / np.asarray(half_lives_bars, dtype=np.float64))
    return alpha.reshape((-1,) + (1,) * dimensions)


def series(many: int, like: FloatArray) -> FloatArray:
    """Return room for `many` values of each bar and column of `like`, (many, n, ..., columns), bar by bar in memory."""
    bars, *columns = like.shape
    return np.empty((bars, many, *columns)).swapaxes(0, 1)


def follow(start: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Turn the values of a block into running means, in place, and return them.

    >>> values = np.array([[[4.0], [8.0]]])
    >>> follow(start=np.array([[2.0]]), values=values, weights=np.full((1, 2, 1), 0.5)).tolist()
    [[[3.0], [5.5]]]

    Args:
        start: the means before, (k, ..., columns).
        values: finite, (k, n, ..., columns).
        weights: of each value, likewise; 0 leaves the mean as it was.
    """
    mean = start
    for bar, weight in zip(values.swapaxes(0, 1), weights.swapaxes(0, 1), strict=True):
        np.subtract(bar, mean, out=bar)
        np.multiply(bar, weight, out=bar)
        np.add(bar, mean, out=bar)
        mean = bar
    return values


def followed(
    starts: tuple[FloatArray, ...], values: FloatArray, weights: tuple[FloatArray, ...]
) -> tuple[FloatArray, ...]:
    """Turn the values of several groups of means into running means, in place, in one go; as `follow` for each.

    >>> values = np.array([[[4.0], [8.0]], [[1.0], [1.0]]])
    >>> halves = np.full((1, 2, 1), 0.5)
    >>> first, second = followed((np.array([[2.0]]), np.array([[0.0]])), values, (halves, halves))
    >>> first.tolist(), second.tolist()
    ([[[3.0], [5.5]]], [[[0.5], [0.75]]])

    Args:
        starts: the means of each group before, (k, ..., columns).
        values: of all groups, one after the other, (all k, n, ..., columns).
        weights: of each group, (k, n, ..., columns).
    """
    follow(np.concatenate(starts), values, np.concatenate(weights))
    ends = np.add.accumulate([len(start) for start in starts]).tolist()
    return tuple(values[end - len(start) : end] for start, end in zip(starts, ends, strict=True))


class Pace:
    """How far running means move at each bar of a block: never less than a plain mean of what was seen would.

    >>> pace = Pace(count=np.array([[1.0], [2.0], [3.0]]), seen=np.ones((3, 1)))
    >>> pace.follow(np.zeros((1, 1)), np.array([[[4.0], [2.0], [8.0]]]), alpha=rates((1,), 2)).ravel().tolist()
    [4.0, 3.0, 5.5]
    """

    def __init__(self, count: FloatArray, seen: FloatArray) -> None:
        """Take how many values each column has seen with each bar's, and 1.0 where that counts, else 0.0."""
        self._first = 1.0 / np.maximum(count, 1.0)
        self._seen = seen

    def weights(self, alpha: FloatArray) -> FloatArray:
        """Return the weight of each value, (k, n, ..., columns); `alpha` is from `rates`."""
        out = series(len(alpha), self._first)
        np.maximum(alpha, self._first, out=out)
        out *= self._seen
        return out

    def follow(self, start: FloatArray, values: FloatArray, alpha: FloatArray) -> FloatArray:
        """Turn `values`, (k, n, ..., columns), into running means, in place, and return them."""
        return follow(start, values, self.weights(alpha))


def faded(start: FloatArray, keep: FloatArray, added: FloatArray) -> FloatArray:
    """Return fading sums before the first event and after each, (m + 1, ...).

    >>> faded(np.array([8.0]), keep=np.array([[0.5], [1.0]]), added=np.array([[1.0], [0.0]])).ravel().tolist()
    [8.0, 5.0, 5.0]

    Args:
        start: the sums before, (...).
        keep: what is kept of them at each event, to broadcast to (m, ...).
        added: at each event, (m, ...).
    """
    out = np.empty((len(added) + 1, *start.shape))
    out[0] = start
    for event, kept in enumerate(np.broadcast_to(keep, added.shape)):
        np.multiply(out[event], kept, out=out[event + 1])
        out[event + 1] += added[event]
    return out


def counted(start: FloatArray, seen: Flags | FloatArray) -> FloatArray:
    """Return how many values were seen up to each bar.

    >>> counted(np.array([5.0]), np.array([[True], [False], [True]])).ravel().tolist()
    [6.0, 6.0, 7.0]
    """
    out: FloatArray = start + np.add.accumulate(seen, axis=0, dtype=np.float64)
    return out


def before(start: FloatArray, values: FloatArray) -> FloatArray:
    """Return what the values were one bar earlier.

    >>> before(np.array([0.0]), np.array([[1.0], [2.0]])).ravel().tolist()
    [0.0, 1.0]
    """
    return np.concatenate((start[None], values[:-1]))


def carried(start: FloatArray, values: FloatArray, known: Flags) -> FloatArray:
    """Return the last known value at each bar.

    >>> carried(np.array([7.0]), np.array([[1.0], [2.0], [3.0]]), np.array([[False], [True], [False]])).ravel().tolist()
    [7.0, 2.0, 2.0]
    """
    if known.all():
        return values
    if len(values) == 1:
        return np.where(known, values, start)
    bars = np.arange(1, len(values) + 1).reshape((-1,) + (1,) * (values.ndim - 1))
    last = np.maximum.accumulate(np.where(known, bars, 0), axis=0)
    return np.take_along_axis(np.concatenate((start[None], values)), last, axis=0)


def ages(start: FloatArray, seen: Flags, steps: FloatArray) -> FloatArray:
    """Return how many bars ago each column was last seen; bars that never came count too.

    >>> ages(np.array([4.0]), np.array([[False], [True], [False]]), steps=np.array([1.0, 1.0, 3.0])).ravel().tolist()
    [5.0, 0.0, 3.0]

    Args:
        start: the ages before, (..., columns).
        seen: (n, ..., columns).
        steps: bars from each to the one before, 1 without a gap, (n,).
    """
    now = np.add.accumulate(steps).reshape((-1,) + (1,) * start.ndim)
    out: FloatArray = now - np.maximum.accumulate(np.where(seen, now, -start), axis=0)
    return out


def runs(start: FloatArray, longer: Flags, ended: Flags) -> FloatArray:
    """Return how many bars in a row were counted, since the last that ended a row; others change nothing.

    >>> longer, ended = np.array([[[True], [False], [True]], [[False], [True], [False]]])
    >>> runs(np.array([2.0]), longer, ended).ravel().tolist()
    [3.0, 0.0, 1.0]
    """
    total = np.add.accumulate(longer, axis=0, dtype=np.float64)
    out: FloatArray = total - np.maximum.accumulate(np.where(ended, total, -start), axis=0)
    return out


def latched(start: Flags, enter: Flags, stay: Flags) -> Flags:
    """Return what is on at each bar: entered, or on before and allowed to stay.

    >>> enter, stay = np.array([[[False], [True], [False], [False]], [[True], [True], [True], [False]]])
    >>> latched(np.array([False]), enter, stay).ravel().tolist()
    [False, True, True, False]
    """
    if len(enter) == 1:
        return enter | (start & stay)
    bars = np.arange(1, len(enter) + 1).reshape((-1,) + (1,) * start.ndim)
    entered = np.maximum.accumulate(np.where(enter, bars, np.where(start, 0, -1)), axis=0)
    left = np.maximum.accumulate(np.where(enter | stay, -1, bars), axis=0)
    out: Flags = entered > left
    return out


def hysteresis(word: FloatArray, score: FloatArray, enter: float | FloatArray, leave: float | FloatArray) -> FloatArray:
    """Return -1, 0 or 1 at each bar: a side is entered from `enter` on, and left below `leave`.

    >>> score = np.array([0.8, 1.2, 0.8, -0.8, -1.5, 0.4])
    >>> hysteresis(np.array([0.0]), score[:, None], enter=1.2, leave=0.7).ravel().tolist()
    [0.0, 1.0, 1.0, 0.0, -1.0, 0.0]

    Args:
        word: before the first bar, (columns,).
        score: (n, columns).
        enter, leave: sizes above 0, of all or (n, columns).
    """
    up = latched(word > 0.0, score >= enter, score >= leave)
    down = latched(word < 0.0, -score >= enter, -score >= leave)
    return up.astype(np.float64) - down


def totals(flags: Flags) -> FloatArray:
    """Return how many of the rows are true, (..., rows, columns): a product, five times as fast as counting.

    >>> totals(np.array([[True, False], [True, True]])).tolist()
    [2.0, 1.0]
    """
    ones = np.ones(flags.shape[-2], dtype=np.float32)  # whole numbers are exact in it far beyond any week's rows
    return (ones @ flags.astype(np.float32)).astype(np.float64)


def clipped(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return the values held within limits; several times as fast as numpy's own on small arrays.

    >>> clipped(np.array([-2.0, 0.5, 2.0]), -1.0, 1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    out: FloatArray = np.minimum(np.maximum(values, low), high)
    return out
