"""What the regime and direction models look at: trends, correlation, efficiency, jumps, each in units of itself.

The last column is the market: the mean of the assets' returns. Returns are taken twice: in slow sigmas (`z`, how large)
and in sigmas of the last hours with large ones held down (`u`, how steady; heavy tails blur a plain mean). Correlation,
variance ratio, efficiency, jump share, downside share and autocorrelation are measured against their own 7-day mean,
because their level differs between markets. A month's squared trends tell a market with drifts from one without.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from generator.brain.smoothing import DAY_BARS, clipped, rates, step
from generator.brain.volatility import Volatility
from generator.market.values import FloatArray

TREND_HALF_LIVES: Final = (12, 36, 96, 240, 576)  # 1, 3, 8, 20, 48 hours
_LOG_HALF_LIVES: Final = (6, 24, 72, 216, 7 * DAY_BARS, 30 * DAY_BARS)  # of log volatility
_SHAPE_HALF_LIFE: Final = 96
_TRENDS: Final = len(TREND_HALF_LIVES)
_SHAPES: Final = 5  # |u|, u^2 of falls, lagged product, raw energy, squared hourly mean
_LONG_HALF_LIFE: Final = 30 * DAY_BARS
_Z_LIMIT: Final = 12.0
_SOFT: Final = 2.5  # sigmas where a return begins to be held down
_TINY: Final = 1e-9
_LEAST_SPREAD: Final = 0.1
_USUAL_TREND: Final = 1.5  # squared trends below this say nothing: a driftless market's wander around 1
BASELINES: Final = (
    "correlation_3h", "correlation", "correlation_20h",
    "efficiency", "downside", "autocorrelation", "variance_ratio", "jump",
)  # fmt: skip
PLAIN: Final = (
    "volatility_30m", "volatility_2h", "volatility_6h", "volatility_18h",
    "trend_1h", "trend_3h", "trend_8h", "trend_20h", "trend_48h",
    "size_8h", "size_20h",
    *BASELINES, "breadth", "volatility_month", "volatility_scaled", "trendiness_8h", "trendiness_20h",
    "volume",
)  # fmt: skip
REGIME_INPUTS: Final = PLAIN[:-1]  # not volume: how it goes with volatility differs too much between markets
AT: Final = {name: place for place, name in enumerate(PLAIN)}
_FIRST_SIZE: Final = 2 * _TRENDS
_FIRST_LOG: Final = _FIRST_SIZE + 2
_FIRST_SHAPE: Final = _FIRST_LOG + len(_LOG_HALF_LIVES)


class Features:
    """Running measures of each asset and, in the last column, of the market; arrays are (k, ..., assets + 1)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty.

        Args:
            shape: (..., assets).
        """
        wide = (*shape[:-1], shape[-1] + 1)
        self.levels = np.zeros((_FIRST_SHAPE + _SHAPES, *wide))
        self.baseline = np.zeros((len(BASELINES), *wide))
        self.long = np.zeros((3, *wide))  # squares: log volatility against the month, trends over 8 and 20 hours
        self.last = np.zeros(wide)  # u of the last return
        self.count = np.zeros(wide)
        half_lives = TREND_HALF_LIVES * 2 + TREND_HALF_LIVES[2:4] + _LOG_HALF_LIVES + (_SHAPE_HALF_LIFE,) * _SHAPES
        dimensions = len(wide)
        self._alpha = rates(half_lives, dimensions)
        self._alpha_baseline = rates((7 * DAY_BARS,), dimensions)
        self._alpha_long = rates((_LONG_HALF_LIFE,), dimensions)
        self._effective = (2.0 - self._alpha[:_TRENDS]) / self._alpha[:_TRENDS]
        self.current = np.zeros((len(PLAIN), *wide))

    def update(self, returns: FloatArray, volatility: Volatility) -> None:
        """Take one bar's log returns; NaN leaves the asset as it was."""
        seen = np.isfinite(returns)
        weight = seen.astype(np.float64)
        many = weight.sum(axis=-1, keepdims=True)
        wide = np.concatenate((weight, np.minimum(many, 1.0)), axis=-1)
        self.count += wide
        count = np.maximum(self.count, 1.0)
        self._take(np.where(seen, returns, 0.0), volatility, np.maximum(many, 1.0), count, wide)
        fresh = volatility.fresh()
        trends, logs = self._trends(count), self._logs()
        shapes = self._shapes(fresh)
        step(self.baseline, shapes, self._alpha_baseline, count, wide)
        step(self.long, np.array((logs[1] - logs[5], trends[2], trends[3])) ** 2, self._alpha_long, count, wide)
        self._fill(logs, trends, shapes, volatility, fresh)

    def _take(
        self, returns: FloatArray, volatility: Volatility, many: FloatArray, count: FloatArray, seen: FloatArray
    ) -> None:
        """Move the means by one bar; the market is the mean over the `many` assets that have one."""
        z = clipped(returns / np.maximum(volatility.slow_sigma(), 1e-7), -_Z_LIMIT, _Z_LIMIT)
        w = returns / np.maximum(np.sqrt(volatility.variance[1]), 1e-7)
        raw = np.array((z, w, volatility.bar_level()))
        raw = np.concatenate((raw, raw.sum(axis=-1, keepdims=True) / many), axis=-1)
        z, w = raw[0], raw[1]
        u = w / np.sqrt(1.0 + (w / _SOFT) ** 2)
        square = u * u
        values = np.empty(self.levels.shape)
        values[:_TRENDS], values[_TRENDS:_FIRST_SIZE] = u, square
        values[_FIRST_SIZE:_FIRST_LOG] = z
        values[_FIRST_LOG:_FIRST_SHAPE] = raw[2]
        shape = values[_FIRST_SHAPE:]
        np.abs(u, out=shape[0])
        np.multiply(square, u < 0.0, out=shape[1])
        np.multiply(u, self.last, out=shape[2])
        np.minimum(w * w, _Z_LIMIT**2, out=shape[3])
        np.multiply(self.levels[0], self.levels[0], out=shape[4])
        step(self.levels, values, self._alpha, count, seen)
        self.last = np.where(seen > 0.0, u, self.last)

    def _trends(self, count: FloatArray) -> FloatArray:
        """Return the t-statistics of the trends."""
        mean, square = self.levels[:_TRENDS], np.maximum(self.levels[_TRENDS:_FIRST_SIZE], _TINY)
        effective = np.minimum(self._effective, 2.0 * count)
        out: FloatArray = clipped(mean * np.sqrt(effective / square), -6.0, 6.0)
        return out

    def _logs(self) -> FloatArray:
        """Return the means of log volatility."""
        return self.levels[_FIRST_LOG:_FIRST_SHAPE]

    def refresh(self, volatility: Volatility) -> None:
        """Fill `current` with the plain features of the state as it stands."""
        fresh = volatility.fresh()
        self._fill(self._logs(), self._trends(np.maximum(self.count, 1.0)), self._shapes(fresh), volatility, fresh)

    def _fill(
        self, logs: FloatArray, trends: FloatArray, shapes: FloatArray, volatility: Volatility, fresh: FloatArray
    ) -> None:
        """Fill `current`."""
        out = self.current
        out[:4] = logs[:4] - logs[4]
        out[4 : 4 + _TRENDS] = trends
        sizes = self.levels[_FIRST_SIZE:_FIRST_LOG]
        effective = np.minimum(self._effective[2:4], 2.0 * np.maximum(self.count, 1.0))
        at = 4 + _TRENDS
        out[at : at + 2] = clipped(sizes * np.sqrt(effective), -12.0, 12.0)
        out[at + 2 : at + 2 + len(BASELINES)] = shapes - self.baseline
        at += 2 + len(BASELINES)
        out[at] = _mean(np.tanh(trends[2, ..., :-1]), fresh)
        out[at + 1] = logs[2] - logs[5]
        out[at + 2] = clipped((logs[1] - logs[5]) / np.maximum(np.sqrt(self.long[0]), _LEAST_SPREAD), -4.0, 4.0)
        out[at + 3 : at + 5] = clipped(self.long[1:], _USUAL_TREND, 9.0)
        out[at + 5] = _with_market(volatility.volume_level()[None], fresh)[0]

    def _shapes(self, fresh: FloatArray) -> FloatArray:
        """Return the measures that are later compared with their own week, in the order of `BASELINES`."""
        levels = self.levels
        square = np.maximum(levels[_TRENDS:_FIRST_SIZE], _TINY)
        shape = levels[_FIRST_SHAPE:]
        out = np.empty((len(BASELINES), *self.count.shape))
        out[:3] = _together(square[1:4], fresh)
        energy = square[2]
        size = np.maximum(shape[0], _TINY)
        out[3] = np.abs(levels[2]) / size
        out[4] = shape[1] / energy
        out[5] = shape[2] / energy
        out[6] = 12.0 * shape[4] / energy
        out[7] = shape[3] / energy
        np.minimum(np.maximum(out, -6.0, out=out), 6.0, out=out)
        return out


def _together(square: FloatArray, fresh: FloatArray) -> FloatArray:
    """Return the mean correlation from the market's share of the assets' energy; 0 for one asset."""
    many = fresh.sum(axis=-1, keepdims=True)
    share = square[..., -1:] / np.maximum(_mean(square[..., :-1], fresh), _TINY)
    out: FloatArray = (many * share - 1.0) / np.maximum(many - 1.0, 1.0) * (many > 1.0)
    return out


def _mean(values: FloatArray, fresh: FloatArray) -> FloatArray:
    """Return the mean over the fresh assets, (..., 1)."""
    out: FloatArray = (values * fresh).sum(axis=-1, keepdims=True) / np.maximum(fresh.sum(axis=-1, keepdims=True), 1.0)
    return out


def _with_market(values: FloatArray, fresh: FloatArray) -> FloatArray:
    """Append the mean over the fresh assets as the market's column."""
    return np.concatenate((values, _mean(values, fresh)), axis=-1)
