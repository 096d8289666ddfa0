"""Clean bars: impossible cells become missing and are counted. Row by row, so nothing looks ahead."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.market.bars import BAR_FIELDS, BarFrame, FloatArray

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
_PRICES: Final = ("open", "close", "high", "low")
_NAMES: Final = (*_PRICES, *_BOUNDS)
_PRICE_BOUNDS: Final = (float(np.nextafter(1e-12, 1.0)), float(np.nextafter(1e15, 0.0)))  # the first and last inside
_EVERY_BOUND: Final = (*[_PRICE_BOUNDS] * len(_PRICES), *_BOUNDS.values())
_LOWEST: Final = np.array([low for low, _ in _EVERY_BOUND])
_HIGHEST: Final = np.array([high for _, high in _EVERY_BOUND])


@dataclass(frozen=True, slots=True)
class CleanBars:
    """Bars in the engine's column order; NaN where unknown or impossible."""

    log_close: FloatArray  # natural log of the close, shape (n, ..., assets)
    top: FloatArray  # natural log of the high
    bottom: FloatArray  # natural log of the low
    range_variance: FloatArray  # Parkinson's variance of the bar, (log high/low)^2 / (4 log 2)
    extra: dict[str, FloatArray]  # volume, depth_usd, spread_bps, imbalance, funding, open_interest
    dropped: FloatArray  # impossible cells, per row


def clean(frame: BarFrame, assets: tuple[str, ...]) -> CleanBars:
    """Clean a frame into the columns `assets`; assets it does not carry are missing throughout."""
    if frame.assets == assets:
        return clean_fields(frame.fields)

    places = {name: column for column, name in enumerate(frame.assets)}
    picked = [places.get(name, -1) for name in assets]
    columns = {name: _pick(frame.fields[name], picked) for name in BAR_FIELDS if name in frame.fields}
    return clean_fields(columns)


def _pick(values: FloatArray, picked: list[int]) -> FloatArray:
    """Return the picked columns; -1 gives a missing one."""
    padded = np.concatenate([values, np.full((len(values), 1), np.nan)], axis=1)
    return padded[:, picked]


def clean_fields(fields: dict[str, FloatArray]) -> CleanBars:
    """Clean arrays of any shape (n, ..., assets), named as in `BAR_FIELDS`; fields that are absent are unknown.

    >>> bars = clean_fields({"close": np.array([[100.0], [-1.0]]), "volume": np.array([[-5.0], [2.0]])})
    >>> bars.log_close.round(2).tolist(), bars.extra["volume"].tolist(), bars.dropped.tolist()
    ([[4.61], [nan]], [[nan], [2.0]], [0.0, 1.0])
    """
    shape = fields["close"].shape
    nothing = np.full(shape, np.nan)
    every = np.concatenate([fields.get(name, nothing) for name in _NAMES], dtype=np.float64)
    every = every.reshape(len(_NAMES), *shape)
    wide = (-1, *(1,) * len(shape))
    inside = every >= _LOWEST.reshape(wide)
    inside &= every <= _HIGHEST.reshape(wide)

    # A comparison with an unknown price is False, so that only known ones break a bar.
    start, close, high, low = every[: len(_PRICES)]
    rest = np.array((start, high, low))
    broken = ((rest <= 1e-12) | (rest >= 1e15)).any(axis=0) | (high < low)
    possible = inside[_PRICES.index("close")]
    scale = np.where(possible, close, 1.0)  # an impossible close may overflow when multiplied
    broken |= (scale * (1.0 - 1e-9) > high) | (scale * (1.0 + 1e-9) < low)
    sound = possible & ~broken

    edges = np.array((high, low))
    ranged = sound & np.isfinite(edges).all(axis=0)
    top, bottom = np.where(ranged, np.log(np.where(ranged, edges, 1.0)), np.nan)
    return CleanBars(
        log_close=np.where(sound, np.log(scale), np.nan),
        top=top,
        bottom=bottom,
        range_variance=_PARKINSON * (top - bottom) ** 2,
        extra=dict(zip(_BOUNDS, np.where(inside, every, np.nan)[len(_PRICES) :], strict=True)),
        dropped=(~sound & ~np.isnan(close)).sum(axis=-1).astype(np.float64),
    )
