"""The last closes, and the returns from one to the next."""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part
from generator.brain.smoothing import ages, before, carried
from generator.market.bars import FloatArray

JOIN_BARS: Final = 3  # a return over a gap of at most this many bars is still used, scaled to one bar


class Returns(Part):
    """What returns are made from: the last close of each asset; arrays are (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("log_close", "age")

    def __init__(self, assets: int) -> None:
        """Start with none."""
        super().__init__()
        self.log_close = np.full(assets, np.nan)
        self.age = np.full(assets, 1e6)  # bars since it came

    def update(self, log_close: FloatArray, steps: FloatArray) -> FloatArray:
        """Take a block and return log returns per bar, NaN where a bar or those before it are missing for too long.

        A return over a short gap is divided by the square root of its bars: variance grows with time.

        Args:
            log_close: (n, assets), NaN where there is no bar.
            steps: bars from each to the one before, (n,).
        """
        known = np.isfinite(log_close)
        last = carried(self.log_close, log_close, known)
        age = ages(self.age, known, steps)

        waited = before(self.age, age) + steps[:, None]
        moves = log_close - before(self.log_close, last)
        returns = np.where(waited <= JOIN_BARS, moves / np.sqrt(waited), np.nan)
        self.log_close = last
        self.age = age
        return returns
