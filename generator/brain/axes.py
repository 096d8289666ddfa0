"""The market on two axes, each with a memory: how wild it is in two steps, and which side it is on."""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part, Times
from generator.brain.smoothing import before, carried, follow, rates
from generator.catalog.words import MarketSide
from generator.market.bars import FloatArray

SIDES: Final = (MarketSide.NONE, MarketSide.RISING, MarketSide.FALLING, MarketSide.UNKNOWN)
NONE, RISING, FALLING, UNKNOWN = range(4)
TAKEN: Final = 0.55  # a smoothed chance from which a side is taken
HELD: Final = 0.40  # and below which it is given back
_HALF_LIFE: Final = 6  # bars
_KNOWN: Final = 0.5  # weight of the chances, after a day of bars, or without a gap of over six hours
_QUIET, _ROUGH, _UNRATED = range(3)


def side_of(rising: float, falling: float, shown: int) -> int:
    """Return the side, an index of `SIDES`: one at `TAKEN`, the one shown down to `HELD`, or none.

    >>> [SIDES[side_of(chance, 0.2, NONE)].value for chance in (0.54, 0.55)]
    ['none', 'rising']
    >>> [SIDES[side_of(chance, 0.2, RISING)].value for chance in (0.40, 0.39)]
    ['rising', 'none']
    >>> SIDES[side_of(0.42, 0.56, RISING)].value
    'falling'

    Args:
        rising, falling: smoothed chances of risk_on and risk_off.
        shown: the side before.
    """
    if rising >= TAKEN:
        return RISING
    if falling >= TAKEN:
        return FALLING
    if shown == RISING and rising >= HELD:
        return RISING
    if shown == FALLING and falling >= HELD:
        return FALLING
    return NONE


class MarketAxes(Part):
    """Since when the market is quiet or rough, and on which side; the columns are one, of chances two."""

    STATE: ClassVar[tuple[str, ...]] = ("chances", "side", "side_since", "step", "step_since")

    def __init__(self) -> None:
        """Start knowing neither."""
        super().__init__()
        self.chances = np.full(2, 0.25)  # of risk_on and of risk_off, over about half an hour
        self.side: FloatArray = np.full(1, float(UNKNOWN))  # index of `SIDES`
        self.side_since = np.full(1, -1.0)  # open time of the first bar with this side
        self.step = np.full(1, float(_UNRATED))  # 0 calm or normal volatility, 1 elevated or extreme, 2 unknown
        self.step_since = np.full(1, -1.0)  # open time of the first bar on this step
        self._alpha = float(rates((_HALF_LIFE,), 0)[0])

    def update(
        self, t_ms: Times, chances: FloatArray, weight: FloatArray, stressed: FloatArray, steps: FloatArray
    ) -> None:
        """Take a block of bars.

        Args:
            t_ms: their open times, (n,).
            chances: of risk_on and of risk_off, (n, 2).
            weight: how much of them is known of the market, 0..1, (n,); with less than half neither axis is kept.
            stressed: 1.0 with elevated or extreme volatility, 0.0 with calm or normal, NaN where unknown, (n,).
            steps: bars from each to the one before, (n,).
        """
        known = weight >= _KNOWN
        pace = 1.0 - (1.0 - self._alpha) ** steps
        self.chances = follow(self.chances[None], chances[None].copy(), pace[None, :, None])[0]

        sides = np.empty((len(t_ms), 1))
        side = int(self.side[0])
        for bar, (rising, falling) in enumerate(self.chances.tolist()):
            side = side_of(rising, falling, side) if known[bar] else UNKNOWN
            sides[bar] = side
        self.side_since = _since(self.side_since, self.side, sides, t_ms)
        self.side = sides

        # A bar without a return, as after a short hole, says nothing and ends nothing.
        is_rated = np.isfinite(stressed)
        rated = np.where(is_rated, np.where(stressed > 0.0, _ROUGH, _QUIET), _UNRATED).astype(np.float64)
        levels = carried(self.step, rated[:, None], (is_rated | ~known)[:, None])
        self.step_since = _since(self.step_since, self.step, levels, t_ms)
        self.step = levels


def _since(start: FloatArray, last: FloatArray, values: FloatArray, t_ms: Times) -> FloatArray:
    """Return the open time of the bar since which each value is what it is, or of the first, (n, 1).

    Args:
        start: the same before, -1 before the first bar.
        last: the value before.
        values: (n, 1).
    """
    changed = values != before(last, values)
    first = np.where(start < 0.0, float(t_ms[0]), start)
    return carried(first, np.where(changed, t_ms[:, None], 0.0), changed)
