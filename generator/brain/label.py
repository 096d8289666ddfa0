"""The regime's label, derived from side and volatility, and since when it has been shown.

Elevated or extreme volatility is high_volatility; else rising is risk_on, falling risk_off, flat and both ways range.
Where one of the two is unknown it is transition; while too little is on record for any, unknown.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain import swings
from generator.brain.part import Part, Times
from generator.brain.smoothing import before, carried
from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, FloatArray

REGIMES: Final = (RegimeLabel.RISK_ON, RegimeLabel.RISK_OFF, RegimeLabel.RANGE, RegimeLabel.HIGH_VOLATILITY)
LABELS: Final = (*REGIMES, RegimeLabel.TRANSITION, RegimeLabel.UNKNOWN)
RISK_ON, RISK_OFF, RANGE, HIGH_VOLATILITY, TRANSITION, UNKNOWN = range(len(LABELS))
_OF_SIDE: Final = np.array([RANGE, RISK_ON, RISK_OFF, RANGE, TRANSITION], dtype=np.float64)


def labels_of(sides: FloatArray, words: FloatArray, hours: FloatArray) -> FloatArray:
    """Return the labels, as indices of `LABELS`.

    >>> from generator.brain import side
    >>> sides = np.array([side.RISING, side.RISING, side.BOTH_WAYS, side.FALLING, side.UNKNOWN], dtype=float)
    >>> words = np.array([swings.CALM, swings.WILD, swings.NORMAL, swings.NORMAL, swings.NORMAL], dtype=float)
    >>> [LABELS[int(label)].value for label in labels_of(sides, words, np.full(5, 100.0))]
    ['risk_on', 'high_volatility', 'range', 'risk_off', 'transition']

    Args:
        sides: indices of `side.SIDES`.
        words: indices of `swings.WORDS`, likewise shaped.
        hours: on record, likewise.
    """
    of_side = _OF_SIDE[sides.astype(np.int64)]
    rough = (words == swings.ROUGH) | (words == swings.WILD)
    label = np.where(rough & (of_side != TRANSITION), float(HIGH_VOLATILITY), of_side)
    label = np.where(words == swings.UNKNOWN, float(TRANSITION), label)
    return np.where(hours < swings.FEWEST_HOURS, float(UNKNOWN), label)


class Label(Part):
    """The label of each asset and, in the last column, of the market."""

    STATE: ClassVar[tuple[str, ...]] = ("label", "previous", "since")

    def __init__(self, columns: int) -> None:
        """Start with none."""
        super().__init__()
        self.label = np.full(columns, float(UNKNOWN))  # index of `LABELS`
        self.previous = np.full(columns, float(UNKNOWN))  # the one before it
        self.since = np.full(columns, -1.0)  # open time of the first bar with it

    def update(self, t_ms: Times, sides: FloatArray, words: FloatArray, hours: FloatArray) -> None:
        """Take a block of bars, opened at `t_ms`, (n,); the rest as for `labels_of`, (n, columns)."""
        labels = labels_of(sides, words, hours)
        shown = before(self.label, labels)
        changed = labels != shown
        first = np.where(self.since < 0.0, float(t_ms[0]), self.since)
        self.since = carried(first, np.where(changed, t_ms[:, None], 0.0), changed)
        self.previous = carried(self.previous, shown, changed)
        self.label = labels

    def ages(self, t_ms: Times) -> FloatArray:
        """Return for how many minutes each label has stood at the close of each bar, (n, columns)."""
        out: FloatArray = (t_ms[:, None] - self.since + BAR_MS) / MINUTE_MS
        return out


def dwell_minutes(t_ms: int, since_ms: int) -> int:
    """Return how long the label of the bars closed from `since_ms` on has been shown after the bar opened at `t_ms`.

    >>> dwell_minutes(t_ms=3_600_000, since_ms=3_000_000)
    15
    """
    return max(0, (t_ms + BAR_MS - since_ms) // MINUTE_MS)
