"""Recorded candles of all assets on one grid; impossible rows are dropped and counted, gaps stay gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.errors import SourceError
from generator.market.recorded.csv import Kind, Rows, UnreadableFileError, ascending, read_rows
from generator.market.recorded.folder import Folder
from generator.market.values import BAR_FIELDS, BarFrame, FloatArray, IntArray

_PRICES: Final = ("open", "high", "low", "close")
INTERVALS_MS: Final = (300_000, 3_600_000)
_MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Candles:
    """Candles of one venue; `problems` says for an asset without any why."""

    venue: str
    frame: BarFrame
    problems: dict[str, str]
    dropped: int


def load_candles(folder: Folder, assets: tuple[str, ...]) -> Candles:
    """Read the candle files of a folder.

    Raises:
        SourceError: no file can be read, or the bars are neither of 5 nor of 60 minutes.
    """
    problems = dict(folder.unreadable)
    read: dict[str, Rows] = {}
    for asset, path in folder.files.items():
        try:
            read[asset] = read_rows(path, Kind.CANDLES)
        except UnreadableFileError as error:
            problems[asset] = str(error)
    interval = _interval(folder, read)
    valid = {asset: _valid(rows, interval) for asset, rows in read.items()}
    problems |= {asset: "no valid row" for asset, rows in valid.items() if not len(rows.t)}
    if not any(len(rows.t) for rows in valid.values()):
        raise SourceError(f"{folder.path} holds no valid candle; expected rows of ts,open,high,low,close,volume")
    dropped = sum(rows.dropped for rows in valid.values())
    return Candles(folder.venue, _frame(valid, assets, interval), problems, dropped)


def _interval(folder: Folder, read: dict[str, Rows]) -> int:
    """Detect the bar length: the commonest distance of rows, the same in every file."""
    seen: dict[str, int] = {}
    for asset, rows in read.items():
        distances = np.diff(rows.t)
        lengths, counts = np.unique(distances[distances > 0], return_counts=True)
        if len(lengths):
            seen[asset] = int(lengths[np.argmax(counts)])
    if not seen:
        raise SourceError(f"{folder.path} holds too few candles to tell their length; expected 5 or 60 minutes")
    for asset, length in seen.items():
        if length not in INTERVALS_MS:
            name = folder.files[asset].name
            raise SourceError(
                f"{folder.path}: bars of {length / _MINUTE_MS:g} minutes in {name}; expected 5 or 60 minutes"
            )
    if len(set(seen.values())) > 1:
        raise SourceError(f"{folder.path} mixes 5-minute and 60-minute bars; give a folder of one length")
    return next(iter(seen.values()))


def _valid(rows: Rows, interval_ms: int) -> Rows:
    """Keep possible candles on the grid, ascending, the first of duplicates; count the rest."""
    opened, high, low, close, volume = rows.values.T
    possible = np.isfinite(rows.values).all(axis=1) & (low > 0) & (volume >= 0) & (rows.t % interval_ms == 0)
    possible &= (high >= np.maximum(opened, close)) & (low <= np.minimum(opened, close))
    t, values = rows.t[possible], rows.values[possible]
    kept = ascending(t)
    return Rows(t[kept], values[kept], rows.dropped + len(rows.t) - len(kept))


def _frame(valid: dict[str, Rows], assets: tuple[str, ...], interval_ms: int) -> BarFrame:
    grid: IntArray = np.unique(np.concatenate([rows.t for rows in valid.values()]))
    fields: dict[str, FloatArray] = {name: np.full((len(grid), len(assets)), np.nan) for name in BAR_FIELDS}
    for asset, rows in valid.items():
        at = np.searchsorted(grid, rows.t)
        for position, name in enumerate((*_PRICES, "volume")):
            fields[name][at, assets.index(asset)] = rows.values[:, position]
    return BarFrame(assets, grid, fields, interval_ms)
