"""The ring of recent closed bars that the tick and the pages read from."""

from __future__ import annotations

from typing import Final

import numpy as np

from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame, FloatArray, IntArray

CAPACITY_BARS: Final = 8640  # 30 days of 5-minute bars


class History:
    """The last bars of all assets, oldest first, bounded in memory.

    The buffer holds twice the capacity; when it is full, the last `capacity_bars` move to a new one. So appending is
    O(1) per bar on average, and a frame once given out never changes: later bars are written behind it.

    Args:
        assets: column order, the same as in every frame appended.
        capacity_bars: how many bars `frame` gives at most, >= 1.

    Raises:
        ValueError: the capacity is below 1.
    """

    def __init__(self, assets: tuple[str, ...], capacity_bars: int = CAPACITY_BARS) -> None:
        if capacity_bars < 1:
            raise ValueError(f"a history holds at least one bar, not {capacity_bars}")
        self._assets = assets
        self._capacity = capacity_bars
        self._interval_ms = BAR_MS
        self._used = 0
        self._t, self._fields = self._new_buffer()

    def __len__(self) -> int:
        """Number of bars that `frame` gives."""
        return min(self._used, self._capacity)

    @property
    def last_t_ms(self) -> int | None:
        """Open time of the newest bar."""
        return int(self._t[self._used - 1]) if self._used else None

    def append(self, frame: BarFrame) -> None:
        """Add the frame's bars that open after the newest one held; ignore the rest.

        Raises:
            ValueError: the frame has other assets, or bars of another length than those held.
        """
        self._check(frame)
        fresh = self._fresh(frame.t)
        fresh = fresh[-self._capacity :]
        if self._used + len(fresh) > len(self._t):
            self._move_to_new_buffer()
        rows = slice(self._used, self._used + len(fresh))
        self._t[rows] = frame.t[fresh]
        for name, values in self._fields.items():
            values[rows] = frame.fields[name][fresh]
        self._used += len(fresh)

    def frame(self) -> BarFrame:
        """Return the bars held, oldest first, as read-only views that later appends do not change."""
        rows = slice(max(self._used - self._capacity, 0), self._used)
        fields = {name: _read_only(values[rows]) for name, values in self._fields.items()}
        t = self._t[rows]
        t.flags.writeable = False
        return BarFrame(self._assets, t, fields, self._interval_ms)

    def closes(self, asset: str, last_n: int) -> tuple[tuple[int, float], ...]:
        """Return (open time in ms, close) of the last `last_n` bars, oldest first; bars without a close are left out.

        Raises:
            ValueError: the asset is not held.
        """
        frame = self.frame()
        recent = frame.rows(max(len(frame) - max(last_n, 0), 0))
        close = recent.fields["close"][:, self._assets.index(asset)]
        known = np.isfinite(close)
        return tuple(zip(recent.t[known].tolist(), close[known].tolist(), strict=True))

    def _check(self, frame: BarFrame) -> None:
        if frame.assets != self._assets:
            raise ValueError(f"history of {self._assets} got bars of {frame.assets}")
        if not self._used:
            self._interval_ms = frame.interval_ms
        elif len(frame) and frame.interval_ms != self._interval_ms:
            raise ValueError(f"history of {self._interval_ms} ms bars got bars of {frame.interval_ms} ms")

    def _fresh(self, t: IntArray) -> IntArray:
        """Return the rows whose time is later than everything held or before them in the frame."""
        newest = self._t[self._used - 1] if self._used else np.iinfo(np.int64).min
        before = np.maximum.accumulate(np.concatenate([[newest], t]))[:-1]
        rows: IntArray = np.flatnonzero(t > before)
        return rows

    def _new_buffer(self) -> tuple[IntArray, dict[str, FloatArray]]:
        size = 2 * self._capacity
        fields = {name: np.full((size, len(self._assets)), np.nan) for name in BAR_FIELDS}
        return np.zeros(size, dtype=np.int64), fields

    def _move_to_new_buffer(self) -> None:
        old_t, old_fields = self._t, self._fields
        rows = slice(max(self._used - self._capacity, 0), self._used)
        kept = rows.stop - rows.start
        self._t, self._fields = self._new_buffer()
        self._t[:kept] = old_t[rows]
        for name, values in self._fields.items():
            values[:kept] = old_fields[name][rows]
        self._used = kept


def _read_only(values: FloatArray) -> FloatArray:
    values.flags.writeable = False
    return values
