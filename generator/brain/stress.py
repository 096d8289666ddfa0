"""One axis from calm to extreme: the rank of the next hours' expected volatility in its own week, with hysteresis."""

from typing import ClassVar, Final

import numpy as np

from generator.brain.smoothing import DAY_BARS
from generator.brain.week import QUARTER_MS, WEEK, quarter_is_over
from generator.catalog.words import VolatilityWord
from generator.market.bars import BAR_MS, FloatArray

MIN_BARS: Final = DAY_BARS
_WORDS: Final = (VolatilityWord.CALM, VolatilityWord.NORMAL, VolatilityWord.ELEVATED, VolatilityWord.EXTREME)
_UP: Final = np.array((0.25, 0.85, 0.97))[:, None]  # a rank past this enters the next word
_DOWN: Final = np.array((0.15, 0.50, 0.90))[:, None]  # below this it leaves again
_AT_ONCE: Final = np.array((0.50, 0.95))[:, None]  # a rank past this enters it between quarter hours too
_NORMAL: Final = 1.0


class Stress:
    """Ranks and words of each asset and, in the last column, of the market.

    A word is entered on a quarter hour, or at once by a leap.
    """

    STATE: ClassVar[tuple[str, ...]] = ("week", "number", "past", "rank", "word", "count")

    def __init__(self, assets: int) -> None:
        """Start empty."""
        self.week = np.full((WEEK, assets + 1), np.nan)  # outlooks at the end of each quarter hour
        self.number = np.full(WEEK, -1.0)  # of the quarter hour in each row, since 1970
        self.past = np.zeros(assets + 1)  # how many of them are known
        self.rank = np.full(assets + 1, np.nan)
        self.word = np.full(assets + 1, _NORMAL)
        self.count = np.zeros(assets + 1)  # bars with an outlook

    def update(self, t_ms: int, level: FloatArray, fresh: FloatArray) -> None:
        """Take one bar.

        Args:
            t_ms: its open time.
            level: log of the expected volatility of the next hours, (assets,).
            fresh: 1.0 where the asset had a return lately, else 0.0.
        """
        market = (level * fresh).sum() / max(fresh.sum(), 1.0)
        seen = np.append(fresh, fresh.max()) > 0.0
        now = np.append(level, market)
        self.count += seen

        over = quarter_is_over(t_ms)
        if over:
            number = (t_ms + BAR_MS) // QUARTER_MS
            at = number % WEEK
            self.week[at] = np.where(seen, now, np.nan)
            self.number[at] = float(number)
            self.week[self.number <= number - WEEK] = np.nan
            self.past = np.count_nonzero(np.isfinite(self.week), axis=0).astype(np.float64)

        # The rank in the week, ties counted half.
        twice_below = np.count_nonzero(self.week < now, axis=0) + np.count_nonzero(self.week <= now, axis=0)
        known = seen & (self.past > 0)
        self.rank = np.where(known, twice_below / (2.0 * np.maximum(self.past, 1.0)), self.rank)

        # A word is entered on quarter hours, and left at any bar that it would not be true of.
        entered = _UP if over else _AT_ONCE
        floor = np.count_nonzero(self.rank >= entered, axis=0)
        top = np.count_nonzero(self.rank >= _DOWN, axis=0)
        self.word = np.where(known, np.minimum(np.maximum(self.word, floor), top), self.word)

    def stressed(self) -> FloatArray:
        """Return 1.0 where the word is elevated or extreme, 0.0 where it is calmer, NaN under a day of bars."""
        return np.where(self.count >= MIN_BARS, self.word > _NORMAL, np.nan)

    def reading(self) -> tuple[list[float | None], list[VolatilityWord]]:
        """Return risk scores, 0..100, and words; None and unknown under a day of bars."""
        ready = (self.count >= MIN_BARS).tolist()
        scores = [100.0 * rank if known else None for rank, known in zip(self.rank.tolist(), ready, strict=True)]
        words = [
            _WORDS[int(word)] if known else VolatilityWord.UNKNOWN
            for word, known in zip(self.word.tolist(), ready, strict=True)
        ]
        return scores, words
