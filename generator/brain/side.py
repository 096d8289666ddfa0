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
_SHOWN: Final = np.arange(len(SIDES))[:, None, None]
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
    size = np.abs(days)
    is_up = days > 0.0
    own = np.where(is_up, RISING, FALLING)
    extreme = np.where(is_up, moves.high, -moves.low)
    back = np.where(is_up, moves.high - day, day - moves.low)
    share = np.where(extreme > 0.0, back / np.where(extreme > 0.0, extreme, 1.0), 0.0)
    back_days = back / usual
    range_days = (moves.high - moves.low) / usual
    lately = moves.moves[SIX_HOURS]
    against = np.where(is_up, -lately, lately) >= _AGAINST * usual  # False of an unknown move
    is_unknown = ~np.isfinite(days + range_days)

    # With each side shown.
    is_own = own == _SHOWN
    on_side = (size >= _ENTERED) | (is_own & (size >= _KEPT))
    turned = (share > _TURNED[0]) & (back_days >= _TURNED_DAYS[0])
    turned_on = (share > _TURNED[1]) & (back_days >= _TURNED_DAYS[1])
    is_both = against | np.where(_SHOWN == BOTH_WAYS, turned_on, turned)
    of_side = np.where(is_both, BOTH_WAYS, own)
    is_wide = range_days >= np.where(_SHOWN == BOTH_WAYS, _WIDE[1], _WIDE[0])
    of_none = np.where(is_wide, BOTH_WAYS, FLAT)
    candidate = np.where(is_unknown, UNKNOWN, np.where(on_side, of_side, of_none))

    at_once = np.empty(candidate.shape, dtype=np.bool_)
    at_once[:] = is_unknown
    at_once[UNKNOWN] = True
    at_once[FLAT] |= size >= _FROM_FLAT_AT_ONCE
    turned_at_once = (share > _TURNED_AT_ONCE[0]) & (back_days >= _TURNED_AT_ONCE[1])
    for side, towards in ((RISING, days), (FALLING, -days)):
        at_once[side] |= (towards < _LOST_AT_ONCE) | turned_at_once | (is_own[side] & against)
    return candidate, at_once
