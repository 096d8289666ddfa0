"""Read a folder of recorded 5-minute candles, for evaluation only."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from generator.market.values import BAR_FIELDS, BAR_MS, BarFrame

_COLUMNS = ("open", "high", "low", "close", "volume")
_HEAD = ["ts", *_COLUMNS]


def candle_folders(folder: Path) -> list[Path]:
    """Return the folder itself or those below it that hold 5-minute candles, by name.

    Raises:
        ValueError: there is none.
    """
    below = sorted({path.parent for path in folder.rglob("*.csv.gz")})
    found = [one for one in below if _holds_candles(next(iter(sorted(one.glob("*.csv.gz")))))]
    if not found:
        raise ValueError(f"no 5-minute candles (*.csv.gz with {','.join(_HEAD)}) in or below {folder}")
    return found


def _holds_candles(path: Path) -> bool:
    """Say whether a file begins with the columns of candles and with two that are 5 minutes apart."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        head, *rows = [line.strip().split(",") for _, line in zip(range(3), lines, strict=False)]
    return head[: len(_HEAD)] == _HEAD and len(rows) == 2 and float(rows[1][0]) - float(rows[0][0]) == BAR_MS


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
