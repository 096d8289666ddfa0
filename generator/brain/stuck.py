"""Stuck sources: bars that stand still for longer than the asset ever does are taken for missing.

A source that hangs repeats its last price. How many still bars are too many depends on the asset: a five-minute bar of
Bitcoin without any range does not occur, a thin coin has hours of them. So a row of n still bars is judged by the
asset's own share p of still bars: it is stuck once p^n is below one in a million. What is taken for missing changes no
mean, teaches nothing, and gives no range.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part
from generator.brain.smoothing import DAY_BARS, Flags, before, carried, runs
from generator.market.bars import FloatArray

_LOG_RARE: Final = float(np.log(1e-6))  # of the chance below which a row of still bars is not chance
_KEEP: Final = 0.5 ** (1.0 / (30 * DAY_BARS))  # a coin may become thin, or liquid: a half-life of 30 days


class Stuck(Part):
    """How long each asset's price stands still, and whether that is longer than it ever does; arrays (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("close", "run", "counts", "is_stuck")

    def __init__(self, assets: int) -> None:
        """Start without a bar."""
        super().__init__()
        self.close = np.full(assets, np.nan)  # log of the last close, as it came
        self.run = np.zeros(assets)  # still bars in a row
        self.counts = np.zeros((2, assets))  # fading counts of still bars, and of all
        self.is_stuck = np.zeros(assets)  # 1.0 where the row is longer than chance makes it

    def update(self, log_close: FloatArray, top: FloatArray, bottom: FloatArray) -> Flags:
        """Take a block of bars; return which of them are of a source that is stuck, (n, assets).

        Args:
            log_close: (n, assets), NaN where there is no bar.
            top, bottom: logs of the high and the low, NaN where unknown, likewise.
        """
        known = np.isfinite(log_close)
        closes = carried(self.close, log_close, known)
        is_still = known & (log_close == before(self.close, closes)) & ~(top > bottom)
        is_moving = known & ~is_still
        run = runs(self.run, is_still, is_moving)
        counts = self._counted(is_moving, before(self.run, run))

        self.close = closes
        self.run = run
        self.counts = counts.swapaxes(0, 1)
        stuck = run * _log_share(self.counts) < _LOG_RARE
        self.is_stuck = stuck.astype(np.float64)
        return stuck & known

    def _counted(self, is_moving: Flags, ended: FloatArray) -> FloatArray:
        """Return the counts after each bar, (n, 2, assets): a row of still bars counts when it has ended.

        A row that was stuck counts for as many bars as made it so: it may have been a fault.

        Args:
            is_moving: the bars that are not still, (n, assets).
            ended: still bars in a row before each bar, likewise.
        """
        counts = np.empty((len(is_moving), *self.counts.shape))
        now = self.counts
        ends_row: list[bool] = np.any(is_moving & (ended > 0.0), axis=1).tolist()
        for bar, moving in enumerate(is_moving):
            seen = moving.astype(np.float64)
            if ends_row[bar]:
                longest = np.ceil(_LOG_RARE / _log_share(now))
                row = np.where(moving, np.minimum(ended[bar], longest), 0.0)
                now = now * _KEEP + np.array((row, row + seen))
            else:
                now = now * _KEEP
                now[1] += seen
            counts[bar] = now
        return counts


def _log_share(counts: FloatArray) -> FloatArray:
    """Return the log of the share of still bars, as of one still bar and one other before any was seen."""
    out: FloatArray = np.log((counts[0] + 1.0) / (counts[1] + 2.0))
    return out
