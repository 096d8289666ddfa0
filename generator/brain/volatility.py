"""Volatility of each asset: running means of its bars' variance and volume, against their own slow level."""

from typing import ClassVar, Final

import numpy as np

from generator.brain.smoothing import DAY_BARS, HOUR_BARS, Pace, clipped, rates
from generator.market.bars import FloatArray

HALF_LIVES: Final = (6, 24, 72, 216, 3, 12)  # 30 minutes, 2, 6 and 18 hours, 15 minutes, 1 hour
VOLUME_HALF_LIVES: Final = (HOUR_BARS, 3)
STILL_BARS: Final = 2 * HOUR_BARS  # without a move: the source may be stuck
IDLE_BARS: Final = HOUR_BARS  # without a trade: volume is taken as unknown
SLOW_HALF_LIFE: Final = 7 * DAY_BARS
_FLOOR: Final = 1e-12  # variance of a bar; constant prices must not give log 0
_CAP: Final = 50.0  # a bar beyond this many slow sigmas is capped, so that one bad print does not dominate for days
_LOG_VOLUME_SPAN: Final = 3.0
_BAR_SPAN: Final = 4.0  # a bar without a trade has no range at all, which must not dominate for hours


class Volatility:
    """Volatility of each asset from its own bars; arrays are (k, ..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = (
        "variance",
        "slow",
        "volume",
        "volume_slow",
        "count",
        "capped",
        "age",
        "still",
    )

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty; `shape` is (..., assets)."""
        self.variance = np.zeros((len(HALF_LIVES), *shape))
        self.slow = np.zeros((1, *shape))  # mean log of the 30-minute variance: a geometric mean
        self.volume = np.zeros((len(VOLUME_HALF_LIVES), *shape))
        self.volume_slow = np.zeros((1, *shape))  # mean of the log of the hour's `volume`
        self.count = np.zeros((2, *shape))  # returns seen, volumes seen
        self.capped = np.zeros(shape)  # bars until a capped jump is forgotten
        self.age = np.full(shape, 1e6)  # bars since the last return
        self.still = np.zeros((2, *shape))  # bars in a row without a move, and without a trade

        self._bar = np.zeros(shape)  # log volatility of the last bar
        self._alpha = rates(HALF_LIVES, len(shape))
        self._alpha_slow = rates((SLOW_HALF_LIFE,), len(shape))
        self._alpha_volume = rates(VOLUME_HALF_LIVES, len(shape))
        self._alpha_volume_slow = rates((3 * DAY_BARS,), len(shape))

    def update(self, returns: FloatArray, range_variance: FloatArray, volume: FloatArray) -> None:
        """Take one bar; NaN returns or volumes leave the asset as it was.

        Args:
            returns: log returns, (..., assets).
            range_variance: Parkinson's variance of the bar, likewise.
            volume: in the asset's own unit, likewise.
        """
        seen = np.isfinite(returns)
        traded = np.isfinite(volume)

        # A bar far beyond the usual is capped. The larger of two levels: a market that wakes up is not held down.
        raw = bar_variance(np.where(seen, returns, 0.0), range_variance)
        usual = np.maximum(np.exp(self.slow[0]), self.variance[1])
        limit = np.where(self.count[0] < HOUR_BARS, 1.0, _CAP**2 * usual)
        value = np.minimum(raw, np.maximum(limit, 100.0 * _FLOOR))
        is_capped = seen & (raw > value)
        self.capped = np.where(is_capped, float(DAY_BARS), np.maximum(self.capped - 1.0, 0.0))

        self.age = np.where(seen, 0.0, self.age + 1.0)
        nothing = np.array((raw <= _FLOOR, volume == 0.0))
        self.still = np.where(np.array((seen, traded)), (self.still + 1.0) * nothing, self.still)
        traded &= self.still[1] < IDLE_BARS
        self.count += np.array((seen, traded))

        pace = Pace(self.count[0], seen.astype(np.float64))
        pace.step(self.variance, value[None], self._alpha)
        np.maximum(self.variance, _FLOOR, out=self.variance)
        pace.step(self.slow, np.log(self.variance[:1]), self._alpha_slow)
        slow = self.slow[0]
        self._bar = 0.5 * (slow + clipped(np.log(value) - slow, -_BAR_SPAN, _BAR_SPAN))

        pace = Pace(self.count[1], traded.astype(np.float64))
        pace.step(self.volume, np.where(traded, volume, 0.0)[None], self._alpha_volume)
        pace.step(self.volume_slow, np.log(self.volume[:1] + 1e-9), self._alpha_volume_slow)

    def slow_sigma(self) -> FloatArray:
        """Return the geometric-mean sigma of a 5-minute bar over about a week, as a fraction."""
        out: FloatArray = np.exp(0.5 * self.slow[0])
        return out

    def bar_level(self) -> FloatArray:
        """Return the log of the last bar's own volatility, held within limits of the slow one, (..., assets)."""
        return self._bar

    def levels(self) -> FloatArray:
        """Return half the log of the variance means over the slow variance, (6, ..., assets); 0 while unknown."""
        log_variance = np.log(np.maximum(self.variance, _FLOOR))
        out: FloatArray = 0.5 * (log_variance - self.slow) * (self.count[0] > 0.0)
        return out

    def fresh(self) -> FloatArray:
        """Return 1.0 where the asset had a return in the last hour, else 0.0."""
        return (self.age <= HOUR_BARS).astype(np.float64)

    def moving(self) -> FloatArray:
        """Return 0.0 where the price has stood for hours, as of a source that repeats itself, else 1.0."""
        out: FloatArray = (self.still[0] < STILL_BARS).astype(np.float64)
        return out

    def volume_levels(self) -> FloatArray:
        """Return the log of the volume of an hour and of a quarter of one against three days; 0 while unknown."""
        level = np.log(self.volume + 1e-9) - self.volume_slow
        known = (self.count[1] > 0.0) & (self.still[1] < IDLE_BARS)
        out: FloatArray = clipped(level, -_LOG_VOLUME_SPAN, _LOG_VOLUME_SPAN) * known
        return out


def bar_variance(returns: FloatArray, range_variance: FloatArray) -> FloatArray:
    """Return the variance of a bar: half its squared return and half Parkinson's, where its range is known.

    >>> bar_variance(np.array([0.02, 0.02, 0.0]), np.array([0.0002, np.nan, np.nan])).round(6).tolist()
    [0.0003, 0.0004, 0.0]
    """
    square = returns**2
    variance = np.where(np.isfinite(range_variance), 0.5 * (square + range_variance), square)
    return np.maximum(variance, _FLOOR)
