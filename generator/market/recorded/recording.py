"""A whole recording in memory: candles with the funding and open interest known at each bar's close."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.errors import SourceError
from generator.market.bars import BAR_FIELDS, BarFrame, FloatArray, IntArray
from generator.market.recorded.candles import REPEATED, Candles, candles_of, in_words
from generator.market.recorded.files import RecordingFolder, Rows, Unread, find_folders
from generator.market.recorded.layouts import RecordedKind

STALE_INTERVALS: Final = 2
_FUNDING_MS: Final = 8 * HOUR_MS
IMPOSSIBLE: Final = "a value that cannot be true"
_DEFAULT_CADENCE_MS: Final = {RecordedKind.FUNDING: 8 * HOUR_MS, RecordedKind.OPEN_INTEREST: 4 * HOUR_MS}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the rows of one kind come from."""

    venue: str
    problems: dict[str, str]  # for an asset without any row why
    left_out: Counter[str]  # rows by reason


@dataclass(frozen=True, slots=True)
class FileUse:
    """What became of one file, for who gave it."""

    path: Path
    name: str  # of the file, or of the file inside a zip
    layout: str  # the publisher's name
    kind: str
    pair: str
    first_ms: int | None  # times of its rows, as the file gives them
    last_ms: int | None
    rows: int
    left_out: Counter[str]
    passed_over: str = ""  # why the file is not read at all

    @property
    def used(self) -> int:
        """How many of its rows are in the recording."""
        return self.rows - self.left_out.total()


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """Values of one asset, each row known from its time until the next."""

    t: IntArray  # ms, strictly ascending
    values: FloatArray  # one row per time; contracts and US dollars of open interest, the rate alone of funding
    cadence_ms: int  # usual distance of two times

    def at(self, t_ms: int) -> tuple[int, list[float]] | None:
        """Return time and values of the last row at or before `t_ms`, None before the first."""
        row = int(np.searchsorted(self.t, t_ms, side="right")) - 1
        return (int(self.t[row]), self.values[row].tolist()) if row >= 0 else None

    def is_stale(self, as_of_ms: int, now_ms: int) -> bool:
        """Return whether a row of `as_of_ms` is older than two intervals at `now_ms`."""
        return now_ms - as_of_ms > STALE_INTERVALS * self.cadence_ms

    def column(self, times: IntArray) -> FloatArray:
        """Return the first value known at each time, NaN before the first row and where it is stale."""
        rows = np.searchsorted(self.t, times, side="right") - 1
        known = (rows >= 0) & (times - self.t[np.maximum(rows, 0)] <= STALE_INTERVALS * self.cadence_ms)
        return np.where(known, self.values[np.maximum(rows, 0), 0], np.nan)


@dataclass(frozen=True, slots=True)
class Recording:
    """What the folders hold, ready to be replayed."""

    frame: BarFrame  # all bars, those of the future included; who replays cuts them
    series: dict[RecordedKind, dict[str, RecordedSeries]]  # funding and open interest by asset
    origins: dict[RecordedKind, Origin]  # candles first
    files: tuple[FileUse, ...]
    mended: int  # rounded highs and lows of candles

    @property
    def first_ms(self) -> int:
        """When the first bar opens."""
        return int(self.frame.t[0])

    @property
    def end_ms(self) -> int:
        """When the last bar closes."""
        return int(self.frame.t[-1]) + self.frame.interval_ms

    @property
    def cycle_ms(self) -> int:
        """Length of one turn when the recording is looped: whole hours."""
        return -(-(self.end_ms - self.first_ms) // HOUR_MS) * HOUR_MS

    def tiled(self, shifts_ms: tuple[int, ...]) -> Recording:
        """Repeat the recording at each shift, ascending multiples of the cycle."""
        turns = len(shifts_ms)
        first_ms = self.first_ms
        stop_ms = first_ms + self.cycle_ms

        def repeated(series: RecordedSeries) -> RecordedSeries:
            inside = (series.t >= first_ms) & (series.t < stop_ms)
            t = np.concatenate([series.t[inside] + shift for shift in shifts_ms])
            return replace(series, t=t, values=_tiled(series.values[inside], turns))

        t = np.concatenate([self.frame.t + shift for shift in shifts_ms])
        fields = {name: _tiled(values, turns) for name, values in self.frame.fields.items()}
        all_series = {
            kind: {asset: repeated(series) for asset, series in by_asset.items()}
            for kind, by_asset in self.series.items()
        }
        return replace(self, frame=replace(self.frame, t=t, fields=fields), series=all_series)


def _tiled(values: FloatArray, turns: int) -> FloatArray:
    """Repeat rows; those of a field that is nowhere known take no memory."""
    if values.strides == (0, 0):
        return np.broadcast_to(values[:1, :1], (turns * len(values), values.shape[1]))
    return np.tile(values, (turns, 1))


def load_recording(folders: Sequence[Path], assets: tuple[str, ...]) -> Recording:
    """Read the folders.

    Raises:
        SourceError: they hold no recording; the text names the folder and what was expected.
    """
    by_kind = find_folders(folders, assets)
    folder = by_kind.pop(RecordedKind.CANDLES)
    candles = {asset: candles_of(files) for asset, files in folder.files.items()}
    _check(folder, candles)

    frame = _frame(candles, assets)
    origins = {
        RecordedKind.CANDLES: _origin(folder, {asset: (len(read.t), read.left_out) for asset, read in candles.items()})
    }
    files = [*_used(folder, {asset: read.left_out for asset, read in candles.items()})]
    series = {
        kind: _series_in(frame, column)
        for kind, column in ((RecordedKind.FUNDING, "funding"), (RecordedKind.OPEN_INTEREST, "open_interest"))
        if np.isfinite(frame.fields[column]).any()
    }
    for kind in series:
        origins[kind] = Origin(folder.venue, {}, Counter())

    for kind, other in by_kind.items():
        kept = {asset: _ascending(tables, kind) for asset, tables in other.files.items()}
        origins[kind] = _origin(other, {asset: (len(t), left_out) for asset, (t, _, left_out) in kept.items()})
        files += _used(other, {asset: left_out for asset, (_, _, left_out) in kept.items()})
        series[kind] = {asset: _series(t, values, kind) for asset, (t, values, _) in kept.items() if len(t)}
        frame.fields[kind.value] = _column(frame, series[kind])

    for values in frame.fields.values():
        values.flags.writeable = False  # frames given out are views
    return Recording(frame, series, origins, tuple(files), sum(read.mended for read in candles.values()))


def _check(folder: RecordingFolder, candles: dict[str, Candles]) -> None:
    """Refuse a folder without a candle that can be true, or with bars of two lengths."""
    lengths = {read.interval_ms: asset for asset, read in candles.items()}
    if len(lengths) > 1:
        named = " and ".join(f"{length // MINUTE_MS}-minute bars of {asset}" for length, asset in lengths.items())
        raise SourceError(f"{folder.path} mixes {named}; give a folder of one length")
    if not any(len(read.t) for read in candles.values()):
        reasons = sum((count for read in candles.values() for count in read.left_out), Counter[str]())
        raise SourceError(f"{folder.path} holds no candle that can be true: {in_words(reasons)}")


def _frame(candles: dict[str, Candles], assets: tuple[str, ...]) -> BarFrame:
    """Lay the candles of all assets on one grid; a field that none has takes no memory."""
    grid: IntArray = np.unique(np.concatenate([read.t for read in candles.values()]))
    shape = (len(grid), len(assets))
    held = {name for read in candles.values() for name in read.fields}
    fields: dict[str, FloatArray] = {
        name: np.full(shape, np.nan) if name in held else np.broadcast_to(np.float64(np.nan), shape)
        for name in BAR_FIELDS
    }
    for asset, read in candles.items():
        at = np.searchsorted(grid, read.t)
        for name, values in zip(read.fields, read.values.T, strict=True):
            fields[name][at, assets.index(asset)] = values
    return BarFrame(assets, grid, fields, next(iter(candles.values())).interval_ms)


def _origin(folder: RecordingFolder, kept: Mapping[str, tuple[int, Sequence[Counter[str]]]]) -> Origin:
    problems = {file.asset: file.reason for file in folder.unread if file.asset and file.asset not in kept}
    problems |= {asset: "no valid row" for asset, (count, _) in kept.items() if not count}
    left_out = sum((count for _, counts in kept.values() for count in counts), Counter[str]())
    return Origin(folder.venue, problems, left_out)


def _used(folder: RecordingFolder, left_out: Mapping[str, Sequence[Counter[str]]]) -> Iterator[FileUse]:
    """Say what became of each file of a folder."""
    for asset, tables in folder.files.items():
        for rows, reasons in zip(tables, left_out[asset], strict=True):
            first, last = (int(rows.t.min()), int(rows.t.max())) if len(rows.t) else (None, None)
            count = len(rows.t) + rows.left_out.total()
            kind = folder.kind.value
            yield FileUse(rows.path, rows.name, rows.layout.publisher, kind, rows.pair, first, last, count, reasons)
    for file in folder.unread:
        yield _unused(file)


def _unused(file: Unread) -> FileUse:
    return FileUse(file.path, file.path.name, "-", "-", file.asset or "-", None, None, 0, Counter(), file.reason)


def _ascending(tables: Sequence[Rows], kind: RecordedKind) -> tuple[IntArray, FloatArray, tuple[Counter[str], ...]]:
    """Put the files of one asset together in order of time, the last of rows with one time."""
    t = np.concatenate([rows.t for rows in tables])
    values = np.concatenate([rows.values for rows in tables])
    origin = np.repeat(np.arange(len(tables)), [len(rows.t) for rows in tables])

    in_range = values > 0 if kind is RecordedKind.OPEN_INTEREST else np.abs(values) < 1.0
    possible = np.all(np.isfinite(values) & in_range, axis=1)
    order = np.lexsort((np.arange(len(t)), t))
    order = order[possible[order]]
    again = np.append(np.diff(t[order]) == 0, False) if len(order) else np.zeros(0, dtype=bool)

    counts = []
    for number, rows in enumerate(tables):
        repeated = int((origin[order[again]] == number).sum())
        impossible = int((origin[~possible] == number).sum())
        counts.append(rows.left_out + Counter({IMPOSSIBLE: impossible, REPEATED: repeated}))
    order = order[~again]
    return t[order], values[order], tuple(counts)


def _series(t: IntArray, values: FloatArray, kind: RecordedKind) -> RecordedSeries:
    """Make a series; its cadence is the usual distance of rows in whole hours (venues stamp payments some ms late)."""
    cadence_ms = _DEFAULT_CADENCE_MS[kind]
    if len(t) > 1:
        cadence_ms = max(round(float(np.median(np.diff(t))) / HOUR_MS), 1) * HOUR_MS
    # The rate paid each interval, as a rate per 8 hours.
    scale = _FUNDING_MS / cadence_ms if kind is RecordedKind.FUNDING else 1.0
    return RecordedSeries(t, values * scale, cadence_ms)


def _column(frame: BarFrame, series: Mapping[str, RecordedSeries]) -> FloatArray:
    """Return the field of the bars that a series gives: the value known when each bar closes."""
    column = np.full((len(frame), len(frame.assets)), np.nan)
    for asset, known in series.items():
        column[:, frame.assets.index(asset)] = known.column(frame.t + frame.interval_ms)
    return column


def _series_in(frame: BarFrame, name: str) -> dict[str, RecordedSeries]:
    """Make series of a field that the bars themselves hold, as an export does: known at each close, per 8 hours."""
    found = {}
    for column, asset in enumerate(frame.assets):
        known = frame.fields[name][:, column]
        rows = np.flatnonzero(np.isfinite(known))
        if not len(rows):
            continue
        values = known[rows, np.newaxis]
        if name == "open_interest":
            values = np.column_stack((known[rows], known[rows] * frame.fields["close"][rows, column]))
        found[asset] = RecordedSeries(frame.t[rows] + frame.interval_ms, values, HOUR_MS)
    return found
