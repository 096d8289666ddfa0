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
        self._effective = ((2.0 - self._alpha[:4]) / self._alpha[:4])
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
        values = np.stack((z, z, z, z, square, square, square, square, size, square * (z < 0.0), lagged, np.abs(lagged), hour * hour))
        step(self.levels, values, self._alpha, count, seen)
        self.last = np.where(seen > 0.0, z, self.last)
        self._measure(volatility, count, seen)

    def _z(self, returns: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return capped returns in slow sigmas with the market in the last column, and where they count."""
        seen = np.isfinite(returns)
        z = np.clip(np.where(seen, returns, 0.0) / np.maximum(sigma, 1e-7), -_Z_LIMIT, _Z_LIMIT)
        many = seen.sum(axis=-1, keepdims=True)
        market = z.sum(axis=-1, keepdims=True) / np.maximum(many, 1)
        return np.concatenate((z, market), axis=-1), np.concatenate((seen, many > 0), axis=-1).astype(np.float64)

    def _measure(self, volatility: Volatility, count: FloatArray, seen: FloatArray) -> None:
        """Fill `current` with the plain features."""
        levels, out = self.levels, self.current
        mean, square = levels[:4], np.maximum(levels[4:8], 1e-9)
        out[:4] = _with_market(volatility.levels())
        effective = np.minimum(self._effective, 2.0 * count)
        out[4:8] = np.clip(mean * np.sqrt(effective / square), -6.0, 6.0)
        out[8:10] = np.clip(mean[2:] * np.sqrt(effective[2:]), -12.0, 12.0)
        energy = square[2]
        shape = out[10:16]
        shape[0] = np.abs(mean[2]) / np.maximum(levels[8], 1e-9)
        shape[1] = energy[..., -1:] / np.maximum(energy[..., :-1].mean(axis=-1, keepdims=True), 1e-9)
        shape[2] = levels[9] / energy
        shape[3] = levels[10] / energy
        shape[4] = np.minimum(levels[12] / (HOUR_BARS * energy), 6.0)
        shape[5] = 1.0 - 0.5 * np.pi * levels[11] / energy
        np.clip(shape, -6.0, 6.0, out=shape)
        step(self.baseline, shape.copy(), self._alpha_baseline, count, seen)
        shape -= self.baseline
        out[16] = np.tanh(out[6, ..., :-1]).mean(axis=-1, keepdims=True)
        out[17] = _with_market(volatility.volume_level()[None])[0]

    def expanded(self) -> FloatArray:
        """Return one, the plain features and their main products: (len(NAMES), ..., assets + 1)."""
        plain = np.clip(self.current, -8.0, 8.0)
        return np.concatenate((np.ones((1, *plain.shape[1:])), plain, plain[_LEFT] * plain[_RIGHT]))


def _with_market(values: FloatArray) -> FloatArray:
    """Append the mean over assets as the market's column."""
    return np.concatenate((values, values.mean(axis=-1, keepdims=True)), axis=-1)
