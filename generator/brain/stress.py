"""One axis from calm to extreme: the rank of the next hours' expected volatility in its own week, with hysteresis."""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part, Times, slid, stretches
from generator.brain.smoothing import DAY_BARS, carried, counted, totals
from generator.brain.week import QUARTER_MS, WEEK, quarter_is_over
from generator.catalog.words import VolatilityWord
from generator.market.bars import BAR_MS, FloatArray

MIN_BARS: Final = DAY_BARS
_WORDS: Final = (VolatilityWord.CALM, VolatilityWord.NORMAL, VolatilityWord.ELEVATED, VolatilityWord.EXTREME)
_UP: Final = np.array((0.25, 0.85, 0.97))[:, None]  # a rank past this enters the next word
_DOWN: Final = np.array((0.15, 0.50, 0.90))[:, None]  # below this it leaves again
_AT_ONCE: Final = np.array((0.50, 0.95, np.inf))[:, None]  # a rank past this enters it between quarter hours too
_NORMAL: Final = 1.0


class Stress(Part):
    """Ranks and words of each asset and, in the last column, of the market.

    A word is entered on a quarter hour, or at once by a leap.
    """

    STATE: ClassVar[tuple[str, ...]] = ("week", "number", "rank", "word", "count")

    def __init__(self, assets: int) -> None:
        """Start empty."""
        super().__init__()
        self.week = np.full((WEEK, assets + 1), np.nan)  # outlooks at the end of each quarter hour, oldest first
        self.number = np.full(1, -1.0)  # of the last quarter hour in it, since 1970
        self.rank = np.full(assets + 1, np.nan)
        self.word = np.full(assets + 1, _NORMAL)
        self.count = np.zeros(assets + 1)  # bars with an outlook

    def update(self, t_ms: Times, level: FloatArray, fresh: FloatArray) -> None:
        """Take a block of bars.

        Args:
            t_ms: their open times, (n,).
            level: log of the expected volatility of the next hours, (n, assets).
            fresh: 1.0 where the asset had a return lately, else 0.0, likewise.
        """
        now = np.concatenate((level, market_of(level, fresh)[:, None]), axis=-1)
        seen = np.concatenate((fresh, fresh.max(axis=-1, keepdims=True)), axis=-1) > 0.0
        self.count = counted(self.count, seen)

        numbers = (t_ms + BAR_MS) // QUARTER_MS
        week, places = slid(self.week, int(self.number[0]), numbers)
        over = quarter_is_over(t_ms)
        week[places[over]] = np.where(seen, now, np.nan)[over]

        # The rank in the week, ties counted half.
        rank = np.empty_like(now)
        for bars in stretches(places):
            rank[bars] = _ranks(week[places[bars.start] + 1 - WEEK : places[bars.start] + 1], now[bars])
        known = seen & np.isfinite(rank)
        self.rank = carried(self.rank, rank, known)

        # A word is entered on quarter hours, and left at any bar that it would not be true of.
        edges = np.where(over[:, None, None], _UP, _AT_ONCE)
        floor = np.count_nonzero(self.rank[:, None] >= edges, axis=1)
        top = np.count_nonzero(self.rank[:, None] >= _DOWN, axis=1)
        word = self.word
        self.word = np.empty_like(now)
        for bar in range(len(now)):
            word = np.where(known[bar], np.minimum(np.maximum(word, floor[bar]), top[bar]), word)
            self.word[bar] = word

        self._windows = {"week": (week, places + 1)}
        self.number = numbers.astype(np.float64)[:, None]

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


def market_of(level: FloatArray, fresh: FloatArray) -> FloatArray:
    """Return the mean level of the assets that had a return lately, 0 without any, (n,).

    Args:
        level: log of the expected volatility of the next hours, (n, assets).
        fresh: 1.0 where the asset had a return lately, else 0.0, likewise.
    """
    many = np.maximum(fresh.sum(axis=-1), 1.0)
    out: FloatArray = (level * fresh).sum(axis=-1) / many
    return out


def _ranks(week: FloatArray, now: FloatArray) -> FloatArray:
    """Return the share of a week's values below those of some bars, (bars, columns); NaN where none is known."""
    past = totals(np.isfinite(week))
    now = now[:, None]
    twice_below = totals(week < now) + totals(week <= now)
    return np.where(past > 0.0, twice_below / (2.0 * np.maximum(past, 1.0)), np.nan)
