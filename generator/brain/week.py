"""The last week in quarter hours: closes, highs, lows, volume and realised variance of each asset, as they were traded.

Everything that a sentence says of the past (the day's change, its highs and lows, a usual day, volume against its week)
is read from here, so that anyone can recompute it from the candles.
"""

import math
from typing import Final

import numpy as np

from generator.market.bars import BAR_MS, FloatArray

QUARTER_MS: Final = 900_000
DAY: Final = 96  # quarter hours
WEEK: Final = 7 * DAY
CLOSE, HIGH, LOW, VOLUME, VARIANCE = range(5)
_FIELDS: Final = 5


class Week:
    """A ring of quarter hours; rows of `quarters` are (field, WEEK, assets), NaN where nothing was traded."""

    def __init__(self, assets: int) -> None:
        """Start empty."""
        self.quarters = np.full((_FIELDS, WEEK, assets), np.nan)
        self.number = np.full(WEEK, -1.0)  # of the quarter hour that each row holds, since 1970

    def update(self, t_ms: int, log_close: FloatArray, top: FloatArray, bottom: FloatArray, more: FloatArray) -> None:
        """Take one bar.

        Args:
            t_ms: open time.
            log_close, top, bottom: log of close, high and low, (assets,), NaN where unknown.
            more: volume and realised variance, (2, assets), NaN where unknown.
        """
        number = t_ms // QUARTER_MS
        at = number % WEEK
        row = self.quarters[:, at]
        if self.number[at] != number:
            self.number[at] = float(number)
            row[:] = np.nan
        row[CLOSE] = np.where(np.isfinite(log_close), log_close, row[CLOSE])
        row[HIGH], row[LOW] = np.fmax(row[HIGH], top), np.fmin(row[LOW], bottom)
        row[VOLUME:] = np.where(np.isfinite(more), np.nan_to_num(row[VOLUME:]) + more, row[VOLUME:])
        # Single precision is what is kept, so that the state is small and a restart cannot differ.
        row[:] = row.astype(np.float32)

    def last(self, t_ms: int, count: int, field: int, *, before: int = 0) -> FloatArray:
        """Return the quarter hours up to the one that the bar at `t_ms` closed or is in, (count, assets), oldest first.

        Args:
            t_ms: open time of the last bar.
            count: how many, at most a week's.
            field: CLOSE, HIGH, LOW, VOLUME or VARIANCE.
            before: leave out so many of the latest.
        """
        end = t_ms // QUARTER_MS - before
        numbers = np.arange(end - count + 1, end + 1)
        rows = numbers % WEEK
        return np.where((self.number[rows] == numbers)[:, None], self.quarters[field][rows], np.nan)


BAND: Final = 0.4307 * 1.4826  # a third of a normal distribution, from the median size of its moves
_FEWEST: Final = DAY // 2 - 8  # moves


class Bands:
    """The neutral bands of all assets from the week's moves, renewed each quarter hour."""

    def __init__(self, week: Week) -> None:
        """Start with an empty week."""
        self._week = week
        self._at = -1
        self._known: dict[int, FloatArray] = {}

    def of(self, t_ms: int, minutes: int) -> FloatArray:
        """Return 0.4307 x 1.4826 x the median size of a week's log moves over so many minutes, NaN where unknown.

        Between multiples of a quarter hour it lies on the square root of time.
        """
        before = int(not quarter_is_over(t_ms))
        number = t_ms // QUARTER_MS - before
        if number != self._at:
            self._at, self._known = number, {}
        quarters, more = divmod(minutes, 15)
        low = self._of(t_ms, before, quarters)
        if not more:
            return low
        share = (math.sqrt(minutes) - math.sqrt(15 * quarters)) / (
            math.sqrt(15 * quarters + 15) - math.sqrt(15 * quarters)
        )
        out: FloatArray = (1.0 - share) * low + share * self._of(t_ms, before, quarters + 1)
        return out

    def _of(self, t_ms: int, before: int, quarters: int) -> FloatArray:
        if quarters not in self._known:
            closes = self._week.last(t_ms, WEEK, CLOSE, before=before)
            moves = np.abs(closes[quarters:] - closes[:-quarters])
            seen = np.count_nonzero(np.isfinite(moves), axis=0)
            half = np.maximum(seen - 1, 0) // 2
            sizes = np.partition(np.where(np.isfinite(moves), moves, np.inf), np.unique(half), axis=0)
            middle = sizes[half, np.arange(len(half))]
            self._known[quarters] = np.where((seen >= _FEWEST) & (middle > 0.0), BAND * middle, np.nan)
        return self._known[quarters]


def quarter_is_over(t_ms: int) -> bool:
    """Say whether the bar opened at `t_ms` is the last of its quarter hour."""
    return (t_ms + BAR_MS) % QUARTER_MS == 0
