"""The last closes, and the returns from one to the next.

A jump that is not a move of the market, as a split or a change of unit, is taken out of every price after it, so that
what is measured over it joins on.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part
from generator.brain.smoothing import ages, before, carried
from generator.market.bars import FloatArray

JOIN_BARS: Final = 3  # a return over a gap of at most this many bars is still used, scaled to one bar


class Returns(Part):
    """What returns are made from: the last close of each asset; arrays are (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("came", "shift", "age")

    def __init__(self, assets: int) -> None:
        """Start with none."""
        super().__init__()
        self.came = np.full(assets, np.nan)  # log of the last close, as it came
        self.shift = np.zeros(assets)  # sum of the jumps that were taken out
        self.age = np.full(assets, 1e6)  # bars since it came
        self.waited = np.ones((1, assets))  # of a block: bars from each close to the one before

    @property
    def log_close(self) -> FloatArray:
        """The log of the last close, without the jumps that were taken out."""
        return np.asarray(self.came - self.shift)

    def update(self, log_close: FloatArray, steps: FloatArray) -> FloatArray:
        """Take a block and return log returns per bar, NaN where a bar is missing.

        A return over a gap is divided by the square root of its bars: variance grows with time. One over more than
        `JOIN_BARS` bars shows a jump, and does not measure volatility.

        Args:
            log_close: (n, assets), NaN where there is no bar.
            steps: bars from each to the one before, (n,).
        """
        known = np.isfinite(log_close)
        last = carried(self.came, log_close, known)
        age = ages(self.age, known, steps)

        waited = before(self.age, age) + steps[:, None]
        moves: FloatArray = log_close - before(self.came, last)
        self.came = last
        self.age = age
        self.waited = waited
        return moves / np.sqrt(waited)

    def take_out(self, jumps: FloatArray) -> FloatArray:
        """Take the jumps of a block just read out of the prices; return by how much each price moves, (n, assets).

        Args:
            jumps: log moves that are none of the market, 0 elsewhere, (n, assets).
        """
        shifts: FloatArray = np.add.accumulate(np.concatenate((self.shift[None], jumps)))[1:]
        self.shift = shifts
        return shifts
