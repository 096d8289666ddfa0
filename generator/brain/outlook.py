"""The volatility outlook against its own week: the risk score and the volatility word."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from generator.brain.smoothing import DAY_BARS, Pace, rates
from generator.catalog.words import VolatilityWord
from generator.market.bars import FloatArray

MIN_BARS: Final = DAY_BARS
_LEAST_SPREAD: Final = 0.08
_ROOT2: Final = math.sqrt(2.0)
_WORDS: Final = ((20.0, VolatilityWord.CALM), (80.0, VolatilityWord.NORMAL), (96.0, VolatilityWord.ELEVATED))


class OutlookLevel:
    """Mean and spread of the hour's log outlook over a week; the last column is the market."""

    def __init__(self, assets: int) -> None:
        """Start empty."""
        self.now = np.zeros(assets + 1)
        self.moments = np.zeros((2, assets + 1))
        self.count = np.zeros(assets + 1)
        self._alpha = rates((7 * DAY_BARS, 7 * DAY_BARS), 1)

    def update(self, hour: FloatArray, fresh: FloatArray) -> None:
        """Take the log outlook of an hour, (assets,), where the asset is fresh."""
        if np.count_nonzero(fresh) == fresh.size:
            self.now, seen = np.append(hour, np.add.reduce(hour) / fresh.size), None
            self.count += 1.0
        else:
            market = (hour * fresh).sum() / max(fresh.sum(), 1.0)
            seen = np.append(fresh, fresh.max())
            self.now = np.where(seen > 0.0, np.append(hour, market), self.now)
            self.count += seen
        Pace(self.count, seen).step(self.moments, np.array((self.now, self.now**2)), self._alpha)

    def risk_scores(self) -> list[float | None]:
        """Return 0..100 for each column: the share of the week calmer than the outlook; None under a day of bars."""
        mean, square = self.moments
        spread = np.maximum(np.sqrt(np.maximum(square - mean * mean, 0.0)), _LEAST_SPREAD)
        away = ((self.now - mean) / (spread * _ROOT2)).tolist()
        return [
            None if seen < MIN_BARS else 50.0 * (1.0 + math.erf(one))
            for one, seen in zip(away, self.count.tolist(), strict=True)
        ]


def volatility_word(score: float | None) -> VolatilityWord:
    """Return the volatility word of a risk score."""
    if score is None:
        return VolatilityWord.UNKNOWN
    return next((word for limit, word in _WORDS if score < limit), VolatilityWord.EXTREME)
