"""The shape of the last day from hourly closes: trend, breadth, breakouts."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.features import AT, Features
from generator.brain.liquidity import hysteresis
from generator.catalog.words import MarketStructure, Trend
from generator.market.bars import BAR_MS, FloatArray

HOUR_MS: Final = 3_600_000
HOURS: Final = 24
RECENT_HOURS: Final = 6
_WORDS: Final = {
    -1: MarketStructure.DOWNTREND,
    0: MarketStructure.RANGE,
    1: MarketStructure.UPTREND,
}
_TRENDS: Final = {-1: Trend.DOWN, 0: Trend.SIDEWAYS, 1: Trend.UP}
_TREND_ENTER: Final = 1.2
_TREND_LEAVE: Final = 0.7
_CLEARANCE: Final = 0.25  # a breakout must clear the day's range by this share of an hour's sigma


@dataclass(frozen=True, slots=True)
class StructureReading:
    """Trends and shapes of all assets.

    Args:
        trend: of each asset and, last, of the market.
        structure: of each asset.
        rose, fell, known: how many assets rose and fell over the day, and of how many that is known.
        hour, change: full hour of the day (UTC) six to seven hours ago, and log changes since then, NaN where unknown.
    """

    trend: list[Trend]
    structure: list[MarketStructure]
    rose: int
    fell: int
    known: int
    hour: int
    change: list[float]


class Structure:
    """Hourly closes of a day and the trend word; `trend` has the market in its last column."""

    def __init__(self, assets: int) -> None:
        self.hourly = np.full((HOURS, assets), np.nan)  # log closes
        self.hour = np.full(HOURS, -1.0)  # the hour each row belongs to
        self.trend = np.zeros(assets + 1)
        self._edges: tuple[int, tuple[npt.NDArray[np.bool_], FloatArray, FloatArray]] | None = None  # of an hour

    def update(self, t_ms: int, log_close: FloatArray, features: Features) -> None:
        """Take one bar."""
        score = 0.5 * (features.current[AT["trend_8h"]] + features.current[AT["trend_20h"]])
        self.trend = hysteresis(self.trend, score, _TREND_ENTER, _TREND_LEAVE)
        close_ms = t_ms + BAR_MS
        if close_ms % HOUR_MS == 0:
            hour = close_ms // HOUR_MS
            self.hourly[hour % HOURS] = log_close
            self.hour[hour % HOURS] = float(hour)
            self._edges = None

    def reading(
        self,
        t_ms: int,
        log_close: FloatArray,
        stale: npt.NDArray[np.bool_],
        hour_sigma: FloatArray,
        day: FloatArray | None,
    ) -> StructureReading:
        """Return trends and shapes after the last bar.

        Args:
            t_ms: open time of the last bar.
            log_close: last closes, (assets,); stale: where they are older than an hour.
            hour_sigma: expected sigma over an hour, as a fraction, (assets,).
            day: log change over exactly 24 hours where known from elsewhere, NaN elsewhere; None: not known at all.
        """
        here = np.where(stale, np.nan, log_close) if np.count_nonzero(stale) else log_close
        moved = self.day_change(t_ms, here)
        if day is not None:
            moved = np.where(np.isfinite(day), day, moved)
        rose, fell, known = (int(np.count_nonzero(one)) for one in (moved > 0.0, moved < 0.0, np.isfinite(moved)))
        hour, change = self._recent_change(t_ms, here)
        structure = self._words(t_ms, log_close, hour_sigma, moved)
        trend = [_TRENDS[int(one)] for one in self.trend.tolist()]
        return StructureReading(trend, structure, rose, fell, known, hour, change.tolist())

    def day_change(self, t_ms: int, log_close: FloatArray) -> FloatArray:
        """Return the log change over 23 to 24 hours, NaN where unknown."""
        hour = (t_ms + BAR_MS) // HOUR_MS
        then = (hour - HOURS + 1) % HOURS
        if self.hour[then] != hour - HOURS + 1:
            return np.full(log_close.shape, np.nan)
        change: FloatArray = log_close - self.hourly[then]
        return change

    def _recent_change(self, t_ms: int, log_close: FloatArray) -> tuple[int, FloatArray]:
        """Return the hour of the day (UTC) six to seven hours ago and the log change since then, NaN where unknown."""
        hour = (t_ms + BAR_MS) // HOUR_MS - RECENT_HOURS
        row = hour % HOURS
        change = log_close - self.hourly[row] if self.hour[row] == hour else np.full(log_close.shape, np.nan)
        return int(row), change

    def _day(self, hour: int) -> tuple[npt.NDArray[np.bool_], FloatArray, FloatArray]:
        """Return who has half a day of hourly closes before an hour, and the highest and the lowest of them."""
        if self._edges is None or self._edges[0] != hour:
            past = self.hourly[(self.hour > hour - HOURS) & (self.hour < hour)]
            enough = np.isfinite(past).sum(axis=0) >= HOURS // 2
            top, bottom = (np.fmax, -np.inf), (np.fmin, np.inf)
            ends = [which.reduce(past, axis=0, initial=none) for which, none in (top, bottom)]
            self._edges = (hour, (enough, ends[0], ends[1]))
        return self._edges[1]

    def _words(
        self, t_ms: int, log_close: FloatArray, hour_sigma: FloatArray, day: FloatArray
    ) -> list[MarketStructure]:
        """Return the structure of every asset.

        Args:
            t_ms: open time of the last bar.
            log_close: last closes, (assets,).
            hour_sigma: expected sigma over an hour, as a fraction, (assets,).
            day: log change over the day, NaN where unknown, (assets,); nothing that rose over it is below its low.
        """
        enough, top, bottom = self._day((t_ms + BAR_MS) // HOUR_MS)
        room = _CLEARANCE * hour_sigma
        above = enough & ~(day < 0.0) & (log_close > top + room)
        below = enough & ~(day > 0.0) & (log_close < bottom - room)
        return [
            MarketStructure.BREAKOUT if up else MarketStructure.BREAKDOWN if down else _WORDS[int(trend)]
            for up, down, trend in zip(above.tolist(), below.tolist(), self.trend.tolist(), strict=False)
        ]
