"""Closed bars of all assets on one time grid.

Times are integer UTC milliseconds on the market clock. Unknown is NaN, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.catalog.durations import DAY_MS, MINUTE_MS

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BAR_MS: Final = 5 * MINUTE_MS
BARS_A_DAY: Final = DAY_MS // BAR_MS
BAR_FIELDS: Final[tuple[str, ...]] = (
    "open",
    "high",
    "low",
    "close",
    "volume",  # base units
    "depth_usd",  # resting within 1% of mid, both sides
    "spread_bps",
    "imbalance",  # -1 (all asks) .. 1 (all bids) within 1% of mid
    "funding",  # rate per 8 hours, as a fraction
    "open_interest",  # contracts, counted in coins
    "liq_long_usd",  # long positions liquidated in the bar, USD
    "liq_short_usd",
)


@dataclass(frozen=True, slots=True, eq=False)
class BarFrame:
    """Closed bars of all assets on one time grid; two frames are equal only if they are one."""

    assets: tuple[str, ...]  # column order of every field
    t: IntArray  # open times in ms, shape (n,), strictly ascending, multiples of `interval_ms`; gaps allowed
    fields: dict[str, FloatArray]  # of each of `BAR_FIELDS`, shape (n, len(assets)); NaN where unknown
    interval_ms: int = BAR_MS

    def __len__(self) -> int:
        """Number of bars."""
        return int(self.t.size)

    @classmethod
    def empty(cls, assets: tuple[str, ...], interval_ms: int = BAR_MS) -> BarFrame:
        """Make a frame with no bars."""
        fields = {name: np.empty((0, len(assets))) for name in BAR_FIELDS}
        return cls(assets, np.empty(0, dtype=np.int64), fields, interval_ms)

    @classmethod
    def joined(cls, frames: Sequence[BarFrame]) -> BarFrame:
        """Return the bars of frames that follow each other; there is at least one."""
        first = frames[0]
        fields = {name: np.concatenate([frame.fields[name] for frame in frames]) for name in first.fields}
        return cls(first.assets, np.concatenate([frame.t for frame in frames]), fields, first.interval_ms)

    def rows(self, start: int = 0, stop: int | None = None) -> BarFrame:
        """Return bars `start:stop` (views, not copies)."""
        cut = {name: values[start:stop] for name, values in self.fields.items()}
        return BarFrame(self.assets, self.t[start:stop], cut, self.interval_ms)

    def after(self, t_ms: int) -> BarFrame:
        """Return the bars that opened after `t_ms`."""
        return self.rows(int(np.searchsorted(self.t, t_ms, side="right")))

    def closed_by(self, t_ms: int) -> BarFrame:
        """Return the bars that have closed at `t_ms`."""
        return self.rows(0, int(np.searchsorted(self.t, t_ms - self.interval_ms, side="right")))
