"""How long the market's states lasted, counted from the changes of state alone."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from generator.market.bars import FloatArray
from tests.story.candles import DAY, HOUR

UNKNOWN: Final = {"side": 4, "step": 2}
_DRAWS: Final = 4_000
_NEAR: Final = 0.004  # of a share: an end of an interval so close to zero may lie on either side of it in other draws


class Spell(NamedTuple):
    """A spell of which the beginning was seen."""

    state: int
    start_ms: int
    end_ms: int
    next: int | None  # None: its end was not seen

    @property
    def hours(self) -> float:
        """How long it was seen to last."""
        return (self.end_ms - self.start_ms) / HOUR


def spells_of(axis: str, changes: FloatArray, now_ms: int) -> list[Spell]:
    """Return the spells of an axis, oldest first.

    Args:
        axis: side or step.
        changes: time and state of each change, NaN where there is none.
        now_ms: until when the last state was seen.
    """
    unknown = UNKNOWN[axis]
    rows = [(int(at), int(state)) for at, state in changes.tolist() if math.isfinite(at)]
    ends = [*rows[1:], (now_ms, unknown)]
    spells = []
    for before, (start, state), (end, following) in zip(rows, rows[1:], ends[1:], strict=False):
        if unknown not in {state, before[1]}:
            spells.append(Spell(state, start, end, None if following == unknown else following))
    return spells


@dataclass(frozen=True)
class Lasting:
    """What spells like the present one show; shares of 100."""

    state: int
    hours: float
    n: int
    days: int
    censored: int
    four: float | None  # outlast four hours; None of too few, or where none was watched for so long
    day: float | None
    onward: float | None  # of those as old as the present one
    followed: Counter[int]


def lasting(spells: Sequence[Spell], now_ms: int) -> Lasting | None:
    """Return what the spells of the present state show; None where the beginning of that was not seen."""
    if not spells or spells[-1].end_ms != now_ms or spells[-1].next is not None:
        return None
    now = spells[-1]
    like = [spell for spell in spells if spell.state == now.state]
    days = len({spell.start_ms // DAY for spell in like})
    enough = len(like) >= 30 and days >= 7
    older = [spell for spell in like if spell.hours >= now.hours]
    onward = None
    if len(older) >= 30 and len({spell.start_ms // DAY for spell in older}) >= 7:
        here, later = _survival(like, now.hours), _survival(like, now.hours + 4)
        onward = 100.0 * later / here if here and later is not None else None
    return Lasting(
        state=now.state,
        hours=now.hours,
        n=len(like),
        days=days,
        censored=sum(spell.next is None for spell in like),
        four=_percent(_survival(like, 4)) if enough else None,
        day=_percent(_survival(like, 24)) if enough else None,
        onward=onward,
        followed=Counter(spell.next for spell in like if spell.next is not None),
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _survival(spells: Sequence[Spell], hours: float) -> float | None:
    """Return the share that outlasts some hours: hour by hour the share of those still there that did not end."""
    left = 1.0
    for length in sorted({spell.hours for spell in spells}):
        if length > hours:
            break
        there = [spell for spell in spells if spell.hours >= length]
        ended = [spell for spell in there if spell.hours == length and spell.next is not None]
        left *= 1.0 - len(ended) / len(there)
    return None if left > 0 and hours > max(spell.hours for spell in spells) else left
