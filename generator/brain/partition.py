"""How often the next four hours came out up, down or within the usual move: the base rates of the partition."""

from typing import ClassVar, Final

import numpy as np

from generator.brain.direction import base_rates, hits_of
from generator.brain.ladder import PARTITION_HORIZON
from generator.brain.part import Part, slid
from generator.brain.smoothing import Flags, faded
from generator.brain.week import DAY, QuarterEnds
from generator.catalog.horizons import HORIZONS
from generator.market.bars import FloatArray

PARTITION_MINUTES: Final = HORIZONS[PARTITION_HORIZON].minutes
PARTITION_QUARTERS: Final = PARTITION_MINUTES // 15
_KEPT: Final = PARTITION_QUARTERS + 1  # quarter hours, so that four hours find their start
_CLOSE, _BAND = range(2)
_FORGET: Final = 0.5 ** (1.0 / (30 * DAY))
_WORTH: Final = 1.0 / PARTITION_QUARTERS  # of one case among overlapping ones


class PartitionBase(Part):
    """Fading counts of what came of each asset's four hours, one begun with each quarter hour."""

    STATE: ClassVar[tuple[str, ...]] = ("began", "number", "counts")

    def __init__(self, assets: int) -> None:
        """Start without a case."""
        super().__init__()
        self.began = np.full((_KEPT, 2, assets), np.nan)  # log close and band, by the quarter hour that begins
        self.number = np.full(1, -1.0)  # of the last of them
        self.counts = np.zeros((3, assets))  # of down, within the band and up

    def rates(self) -> FloatArray:
        """Return the base rates of down, within the band and up after one bar, (3, assets)."""
        return base_rates(self.counts)

    def update(self, ends: QuarterEnds, log_close: FloatArray, band: FloatArray, ready: Flags) -> None:
        """Count the four hours that end with a block's quarter hours, and write down those that begin.

        Args:
            ends: of the block's quarter hours, m.
            log_close: (n, assets), NaN where there is no bar.
            band: half-width of the usual move, NaN where unknown, likewise.
            ready: True where the asset has enough history, likewise.
        """
        bars = ends.last_bars
        if not len(bars):
            self.stand(len(log_close))
            return

        began, places = slid(self.began, int(self.number[0]), ends.numbers)
        began[places, _CLOSE] = np.where(ready[bars], log_close[bars], np.nan)
        began[places, _BAND] = band[bars]

        start = began[places - PARTITION_QUARTERS]
        moves = log_close[bars] - np.where(np.isfinite(start[:, _BAND]), start[:, _CLOSE], np.nan)
        hits = hits_of(moves, start[:, _BAND])
        keep = np.where(np.isfinite(moves).any(axis=1), _FORGET, 1.0)
        counts = faded(self.counts, keep[:, None, None], hits * _WORTH)

        self._windows = {"began": (began, ends.window_ends(_KEPT, places))}
        self.counts = ends.at_bars(counts)
        newest = np.concatenate((self.number, ends.numbers))
        self.number = newest[ends.so_far][:, None]
