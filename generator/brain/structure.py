"""The shape of the last day: trend, breadth, breakouts."""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from generator.brain.facts import Past
from generator.brain.features import AT, Features
from generator.brain.part import Part
from generator.brain.smoothing import hysteresis
from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import MarketStructure, Trend
from generator.market.bars import FloatArray

FLAT: Final = FLAT_PERCENT / 100  # as a fraction
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


def counts(moved: FloatArray) -> Counts:
    """Count the assets by their change over the day, as a fraction; NaN counts nowhere.

    >>> counts(np.array([0.012, -0.0005, np.nan, -0.03]))
    Counts(up=1, down=1, flat=1)
    """
    return Counts(
        up=int(np.count_nonzero(moved > FLAT)),
        down=int(np.count_nonzero(moved < -FLAT)),
        flat=int(np.count_nonzero(np.abs(moved) <= FLAT)),
    )


class Structure(Part):
    """The trend word; `trend` has the market in its last column."""

    STATE: ClassVar[tuple[str, ...]] = ("trend",)

    def __init__(self, assets: int) -> None:
        super().__init__()
        self.trend = np.zeros(assets + 1)

    def update(self, features: Features) -> None:
        """Take a block of bars that `features` has taken."""
        score = 0.5 * (features.current[AT["trend_8h"]] + features.current[AT["trend_20h"]])
        self.trend = hysteresis(self.trend, score, _TREND_ENTER, _TREND_LEAVE)

    def reading(
        self, t_ms: int, log_close: FloatArray, past: Past, day: FloatArray
    ) -> tuple[list[Trend], list[MarketStructure]]:
        """Return the trends, the market's last, and the structure of every asset after the last bar.

        Args:
            t_ms: open time of the last bar.
            log_close: last closes, NaN where they are older than an hour, (assets,).
            past: the week before, whose last 8 and 20 hours must not both deny a trend.
            day: change over the day, NaN where unknown; nothing that rose over the day is below its low, (assets,).
        """
        top, bottom = past.day_edges(t_ms)
        above = ~(day < 0.0) & (log_close > top + _TIE)
        below = ~(day > 0.0) & (log_close < bottom - _TIE)

        trends = [int(trend) for trend in self._borne_out(past.lately(log_close)).tolist()]
        structures = [_WORDS[trend] for trend in trends[:-1]]
        for column in range(len(structures)):
            if above[column]:
                structures[column] = MarketStructure.BREAKOUT
            elif below[column]:
                structures[column] = MarketStructure.BREAKDOWN
        return [_TRENDS[trend] for trend in trends], structures

    def _borne_out(self, lately: FloatArray) -> FloatArray:
        """Return the trends without those that the moves over 8 and over 20 hours both deny, (assets + 1,).

        Args:
            lately: moves over 3, 8 and 20 hours, the mean of the assets last, (3, assets + 1).
        """
        against = self.trend * lately[1:] <= 0.0  # of an unknown move nothing is denied
        return np.where(against.all(axis=0), 0.0, self.trend)
