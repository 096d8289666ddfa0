"""Clean bars: impossible cells become missing and are counted. Row by row, so nothing looks ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.market.values import BAR_FIELDS, BarFrame, FloatArray

_PARKINSON: Final = 1.0 / (4.0 * np.log(2.0))
_LARGEST: Final = 1e18  # of any amount; beyond it a number is garbage and its square overflows
_BOUNDS: Final = {
    "volume": (0.0, _LARGEST),
    "depth_usd": (1e-9, _LARGEST),
    "spread_bps": (1e-6, 1e5),
    "imbalance": (-1.0, 1.0),
    "funding": (-1.0, 1.0),
    "open_interest": (1e-9, _LARGEST),
}
_LOWEST: Final = np.array([low for low, _ in _BOUNDS.values()])
_HIGHEST: Final = np.array([high for _, high in _BOUNDS.values()])


@dataclass(frozen=True, slots=True)
class CleanBars:
    """Bars in the engine's column order; NaN where unknown or impossible.

    Args:
        log_close: natural log of the close, shape (n, ..., assets).
        range_variance: Parkinson's variance of the bar, (log high/low)^2 / (4 log 2).
        extra: volume, depth_usd, spread_bps, imbalance, funding, open_interest.
        dropped: impossible cells, per row.
    """

    log_close: FloatArray
    range_variance: FloatArray
    extra: dict[str, FloatArray]
    dropped: FloatArray


def clean(frame: BarFrame, assets: tuple[str, ...]) -> CleanBars:
    """Clean a frame into the columns `assets`; assets it does not carry are missing throughout."""
    if frame.assets == assets:
        return clean_fields(frame.fields)
    where = {name: i for i, name in enumerate(frame.assets)}
    picked = [where.get(name, -1) for name in assets]
    columns = {name: _pick(frame.fields[name], picked) for name in BAR_FIELDS if name in frame.fields}
    return clean_fields(columns)


def _pick(values: FloatArray, picked: list[int]) -> FloatArray:
    """Return the picked columns; -1 gives a missing one."""
    padded = np.concatenate([values, np.full((len(values), 1), np.nan)], axis=1)
    return padded[:, picked]


def clean_fields(fields: dict[str, FloatArray]) -> CleanBars:
    """Clean arrays of any shape (n, ..., assets), named as in `BAR_FIELDS`."""
    close = np.asarray(fields["close"], dtype=np.float64)
    nothing = np.full(close.shape, np.nan)
    high, low, start = (fields.get(name, nothing) for name in ("high", "low", "open"))
    possible = (close > 1e-12) & (close < 1e15)
    prices = np.array((start, high, low), dtype=np.float64)
    # A comparison with an unknown price is False, so that only known ones break a bar.
    broken = ((prices <= 1e-12) | (prices >= 1e15)).any(axis=0) | (high < low)
    scale = np.where(possible, close, 1.0)  # an impossible close may overflow when multiplied
    broken |= (scale * (1.0 - 1e-9) > high) | (scale * (1.0 + 1e-9) < low)
    ok = possible & ~broken
    log_close = np.where(ok, np.log(scale), np.nan)
    edges = prices[1:]
    ranged = ok & np.isfinite(edges).all(axis=0)
    top, bottom = np.log(np.where(ranged, edges, 1.0))
    span = top - bottom
    more = np.array([fields.get(name, nothing) for name in _BOUNDS], dtype=np.float64)
    wide = (-1, *(1,) * close.ndim)
    more = np.where((more >= _LOWEST.reshape(wide)) & (more <= _HIGHEST.reshape(wide)), more, np.nan)
    extra = dict(zip(_BOUNDS, more, strict=True))
    dropped = (~ok & ~np.isnan(close)).sum(axis=-1).astype(np.float64)
    return CleanBars(log_close, np.where(ranged, _PARKINSON * span**2, np.nan), extra, dropped)
