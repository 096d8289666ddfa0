"""When the market changed its state, as far back as is kept, and how long such spells last.

A spell of which the beginning was not seen is left out. One that is not over, or of which the end was not seen, counts
for as long as it was seen to last: right-censored, in the estimate of Kaplan and Meier (1958).
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np

from generator.brain import label
from generator.brain.part import Part, Times
from generator.brain.side import UNKNOWN
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.market.bars import BAR_MS, FloatArray
from generator.values.scores import Z_95, Estimate

KEPT: Final = 256  # changes of each state: months of them
HOURS: Final = 720  # of expected volatility
UNRATED: Final = 2  # the step of volatility while it is not known
UNLABELLED: Final = label.UNKNOWN
FEWEST_SPELLS: Final = 30  # of which a share is given
_TAIL: Final = 0.025  # on either side of an interval of 95%
FEWEST_DAYS: Final = 7  # on which they began


class Spells(Part):
    """The last changes of the market's side, step of volatility and label, each with its time, and hours of stress."""

    STATE: ClassVar[tuple[str, ...]] = ("side", "step", "label", "stress", "hour")

    def __init__(self) -> None:
        """Start with no change seen."""
        super().__init__()
        self.side = np.full((KEPT, 2), np.nan)  # close of the first bar with a state, and the state; oldest first
        self.step = np.full((KEPT, 2), np.nan)
        self.label = np.full((KEPT, 2), np.nan)
        self.stress = np.full((HOURS, 1), np.nan)  # log of the market's expected volatility at each full hour
        self.hour = np.full(1, -1.0)  # number of the last of them, since 1970

    def update(self, t_ms: Times, states: dict[str, FloatArray], stress: FloatArray, steps: Times) -> None:
        """Take a block of bars.

        Args:
            t_ms: their open times, (n,).
            states: by name of the array that keeps its changes, (n,).
            stress: log of the market's expected volatility, (n,).
            steps: bars from each to the one before, (n,).
        """
        unknown = {"side": UNKNOWN, "step": UNRATED, "label": UNLABELLED}
        closes_ms = t_ms + BAR_MS
        for name, values in states.items():
            kept: FloatArray = getattr(self, name)
            changed = values != np.concatenate((kept[-1:, 1], values[:-1]))
            rows = kept
            if changed.any():
                # What became unknown was known to the end of the bar before, which may lie before a hole.
                seen_ms = np.where(values == unknown[name], closes_ms - steps * BAR_MS, closes_ms)
                rows = np.concatenate((kept, np.column_stack((seen_ms, values))[changed]))
            self._windows[name] = (rows, KEPT + np.add.accumulate(changed, dtype=np.int64))

        numbers = closes_ms // HOUR_MS
        hours, places = self.slid("stress", int(self.hour[0]), numbers)
        full = closes_ms % HOUR_MS == 0
        hours[places[full], 0] = stress[full]
        self._windows["stress"] = (hours, places + 1)
        self.hour = numbers.astype(np.float64)[:, None]


class Spell(NamedTuple):
    """One spell of which the beginning was seen."""

    state: int
    start_ms: int
    end_ms: int  # when it ended, or until when it was seen
    came_next: int | None  # None: its end was not seen

    @property
    def hours(self) -> float:
        """How long it lasted, or was seen to last."""
        return (self.end_ms - self.start_ms) / HOUR_MS


def spells_of(changes: FloatArray, now_ms: int, unknown: int) -> list[Spell]:
    """Return the spells that some changes make, oldest first, the present one last.

    >>> rows = np.array([[0.0, 3.0], [10.0, 0.0], [30.0, 1.0], [50.0, 0.0]])
    >>> [tuple(spell) for spell in spells_of(rows, now_ms=60, unknown=3)]
    [(1, 30, 50, 0), (0, 50, 60, None)]

    Args:
        changes: time and state of each, oldest first, NaN where there is none, (n, 2).
        now_ms: until when the last state was seen.
        unknown: the state that stands for not known.
    """
    rows = [(int(at), int(state)) for at, state in changes.tolist() if not math.isnan(at)]
    spells = []
    for place, (start_ms, state) in enumerate(rows):
        began_unseen = place == 0 or rows[place - 1][1] == unknown
        if state == unknown or began_unseen:
            continue
        end_ms, came_next = rows[place + 1] if place + 1 < len(rows) else (now_ms, unknown)
        spells.append(Spell(state, start_ms, end_ms, None if came_next == unknown else came_next))
    return spells


def survival(spells: Sequence[Spell], hours: float) -> Estimate | None:
    """Return the fraction of spells that lasts longer than so many hours; None where none was watched for so long.

    The product of 1 - ended / still there over the lengths at which some ended (Kaplan and Meier, 1958), with the
    interval of Greenwood (1926) on the scale of log(-log). Where none or all ended the limits are exact (Clopper and
    Pearson, 1934), of the spells that were watched for so long.

    >>> ended = [Spell(0, 0, hours * HOUR_MS, 1) for hours in (1, 2, 3, 4)]
    >>> survival(ended, 2).value
    0.5
    >>> still = Spell(0, 0, 2 * HOUR_MS, None)
    >>> round(survival([*ended, still], 3).value, 3)
    0.3
    """
    if not spells:
        return None
    share = 1.0
    spread = 0.0
    seen = sorted(spell.hours for spell in spells)
    ends = Counter(spell.hours for spell in spells if spell.came_next is not None)
    for length in sorted(ends):
        if length > hours:
            break
        there = len(seen) - bisect_left(seen, length)
        ended = ends[length]
        share *= 1.0 - ended / there
        spread += ended / (there * (there - ended)) if there > ended else 0.0

    if share > 0.0 and hours > seen[-1]:
        return None
    watched = len(seen) - bisect_left(seen, hours) if share == 1.0 else len(seen)
    return _with_interval(share, spread, watched)


def _with_interval(share: float, spread: float, watched: int) -> Estimate:
    """Return a share with its interval; `watched` spells say so where none or all ended."""
    rarest = _TAIL ** (1.0 / watched)
    if share >= 1.0:
        return Estimate(1.0, rarest, 1.0)
    if share <= 0.0:
        return Estimate(0.0, 0.0, 1.0 - rarest)
    width = Z_95 * math.sqrt(spread) / abs(math.log(share))
    return Estimate(share, share ** math.exp(width), share ** math.exp(-width))


def enough(spells: Sequence[Spell]) -> bool:
    """Say whether there are enough spells, on enough days, for a share."""
    return len(spells) >= FEWEST_SPELLS and begun_on(spells) >= FEWEST_DAYS


def begun_on(spells: Sequence[Spell]) -> int:
    """Return on how many UTC days some spells began."""
    return len({spell.start_ms // DAY_MS for spell in spells})
