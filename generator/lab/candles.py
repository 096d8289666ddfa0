"""Recorded candles as the brain reads them."""

from pathlib import Path

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.durations import MINUTE_MS
from generator.errors import SourceError
from generator.market.bars import BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording


def read_candles(folder: Path) -> BarFrame:
    """Read a folder of recorded 5-minute candles, only the assets that it holds; raise SourceError on others."""
    frame = load_recording([folder], tuple(sorted(ASSETS))).frame
    if frame.interval_ms != BAR_MS:
        raise SourceError(f"{folder} holds candles of {frame.interval_ms // MINUTE_MS} minutes; expected 5")
    held = np.flatnonzero(np.isfinite(frame.fields["close"]).any(axis=0)).tolist()
    fields = {name: values[:, held] for name, values in frame.fields.items()}
    return BarFrame(tuple(frame.assets[column] for column in held), frame.t, fields)
