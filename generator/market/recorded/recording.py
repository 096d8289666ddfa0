"""A whole recording in memory: candles with the funding and open interest known at each bar's close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from generator.errors import SourceError
from generator.market.bars import BAR_FIELDS, BarFrame, FloatArray, IntArray
from generator.market.recorded.files import Folder, Kind, Rows, UnreadableFileError, ascending, find_folders, read_rows

_PRICES: Final = ("open", "high", "low", "close")
INTERVALS_MS: Final = (300_000, 3_600_000)
_MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
STALE_INTERVALS: Final = 2
_FUNDING_MS: Final = 8 * HOUR_MS
_DEFAULT_CADENCE_MS: Final = {Kind.FUNDING: 8 * HOUR_MS, Kind.OPEN_INTEREST: 4 * HOUR_MS}
_COLUMN_OF = {Kind.FUNDING: "funding", Kind.OPEN_INTEREST: "open_interest"}


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


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one asset, each row known from its time until the next.

    Args:
        t: times in ms, strictly ascending.
        values: one row per time; contracts and US dollars of open interest, the rate alone of funding.
        cadence_ms: usual distance of two times.
    """

    t: IntArray
    values: FloatArray
    cadence_ms: int

    def at(self, t_ms: int) -> tuple[int, list[float]] | None:
        """Return time and values of the last row at or before `t_ms`, None before the first."""
        row = int(np.searchsorted(self.t, t_ms, side="right")) - 1
        return (int(self.t[row]), self.values[row].tolist()) if row >= 0 else None

    def near(self, t_ms: int, tolerance_ms: int) -> list[float] | None:
        """Return the values whose time is within the tolerance of `t_ms`."""
        known = self.at(t_ms + tolerance_ms)
        return known[1] if known is not None and known[0] >= t_ms - tolerance_ms else None

    def is_stale(self, as_of_ms: int, now_ms: int) -> bool:
        """Return whether a row of `as_of_ms` is older than two intervals at `now_ms`."""
        return now_ms - as_of_ms > STALE_INTERVALS * self.cadence_ms

    def column(self, times: IntArray) -> FloatArray:
        """Return the first value known at each time, NaN before the first row and where it is stale."""
        rows = np.searchsorted(self.t, times, side="right") - 1
        known = (rows >= 0) & (times - self.t[np.maximum(rows, 0)] <= STALE_INTERVALS * self.cadence_ms)
        return np.where(known, self.values[np.maximum(rows, 0), 0], np.nan)


@dataclass(frozen=True, slots=True)
class SeriesTable:
    """The series of one kind; `problems` says for an asset without one why."""

    venue: str
    kind: Kind
    series: dict[str, Series]
    problems: dict[str, str]
    dropped: int

    def tiled(self, shifts_ms: tuple[int, ...], first_ms: int, stop_ms: int) -> SeriesTable:
        """Repeat the rows of [first_ms, stop_ms) at each shift; shifts ascend by the length of that span at least."""
        return replace(
            self, series={asset: _tiled(one, shifts_ms, first_ms, stop_ms) for asset, one in self.series.items()}
        )


def _tiled(one: Series, shifts_ms: tuple[int, ...], first_ms: int, stop_ms: int) -> Series:
    inside = (one.t >= first_ms) & (one.t < stop_ms)
    t = np.concatenate([one.t[inside] + shift for shift in shifts_ms])
    return replace(one, t=t, values=np.tile(one.values[inside], (len(shifts_ms), 1)))


def load_series(folder: Folder) -> SeriesTable:
    """Read the funding or open-interest files of a folder; a bad file or row costs itself alone."""
    series: dict[str, Series] = {}
    problems = dict(folder.unreadable)
    dropped = 0
    for asset, path in folder.files.items():
        try:
            rows = read_rows(path, folder.kind)
        except UnreadableFileError as error:
            problems[asset] = str(error)
            continue
        one = _series(rows.t, rows.values, folder.kind)
        dropped += rows.dropped + len(rows.t) - len(one.t)
        if len(one.t):
            series[asset] = one
        else:
            problems[asset] = "no valid row"
    return SeriesTable(folder.venue, folder.kind, series, problems, dropped)


def _series(t: IntArray, values: FloatArray, kind: Kind) -> Series:
    possible = np.isfinite(values) & (values > 0 if kind is Kind.OPEN_INTEREST else np.abs(values) < 1.0)
    valid = possible.all(axis=1)
    t, values = t[valid], values[valid]
    kept = ascending(t)
    t, values = t[kept], values[kept]
    cadence = _cadence(t, _DEFAULT_CADENCE_MS[kind])
    if kind is Kind.FUNDING:
        values = values * (_FUNDING_MS / cadence)  # the rate paid each interval, as a rate per 8 hours
    return Series(t, values, cadence)


def _cadence(t: IntArray, default_ms: int) -> int:
    """Return the usual distance of rows in whole hours (venues stamp payments some ms late)."""
    if len(t) < 2:
        return default_ms
    return max(round(float(np.median(np.diff(t))) / HOUR_MS), 1) * HOUR_MS


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
