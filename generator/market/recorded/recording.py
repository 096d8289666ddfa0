"""A whole recording in memory: candles with the funding and open interest known at each bar's close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.errors import SourceError
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame, FloatArray, IntArray
from generator.market.recorded.files import RecordedKind, RecordingFolder, Rows, ascending, find_folders

BoolArray = npt.NDArray[np.bool_]

INTERVALS_MS: Final = (BAR_MS, HOUR_MS)
STALE_INTERVALS: Final = 2
_FUNDING_MS: Final = 8 * HOUR_MS
_DEFAULT_CADENCE_MS: Final = {RecordedKind.FUNDING: 8 * HOUR_MS, RecordedKind.OPEN_INTEREST: 4 * HOUR_MS}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the rows of one kind come from; `problems` says for an asset without any why."""

    venue: str
    problems: dict[str, str]
    dropped: int


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
            return replace(series, t=t, values=np.tile(series.values[inside], (turns, 1)))

        t = np.concatenate([self.frame.t + shift for shift in shifts_ms])
        fields = {name: np.tile(values, (turns, 1)) for name, values in self.frame.fields.items()}
        all_series = {
            kind: {asset: repeated(series) for asset, series in by_asset.items()}
            for kind, by_asset in self.series.items()
        }
        return replace(self, frame=replace(self.frame, t=t, fields=fields), series=all_series)


def load_recording(folders: Sequence[Path], assets: tuple[str, ...]) -> Recording:
    """Read the folders.

    Raises:
        SourceError: they hold no recording; the text names the folder and what was expected.
    """
    by_kind = find_folders(folders, assets)
    candles = by_kind.pop(RecordedKind.CANDLES)
    interval_ms = _interval(candles)
    bars = {asset: _kept(rows, _possible_candles(rows, interval_ms)) for asset, rows in candles.files.items()}
    if not any(len(rows.t) for rows in bars.values()):
        raise SourceError(f"{candles.path} holds no valid candle; expected rows of ts,open,high,low,close,volume")

    frame = _frame(bars, assets, interval_ms)
    origins = {RecordedKind.CANDLES: _origin(candles, bars)}
    series: dict[RecordedKind, dict[str, RecordedSeries]] = {}
    for kind, folder in by_kind.items():
        read = {asset: _kept(rows, _possible_values(rows, kind)) for asset, rows in folder.files.items()}
        origins[kind] = _origin(folder, read)
        series[kind] = {asset: _series(rows, kind) for asset, rows in read.items() if len(rows.t)}
        for asset, known in series[kind].items():
            frame.fields[kind.value][:, assets.index(asset)] = known.column(frame.t + interval_ms)

    for values in frame.fields.values():
        values.flags.writeable = False  # frames given out are views
    return Recording(frame, series, origins)


def _interval(folder: RecordingFolder) -> int:
    """Detect the bar length: the commonest distance of rows, the same in every file."""
    seen: set[int] = set()
    for rows in folder.files.values():
        distances = np.diff(rows.t)
        lengths, counts = np.unique(distances[distances > 0], return_counts=True)
        if not len(lengths):
            continue

        length = int(lengths[np.argmax(counts)])
        if length not in INTERVALS_MS:
            minutes = f"{length / MINUTE_MS:g} minutes in {rows.path.name}"
            raise SourceError(f"{folder.path}: bars of {minutes}; expected 5 or 60 minutes")
        seen.add(length)

    if not seen:
        raise SourceError(f"{folder.path} holds too few candles to tell their length; expected 5 or 60 minutes")
    if len(seen) > 1:
        raise SourceError(f"{folder.path} mixes 5-minute and 60-minute bars; give a folder of one length")
    return seen.pop()


def _possible_candles(rows: Rows, interval_ms: int) -> BoolArray:
    opened, high, low, close, volume = rows.values.T
    known = np.isfinite(rows.values).all(axis=1)
    on_the_grid = rows.t % interval_ms == 0
    positive = (low > 0) & (volume >= 0)
    spanned = (high >= np.maximum(opened, close)) & (low <= np.minimum(opened, close))
    possible: BoolArray = known & on_the_grid & positive & spanned
    return possible


def _possible_values(rows: Rows, kind: RecordedKind) -> BoolArray:
    in_range = rows.values > 0 if kind is RecordedKind.OPEN_INTEREST else np.abs(rows.values) < 1.0
    possible: BoolArray = np.all(np.isfinite(rows.values) & in_range, axis=1)
    return possible


def _kept(rows: Rows, possible: BoolArray) -> Rows:
    """Keep possible rows, ascending, the first of duplicates; count the rest."""
    t = rows.t[possible]
    values = rows.values[possible]
    kept = ascending(t)
    return replace(rows, t=t[kept], values=values[kept], dropped=rows.dropped + len(rows.t) - len(kept))


def _origin(folder: RecordingFolder, kept: dict[str, Rows]) -> Origin:
    empty = {asset: "no valid row" for asset, rows in kept.items() if not len(rows.t)}
    return Origin(folder.venue, folder.unreadable | empty, sum(rows.dropped for rows in kept.values()))


def _frame(valid: dict[str, Rows], assets: tuple[str, ...], interval_ms: int) -> BarFrame:
    grid: IntArray = np.unique(np.concatenate([rows.t for rows in valid.values()]))
    fields: dict[str, FloatArray] = {name: np.full((len(grid), len(assets)), np.nan) for name in BAR_FIELDS}
    for asset, rows in valid.items():
        at = np.searchsorted(grid, rows.t)
        for name, values in zip(("open", "high", "low", "close", "volume"), rows.values.T, strict=True):
            fields[name][at, assets.index(asset)] = values
    return BarFrame(assets, grid, fields, interval_ms)


def _series(rows: Rows, kind: RecordedKind) -> RecordedSeries:
    """Make a series; its cadence is the usual distance of rows in whole hours (venues stamp payments some ms late)."""
    cadence_ms = _DEFAULT_CADENCE_MS[kind]
    if len(rows.t) > 1:
        cadence_ms = max(round(float(np.median(np.diff(rows.t))) / HOUR_MS), 1) * HOUR_MS
    # The rate paid each interval, as a rate per 8 hours.
    scale = _FUNDING_MS / cadence_ms if kind is RecordedKind.FUNDING else 1.0
    return RecordedSeries(rows.t, rows.values * scale, cadence_ms)
