"""The shape of the last day: trend, breadth, breakouts."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.facts import AssetFacts, MarketFacts, Past
from generator.brain.features import AT, Features
from generator.brain.liquidity import hysteresis
from generator.catalog.words import MarketStructure, Trend
from generator.market.bars import FloatArray

FLAT: Final = 0.001  # a smaller change over the day is neither a rise nor a fall
_WORDS: Final = {
    -1: MarketStructure.DOWNTREND,
    0: MarketStructure.RANGE,
    1: MarketStructure.UPTREND,
}
_TRENDS: Final = {-1: Trend.DOWN, 0: Trend.SIDEWAYS, 1: Trend.UP}
SIGN: Final = {word: float(sign) for sign, word in _TRENDS.items()}
_TIE: Final = 3e-6  # what the kept week may be off by: an equal price is neither above nor below
_TREND_ENTER: Final = 1.2
_TREND_LEAVE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Counts:
    """How many assets are up, down and flat (within 0.1%) over the day; those of unknown change are not counted."""

    up: int
    down: int
    flat: int

    @property
    def known(self) -> int:
        """How many have a known change."""
        return self.up + self.down + self.flat


@dataclass(frozen=True, slots=True)
class StructureReading:
    """Trends and shapes of all assets.

    Args:
        trend: of each asset and, last, of the market.
        structure: of each asset.
        counts: of the day's changes.
        day: each asset's change over 24 hours, a fraction, None where unknown.
        assets, market: the week's facts.
    """

    trend: list[Trend]
    structure: list[MarketStructure]
    counts: Counts
    day: list[float | None]
    assets: list[AssetFacts]
    market: MarketFacts


def counts(moved: FloatArray) -> Counts:
    """Count the assets by their change over the day, as a fraction; NaN counts nowhere."""
    return Counts(*(int(np.count_nonzero(one)) for one in (moved > FLAT, moved < -FLAT, np.abs(moved) <= FLAT)))


class Structure:
    """The trend word; `trend` has the market in its last column."""

    def __init__(self, assets: int) -> None:
        self.trend = np.zeros(assets + 1)

    def update(self, features: Features) -> None:
        """Take one bar."""
        score = 0.5 * (features.current[AT["trend_8h"]] + features.current[AT["trend_20h"]])
        self.trend = hysteresis(self.trend, score, _TREND_ENTER, _TREND_LEAVE)

    def reading(
        self, t_ms: int, log_close: FloatArray, stale: npt.NDArray[np.bool_], past: Past, day: FloatArray | None
    ) -> StructureReading:
        """Return trends and shapes after the last bar.

        Args:
            t_ms: open time of the last bar.
            log_close: last closes, (assets,); stale: where they are older than an hour.
            past: the week before.
            day: log change over exactly 24 hours where known from elsewhere, NaN elsewhere; None: not known at all.
        """
        here = np.where(stale, np.nan, log_close)
        moved = past.day_change(here)
        if day is not None:
            moved = np.where(np.isfinite(day), day, moved)
        published = np.round(np.expm1(moved), 4).astype(np.float64)
        return StructureReading(
            [_TRENDS[int(one)] for one in self.trend.tolist()],
            self._words(t_ms, here, past, published),
            counts(published),
            [None if math.isnan(one) else one for one in published.tolist()],
            past.assets(t_ms),
            past.market,
        )

    def _words(self, t_ms: int, log_close: FloatArray, past: Past, day: FloatArray) -> list[MarketStructure]:
        """Return the structure of every asset; nothing that rose over the day is below its low."""
        top, bottom = past.day_edges(t_ms)
        above, below = ~(day < 0.0) & (log_close > top + _TIE), ~(day > 0.0) & (log_close < bottom - _TIE)
        return [
            MarketStructure.BREAKOUT if up else MarketStructure.BREAKDOWN if down else _WORDS[int(trend)]
            for up, down, trend in zip(above.tolist(), below.tolist(), self.trend.tolist(), strict=False)
        ]
