"""Volatility: log-variance means and the HAR outlook with frozen coefficients.

HAR: Corsi (2009), on log volatility. The coefficients come from a study on 393 days of 2022-23 and are never refitted.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from generator.brain.smoothing import DAY_BARS, HOUR_BARS, Pace, clipped, rates
from generator.catalog.words import VolatilityWord
from generator.market.bars import BAR_MS, FloatArray

HORIZON_BARS: Final = (3, 12, 48)  # 15 minutes, 1 hour, 4 hours
HALF_LIVES: Final = (6, 24, 72, 216)  # 30 minutes, 2, 6 and 18 hours
STILL_BARS: Final = 2 * HOUR_BARS  # without a move: the source may be stuck
IDLE_BARS: Final = HOUR_BARS  # without a trade: volume is taken as unknown
SLOW_HALF_LIFE: Final = 7 * DAY_BARS
HAR: Final = np.array(
    [
        [0.812, -0.539, 0.382, 0.075, 0.110, -0.037, -0.010, 0.011, 0.019, -0.032, -0.131],
        [0.605, -0.322, 0.328, 0.115, 0.061, -0.061, -0.033, 0.013, 0.036, -0.064, -0.073],
        [0.308, -0.027, 0.220, 0.181, 0.011, -0.068, -0.096, -0.022, 0.056, -0.098, -0.024],
    ]
)
_WEEK_MS: Final = 7 * 86_400_000
_FLOOR: Final = 1e-12  # variance of a bar; constant prices must not give log 0
_CAP: Final = 50.0  # a bar beyond this many slow sigmas is capped, so that one bad print does not dominate for days
_LOG_VOLUME_SPAN: Final = 3.0
_BAR_SPAN: Final = 4.0  # a bar without a trade has no range at all, which must not dominate for hours
RISK_MIN_BARS: Final = DAY_BARS
_LEAST_SPREAD: Final = 0.08
_ROOT2: Final = math.sqrt(2.0)
_VOLATILITY_WORDS: Final = ((20.0, VolatilityWord.CALM), (80.0, VolatilityWord.NORMAL), (96.0, VolatilityWord.ELEVATED))


@dataclass(frozen=True, slots=True)
class VolatilityReading:
    """The volatility of all assets.

    Args:
        sigma: expected sigma of log returns of each over 15 minutes, 1 hour and 4 hours, as a fraction.
        seen: returns of each so far.
        fresh: how many had a return in the last hour.
    """

    sigma: list[list[float]]
    seen: list[float]
    fresh: int


class Volatility:
    """Volatility of each asset from its own bars; arrays are (k, ..., assets)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty.

        Args:
            shape: (..., assets).
        """
        self.variance = np.zeros((4, *shape))
        self.slow = np.zeros((1, *shape))  # mean log of the 30-minute variance: a geometric mean
        self.volume = np.zeros((1, *shape))
        self.volume_slow = np.zeros((1, *shape))  # mean of the log of `volume`
        self.count = np.zeros((2, *shape))  # returns seen, volumes seen
        self.capped = np.zeros(shape)  # bars until a capped jump is forgotten
        self.age = np.full(shape, 1e6)  # bars since the last return
        self.still = np.zeros((2, *shape))  # bars in a row without a move, and without a trade
        self._bar = np.zeros(shape)  # log volatility of the last bar
        # Derived from the present state; outlook and sigma for one time.
        self._levels: FloatArray | None = None
        self._fresh: FloatArray | None = None
        self._volume_level: FloatArray | None = None
        self._outlook: tuple[int, FloatArray] | None = None
        self._sigma: tuple[int, FloatArray] | None = None
        self._slow_sigma: FloatArray | None = None
        self._width = np.sqrt(np.asarray(HORIZON_BARS, dtype=np.float64)).reshape((3,) + (1,) * len(shape))
        self._alpha = rates(HALF_LIVES, len(shape))
        self._alpha_slow = rates((SLOW_HALF_LIFE,), len(shape))
        self._alpha_volume = rates((HOUR_BARS,), len(shape))
        self._alpha_volume_slow = rates((3 * DAY_BARS,), len(shape))

    def update(self, returns: FloatArray, range_variance: FloatArray, volume: FloatArray) -> None:
        """Take one bar; NaN returns or volumes leave the asset as it was."""
        self._levels = self._fresh = self._volume_level = self._outlook = self._sigma = self._slow_sigma = None
        seen, traded = np.isfinite(returns), np.isfinite(volume)
        all_seen, all_traded = np.count_nonzero(seen) == seen.size, np.count_nonzero(traded) == traded.size
        raw = bar_variance(returns if all_seen else np.where(seen, returns, 0.0), range_variance)
        usual = np.maximum(np.exp(self.slow[0]), self.variance[1])  # so that a market that wakes up is not held down
        usual *= _CAP**2
        if np.count_nonzero(young := self.count[0] < HOUR_BARS):
            usual = np.where(young, 1.0, usual)
        value = np.minimum(raw, np.maximum(usual, 100.0 * _FLOOR))
        jumped = raw > value
        if np.count_nonzero(jumped) or np.count_nonzero(self.capped):
            self.capped = np.where(seen & jumped, float(DAY_BARS), np.maximum(self.capped - 1.0, 0.0))
        self.age = np.zeros(seen.shape) if all_seen else np.where(seen, 0.0, self.age + 1.0)
        nothing = np.array((raw <= _FLOOR, volume == 0.0))
        if np.count_nonzero(nothing) or np.count_nonzero(self.still):
            self.still = np.where(np.array((seen, traded)), (self.still + 1.0) * nothing, self.still)
            idle = self.still[1] >= IDLE_BARS
            if np.count_nonzero(idle):
                traded, all_traded = traded & ~idle, False
        self.count += np.array((seen, traded))
        pace = Pace(self.count[0], None if all_seen else seen.astype(np.float64))
        pace.step(self.variance, value[None], self._alpha)
        np.maximum(self.variance, _FLOOR, out=self.variance)
        pace.step(self.slow, np.log(self.variance[:1]), self._alpha_slow)
        slow = self.slow[0]
        self._bar = 0.5 * (slow + clipped(np.log(value) - slow, -_BAR_SPAN, _BAR_SPAN))
        pace = Pace(self.count[1], None if all_traded else traded.astype(np.float64))
        pace.step(self.volume, (volume if all_traded else np.where(traded, volume, 0.0))[None], self._alpha_volume)
        pace.step(self.volume_slow, np.log(self.volume + 1e-9), self._alpha_volume_slow)

    def slow_sigma(self) -> FloatArray:
        """Return the geometric-mean sigma of a 5-minute bar over about a week, as a fraction."""
        if self._slow_sigma is None:
            self._slow_sigma = np.exp(0.5 * self.slow[0])
        return self._slow_sigma

    def bar_level(self) -> FloatArray:
        """Return the log of the last bar's own volatility, held within limits of the slow one, (..., assets)."""
        return self._bar

    def levels(self) -> FloatArray:
        """Return half the log of the four variance means over the slow variance, (4, ..., assets); 0 while unknown."""
        if self._levels is None:
            known = self.count[0] > 0.0
            self._levels = 0.5 * (np.log(np.maximum(self.variance, _FLOOR)) - self.slow) * known
        return self._levels

    def fresh(self) -> FloatArray:
        """Return 1.0 where the asset had a return in the last hour, else 0.0."""
        if self._fresh is None:
            self._fresh = (self.age <= HOUR_BARS).astype(np.float64)
        return self._fresh

    def moving(self) -> FloatArray:
        """Return 0.0 where the price has stood for hours, as of a source that repeats itself, else 1.0."""
        out: FloatArray = (self.still[0] < STILL_BARS).astype(np.float64)
        return out

    def volume_level(self) -> FloatArray:
        """Return the log of the hour's volume against three days; 0 while unknown."""
        if self._volume_level is None:
            level = np.log(self.volume[0] + 1e-9) - self.volume_slow[0]
            known = (self.count[1] > 0.0) & (self.still[1] < IDLE_BARS)
            self._volume_level = clipped(level, -_LOG_VOLUME_SPAN, _LOG_VOLUME_SPAN) * known
        return self._volume_level

    def outlook(self, t_ms: int) -> FloatArray:
        """Return log(expected sigma per bar / slow sigma) over 15 minutes, 1 hour, 4 hours: (3, ..., assets)."""
        if self._outlook is not None and self._outlook[0] == t_ms:
            return self._outlook[1]
        flat = self.levels().reshape(4, -1)
        out = HAR[:, :4] @ flat + HAR[:, 4:5] * self.volume_level().reshape(1, -1) + _season(t_ms % _WEEK_MS)
        self._outlook = (t_ms, out.reshape((3, *self.slow.shape[1:])))
        return self._outlook[1]

    def sigma(self, t_ms: int) -> FloatArray:
        """Return the expected sigma of log returns over 15 minutes, 1 hour, 4 hours: (3, ..., assets), a fraction."""
        if self._sigma is None or self._sigma[0] != t_ms:
            ahead = np.exp(clipped(self.outlook(t_ms), -6.0, 6.0))
            self._sigma = (t_ms, self._width * self.slow_sigma() * ahead)
        return self._sigma[1]

    def reading(self, t_ms: int) -> VolatilityReading:
        """Return what is expected after the bar opened at `t_ms`; of arrays (k, assets)."""
        return VolatilityReading(
            self.sigma(t_ms).T.tolist(), self.count[0].tolist(), int(np.count_nonzero(self.fresh()))
        )


def bar_variance(returns: FloatArray, range_variance: FloatArray) -> FloatArray:
    """Return the variance of a bar from its return and, where it is known, its range."""
    moved, ranged = returns**2, np.isfinite(range_variance)
    both = 0.5 * (moved + range_variance)
    return np.maximum(both if np.count_nonzero(ranged) == ranged.size else np.where(ranged, both, moved), _FLOOR)


@lru_cache(maxsize=_WEEK_MS // BAR_MS)
def _season(since_ms: int) -> FloatArray:
    """Return the part of the outlook that the time of the week decides, (3, 1)."""
    out: FloatArray = (HAR[:, 5:] @ calendar(since_ms))[:, None]
    return out


def calendar(t_ms: int) -> FloatArray:
    """Return sin, cos of the day, sin, cos of the half day, weekend, 1 at the close of the bar opened at `t_ms`."""
    close = t_ms + BAR_MS
    angle = 2.0 * math.pi * (close % 86_400_000) / 86_400_000
    weekend = float(((close // 86_400_000) + 3) % 7 >= 5)  # 1970-01-01 was a Thursday
    return np.array([math.sin(angle), math.cos(angle), math.sin(2 * angle), math.cos(2 * angle), weekend, 1.0])


class OutlookLevel:
    """Mean and spread of the hour's log outlook over a week; the last column is the market."""

    def __init__(self, assets: int) -> None:
        """Start empty."""
        self.now = np.zeros(assets + 1)
        self.moments = np.zeros((2, assets + 1))
        self.count = np.zeros(assets + 1)
        self._alpha = rates((7 * DAY_BARS, 7 * DAY_BARS), 1)

    def update(self, hour: FloatArray, fresh: FloatArray) -> None:
        """Take the log outlook of an hour, (assets,), where the asset is fresh."""
        if np.count_nonzero(fresh) == fresh.size:
            self.now, seen = np.append(hour, np.add.reduce(hour) / fresh.size), None
            self.count += 1.0
        else:
            market = (hour * fresh).sum() / max(fresh.sum(), 1.0)
            seen = np.append(fresh, fresh.max())
            self.now = np.where(seen > 0.0, np.append(hour, market), self.now)
            self.count += seen
        Pace(self.count, seen).step(self.moments, np.array((self.now, self.now**2)), self._alpha)

    def risk_scores(self) -> list[float | None]:
        """Return 0..100 for each column: the share of the week calmer than the outlook; None under a day of bars."""
        mean, square = self.moments
        spread = np.maximum(np.sqrt(np.maximum(square - mean * mean, 0.0)), _LEAST_SPREAD)
        away = ((self.now - mean) / (spread * _ROOT2)).tolist()
        return [
            None if seen < RISK_MIN_BARS else 50.0 * (1.0 + math.erf(one))
            for one, seen in zip(away, self.count.tolist(), strict=True)
        ]


def volatility_word(score: float | None) -> VolatilityWord:
    """Return the volatility word of a risk score."""
    if score is None:
        return VolatilityWord.UNKNOWN
    return next((word for limit, word in _VOLATILITY_WORDS if score < limit), VolatilityWord.EXTREME)
