"""The last week in quarter hours: closes, highs, lows, volume and realised variance of each asset, as they were traded.

Everything that a sentence says of the past (the day's change, its highs and lows, a usual day, volume against its week)
is read from here, so that anyone can recompute it from the candles.
"""

from typing import ClassVar, Final, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from generator.brain.part import Part, Times
from generator.brain.smoothing import Flags
from generator.market.bars import BAR_MS, FloatArray

QUARTER_MS: Final = 900_000
DAY: Final = 96  # quarter hours
WEEK: Final = 7 * DAY
BARS: Final = QUARTER_MS // BAR_MS
"""Bars of a quarter hour."""
_FIELDS: Final = 6
CLOSE, HIGH, LOW, VOLUME, VARIANCE, COUNT = range(_FIELDS)
Single = npt.NDArray[np.float32]


class QuarterEnds(NamedTuple):
    """At which bars of a block a quarter hour ends, m of n: outcomes are learned there, and forecasts begin."""

    last_bars: Times  # (m,)
    so_far: Times  # how many there were up to each bar and with it, (n,)
    begun: Times  # number, since 1970, of the quarter hour in which each bar closes, or that begins then, (n,)

    @classmethod
    def of(cls, t_ms: Times) -> "QuarterEnds":
        """Return those of bars opened at `t_ms`."""
        is_over = quarter_is_over(t_ms)
        so_far = np.add.accumulate(is_over, dtype=np.int64)
        return cls(np.flatnonzero(is_over), so_far, (t_ms + BAR_MS) // QUARTER_MS)

    @property
    def numbers(self) -> Times:
        """The number of the quarter hour that begins at each end, (m,)."""
        return self.begun[self.last_bars]

    def at_bars(self, values: FloatArray) -> FloatArray:
        """Spread what was before the first end and after each, (m + 1, k, ...), over the bars, (k, n, ...)."""
        return values[self.so_far].swapaxes(0, 1)

    def window_ends(self, size: int, places: Times) -> Times:
        """Return for each bar the end of a window of `size` rows, of which each end filled one at `places`."""
        return np.concatenate(([size - 1], places))[self.so_far] + 1


class Week(Part):
    """Quarter hours as they were traded: a week that is over, and the present one; NaN where nothing was traded."""

    STATE: ClassVar[tuple[str, ...]] = ("quarters", "present", "number")

    def __init__(self, assets: int) -> None:
        """Start empty."""
        super().__init__()
        # Single precision is what is kept, so that the state is small and a restart cannot differ.
        self.quarters: Single = np.full((WEEK, _FIELDS, assets), np.nan, dtype=np.float32)  # before, oldest first
        self.present: Single = np.full((_FIELDS, assets), np.nan, dtype=np.float32)
        self.number = np.full(1, -1.0)  # of the present one, since 1970

    def update(self, t_ms: Times, log_close: FloatArray, top: FloatArray, bottom: FloatArray, more: FloatArray) -> None:
        """Take a block of bars.

        Args:
            t_ms: open times, (n,).
            log_close, top, bottom: log of close, high and low, (n, assets), NaN where unknown.
            more: volume, realised variance and 1.0, (3, n, assets), NaN where unknown: each is summed up.
        """
        numbers = t_ms // QUARTER_MS
        quarters, places = self.slid("quarters", int(self.number[0]), numbers, self.present)
        present = np.empty((len(t_ms), *self.present.shape), dtype=np.float32)

        # First the first bars of all quarter hours, then the second, then the last.
        bar_of_quarter = t_ms % QUARTER_MS // BAR_MS
        for bars in (np.flatnonzero(bar_of_quarter == number) for number in range(QUARTER_MS // BAR_MS)):
            if not len(bars):
                continue
            row = quarters[places[bars]]
            row[:, CLOSE] = np.where(np.isfinite(log_close[bars]), log_close[bars], row[:, CLOSE])
            row[:, HIGH] = np.fmax(row[:, HIGH], top[bars])
            row[:, LOW] = np.fmin(row[:, LOW], bottom[bars])
            for field, added in zip((VOLUME, VARIANCE, COUNT), more[:, bars], strict=True):
                total = np.where(np.isnan(row[:, field]), 0.0, row[:, field]) + added
                row[:, field] = np.where(np.isfinite(added), total, row[:, field])
            quarters[places[bars]] = row
            present[bars] = row

        self._windows = {"quarters": (quarters, places)}
        self.present = present.swapaxes(0, 1)
        self.number = numbers.astype(np.float64)[:, None]

    def closes(self, t_ms: Times) -> tuple[FloatArray, Times]:
        """Return, while a block is read, the closes of its quarter hours and of the week before, oldest first.

        Args:
            t_ms: open times of its bars, (n,).

        Returns:
            The closes, (rows, assets), and for each bar the row of the last quarter hour that is over.
        """
        quarters, places = self._windows["quarters"]
        return np.asarray(quarters[:, CLOSE], dtype=np.float64), places - 1 + quarter_is_over(t_ms)

    def realised(self, bars: Times, spans: tuple[int, ...]) -> FloatArray:
        """Return, while a block is read, the variance of the last quarter hours at the ends of some.

        Args:
            bars: of the block, the last of their quarter hours, (m,).
            spans: how many quarter hours.

        Returns:
            (m, spans, assets), NaN where one of them is unknown.
        """
        quarters, places = self._windows["quarters"]
        if not len(bars):
            return np.empty((0, len(spans), quarters.shape[2]))
        variance = quarters[:, VARIANCE]
        out = np.zeros((len(bars), len(spans), variance.shape[1]))
        for at, span in enumerate(spans):
            for ago in range(span - 1, -1, -1):
                out[:, at] += variance[places[bars] - ago]
        return out

    def reached(self, bars: Times, spans: tuple[int, ...]) -> FloatArray:
        """Return, while a block is read, the highest and lowest price of the last quarter hours at the ends of some.

        Args:
            bars: of the block, the last of their quarter hours, (m,).
            spans: how many quarter hours.

        Returns:
            Logs of highs and of lows, (2, m, spans, assets), NaN where a bar is missing.
        """
        quarters, places = self._windows["quarters"]
        if not len(bars):
            return np.empty((2, 0, len(spans), quarters.shape[2]))
        is_whole = (quarters[:, COUNT] == BARS)[:, None]
        edges = np.where(is_whole, quarters[:, (HIGH, LOW)] * np.array((1.0, -1.0))[:, None], np.nan)

        ago = np.arange(max(spans))
        farthest = np.maximum.accumulate(edges[places[bars][:, None] - ago], axis=1)
        by_span = farthest[:, np.array(spans) - 1]
        out: FloatArray = np.array((by_span[:, :, 0], -by_span[:, :, 1]))
        return out

    def last(self, end: int, count: int, field: int) -> FloatArray:
        """Return the quarter hours up to the one numbered `end`, (count, assets), oldest first, NaN where unknown.

        Args:
            end: at most an hour before the present one where `count` is more than a day's.
            count: how many, at most a week's.
            field: CLOSE, HIGH, LOW, VOLUME, VARIANCE or COUNT.
        """
        ago = int(self.number[0]) - end
        if ago:
            kept = self.quarters[WEEK + 1 - ago - count : WEEK + 1 - ago, field]
        else:
            kept = np.concatenate((self.quarters[WEEK + 1 - count :, field], self.present[None, field]))
        return kept.astype(np.float64)


@overload
def quarter_is_over(t_ms: int) -> bool: ...
@overload
def quarter_is_over(t_ms: Times) -> Flags: ...
def quarter_is_over(t_ms: int | Times) -> bool | Flags:
    """Say whether the bar, or each of the bars, opened at `t_ms` is the last of its quarter hour.

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
