"""A whole recording in memory: candles with the funding and open interest known at each bar's close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from generator.market.recorded.candles import Candles, load_candles
from generator.market.recorded.csv import Kind
from generator.market.recorded.folder import find_folders
from generator.market.recorded.series import HOUR_MS, SeriesTable, load_series
from generator.market.values import BAR_FIELDS, BarFrame

_COLUMN_OF = {Kind.FUNDING: "funding", Kind.OPEN_INTEREST: "open_interest"}


@dataclass(frozen=True, slots=True)
class Recording:
    """What the folders hold, ready to be replayed."""

    candles: Candles
    series: dict[Kind, SeriesTable]

    @property
    def frame(self) -> BarFrame:
        """All bars, those of the future included; who replays cuts them."""
        return self.candles.frame

    @property
    def interval_ms(self) -> int:
        """Length of a bar."""
        return self.frame.interval_ms

    @property
    def first_ms(self) -> int:
        """When the first bar opens."""
        return int(self.frame.t[0])

    @property
    def end_ms(self) -> int:
        """When the last bar closes."""
        return int(self.frame.t[-1]) + self.interval_ms

    @property
    def cycle_ms(self) -> int:
        """Length of one turn when the recording is looped: whole hours."""
        return -(-(self.end_ms - self.first_ms) // HOUR_MS) * HOUR_MS

    def tiled(self, shifts_ms: tuple[int, ...]) -> Recording:
        """Repeat the recording at each shift, ascending multiples of the cycle."""
        frame = self.frame
        t = np.concatenate([frame.t + shift for shift in shifts_ms])
        fields = {name: np.tile(frame.fields[name], (len(shifts_ms), 1)) for name in BAR_FIELDS}
        candles = replace(self.candles, frame=BarFrame(frame.assets, t, fields, frame.interval_ms))
        span = (self.first_ms, self.first_ms + self.cycle_ms)
        return Recording(candles, {kind: table.tiled(shifts_ms, *span) for kind, table in self.series.items()})


def load_recording(folders: Sequence[Path], assets: tuple[str, ...]) -> Recording:
    """Read the folders.

    Raises:
        SourceError: they hold no recording; the text names the folder and what was expected.
    """
    found = find_folders(folders, assets)
    candles = load_candles(found[Kind.CANDLES], assets)
    series: dict[Kind, SeriesTable] = {
        kind: load_series(folder) for kind, folder in found.items() if kind is not Kind.CANDLES
    }
    closes = candles.frame.t + candles.frame.interval_ms
    for kind, table in series.items():
        for asset, one in table.series.items():
            candles.frame.fields[_COLUMN_OF[kind]][:, assets.index(asset)] = one.column(closes)
    for values in candles.frame.fields.values():
        values.flags.writeable = False  # frames given out are views
    return Recording(candles, series)
