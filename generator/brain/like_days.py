"""Counts over the record by the hour that a report is made of: days like this one, large hours, the largest of all.

All take the market's moves at full hours up to now, oldest first, as fractions, NaN where unknown; nothing looks ahead.
"""

from typing import Final, NamedTuple

import numpy as np

from generator.brain import swings
from generator.market.bars import FloatArray

DAY: Final = 24  # hours
SAME_SIZE: Final = (0.67, 1.5)  # times the day's move
SMALL: Final = 0.75  # usual days, below which days of either side are like this one
_LARGE_HOUR: Final = 4.0  # usual hours
_LARGEST: Final = 10


class LikeDays(NamedTuple):
    """Days like this one, each a day or more after the one before, and what came in the day after each."""

    n: int
    smallest: float  # of the sizes that count as like it
    largest: float
    rose: int
    moved_more: int  # than a usual day
    any_n: int  # hours of the record with a day after them
    any_rose: int
    any_moved_more: int


def like_days(days: FloatArray, day: float, usual_day: float) -> LikeDays:
    """Count the days on record of the side and about the size of this one.

    >>> days = np.tile(np.repeat([0.02, -0.01], 24), 10)
    >>> counts = like_days(days, day=0.02, usual_day=0.015)
    >>> counts.n, counts.rose, counts.moved_more, counts.any_rose / counts.any_n > 0.4
    (10, 0, 0, True)

    Args:
        days: moves over 24 hours, (hours,).
        day: the present one.
        usual_day: median size of a day.
    """
    if abs(day) >= SMALL * usual_day:
        smallest, largest = (share * abs(day) for share in SAME_SIZE)
        sizes = days * np.sign(day)
    else:
        smallest, largest = 0.0, SMALL * usual_day
        sizes = np.abs(days)
    after = days[DAY:]
    before = sizes[:-DAY]
    known = np.isfinite(before) & np.isfinite(after)

    chosen = []
    last = -DAY
    for hour in np.flatnonzero(known & (before >= smallest) & (before <= largest)).tolist():
        if hour - last >= DAY:
            chosen.append(hour)
            last = hour
    came = after[chosen]
    return LikeDays(
        n=len(chosen),
        smallest=smallest,
        largest=largest,
        rose=int(np.count_nonzero(came > 0.0)),
        moved_more=int(np.count_nonzero(np.abs(came) > usual_day)),
        any_n=int(np.count_nonzero(known)),
        any_rose=int(np.count_nonzero(after[known] > 0.0)),
        any_moved_more=int(np.count_nonzero(np.abs(after[known]) > usual_day)),
    )


class LargeHours(NamedTuple):
    """Hours of four usual ones or more, and how often the next was larger than usual too."""

    n: int
    next_larger: int
    days: int  # on which they ended


def large_hours(hours: FloatArray, usual_hour: float) -> LargeHours:
    """Count the large hours on record whose next hour is known.

    >>> large_hours(np.array([0.001, 0.02, 0.01, 0.001, 0.03, 0.001]), usual_hour=0.004)
    LargeHours(n=2, next_larger=1, days=1)

    Args:
        hours: moves over an hour, (hours,).
        usual_hour: median size of an hour.
    """
    sizes = np.abs(hours)
    at = np.flatnonzero((sizes[:-1] >= _LARGE_HOUR * usual_hour) & np.isfinite(sizes[1:]))
    larger = np.count_nonzero(sizes[at + 1] > usual_hour)
    return LargeHours(len(at), int(larger), len(set((at // DAY).tolist())))


def began_calm(hours: FloatArray, words: FloatArray) -> tuple[int, int] | None:
    """Return how many of the record's largest hours, each on another day, began calm or normal, and of how many.

    None where the record has too few.

    Args:
        hours: moves over an hour, (hours,).
        words: of volatility at the same hours, as indices of `swings.WORDS`.
    """
    sizes = np.nan_to_num(np.abs(hours[1:]), nan=-1.0)
    before = words[:-1]
    rated = np.isfinite(before) & (before != swings.UNKNOWN) & (sizes >= 0.0)
    picked: list[int] = []
    for hour in np.argsort(-np.where(rated, sizes, -1.0), kind="stable").tolist():
        if len(picked) == _LARGEST or not rated[hour]:
            break
        if all(abs(hour - other) >= DAY for other in picked):
            picked.append(hour)
    if len(picked) < _LARGEST:
        return None
    calm = np.isin(before[picked], (swings.CALM, swings.NORMAL))
    return int(np.count_nonzero(calm)), len(picked)


def days_by_size(days: FloatArray, usual_day: float, count: int, within: float) -> tuple[int, int, int] | None:
    """Return how many of the last days moved about as usual, less and more; None unless all are known.

    >>> days_by_size(np.repeat([0.01, 0.02, 0.03], 24), usual_day=0.02, count=3, within=0.25)
    (1, 1, 1)

    Args:
        days: moves over 24 hours, (hours,).
        within: of the usual day, either way, that is about as usual.
    """
    sizes = np.abs(days[::-DAY][:count])
    if len(sizes) < count or not np.isfinite(sizes).all():
        return None
    smaller = int(np.count_nonzero(sizes < (1.0 - within) * usual_day))
    larger = int(np.count_nonzero(sizes > (1.0 + within) * usual_day))
    return count - smaller - larger, smaller, larger
