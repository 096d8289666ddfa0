"""The side of the last 24 hours: rising, falling, flat or both ways, by the day's move in usual days, kept a while.

z is the move over 24 hours in usual days (U24, see `record`); back is how far the price has come from the day's extreme
on the side of z, share is that over the extreme; the range is the day's line from low to high.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.moves import DAY, SIX_HOURS, Moves
from generator.brain.part import Part
from generator.brain.shown import taken
from generator.brain.smoothing import HOUR_BARS, Flags, hysteresis
from generator.catalog.words import MarketSide, Trend
from generator.market.bars import FloatArray

SIDES: Final = (MarketSide.FLAT, MarketSide.RISING, MarketSide.FALLING, MarketSide.BOTH_WAYS, MarketSide.UNKNOWN)
FLAT, RISING, FALLING, BOTH_WAYS, UNKNOWN = range(len(SIDES))
SIDE_HOURS: Final = 24
_TRENDS: Final = {0: Trend.SIDEWAYS, 1: Trend.UP, -1: Trend.DOWN}

# In usual days, U24; a share of the day's extreme.
_ENTERED: Final = 0.85
_KEPT: Final = 0.25
_TURNED: Final = (0.6, 0.3)  # share come back from which on a day has two sides: not shown, shown
_TURNED_DAYS: Final = (1.0, 0.6)  # and at least so much of a usual day
_AGAINST: Final = 1.0  # six hours the other way
_WIDE: Final = (2.5, 1.4)  # range of a day that ends where it began: not shown, shown
_FROM_FLAT_AT_ONCE: Final = 1.0
_LOST_AT_ONCE: Final = 0.125
_TURNED_AT_ONCE: Final = (0.75, 1.25)  # share, usual days
_TREND_IN_BOTH_WAYS: Final = (1.0, 0.7)


class Side(Part):
    """Side and trend of each asset and, in the last column, of the market."""

    STATE: ClassVar[tuple[str, ...]] = ("side", "waited", "trend")

    def __init__(self, columns: int, bars_an_hour: int = HOUR_BARS) -> None:
        """Start knowing none; a side is taken after an hour of bars."""
        super().__init__()
        self.side = np.full(columns, float(UNKNOWN))  # index of `SIDES`
        self.waited = np.zeros(columns)  # bars for which another one has been the candidate
        self.trend = np.zeros(columns)  # 1 up, -1 down, 0 sideways
        self._wait = bars_an_hour

    def update(self, moves: Moves, usual_day: FloatArray) -> None:
        """Take a block of bars that `moves` has taken; `usual_day` is U24 at each, a fraction, (n, columns)."""
        with np.errstate(invalid="ignore"):
            candidate, at_once = _candidates(moves, usual_day)
            self.side, self.waited = taken(self.side, self.waited, candidate, at_once, self._wait)

            # Where the day went both ways, the trend is the sign of its move if that is large.
            days = moves.moves[DAY] / usual_day
            score = np.where(self.side == BOTH_WAYS, days, 0.0)
            score = np.where(self.side == RISING, np.inf, np.where(self.side == FALLING, -np.inf, score))
            self.trend = hysteresis(self.trend, score, *_TREND_IN_BOTH_WAYS)

    def trends(self) -> list[Trend]:
        """Return the trend of each asset and, last, of the market after the last bar."""
        pairs = zip(self.side.tolist(), self.trend.tolist(), strict=True)
        return [Trend.UNKNOWN if side == UNKNOWN else _TRENDS[int(trend)] for side, trend in pairs]


def _candidates(moves: Moves, usual: FloatArray) -> tuple[FloatArray, Flags]:
    """Return the side that each bar would be with each side shown, and whether at once, (5, n, columns)."""
    day = moves.moves[DAY]
    days = day / usual
    sign = np.where(days > 0.0, 1.0, -1.0)
    own = np.where(sign > 0.0, RISING, FALLING)
    extreme = np.where(sign > 0.0, moves.high, -moves.low)
    back = np.where(sign > 0.0, moves.high - day, day - moves.low)
    share = np.where(extreme > 0.0, back / np.where(extreme > 0.0, extreme, 1.0), 0.0)
    back_days = back / usual
    range_days = (moves.high - moves.low) / usual
    against = moves.moves[SIX_HOURS] * sign <= -_AGAINST * usual  # False of an unknown move
    is_unknown = ~np.isfinite(days + range_days)
    turned_at_once = (share > _TURNED_AT_ONCE[0]) & (back_days >= _TURNED_AT_ONCE[1])

    candidate = np.empty((len(SIDES), *days.shape))
    at_once = np.empty((len(SIDES), *days.shape), dtype=np.bool_)
    for shown in range(len(SIDES)):
        is_both = int(shown == BOTH_WAYS)
        on_side = (np.abs(days) >= _ENTERED) | ((own == shown) & (np.abs(days) >= _KEPT))
        turned = (share > _TURNED[is_both]) & (back_days >= _TURNED_DAYS[is_both])
        of_side = np.where(turned | against, BOTH_WAYS, own)
        of_none = np.where(range_days >= _WIDE[is_both], BOTH_WAYS, FLAT)
        candidate[shown] = np.where(is_unknown, UNKNOWN, np.where(on_side, of_side, of_none))

        quick = is_unknown
        if shown == UNKNOWN:
            quick = np.ones_like(is_unknown)
        elif shown == FLAT:
            quick = is_unknown | (np.abs(days) >= _FROM_FLAT_AT_ONCE)
        elif shown != BOTH_WAYS:
            towards = days if shown == RISING else -days
            quick = is_unknown | (towards < _LOST_AT_ONCE) | turned_at_once | ((own == shown) & against)
        at_once[shown] = quick
    return candidate, at_once
