"""The recent closed bars that the tick and the pages read from."""

from typing import Final

import numpy as np

from generator.market.bars import BarFrame, IntArray

CAPACITY_BARS: Final = 8640  # 30 days of 5-minute bars


class History:
    """The last bars of all assets, oldest first, bounded in memory.

    Args:
        assets: column order, the same as in every frame appended.
        capacity_bars: how many bars `frame` gives at most, >= 1.

    Raises:
        ValueError: the capacity is below 1.
    """

    def __init__(self, assets: tuple[str, ...], capacity_bars: int = CAPACITY_BARS) -> None:
        if capacity_bars < 1:
            raise ValueError(f"a history holds at least one bar, not {capacity_bars}")
        self._capacity = capacity_bars
        self._frame = BarFrame.empty(assets)

    def __len__(self) -> int:
        """Number of bars that `frame` gives."""
        return len(self._frame)

    @property
    def last_t_ms(self) -> int | None:
        """Open time of the newest bar."""
        return int(self._frame.t[-1]) if len(self) else None

    def append(self, frame: BarFrame) -> None:
        """Add the frame's bars that open after the newest one held; ignore the rest.

        Raises:
            ValueError: the frame has other assets, or bars of another length than those held.
        """
        held = self._frame
        if frame.assets != held.assets:
            raise ValueError(f"history of {held.assets} got bars of {frame.assets}")
        if len(held) and len(frame) and frame.interval_ms != held.interval_ms:
            raise ValueError(f"history of {held.interval_ms} ms bars got bars of {frame.interval_ms} ms")
        rows = self._later(frame.t)
        if len(held) and not len(rows):
            return
        kept = held.rows(max(0, len(held) + len(rows) - self._capacity))
        rows = rows[-self._capacity :]
        t = np.concatenate([kept.t, frame.t[rows]])
        fields = {name: np.concatenate([values, frame.fields[name][rows]]) for name, values in kept.fields.items()}
        for values in (t, *fields.values()):
            values.flags.writeable = False  # they are given out
        self._frame = BarFrame(held.assets, t, fields, frame.interval_ms)

    def frame(self) -> BarFrame:
        """Return the bars held, oldest first, read-only; later appends do not change them."""
        return self._frame

    def closes(self, asset: str, last_n: int) -> tuple[tuple[int, float], ...]:
        """Return (open time in ms, close) of the last `last_n` bars, oldest first; bars without a close are left out.

        Raises:
            ValueError: the asset is not held.
        """
        recent = self._frame.rows(max(len(self) - max(last_n, 0), 0))
        close = recent.fields["close"][:, recent.assets.index(asset)]
        known = np.isfinite(close)
        return tuple(zip(recent.t[known].tolist(), close[known].tolist(), strict=True))

    def _later(self, t: IntArray) -> IntArray:
        """Return the rows whose time is later than everything held or before them in the frame."""
        newest = np.iinfo(np.int64).min if self.last_t_ms is None else self.last_t_ms
        before = np.maximum.accumulate(np.concatenate([[newest], t]))[:-1]
        rows: IntArray = np.flatnonzero(t > before)
        return rows
