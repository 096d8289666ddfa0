"""The volatility outlook against its own week: the risk score and the volatility word."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from generator.brain.smoothing import DAY_BARS, rates, step
from generator.catalog.words import VolatilityWord
from generator.market.values import FloatArray

MIN_BARS: Final = DAY_BARS
_LEAST_SPREAD: Final = 0.08
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
        market = float((hour * fresh).sum() / max(fresh.sum(), 1.0))
        seen = np.append(fresh, fresh.max())
        self.now = np.where(seen > 0.0, np.append(hour, market), self.now)
        self.count += seen
        step(self.moments, np.stack((self.now, self.now**2)), self._alpha, np.maximum(self.count, 1.0), seen)

    def risk_score(self, column: int) -> float | None:
        """Return 0..100: the share of the week that was calmer than the outlook; None under a day of bars."""
        if self.count[column] < MIN_BARS:
            return None
        mean, square = self.moments[:, column]
        spread = max(math.sqrt(max(square - mean * mean, 0.0)), _LEAST_SPREAD)
        return 50.0 * (1.0 + math.erf((self.now[column] - mean) / spread / math.sqrt(2.0)))

    def word(self, column: int) -> VolatilityWord:
        """Return the volatility word of one column."""
        score = self.risk_score(column)
        if score is None:
            return VolatilityWord.UNKNOWN
        return next((word for limit, word in _WORDS if score < limit), VolatilityWord.EXTREME)
