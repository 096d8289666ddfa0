"""Liquidity words: log depth minus log spread, cleared of most of volatility, against the asset's own week.

Thin and deep begin half-way between the week's mean and the mean of what lies as far out, each side for itself: so the
words need not be equally common.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part
from generator.brain.smoothing import (
    DAY_BARS,
    HOUR_BARS,
    Flags,
    Pace,
    ages,
    counted,
    followed,
    hysteresis,
    rates,
    series,
)
from generator.catalog.words import LiquidityContext
from generator.market.bars import FloatArray

MIN_BARS: Final = HOUR_BARS
_WORDS: Final = {-1: LiquidityContext.THIN, 0: LiquidityContext.NORMAL, 1: LiquidityContext.DEEP}
_CLEARED: Final = 0.7  # of the log volatility: books are thinner in rough hours, less than in proportion
_BAND: Final = 0.3  # dead zone around the edge of a word, as a fraction of its distance
_LEAST: Final = 0.2  # nearest edge: a book that hardly varies must not turn noise into words
_FIRST: Final = 0.5  # edge before anything is known
_TILTED: Final = 0.15  # imbalance from which a book leans to one side


class Liquidity(Part):
    """Smoothed liquidity of each asset; arrays are (k, ..., assets) or (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("level", "week", "far", "word", "count", "age", "imbalance", "imbalance_age")

    def __init__(self, assets: int) -> None:
        super().__init__()
        self.level = np.zeros((1, assets))  # log depth less log spread, over a quarter of an hour
        self.week = np.zeros((1, assets))  # its mean over a week
        self.far = np.full((2, assets), 2.0 * _FIRST)  # mean distance of what is thin, and of what is deep
        self.word = np.zeros(assets)  # -1 thin, 0 normal, 1 deep
        self.count = np.zeros(assets)
        self.age = np.full(assets, 1e6)
        self.imbalance = np.zeros((1, assets))
        self.imbalance_age = np.full(assets, 1e6)

        self._alpha = rates((6,), 2)
        self._alpha_level = rates((3,), 2)
        self._alpha_week = rates((7 * DAY_BARS,), 2)
        self._alpha_far = float(rates((1.75 * DAY_BARS,), 0)[0])

    def update(
        self,
        depth_usd: FloatArray,
        spread_bps: FloatArray,
        imbalance: FloatArray,
        volatility: FloatArray,
        steps: FloatArray,
    ) -> None:
        """Take a block of bars.

        Args:
            depth_usd: on both sides near the middle, (n, assets), NaN where unknown.
            spread_bps: likewise, in basis points.
            imbalance: likewise, -1 only asks to 1 only bids.
            volatility: log volatility of the last hours against the week, (n, assets).
            steps: bars from each to the one before, (n,).
        """
        book = depth_usd / spread_bps
        seen = np.isfinite(book)  # no bound lets a quotient overflow, so both are known
        self.count = counted(self.count, seen)
        self.age = ages(self.age, seen, steps)
        given = np.isfinite(imbalance)
        self.imbalance_age = ages(self.imbalance_age, given, steps)

        # The book over a quarter of an hour, and its imbalance over about half an hour.
        pace = Pace(self.count, seen.astype(np.float64))
        raw = np.log(np.where(seen, book, 1.0)) + _CLEARED * volatility
        self.level, self.imbalance = followed(
            (self.level, self.imbalance),
            np.array((raw, np.where(given, imbalance, 0.0))),
            (pace.weights(self._alpha_level), self._alpha * given),
        )
        self.week = pace.follow(self.week, self.level.copy(), self._alpha_week)
        self._reword(seen)

    def _reword(self, seen: Flags) -> None:
        """Move the edges of the words, and change a word only past the far side of a dead zone."""
        away = self.level[0] - self.week[0]
        distances = series(2, away)
        distances[0] = -away
        distances[1] = away
        self.far = self._follow_far(distances, seen)

        thin, deep = np.maximum(0.5 * self.far, _LEAST)
        edge = np.where(away < 0.0, thin, deep)
        self.word = hysteresis(self.word, away, (1.0 + _BAND) * edge, (1.0 - _BAND) * edge)

    def _follow_far(self, distances: FloatArray, seen: Flags) -> FloatArray:
        """Return the mean distances, (2, n, assets), each of the distances beyond its own half."""
        if not seen.any():
            return np.repeat(self.far[:, None], len(seen), axis=1)

        far = self.far
        means = np.empty_like(distances)
        weights = self._alpha_far * seen
        for bar, weight in enumerate(weights):
            distance = distances[:, bar]
            beyond = distance > np.maximum(0.5 * far, _LEAST)
            far = far + (distance - far) * (beyond * weight)
            means[:, bar] = far
        return means

    def known_imbalance(self) -> FloatArray:
        """Return the smoothed imbalance, NaN where it is not known now."""
        return np.where(self.imbalance_age <= HOUR_BARS, self.imbalance[0], np.nan)

    def words(self) -> list[LiquidityContext]:
        """Return the word of every asset's book."""
        pairs = zip(self.word.tolist(), self._is_known().tolist(), strict=True)
        return [_WORDS[int(word)] if is_known else LiquidityContext.UNKNOWN for word, is_known in pairs]

    def leans(self) -> FloatArray:
        """Return the lean of every asset's book: 1 to bids, 0 even, -1 to asks, NaN where unknown, (assets,)."""
        tilt = self.known_imbalance()
        lean = (tilt >= _TILTED).astype(np.float64) - (tilt <= -_TILTED)
        return np.where(self._is_known(), lean, np.nan)

    def _is_known(self) -> Flags:
        return np.asarray((self.count >= MIN_BARS) & (self.age <= HOUR_BARS))
