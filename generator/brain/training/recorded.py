"""Read a folder of recorded 5-minute candles, for evaluation only."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from generator.market.values import BAR_FIELDS, BarFrame

_COLUMNS = ("open", "high", "low", "close", "volume")


def read_candles(folder: Path) -> BarFrame:
    """Read every `<PAIR>.csv.gz` (ts, open, high, low, close, volume) on their common time grid.

    Raises:
        ValueError: no such file in the folder.
    """
    tables = {}
    for path in sorted(folder.glob("*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            tables[path.name.split(".")[0].removesuffix("USDT")] = np.genfromtxt(lines, delimiter=",", skip_header=1)
    if not tables:
        raise ValueError(f"no *.csv.gz candles in {folder}")
    grid = np.unique(np.concatenate([table[:, 0] for table in tables.values()])).astype(np.int64)
    fields = {name: np.full((grid.size, len(tables)), np.nan) for name in BAR_FIELDS}
    for column, table in enumerate(tables.values()):
        rows = np.searchsorted(grid, table[:, 0].astype(np.int64))
        for source, name in enumerate(_COLUMNS, start=1):
            fields[name][rows, column] = table[:, source]
    return BarFrame(tuple(tables), grid, fields)
