"""What the regime and direction models look at: trends, correlation, efficiency, jumps, each in units of itself.

The last column is the market: the mean of the assets' returns. Returns are taken twice: in slow sigmas (`z`, how large)
and in sigmas of the last hours with large ones held down (`u`, how steady; heavy tails blur a plain mean). Correlation,
variance ratio, efficiency, jump share, downside share and autocorrelation are measured against their own 7-day mean,
because their level differs between markets. A month's squared trends tell a market with drifts from one without.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part
from generator.brain.smoothing import DAY_BARS, Pace, before, carried, clipped, counted, rates, series
from generator.brain.volatility import Volatility
from generator.market.bars import FloatArray

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
_VOLATILITIES: Final = slice(AT["volatility_30m"], AT["volatility_18h"] + 1)
_TREND_ROWS: Final = slice(AT["trend_1h"], AT["trend_48h"] + 1)
_SIZE_ROWS: Final = slice(AT["size_8h"], AT["size_20h"] + 1)
_BASELINE_ROWS: Final = slice(AT[BASELINES[0]], AT[BASELINES[-1]] + 1)
_TRENDINESS_ROWS: Final = slice(AT["trendiness_8h"], AT["trendiness_20h"] + 1)
_PUSH: Final = 0.8
_FIRST_SIZE: Final = 2 * _TRENDS
_FIRST_LOG: Final = _FIRST_SIZE + 2
_FIRST_SHAPE: Final = _FIRST_LOG + len(_LOG_HALF_LIVES)
_LEVELS: Final = _FIRST_SHAPE + _SHAPES


class Features(Part):
    """Running measures of each asset and, in the last column, of the market; arrays are (k, ..., assets + 1)."""

    STATE: ClassVar[tuple[str, ...]] = ("levels", "baseline", "long", "last", "count", "current")

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty; `shape` is (..., assets)."""
        super().__init__(len(shape))
        wide = (*shape[:-1], shape[-1] + 1)
        self.levels = np.zeros((_LEVELS, *wide))
        self.baseline = np.zeros((len(BASELINES), *wide))
        self.long = np.zeros((3, *wide))  # squares: log volatility against the month, trends over 8 and 20 hours
        self.last = np.zeros(wide)  # u of the last return
        self.count = np.zeros(wide)
        self.current = np.zeros((len(PLAIN), *wide))

        half_lives = (
            *TREND_HALF_LIVES,  # means of u
            *TREND_HALF_LIVES,  # and of its square
            *TREND_HALF_LIVES[2:4],  # means of z
            *_LOG_HALF_LIVES,
            *(_SHAPE_HALF_LIFE,) * _SHAPES,
        )
        dimensions = len(wide) + 1
        self._alpha = rates(half_lives, dimensions)
        self._alpha_baseline = rates((7 * DAY_BARS,), dimensions)
        self._alpha_long = rates((_LONG_HALF_LIFE,), dimensions)
        self._effective = (2.0 - self._alpha[:_TRENDS]) / self._alpha[:_TRENDS]

    def update(self, returns: FloatArray, volatility: Volatility) -> None:
        """Take the log returns of a block, (n, ..., assets), which `volatility` has taken.

        NaN leaves the asset as it was.
        """
        seen = np.isfinite(returns)
        total = seen.sum(axis=-1, keepdims=True).astype(np.float64)
        wide = np.concatenate((seen, np.minimum(total, 1.0)), axis=-1)
        self.count = counted(self.count, wide)
        pace = Pace(self.count, wide)
        self._take(np.where(seen, returns, 0.0), volatility, np.maximum(total, 1.0), pace, wide)

        fresh = volatility.fresh()
        energy = np.maximum(self.levels[_TRENDS:_FIRST_SIZE], _TINY)  # mean squares over the half-lives of the trends
        worth = np.minimum(self._effective, 2.0 * np.maximum(self.count, 1.0))
        trends = self._trends(energy, worth)
        shapes = self._shapes(fresh, energy)
        baselines = series(len(BASELINES), self.count)
        baselines[:] = shapes
        self.baseline = pace.follow(self.baseline, baselines, self._alpha_baseline)

        logs = self._logs()
        away = logs[1] - logs[5]
        squares = series(3, self.count)
        squares[:] = np.array((away, trends[2], trends[3])) ** 2
        self.long = pace.follow(self.long, squares, self._alpha_long)

        self._fill(trends, shapes, worth, volatility)

    def _take(
        self, returns: FloatArray, volatility: Volatility, many: FloatArray, pace: Pace, seen: FloatArray
    ) -> None:
        """Move the means; the market is the mean over the `many` assets that have one.

        The rows of `raw` are z, the return in slow sigmas; w, in sigmas of the last two hours; and the log volatility.
        """
        raw = np.empty((3, *self.count.shape))
        own = raw[..., :-1]
        own[0] = clipped(returns / np.maximum(volatility.slow_sigma(), 1e-7), -_Z_LIMIT, _Z_LIMIT)
        own[1] = returns / np.maximum(np.sqrt(volatility.variance[1]), 1e-7)
        own[2] = volatility.bar_level()
        raw[..., -1:] = np.add.reduce(own, axis=-1, keepdims=True) / many

        z, w, log_volatility = raw
        u = w / np.sqrt(1.0 + (w / _SOFT) ** 2)
        square = u * u
        last = carried(self.last, u, seen > 0.0)
        levels = series(_LEVELS, self.count)
        levels[:_TRENDS] = u
        levels[_TRENDS:_FIRST_SIZE] = square
        levels[_FIRST_SIZE:_FIRST_LOG] = z
        levels[_FIRST_LOG:_FIRST_SHAPE] = log_volatility
        shape = levels[_FIRST_SHAPE:]
        shape[0] = np.abs(u)
        shape[1] = square * (u < 0.0)
        shape[2] = u * before(self.last, last)
        shape[3] = np.minimum(w * w, _Z_LIMIT**2)

        # The last of them is the mean square of another, the hour's mean, up to the bar before.
        pace.follow(self.levels[:-1], levels[:-1], self._alpha[:-1])
        levels[-1] = before(self.levels[0], levels[0]) ** 2
        pace.follow(self.levels[-1:], levels[-1:], self._alpha[-1:])
        self.levels = levels
        self.last = last

    def pushes(self) -> list[int]:
        """Return the push of the last one to three hours of every asset: 1, 0 or -1."""
        hour = self.current[AT["trend_1h"], :-1]
        three_hours = self.current[AT["trend_3h"], :-1]
        push = 0.5 * (hour + three_hours)
        return list(((push >= _PUSH).astype(np.int64) - (push <= -_PUSH)).tolist())

    def _trends(self, energy: FloatArray, worth: FloatArray) -> FloatArray:
        """Return the t-statistics of the trends, (5, ..., assets + 1), within 6 of 0.

        A mean of half-life h has (2 - alpha) / alpha independent values, as many as a plain mean of equal variance;
        `worth` is as many, or fewer while fewer bars were seen than that.
        """
        return clipped(self.levels[:_TRENDS] * np.sqrt(worth / energy), -6.0, 6.0)

    def _logs(self) -> FloatArray:
        """Return the means of log volatility."""
        return self.levels[_FIRST_LOG:_FIRST_SHAPE]

    def _fill(self, trends: FloatArray, shapes: FloatArray, worth: FloatArray, volatility: Volatility) -> None:
        """Fill `current`, in the order of `PLAIN`."""
        out = series(len(PLAIN), self.count)
        logs = self._logs()
        sizes = self.levels[_FIRST_SIZE:_FIRST_LOG] * np.sqrt(worth[2:4])

        out[_VOLATILITIES] = logs[:4] - logs[4]
        out[_TREND_ROWS] = trends
        out[_SIZE_ROWS] = clipped(sizes, -12.0, 12.0)
        out[_BASELINE_ROWS] = shapes - self.baseline
        fresh = volatility.fresh()
        out[AT["breadth"]] = _mean(np.tanh(trends[2, ..., :-1]), fresh)

        out[AT["volatility_month"]] = logs[2] - logs[5]
        spread = np.maximum(np.sqrt(self.long[0]), _LEAST_SPREAD)
        out[AT["volatility_scaled"]] = clipped((logs[1] - logs[5]) / spread, -4.0, 4.0)
        out[_TRENDINESS_ROWS] = clipped(self.long[1:], _USUAL_TREND, 9.0)

        volume = volatility.volume_levels()[0]
        out[AT["volume"], ..., :-1] = volume
        out[AT["volume"], ..., -1:] = _mean(volume, fresh)
        self.current = out

    def _shapes(self, fresh: FloatArray, square: FloatArray) -> FloatArray:
        """Return the measures that are later compared with their own week, in the order of `BASELINES`."""
        size, falls, lagged, raw_energy, hourly_square = self.levels[_FIRST_SHAPE:]
        energy = square[2]

        out = np.empty((len(BASELINES), *self.count.shape))
        out[:3] = _together(square[1:4], fresh)
        out[3] = np.abs(self.levels[2]) / np.maximum(size, _TINY)  # efficiency: the way made over the way gone
        out[4] = falls / energy
        out[5] = lagged / energy
        out[6] = 12.0 * hourly_square / energy  # variance of hours over that of twelve bars
        out[7] = raw_energy / energy
        return clipped(out, -6.0, 6.0)


def _mean(values: FloatArray, fresh: FloatArray) -> FloatArray:
    """Return the mean over the assets that are fresh, 1.0 else 0.0, (..., 1)."""
    many = np.maximum(np.add.reduce(fresh, axis=-1, keepdims=True), 1.0)
    return np.asarray(np.add.reduce(values * fresh, axis=-1, keepdims=True) / many)


def _together(square: FloatArray, fresh: FloatArray) -> FloatArray:
    """Return the mean correlation from the market's share of the assets' energy; 0 for one asset.

    The mean of n series of equal variance and mean correlation c has the share (1 + (n - 1) c) / n of their variance.
    """
    share = square[..., -1:] / np.maximum(_mean(square[..., :-1], fresh), _TINY)
    many = np.add.reduce(fresh, axis=-1, keepdims=True)
    return np.asarray((many * share - 1.0) / np.maximum(many - 1.0, 1.0) * (many > 1.0))
