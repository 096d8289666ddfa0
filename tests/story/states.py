"""How long the market's states lasted and what followed such hours, counted from the changes of state alone."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from generator.market.bars import FloatArray
from tests.story.candles import DAY, HOUR, Candles

UNKNOWN: Final = {"side": 3, "step": 2}
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
    enough = len(like) >= 10 and days >= 7
    older = [spell for spell in like if spell.hours >= now.hours]
    onward = None
    if len(older) >= 10 and len({spell.start_ms // DAY for spell in older}) >= 7:
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


class Followed(NamedTuple):
    """What followed hours like this one, next to all hours: up, within, down."""

    usual: float
    like: tuple[int, int, int]
    every: tuple[int, int, int]
    apart: tuple[bool | None, bool | None, bool | None]  # None: too close to call


class Such(NamedTuple):
    """Hours like this one."""

    size: int
    usual_day: float
    n: int
    days: int
    after: dict[int, Followed | None]


def such_hours(candles: Candles, side: FloatArray, step: FloatArray) -> Such | None:
    """Count the hours with the states of now and as large a day; None where one of these is not known."""
    day_moves = candles.day_moves
    if sum(map(math.isfinite, day_moves)) < 7 * 24 or not math.isfinite(day_moves[-1]):
        return None
    usual = candles.usual(day_moves)
    sides = [_state_at(side, at_ms) for at_ms in candles.hours_ms]
    steps = [_state_at(step, at_ms) for at_ms in candles.hours_ms]
    sizes = [_size(move, usual) for move in day_moves]
    rated = [
        math.isfinite(move) and one not in {None, UNKNOWN["side"]} and two not in {None, UNKNOWN["step"]}
        for move, one, two in zip(day_moves, sides, steps, strict=True)
    ]
    if not rated[-1]:
        return None
    now = (sides[-1], steps[-1], sizes[-1])
    states = zip(sides, steps, sizes, strict=True)
    like = [known and state == now for known, state in zip(rated, states, strict=True)]
    like[-1] = False
    dates = [at_ms // DAY for at_ms in candles.hours_ms]
    return Such(
        size=sizes[-1],
        usual_day=usual,
        n=sum(like),
        days=len({date for date, is_like in zip(dates, like, strict=True) if is_like}),
        after={hours: _followed(candles, hours, like, rated, dates) for hours in (4, 24)},
    )


def _size(move: float, usual: float) -> int:
    if abs(move) <= usual:
        return 0
    return 1 if move > 0 else -1


def _state_at(changes: FloatArray, at_ms: int) -> int | None:
    states = [int(state) for since, state in changes.tolist() if math.isfinite(since) and since <= at_ms]
    return states[-1] if states else None


def _followed(
    candles: Candles, hours: int, like: Sequence[bool], rated: Sequence[bool], dates: Sequence[int]
) -> Followed | None:
    moves = candles.later(hours)
    known = [is_rated and math.isfinite(move) for is_rated, move in zip(rated, moves, strict=True)]
    of_like = [is_like and is_known for is_like, is_known in zip(like, known, strict=True)]
    if sum(of_like) < 10 or len({date for date, counts in zip(dates, of_like, strict=True) if counts}) < 7:
        return None
    usual = candles.usual([move for move, is_known in zip(moves, known, strict=True) if is_known])
    came = [1 - _size(move, usual) if math.isfinite(move) else -1 for move in moves]  # 0 up, 1 within, 2 down

    def counts(which: Sequence[bool]) -> tuple[int, int, int]:
        counted = Counter(outcome for outcome, counts in zip(came, which, strict=True) if counts)
        return counted[0], counted[1], counted[2]

    apart = [_differs(outcome, came, of_like, known, dates) for outcome in range(3)]
    return Followed(usual, counts(of_like), counts(known), (apart[0], apart[1], apart[2]))


def _differs(
    outcome: int, came: Sequence[int], like: Sequence[bool], every: Sequence[bool], dates: Sequence[int]
) -> bool | None:
    """Say whether the share of an outcome is another than over all hours, by days drawn with replacement."""
    names = sorted(set(dates))
    sums = np.zeros((len(names), 4))
    for date, one, is_like, counts in zip(dates, came, like, every, strict=True):
        sums[names.index(date)] += (is_like and one == outcome, is_like, counts and one == outcome, counts)

    drawn = np.random.default_rng(7).integers(0, len(names), (_DRAWS, len(names)))
    totals = sums[drawn].sum(axis=1)
    whole = totals[(totals[:, 1] > 0) & (totals[:, 3] > 0)]
    gaps = whole[:, 0] / whole[:, 1] - whole[:, 2] / whole[:, 3]
    low, high = np.percentile(gaps, [0.5, 99.5]).tolist()
    # The ends move from one set of draws to the next by about a tenth of the interval's half.
    slack = max(_NEAR, 0.15 * (high - low) / 2)
    if min(abs(low), abs(high)) < slack:
        return None
    return bool(low > 0 or high < 0)
