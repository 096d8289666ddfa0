"""The recent closed bars that the tick and the pages read from."""

from typing import Final

import numpy as np

from generator.market.bars import BAR_MS, BarFrame

CAPACITY_BARS: Final = 8640  # 30 days of 5-minute bars


class History:
    """The last `capacity_bars` bars of all assets, oldest first."""

    def __init__(self, assets: tuple[str, ...], capacity_bars: int = CAPACITY_BARS) -> None:
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
        """Add the frame's bars that open after the newest one held; ignore the rest."""
        held = self._frame
        new = frame if self.last_t_ms is None else frame.after(self.last_t_ms)
        if len(held) and not len(new):
            return

        t = np.concatenate([held.t, new.t])[-self._capacity :]
        joined = {name: np.concatenate([values, new.fields[name]]) for name, values in held.fields.items()}
        fields = {name: values[-self._capacity :] for name, values in joined.items()}
        for values in (t, *fields.values()):
            values.flags.writeable = False  # they are given out

        self._frame = BarFrame(held.assets, t, fields, frame.interval_ms)

    def frame(self) -> BarFrame:
        """Return the bars held, oldest first, read-only; later appends do not change them."""
        return self._frame

    def reached(self, asset: str, since_ms: int, until_ms: int) -> tuple[float, float] | None:
        """Return the highest and lowest price of the 5-minute bars between two times; None where one is missing."""
        frame = self._frame
        if frame.interval_ms != BAR_MS:
            return None
        first, last = np.searchsorted(frame.t, (since_ms, until_ms)).tolist()
        column = frame.assets.index(asset)
        high = frame.fields["high"][first:last, column]
        low = frame.fields["low"][first:last, column]
        is_whole = len(high) * BAR_MS == until_ms - since_ms and bool((np.isfinite(high) & np.isfinite(low)).all())
        return (float(high.max()), float(low.min())) if is_whole else None

    def closes(self, asset: str, last_n: int) -> tuple[tuple[int, float], ...]:
        """Return (open time in ms, close) of the last `last_n` bars, oldest first; without those that have no close."""
        recent = self._frame.rows(max(len(self) - max(last_n, 0), 0))
        close = recent.fields["close"][:, recent.assets.index(asset)]
        known = np.isfinite(close)
        return tuple(zip(recent.t[known].tolist(), close[known].tolist(), strict=True))
