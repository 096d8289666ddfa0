"""Closes of the last month's days, prices of the last hour and the last hole: what sentences need beyond the week."""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part, Times
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

DAYS: Final = 30  # whose moves are kept
FEWEST_DAYS: Final = 3  # of which a usual day's move is said
HOLE_BARS: Final = 4  # missing bars from which a hole is named: a return over one is not used
_HOUR: Final = HOUR_MS // BAR_MS
_CARRIED: Final = 3  # bars for which a close stands for those that are missing after it
_BAR_ROWS: Final = _HOUR + _CARRIED + 1
_CLOSE, _HIGH, _LOW = range(3)


@dataclass(frozen=True, slots=True)
class Broken:
    """Where the price of each asset broke its high or low of the day before; NaN where it did not, (assets,)."""

    at_ms: FloatArray  # close of the first bar of the present hour beyond it
    edge: FloatArray  # log of the new high or low


class Closes(Part):
    """Prices, oldest first; NaN where nothing was traded."""

    STATE: ClassVar[tuple[str, ...]] = ("days", "late", "day", "bars", "bar", "hole")

    def __init__(self, assets: int) -> None:
        """Start empty."""
        super().__init__()
        self.days = np.full((DAYS + 1, assets), np.nan)  # log of the last close of each UTC day's last hour
        self.late: FloatArray = np.full(assets, np.nan)  # likewise, of the present day
        self.day = np.full(1, -1.0)  # number of the present day, since 1970
        self.bars = np.full((_BAR_ROWS, 3, assets), np.nan)  # log of close, high and low
        self.bar = np.full(1, -1.0)  # number of the last bar, since 1970
        self.hole = np.full(2, -1.0)  # close of the last bar before the last hole, open of the first after it

    def update(self, t_ms: Times, log_close: FloatArray, top: FloatArray, bottom: FloatArray) -> None:
        """Take a block of bars.

        Args:
            t_ms: open times, (n,).
            log_close, top, bottom: log of close, high and low, (n, assets), NaN where unknown.
        """
        numbers = t_ms // BAR_MS
        before = np.concatenate((self.bar.astype(np.int64), numbers[:-1]))
        holes = np.tile(self.hole, (len(t_ms), 1))
        for bar in np.flatnonzero((before >= 0) & (numbers - before > HOLE_BARS)):
            holes[bar:] = (before[bar] + 1) * BAR_MS, t_ms[bar]

        bars, places = self.slid("bars", int(self.bar[0]), numbers)
        bars[places] = np.stack((log_close, top, bottom), axis=1)

        day_numbers = t_ms // DAY_MS
        days, day_places = self.slid("days", int(self.day[0]), day_numbers, self.late)
        late = np.full(log_close.shape, np.nan)
        for bar in np.flatnonzero(t_ms % DAY_MS >= DAY_MS - HOUR_MS):
            row = days[day_places[bar]]
            row[:] = np.where(np.isfinite(log_close[bar]), log_close[bar], row)
            late[bar] = row

        self._windows = {"days": (days, day_places), "bars": (bars, places + 1)}
        self.late = late
        self.day = day_numbers.astype(np.float64)[:, None]
        self.bar = numbers.astype(np.float64)[:, None]
        self.hole = holes

    def usual_day(self, t_ms: int) -> tuple[FloatArray, Times]:
        """Return the median size of the moves of the UTC days that are over, and of how many days it is.

        Args:
            t_ms: open time of the last bar.

        Returns:
            The medians as fractions and the counts, of each asset and, last, of the assets' mean move; NaN of too few.
        """
        closes = self.days
        if (t_ms + BAR_MS) % DAY_MS == 0:
            closes = np.concatenate((self.days[1:], self.late[None]))

        moves = np.expm1(np.diff(closes, axis=0))
        sizes = np.abs(np.column_stack((moves, mean_of_assets(moves))))
        in_order = np.sort(sizes, axis=0)  # what is unknown comes last
        counts = np.add.reduce(np.isfinite(in_order), axis=0)
        columns = np.arange(sizes.shape[1])
        lower = in_order[np.maximum(counts - 1, 0) // 2, columns]
        upper = in_order[counts // 2, columns]
        return np.where(counts >= FEWEST_DAYS, 0.5 * (lower + upper), np.nan), counts

    def hour(self) -> FloatArray:
        """Return each asset's move over the hour up to the close of the last bar, as a fraction."""
        out: FloatArray = np.expm1(self._close(0) - self._close(_HOUR))
        return out

    def broken(self, t_ms: int, high: FloatArray, low: FloatArray) -> tuple[Broken, Broken]:
        """Return when, in the present hour, prices broke the high and the low of the 24 hours before it.

        Args:
            t_ms: open time of the last bar.
            high, low: of these 24 hours, in logs, NaN where unknown, (assets,).
        """
        count = t_ms % HOUR_MS // BAR_MS + 1
        closes_ms = t_ms + BAR_MS * np.arange(2.0 - count, 2.0)
        hour = self.bars[-count:]
        return (
            Broken(_first_time(hour[:, _HIGH] > high, closes_ms), np.fmax.reduce(hour[:, _HIGH])),
            Broken(_first_time(hour[:, _LOW] < low, closes_ms), np.fmin.reduce(hour[:, _LOW])),
        )

    def last_hole(self, t_ms: int) -> tuple[int, int] | None:
        """Return when the last hole of the 24 hours up to now began and ended; None without one."""
        begin, end = (int(at) for at in self.hole.tolist())
        return (begin, end) if begin >= 0 and end > t_ms + BAR_MS - DAY_MS else None

    def _close(self, ago: int) -> FloatArray:
        """Return the closes of a bar, or where it is missing of the last bars before it, (assets,)."""
        end = _BAR_ROWS - ago
        closes = self.bars[end - _CARRIED - 1 : end, _CLOSE]
        out: FloatArray = closes[0]
        for row in closes[1:]:
            out = np.where(np.isfinite(row), row, out)
        return out


def mean_of_assets(values: FloatArray) -> FloatArray:
    """Return the mean over the assets of each row, NaN where fewer than half are known.

    >>> mean_of_assets(np.array([[1.0, 3.0, np.nan], [1.0, np.nan, np.nan]])).tolist()
    [2.0, nan]
    """
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(2 * count >= values.shape[1], total / np.maximum(count, 1), np.nan)


def _first_time(beyond: np.ndarray, closes_ms: np.ndarray) -> FloatArray:
    """Return the time of the first bar that is beyond, NaN where none is, (assets,)."""
    at = beyond.argmax(axis=0)
    return np.where(beyond.any(axis=0), closes_ms[at], np.nan)
