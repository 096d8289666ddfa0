"""The last week in quarter hours: closes, highs, lows, volume and realised variance of each asset, as they were traded.

Everything that a sentence says of the past (the day's change, its highs and lows, a usual day, volume against its week)
is read from here, so that anyone can recompute it from the candles.
"""

from typing import ClassVar, Final

import numpy as np

from generator.market.bars import BAR_MS, FloatArray

QUARTER_MS: Final = 900_000
DAY: Final = 96  # quarter hours
WEEK: Final = 7 * DAY
_FIELDS: Final = 5
CLOSE, HIGH, LOW, VOLUME, VARIANCE = range(_FIELDS)
_ROWS: Final = WEEK + 1  # a week that is over, and the present quarter hour


class Week:
    """A ring of quarter hours; `quarters` is (field, rows, assets), NaN where nothing was traded."""

    STATE: ClassVar[tuple[str, ...]] = ("quarters", "number")

    def __init__(self, assets: int) -> None:
        """Start empty."""
        self.quarters = np.full((_FIELDS, _ROWS, assets), np.nan)
        self.number = np.full(_ROWS, -1.0)  # of the quarter hour that each row holds, since 1970

    def update(self, t_ms: int, log_close: FloatArray, top: FloatArray, bottom: FloatArray, more: FloatArray) -> None:
        """Take one bar.

        Args:
            t_ms: open time.
            log_close, top, bottom: log of close, high and low, (assets,), NaN where unknown.
            more: volume and realised variance, (2, assets), NaN where unknown.
        """
        number = t_ms // QUARTER_MS
        at = number % _ROWS
        row = self.quarters[:, at]
        if self.number[at] != number:
            self.number[at] = float(number)
            row[:] = np.nan

        row[CLOSE] = np.where(np.isfinite(log_close), log_close, row[CLOSE])
        row[HIGH] = np.fmax(row[HIGH], top)
        row[LOW] = np.fmin(row[LOW], bottom)
        total = np.nan_to_num(row[VOLUME:]) + more
        row[VOLUME:] = np.where(np.isfinite(more), total, row[VOLUME:])
        # Single precision is what is kept, so that the state is small and a restart cannot differ.
        row[:] = row.astype(np.float32)

    def last(self, end: int, count: int, field: int) -> FloatArray:
        """Return the quarter hours up to the one numbered `end`, (count, assets), oldest first, NaN where unknown.

        Args:
            count: how many, at most a week's.
            field: CLOSE, HIGH, LOW, VOLUME or VARIANCE.
        """
        numbers = np.arange(end - count + 1, end + 1)
        rows = numbers % _ROWS
        values: FloatArray = self.quarters[field].take(rows, axis=0)
        values[self.number[rows] != numbers] = np.nan
        return values


def quarter_is_over(t_ms: int) -> bool:
    """Say whether the bar opened at `t_ms` is the last of its quarter hour.

    >>> [quarter_is_over(minute * 60_000) for minute in (0, 5, 10)]
    [False, False, True]
    """
    return (t_ms + BAR_MS) % QUARTER_MS == 0


def last_closed(t_ms: int) -> int:
    """Return the number, since 1970, of the last quarter hour that is over after the bar opened at `t_ms`.

    >>> [last_closed(minute * 60_000) for minute in (5, 10, 15)]
    [-1, 0, 0]
    """
    return (t_ms + BAR_MS) // QUARTER_MS - 1
