"""Counts over the record by the hour that a report is made of: days like this one, large hours, spells of a word.

All take the market's moves at full hours up to now, oldest first, as fractions, NaN where unknown; nothing looks ahead.
"""

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from generator.brain import swings
from generator.brain.highlights import DAY_MARK, HOUR_MARK, WORD
from generator.brain.record import Half
from generator.market.bars import FloatArray

DAY: Final = 24  # hours
SAME_SIZE: Final = (0.67, 1.5)  # times the day's move
SMALL: Final = 0.75  # usual days, below which days of either side are like this one
_LARGE_HOUR: Final = 4.0  # usual hours
_LARGEST: Final = 10
_LAST_DAYS: Final = 30
_ABOUT_USUAL: Final = 0.25  # of a usual day, either way
_LONGER: Final = 12  # hours


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
    by_day: tuple[tuple[int, int], ...]  # how often, and of how many, on each day with one


def large_hours(hours: FloatArray, usual_hour: float) -> LargeHours:
    """Count the large hours on record whose next hour is known.

    >>> large_hours(np.array([0.001, 0.02, 0.01, 0.001, 0.03, 0.001]), usual_hour=0.004)
    LargeHours(n=2, next_larger=1, by_day=((1, 2),))

    Args:
        hours: moves over an hour, (hours,).
        usual_hour: median size of an hour.
    """
    sizes = np.abs(hours)
    at = np.flatnonzero((sizes[:-1] >= _LARGE_HOUR * usual_hour) & np.isfinite(sizes[1:]))
    is_larger = sizes[at + 1] > usual_hour
    days = (at // DAY).tolist()
    hits = Counter(day for day, larger in zip(days, is_larger.tolist(), strict=True) if larger)
    by_day = tuple((hits[day], n) for day, n in Counter(days).items())
    return LargeHours(len(at), int(np.count_nonzero(is_larger)), by_day)


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

    # Largest first, and each on a day of its own: one rough day must not be counted many times.
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


class WordSpells(NamedTuple):
    """The spell of the word of volatility shown, and those on record, as read at full hours."""

    hours: int  # for which the present one has lasted
    n: int  # others of that word of which both ends were seen
    as_old: int  # how many of them got as far
    longer: int  # how many of these went on for twelve hours more


def word_spells(words: FloatArray, word: int) -> WordSpells | None:
    """Count the spells of a word; None where the beginning of the present one was not seen.

    >>> word_spells(np.array([1.0, 0, 0, 1, 0, 0, 0, 1, 0]), word=0)
    WordSpells(hours=1, n=2, as_old=2, longer=0)
    >>> word_spells(np.array([1.0, 1.0]), word=0).hours
    0

    Args:
        words: at full hours, oldest first, as indices of `swings.WORDS`, NaN where unknown, (hours,).
        word: the one shown now, which may have begun since.
    """
    states = np.where(np.isfinite(words), words, swings.UNKNOWN).astype(np.int64)
    changes = np.flatnonzero(np.diff(states)) + 1
    starts = np.concatenate(([0], changes))
    states_of = states[starts].tolist()
    lengths = np.diff(np.concatenate((starts, [len(states)]))).tolist()

    age = 0
    if states_of[-1] == word:
        if len(states_of) == 1 or states_of[-2] == swings.UNKNOWN:
            return None
        age = lengths[-1]
    elif states_of[-1] == swings.UNKNOWN:
        return None

    # Both ends of a spell are seen where a known word comes before it and another after it.
    ended = [
        length
        for before, state, after, length in zip(states_of, states_of[1:], states_of[2:], lengths[1:], strict=False)
        if state == word and swings.UNKNOWN not in {before, after}
    ]
    as_old = [length for length in ended if length >= age]
    return WordSpells(age, len(ended), len(as_old), sum(length >= age + _LONGER for length in as_old))


class RecordCounts(NamedTuple):
    """What a report counts on the record by the hour; None where too little is known."""

    like_days: LikeDays | None
    large_hours: LargeHours
    began_calm: tuple[int, int] | None
    last_days: tuple[int, int, int] | None
    spell: WordSpells | None


def counts_of(hours: Half, usual_hour: float, usual_day: float, day: float, word: int) -> RecordCounts:
    """Return the counts over the record up to now.

    Args:
        hours: the record of `Highlights` at full hours.
        usual_hour, usual_day: median sizes, as fractions.
        day: the market's move over the last 24 hours, NaN where unknown.
        word: of volatility, as an index of `swings.WORDS`.
    """
    kept = hours.astype(np.float64)
    by_hour = kept[:, HOUR_MARK]
    by_day = kept[:, DAY_MARK]
    words = kept[:, WORD]

    return RecordCounts(
        like_days=like_days(by_day, day, usual_day) if np.isfinite(day) else None,
        large_hours=large_hours(by_hour, usual_hour),
        began_calm=began_calm(by_hour, words),
        last_days=days_by_size(by_day, usual_day, _LAST_DAYS, _ABOUT_USUAL),
        spell=None if word == swings.UNKNOWN else word_spells(words, word),
    )
