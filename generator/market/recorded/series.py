"""Numbers that are known from a moment on: funding paid, open interest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from generator.market.recorded.csv import Kind, UnreadableFileError, ascending, read_rows
from generator.market.recorded.folder import Folder
from generator.market.values import FloatArray, IntArray

HOUR_MS: Final = 3_600_000
STALE_INTERVALS: Final = 2
_FUNDING_MS: Final = 8 * HOUR_MS
_DEFAULT_CADENCE_MS: Final = {Kind.FUNDING: 8 * HOUR_MS, Kind.OPEN_INTEREST: 4 * HOUR_MS}


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one asset, each known from its time until the next.

    Args:
        t: times in ms, strictly ascending.
        values: one per time.
        cadence_ms: usual distance of two times.
    """

    t: IntArray
    values: FloatArray
    cadence_ms: int

    def at(self, t_ms: int) -> tuple[int, float] | None:
        """Return time and value of the last row at or before `t_ms`, None before the first."""
        row = int(np.searchsorted(self.t, t_ms, side="right")) - 1
        return (int(self.t[row]), float(self.values[row])) if row >= 0 else None

    def near(self, t_ms: int, tolerance_ms: int) -> float | None:
        """Return the value whose time is within the tolerance of `t_ms`."""
        known = self.at(t_ms + tolerance_ms)
        return known[1] if known is not None and known[0] >= t_ms - tolerance_ms else None

    def is_stale(self, as_of_ms: int, now_ms: int) -> bool:
        """Return whether a row of `as_of_ms` is older than two intervals at `now_ms`."""
        return now_ms - as_of_ms > STALE_INTERVALS * self.cadence_ms

    def column(self, times: IntArray) -> FloatArray:
        """Return the value known at each time, NaN before the first row and where it is stale."""
        rows = np.searchsorted(self.t, times, side="right") - 1
        known = (rows >= 0) & (times - self.t[np.maximum(rows, 0)] <= STALE_INTERVALS * self.cadence_ms)
        return np.where(known, self.values[np.maximum(rows, 0)], np.nan)


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
    return replace(one, t=t, values=np.tile(one.values[inside], len(shifts_ms)))


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
        one = _series(rows.t, rows.values[:, 0], folder.kind)
        dropped += rows.dropped + len(rows.t) - len(one.t)
        if len(one.t):
            series[asset] = one
        else:
            problems[asset] = "no valid row"
    return SeriesTable(folder.venue, folder.kind, series, problems, dropped)


def _series(t: IntArray, values: FloatArray, kind: Kind) -> Series:
    valid = np.isfinite(values) & (values > 0 if kind is Kind.OPEN_INTEREST else np.abs(values) < 1.0)
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
