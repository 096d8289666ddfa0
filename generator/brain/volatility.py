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
IDLE_BARS: Final = HOUR_BARS  # without a trade: volume is taken as unknown
SLOW_HALF_LIVES: Final = (7 * DAY_BARS, 30 * DAY_BARS)
_FLOOR: Final = 1e-12  # variance of a bar; constant prices must not give log 0
_LARGE: Final = 10.0  # usual sigmas: a larger bar is held back until it is confirmed. Lower, real hours lose theirs
_FEW: Final = 2  # assets: more that have a large bar at once are the market
_MOST_WAITS: Final = 2  # bars in which a jump may go back
_UNIT: Final = 30.0  # usual sigmas of an hour: a larger jump of one asset alone is a change of unit or a bad print
_FEWEST: Final = 3  # assets with a bar: of fewer no one is alone
_LEAST_USUAL: Final = 1e-8  # variance, a sigma of 0.01%: a price that moves in single ticks has no bad bars below 0.1%
_RETURNED: Final = 0.5  # of a jump: one that goes back so far is not confirmed
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
    known: Flags  # also those after a gap, which are no measure of volatility
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
        "idle",
        "jump",
        "gone",
        "held",
        "waits",
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
        self.idle = np.zeros(shape)  # bars in a row without a trade
        self.jump = np.zeros(shape)  # of a jump that waits to be confirmed: the farthest move since before it
        self.gone = np.zeros(shape)  # and the move since before it
        self.held = np.zeros(shape)  # variance that is held back
        self.waits = np.zeros(shape)  # bars that it has waited, with its own; 0 where none waits
        self.jumps = np.zeros((1, *shape))  # of a block: log returns that are none of the market, else 0

        self._bar = np.zeros(shape)  # log volatility of the last bar
        dimensions = len(shape) + 1
        self._alpha = rates(HALF_LIVES, dimensions)
        self._alpha_slow = rates(SLOW_HALF_LIVES, dimensions)
        self._alpha_volume = rates(VOLUME_HALF_LIVES, dimensions)
        self._alpha_volume_slow = rates((3 * DAY_BARS,), dimensions)

    def update(
        self,
        returns: FloatArray,
        range_variance: FloatArray,
        volume: FloatArray,
        steps: FloatArray,
        joined: Flags | None = None,
    ) -> None:
        """Take a block of bars; NaN returns or volumes leave the asset as it was.

        Args:
            returns: log returns, (n, ..., assets).
            range_variance: Parkinson's variance of the bar, likewise.
            volume: in the asset's own unit, likewise.
            steps: bars from each to the one before, (n,).
            joined: False for returns over a gap that is too long for them to be a measure, likewise; None: all are one.
        """
        known = np.isfinite(returns)
        seen = known if joined is None else known & joined
        traded = np.isfinite(volume)
        returns_seen = counted(self.count[0], seen)
        young = before(self.count[0], returns_seen) < HOUR_BARS
        age = ages(self.age, seen, steps)
        waited = before(self.age, age) + (steps - 1.0).reshape((-1,) + (1,) * (age.ndim - 1))

        pace = Pace(returns_seen, seen.astype(np.float64))
        returns = np.where(known, returns, 0.0)
        value = self._follow_variance(_Bars(returns, range_variance, seen, known, waited, young), pace)
        slow = self.slow[0]
        self._bar = 0.5 * (slow + clipped(np.log(value) - slow, -_BAR_SPAN, _BAR_SPAN))

        idle = runs(self.idle, traded & (volume == 0.0), traded & (volume != 0.0))
        traded &= idle < IDLE_BARS
        volumes_seen = counted(self.count[1], traded)
        self.age = age
        self.idle = idle
        self.count = np.array((returns_seen, volumes_seen))

        pace = Pace(volumes_seen, traded.astype(np.float64))
        volumes = series(len(VOLUME_HALF_LIVES), value)
        volumes[:] = np.where(traded, volume, 0.0)
        self.volume = pace.follow(self.volume, volumes, self._alpha_volume)
        self.volume_slow = pace.follow(self.volume_slow, np.log(self.volume[:1] + 1e-9), self._alpha_volume_slow)

    def _follow_variance(self, bars: _Bars, pace: Pace) -> FloatArray:
        """Move the means of the variance; return that of each bar as it counts, (n, ..., assets).

        It goes bar by bar, as how much of a bar counts follows from those before.
        """
        value = np.minimum(bar_variance(bars.returns, bars.range_variance), _LARGEST)
        variances = series(len(self.variance), value)
        slows = series(len(self.slow), value)
        self.jumps = np.zeros_like(value)
        waiting = {name: np.zeros_like(value) for name in ("jump", "gone", "held", "waits")}
        cappeds = np.empty_like(value)

        weights = zip(
            pace.weights(self._alpha).swapaxes(0, 1), pace.weights(self._alpha_slow).swapaxes(0, 1), strict=True
        )
        for bar, (weight, slow_weight) in enumerate(weights):
            # The larger of two levels is usual: a market that wakes up is not held down.
            usual = np.maximum(np.maximum(np.exp(self.slow[0]), self.variance[1]), _LEAST_USUAL)
            limit = np.where(bars.young[bar], np.inf, _LARGE**2 * usual)
            if np.count_nonzero(self.waits) or np.count_nonzero(value[bar] > limit):
                value[bar], counts, is_unit = self._believed(_Bars(*(values[bar] for values in bars)), usual, limit)
                np.multiply(weight, counts, out=weight)
                np.multiply(slow_weight, counts, out=slow_weight)
                self.jumps[bar] = np.where(is_unit, bars.returns[bar], 0.0)
                for name, values in waiting.items():
                    values[bar] = getattr(self, name)
            else:
                self.capped = np.maximum(self.capped - 1.0, 0.0)

            self.variance = np.maximum(self.variance + (value[bar] - self.variance) * weight, _FLOOR)
            self.slow = self.slow + (np.log(self.variance[:1]) - self.slow) * slow_weight
            variances[:, bar] = self.variance
            slows[:, bar] = self.slow
            cappeds[bar] = self.capped

        self.variance = variances
        self.slow = slows
        self.capped = cappeds
        for name, values in waiting.items():
            setattr(self, name, values)
        return value

    def _believed(self, bar: _Bars, usual: FloatArray, limit: FloatArray) -> tuple[FloatArray, Flags, Flags]:
        """Return the variance of a bar as it counts, whether it counts, and whether it is not a move of the market.

        One bad bar must not rule the volatility of hours, and a crash must. A bar far beyond the usual counts whole if
        more than two assets have one. Else its wick is cut, and what is still too large is held back for up to two
        bars: if the price goes half-way back or more in them, what is left of the move counts; if it does not, or the
        others follow, all that was held back counts. A jump beyond any hour of one asset alone is a change of unit (a
        split, another quotation) or a bad print, and counts for nothing; so does the way back.

        Args:
            bar: one bar.
            usual: variance of a usual bar.
            limit: of a variance that may be true.
        """
        waits = self.waits > 0.0
        in_time = waits & bar.seen & (bar.waited < _JOINED)
        gone = self.gone + np.where(bar.seen, bar.returns, 0.0)
        is_back = in_time & (np.abs(gone) <= _RETURNED * np.abs(self.jump))

        # The way back has a range as long as the jump's, which is no more real than the jump.
        net = np.where(is_back, gone, bar.returns)
        raw = np.minimum(bar_variance(net, np.where(is_back, np.nan, bar.range_variance)), _LARGEST)
        is_large = bar.known & (raw > limit)
        many = np.add.reduce(is_large, axis=-1, keepdims=True)
        is_far = is_large & (net**2 > _UNIT**2 * HOUR_BARS * usual)
        is_unit = is_far & (many == 1) & (np.add.reduce(bar.known, axis=-1, keepdims=True) >= _FEWEST)
        is_few = is_large & bar.seen & (many <= _FEW) & ~is_unit

        # A wick that does not close beyond its body: Parkinson's sigma of a range is the range over 2 (log 2)^0.5.
        widest = (_WICK * np.abs(net) / _PARKINSON_ROOT + np.sqrt(usual)) ** 2
        cut = np.where(is_few, bar_variance(net, np.minimum(bar.range_variance, widest)), raw)

        is_confirmed = in_time & ~is_back & ~is_unit & ((self.waits > _MOST_WAITS - 1.0) | (many > _FEW))
        continues = waits & ~is_back & ~is_confirmed & ~is_unit & (in_time | ~bar.seen)
        is_held = is_few & (cut > limit) & ~is_confirmed
        value = cut + np.where(is_confirmed, self.held, 0.0)

        begins = is_held & ~continues
        self.held = np.where(continues, self.held, 0.0) + np.where(is_held, cut, 0.0)
        self.waits = np.where(begins, 1.0, np.where(continues, self.waits + bar.seen, 0.0))
        farthest = np.where(np.abs(gone) > np.abs(self.jump), gone, self.jump)
        self.jump = np.where(begins, net, np.where(continues, farthest, 0.0))
        self.gone = np.where(begins, net, np.where(continues, gone, 0.0))

        doubted = np.where(is_confirmed, 0.0, np.maximum(self.capped - 1.0, 0.0))
        self.capped = np.where(is_held | is_unit, float(DAY_BARS), doubted)
        return value, ~(is_held | is_unit), is_unit

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

    def volume_levels(self) -> FloatArray:
        """Return the log of the volume of an hour and of a quarter of one against three days; 0 while unknown."""
        level = np.log(self.volume + 1e-9) - self.volume_slow
        known = (self.count[1] > 0.0) & (self.idle < IDLE_BARS)
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
