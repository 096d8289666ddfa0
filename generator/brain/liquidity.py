"""Liquidity words: log depth minus log spread, cleared of most of volatility, against the asset's own week.

Thin and deep begin half-way between the week's mean and the mean of what lies as far out, each side for itself: so the
words need not be equally common.
"""

from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.smoothing import DAY_BARS, HOUR_BARS, Pace, rates
from generator.catalog.words import LiquidityContext
from generator.market.bars import FloatArray

MIN_BARS: Final = HOUR_BARS
_WORDS: Final = {-1: LiquidityContext.THIN, 0: LiquidityContext.NORMAL, 1: LiquidityContext.DEEP}
_CLEARED: Final = 0.7  # of the log volatility: books are thinner in rough hours, less than in proportion
_BAND: Final = 0.3  # dead zone around the edge of a word, as a fraction of its distance
_LEAST: Final = 0.2  # nearest edge: a book that hardly varies must not turn noise into words
_FIRST: Final = 0.5  # edge before anything is known
_TILTED: Final = 0.15  # imbalance from which a book leans to one side


class Liquidity:
    """Smoothed liquidity of each asset; arrays are (k, assets) or (assets,)."""

    STATE: ClassVar[tuple[str, ...]] = ("level", "week", "far", "word", "count", "age", "imbalance", "imbalance_age")

    def __init__(self, assets: int) -> None:
        self.level = np.zeros((1, assets))  # log depth less log spread, over a quarter of an hour
        self.week = np.zeros((1, assets))  # its mean over a week
        self.far = np.full((2, assets), 2.0 * _FIRST)  # mean distance of what is thin, and of what is deep
        self.word = np.zeros(assets)  # -1 thin, 0 normal, 1 deep
        self.count = np.zeros(assets)
        self.age = np.full(assets, 1e6)
        self.imbalance = np.zeros((1, assets))
        self.imbalance_age = np.full(assets, 1e6)
        self._alpha = rates((6,), 1)
        self._alpha_level = rates((3,), 1)
        self._alpha_week = rates((7 * DAY_BARS,), 1)
        self._alpha_far = float(rates((1.75 * DAY_BARS,), 0)[0])

    def update(
        self, depth_usd: FloatArray, spread_bps: FloatArray, imbalance: FloatArray, volatility: FloatArray
    ) -> None:
        """Take one bar.

        Args:
            depth_usd: on both sides near the middle, (assets,), NaN where unknown.
            spread_bps: likewise, in basis points.
            imbalance: likewise, -1 only asks to 1 only bids.
            volatility: log volatility of the last hours against the week, (assets,).
        """
        book = depth_usd / spread_bps
        seen = np.isfinite(book)  # no bound lets a quotient overflow, so both are known
        weight = seen.astype(np.float64)
        self.count += weight
        self.age = np.where(seen, 0.0, self.age + 1.0)

        raw = np.log(np.where(seen, book, 1.0)) + _CLEARED * volatility
        pace = Pace(self.count, weight)
        pace.step(self.level, raw[None], self._alpha_level)
        pace.step(self.week, self.level, self._alpha_week)

        self._take_imbalance(imbalance)
        self._reword(seen)

    def _take_imbalance(self, imbalance: FloatArray) -> None:
        """Follow the book's imbalance over about half an hour."""
        seen = np.isfinite(imbalance)
        self.imbalance_age = np.where(seen, 0.0, self.imbalance_age + 1.0)
        self.imbalance += (np.where(seen, imbalance, self.imbalance[0]) - self.imbalance) * self._alpha

    def _reword(self, seen: npt.NDArray[np.bool_]) -> None:
        """Move the edges of the words, and change a word only past the far side of a dead zone."""
        away = self.level[0] - self.week[0]
        out = np.array((-away, away))
        beyond = (out > np.maximum(0.5 * self.far, _LEAST)) & seen
        self.far += beyond * (out - self.far) * self._alpha_far

        thin, deep = np.maximum(0.5 * self.far, _LEAST)
        edge = np.where(away < 0.0, thin, deep)
        self.word = hysteresis(self.word, away, (1.0 + _BAND) * edge, (1.0 - _BAND) * edge)

    def known_imbalance(self) -> FloatArray:
        """Return the smoothed imbalance, NaN where it is not known now."""
        return np.where(self.imbalance_age <= HOUR_BARS, self.imbalance[0], np.nan)

    def reading(self) -> tuple[list[LiquidityContext], list[int | None]]:
        """Return the word of every asset's book, and its lean: 1 to bids, 0 even, -1 to asks, None where unknown."""
        known = ((self.count >= MIN_BARS) & (self.age <= HOUR_BARS)).tolist()
        context = [
            _WORDS[int(word)] if here else LiquidityContext.UNKNOWN
            for word, here in zip(self.word.tolist(), known, strict=True)
        ]
        leans = [
            int(tilt >= _TILTED) - int(tilt <= -_TILTED) if here else None
            for tilt, here in zip(self.known_imbalance().tolist(), known, strict=True)
        ]
        return context, leans


def hysteresis(word: FloatArray, score: FloatArray, enter: float | FloatArray, leave: float | FloatArray) -> FloatArray:
    """Return -1, 0 or 1: enter past `enter`, leave again below `leave`.

    >>> now = np.array([0.0, 1.0, 1.0, 1.0])
    >>> hysteresis(now, score=np.array([0.8, 0.8, 0.4, -1.5]), enter=1.2, leave=0.7).tolist()
    [0.0, 1.0, 0.0, -1.0]
    """
    size = np.abs(score)
    side = np.sign(score)
    stays = (size >= leave) & (side == word)
    out: FloatArray = side * ((size >= enter) | stays)
    return out
