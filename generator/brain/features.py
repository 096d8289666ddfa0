"""What the regime and direction models look at: trends, correlation, efficiency, jumps, each in units of itself.

The last column is the market: the mean of the assets' returns in their own slow sigmas. Correlation, variance ratio,
efficiency, jump share, downside share and autocorrelation are measured against their own 7-day mean, because their
level differs between markets.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from generator.brain.smoothing import DAY_BARS, HOUR_BARS, rates, step
from generator.brain.volatility import Volatility
from generator.market.values import FloatArray

TREND_HALF_LIVES: Final = (12, 36, 96, 240)  # 1, 3, 8, 20 hours
_SHAPE_HALF_LIFE: Final = 96
_SHAPES: Final = 5  # |z|, z^2 of falls, lagged product, |lagged product|, squared hourly move
_Z_LIMIT: Final = 12.0
_TINY: Final = 1e-9
BASELINES: Final = ("efficiency", "correlation", "downside", "autocorrelation", "variance_ratio", "jump")
PLAIN: Final = (
    "volatility_30m", "volatility_2h", "volatility_6h", "volatility_18h",
    "trend_1h", "trend_3h", "trend_8h", "trend_20h", "size_8h", "size_20h",
    *BASELINES, "breadth", "volume",
)  # fmt: skip
PAIRS: Final = (
    ("volatility_6h", "volatility_6h"), ("volatility_18h", "volatility_18h"), ("volatility_2h", "volatility_18h"),
    ("trend_8h", "trend_8h"), ("trend_20h", "trend_20h"), ("size_8h", "size_8h"), ("size_20h", "size_20h"),
    ("trend_8h", "volatility_6h"), ("trend_20h", "volatility_18h"), ("size_8h", "volatility_6h"),
    ("size_20h", "volatility_18h"), ("trend_3h", "volatility_2h"), ("breadth", "volatility_6h"),
    ("breadth", "breadth"), ("trend_3h", "trend_8h"), ("trend_8h", "trend_20h"), ("correlation", "volatility_6h"),
    ("efficiency", "trend_8h"), ("downside", "volatility_6h"), ("size_20h", "breadth"),
)  # fmt: skip
NAMES: Final = ("one", *PLAIN, *(f"{a}*{b}" for a, b in PAIRS))
_LEFT: Final = np.array([PLAIN.index(a) for a, _ in PAIRS])
_RIGHT: Final = np.array([PLAIN.index(b) for _, b in PAIRS])


class Features:
    """Running measures of each asset and, in the last column, of the market; arrays are (k, ..., assets + 1)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty.

        Args:
            shape: (..., assets).
        """
        wide = (*shape[:-1], shape[-1] + 1)
        self.levels = np.zeros((8 + _SHAPES, *wide))
        self.baseline = np.zeros((len(BASELINES), *wide))
        self.ring = np.zeros((HOUR_BARS, *wide))  # the last hour's z
        self.slot = np.zeros(1)
        self.last = np.zeros(wide)
        self.count = np.zeros(wide)
        half_lives = TREND_HALF_LIVES * 2 + (_SHAPE_HALF_LIFE,) * _SHAPES
        self._alpha = rates(half_lives, len(wide))
        self._alpha_baseline = rates((7 * DAY_BARS,), len(wide))
        self._effective = (2.0 - self._alpha[:4]) / self._alpha[:4]
        self.current = np.zeros((len(PLAIN), *wide))

    def update(self, returns: FloatArray, volatility: Volatility) -> None:
        """Take one bar's log returns; NaN leaves the asset as it was."""
        z, seen = self._z(returns, volatility.slow_sigma())
        self.count += seen
        count = np.maximum(self.count, 1.0)
        slot = int(self.slot[0])
        self.ring[slot] = z
        self.slot[0] = (slot + 1) % HOUR_BARS
        hour = self.ring.sum(axis=0)
        square, size, lagged = z * z, np.abs(z), z * self.last
        values = np.empty_like(self.levels)
        values[:4], values[4:8] = z, square
        values[8], values[9], values[10] = size, square * (z < 0.0), lagged
        np.abs(lagged, out=values[11])
        np.multiply(hour, hour, out=values[12])
        step(self.levels, values, self._alpha, count, seen)
        self.last = np.where(seen > 0.0, z, self.last)
        shapes = self._shapes(volatility.fresh())
        step(self.baseline, shapes, self._alpha_baseline, count, seen)
        self._fill(volatility, shapes)

    def _z(self, returns: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return capped returns in slow sigmas with the market in the last column, and where they count."""
        seen = np.isfinite(returns)
        z = np.clip(np.where(seen, returns, 0.0) / np.maximum(sigma, 1e-7), -_Z_LIMIT, _Z_LIMIT)
        many = seen.sum(axis=-1, keepdims=True)
        market = z.sum(axis=-1, keepdims=True) / np.maximum(many, 1)
        return np.concatenate((z, market), axis=-1), np.concatenate((seen, many > 0), axis=-1).astype(np.float64)

    def refresh(self, volatility: Volatility) -> None:
        """Fill `current` with the plain features of the state as it stands."""
        self._fill(volatility, self._shapes(volatility.fresh()))

    def _fill(self, volatility: Volatility, shapes: FloatArray) -> None:
        """Fill `current`, with `shapes` of this state at hand."""
        out, fresh = self.current, volatility.fresh()
        mean, square = self.levels[:4], np.maximum(self.levels[4:8], _TINY)
        effective = np.minimum(self._effective, 2.0 * np.maximum(self.count, 1.0))
        out[:4] = _with_market(volatility.levels(), fresh)
        out[4:8] = np.clip(mean * np.sqrt(effective / square), -6.0, 6.0)
        out[8:10] = np.clip(mean[2:] * np.sqrt(effective[2:]), -12.0, 12.0)
        out[10:16] = shapes - self.baseline
        out[16] = _mean(np.tanh(out[6, ..., :-1]), fresh)
        out[17] = _with_market(volatility.volume_level()[None], fresh)[0]

    def _shapes(self, fresh: FloatArray) -> FloatArray:
        """Return the measures that are later compared with their own week, in the order of `BASELINES`."""
        levels = self.levels
        energy = np.maximum(levels[6], _TINY)
        together = energy[..., -1:] / np.maximum(_mean(energy[..., :-1], fresh), _TINY)
        shapes = np.stack(
            (
                np.abs(levels[2]) / np.maximum(levels[8], _TINY),
                np.broadcast_to(together, energy.shape),
                levels[9] / energy,
                levels[10] / energy,
                levels[12] / (HOUR_BARS * energy),
                1.0 - 0.5 * np.pi * levels[11] / energy,
            )
        )
        out: FloatArray = np.clip(shapes, -6.0, 6.0)
        return out

    def expanded(self) -> FloatArray:
        """Return one, the plain features and their main products: (len(NAMES), ..., assets + 1)."""
        plain = np.clip(self.current, -8.0, 8.0)
        return np.concatenate((np.ones((1, *plain.shape[1:])), plain, plain[_LEFT] * plain[_RIGHT]))


def _mean(values: FloatArray, fresh: FloatArray) -> FloatArray:
    """Return the mean over the fresh assets, (..., 1)."""
    out: FloatArray = (values * fresh).sum(axis=-1, keepdims=True) / np.maximum(fresh.sum(axis=-1, keepdims=True), 1.0)
    return out


def _with_market(values: FloatArray, fresh: FloatArray) -> FloatArray:
    """Append the mean over the fresh assets as the market's column."""
    return np.concatenate((values, _mean(values, fresh)), axis=-1)
