"""Volatility of each asset: running means of its bars' variance and volume, against their own slow level."""

from typing import ClassVar, Final, NamedTuple

import numpy as np

from generator.brain.part import Part
from generator.brain.smoothing import (
    DAY_BARS,
    HOUR_BARS,
    Flags,
    Pace,
    ages,
    before,
    clipped,
    counted,
    rates,
    runs,
    series,
)
from generator.market.bars import FloatArray

HALF_LIVES: Final = (6, 24, 72, 216, 3, 12)  # 30 minutes, 2, 6 and 18 hours, 15 minutes, 1 hour
VOLUME_HALF_LIVES: Final = (HOUR_BARS, 3)
STILL_BARS: Final = 2 * HOUR_BARS  # without a move: the source may be stuck
IDLE_BARS: Final = HOUR_BARS  # without a trade: volume is taken as unknown
SLOW_HALF_LIVES: Final = (7 * DAY_BARS, 30 * DAY_BARS)
_FLOOR: Final = 1e-12  # variance of a bar; constant prices must not give log 0
_CAP: Final = 10.0  # usual sigmas: a larger bar counts as this until it is confirmed. Lower, real hours lose theirs
_LEAST_USUAL: Final = 1e-8  # variance, a sigma of 0.01%: a price that moves in single ticks has no bad bars below 0.1%
_RETURNED: Final = 0.5  # of a jump: the next bar that goes back so far does not confirm it
_WICK: Final = 3.0  # bodies: a larger bar's range counts for at most these and a usual bar's
_JOINED: Final = 3  # bars: after a longer gap no one can say whether a jump came back
_LARGEST: Final = 1.0  # variance of a bar, a sigma of 100%: more is garbage
_PARKINSON_ROOT: Final = 2.0 * float(np.log(2.0)) ** 0.5
_LOG_VOLUME_SPAN: Final = 3.0
_BAR_SPAN: Final = 4.0  # a bar without a trade has no range at all, which must not dominate for hours


class _Bars(NamedTuple):
    """Bars, (n, ..., assets), or one of them, (..., assets)."""

    returns: FloatArray  # log returns, 0 where unseen
    range_variance: FloatArray  # Parkinson's
    seen: Flags
    waited: FloatArray  # bars since the return before
    young: Flags  # with too few bars before it to know what is usual


class Volatility(Part):
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
        "jump",
        "held",
    )

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Start empty; `shape` is (..., assets)."""
        super().__init__(len(shape))
        self.variance = np.zeros((len(HALF_LIVES), *shape))
        self.slow = np.zeros((len(SLOW_HALF_LIVES), *shape))  # mean logs of the 30-minute variance: geometric means
        self.volume = np.zeros((len(VOLUME_HALF_LIVES), *shape))
        self.volume_slow = np.zeros((1, *shape))  # mean of the log of the hour's `volume`
        self.count = np.zeros((2, *shape))  # returns seen, volumes seen
        self.capped = np.zeros(shape)  # bars until a jump that was not confirmed is forgotten
        self.age = np.full(shape, 1e6)  # bars since the last return
        self.still = np.zeros((2, *shape))  # bars in a row without a move, and without a trade
        self.jump = np.zeros(shape)  # return of a capped bar that waits for the next one, else 0
        self.held = np.zeros(shape)  # variance that the cap took from it

        self._bar = np.zeros(shape)  # log volatility of the last bar
        dimensions = len(shape) + 1
        self._alpha = rates(HALF_LIVES, dimensions)
        self._alpha_slow = rates(SLOW_HALF_LIVES, dimensions)
        self._alpha_volume = rates(VOLUME_HALF_LIVES, dimensions)
        self._alpha_volume_slow = rates((3 * DAY_BARS,), dimensions)

    def update(self, returns: FloatArray, range_variance: FloatArray, volume: FloatArray, steps: FloatArray) -> None:
        """Take a block of bars; NaN returns or volumes leave the asset as it was.

        Args:
            returns: log returns, (n, ..., assets).
            range_variance: Parkinson's variance of the bar, likewise.
            volume: in the asset's own unit, likewise.
            steps: bars from each to the one before, (n,).
        """
        seen = np.isfinite(returns)
        traded = np.isfinite(volume)
        returns_seen = counted(self.count[0], seen)
        young = before(self.count[0], returns_seen) < HOUR_BARS
        age = ages(self.age, seen, steps)
        waited = before(self.age, age) + (steps - 1.0).reshape((-1,) + (1,) * (age.ndim - 1))

        pace = Pace(returns_seen, seen.astype(np.float64))
        returns = np.where(seen, returns, 0.0)
        raw, value = self._follow_variance(_Bars(returns, range_variance, seen, waited, young), pace)
        slow = self.slow[0]
        self._bar = 0.5 * (slow + clipped(np.log(value) - slow, -_BAR_SPAN, _BAR_SPAN))

        still = runs(self.still[0], seen & (raw <= _FLOOR), seen & (raw > _FLOOR))
        idle = runs(self.still[1], traded & (volume == 0.0), traded & (volume != 0.0))
        traded &= idle < IDLE_BARS
        volumes_seen = counted(self.count[1], traded)
        self.age = age
        self.still = np.array((still, idle))
        self.count = np.array((returns_seen, volumes_seen))

        pace = Pace(volumes_seen, traded.astype(np.float64))
        volumes = series(len(VOLUME_HALF_LIVES), raw)
        volumes[:] = np.where(traded, volume, 0.0)
        self.volume = pace.follow(self.volume, volumes, self._alpha_volume)
        self.volume_slow = pace.follow(self.volume_slow, np.log(self.volume[:1] + 1e-9), self._alpha_volume_slow)

    def _follow_variance(self, bars: _Bars, pace: Pace) -> tuple[FloatArray, FloatArray]:
        """Move the means of the variance; return that of each bar as it came and as it counts, (n, ..., assets).

        It goes bar by bar, as how much of a bar counts follows from those before.
        """
        raw = np.minimum(bar_variance(bars.returns, bars.range_variance), _LARGEST)
        value = raw.copy()
        variances = series(len(self.variance), raw)
        slows = series(len(self.slow), raw)
        jumps = np.zeros_like(raw)
        helds = np.zeros_like(raw)
        cappeds = np.empty_like(raw)

        weights = zip(
            pace.weights(self._alpha).swapaxes(0, 1), pace.weights(self._alpha_slow).swapaxes(0, 1), strict=True
        )
        for bar, (weight, slow_weight) in enumerate(weights):
            # The larger of two levels is usual: a market that wakes up is not held down.
            usual = np.maximum(np.maximum(np.exp(self.slow[0]), self.variance[1]), _LEAST_USUAL)
            limit = np.where(bars.young[bar], np.inf, _CAP**2 * usual)
            if np.count_nonzero(self.held) or np.count_nonzero(raw[bar] > limit):
                raw[bar], value[bar] = self._believed(_Bars(*(values[bar] for values in bars)), usual, limit)
                jumps[bar] = self.jump
                helds[bar] = self.held
            else:
                self.capped = np.maximum(self.capped - 1.0, 0.0)

            self.variance = np.maximum(self.variance + (value[bar] - self.variance) * weight, _FLOOR)
            self.slow = self.slow + (np.log(self.variance[:1]) - self.slow) * slow_weight
            variances[:, bar] = self.variance
            slows[:, bar] = self.slow
            cappeds[bar] = self.capped

        self.variance = variances
        self.slow = slows
        self.jump = jumps
        self.held = helds
        self.capped = cappeds
        return raw, value

    def _believed(self, bar: _Bars, usual: FloatArray, limit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the variance of a bar as it came and as it counts, (..., assets).

        One bad bar must not rule the volatility of hours, and a crash must. A bar far beyond the usual counts whole if
        another asset has one too. Alone, its wick is cut, and what is still too large waits for the next bar: one that
        goes half-way back or more is counted by the net of the two, any other brings what was held back.

        Args:
            bar: one bar.
            usual: variance of a usual bar.
            limit: of a variance that may be true.
        """
        waits = bar.seen & (self.held > 0.0)
        in_time = waits & (bar.waited < _JOINED)
        goes_back = (bar.returns * self.jump < 0.0) & (np.abs(bar.returns) >= _RETURNED * np.abs(self.jump))
        is_back = in_time & goes_back
        is_confirmed = in_time & ~is_back

        # The way back has a range as long as the jump's, which is no more real than the jump.
        net = np.where(is_back, bar.returns + self.jump, bar.returns)
        raw = np.minimum(bar_variance(net, np.where(is_back, np.nan, bar.range_variance)), _LARGEST)
        is_large = bar.seen & (raw > limit)
        is_alone = is_large & (np.add.reduce(is_large, axis=-1, keepdims=True) < 2)

        # A wick that does not close beyond its body: Parkinson's sigma of a range is the range over 2 (log 2)^0.5.
        widest = (_WICK * np.abs(net) / _PARKINSON_ROOT + np.sqrt(usual)) ** 2
        cut = np.where(is_alone, bar_variance(net, np.minimum(bar.range_variance, widest)), raw)
        capped = np.where(is_alone, np.minimum(cut, limit), cut)
        value = capped + np.where(is_confirmed, self.held, 0.0)

        is_capped = is_alone & (cut > capped)
        self.held = np.where(bar.seen, np.where(is_capped, cut - capped, 0.0), self.held)
        self.jump = np.where(bar.seen, np.where(is_capped, net, 0.0), self.jump)
        doubted = np.where(is_confirmed, 0.0, np.maximum(self.capped - 1.0, 0.0))
        self.capped = np.where(is_capped, float(DAY_BARS), doubted)
        return raw, value

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
        out: FloatArray = 0.5 * (log_variance - self.slow[0]) * (self.count[0] > 0.0)
        return out

    def month_level(self) -> FloatArray:
        """Return the log of the slow sigma of about a month over that of a week, (..., assets)."""
        out: FloatArray = 0.5 * (self.slow[1] - self.slow[0])
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
