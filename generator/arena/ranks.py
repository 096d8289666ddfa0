"""Ranks: what a key's answers saved against a reference, per question asked since its first one.

A question that a key left out counts as the reference: it saved nothing. So a key that answers only where it likes
gains nothing on one that answers all. A rank needs thirty of its own and ten days, since whole UTC days are the
blocks of its interval. Of many keys that know nothing, the best has saved something by luck alone: that is said with
each rank. Used by rounds (Brier score against the base rate, hits against the likeliest outcome) and by the daily
question (interval score against a usual day).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

from generator.arena.rates import ENOUGH
from generator.arena.scoring import ENOUGH_BLOCKS, student
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import rounded
from generator.values.scores import Z_95, Estimate

UNITS: Final = 10**4  # of what was saved
SURE: Final = 0.95  # of all cases the best by luck alone is below what is shown as luck


@dataclass(frozen=True, slots=True)
class Saved:
    """What the answers of one key saved against a reference, in 10^-4, summed by whole UTC days; immutable."""

    answers: int = 0
    total: int = 0  # the reference's losses less the key's
    squares: int = 0  # of each day's total
    day: int = 0  # the newest with an answer, since 1970
    in_day: int = 0  # its total

    def plus(self, saved: int, day: int) -> Saved:
        """Add one answer, not older than those before it.

        >>> Saved().plus(-3, 7).plus(5, 7).plus(4, 8)
        Saved(answers=3, total=6, squares=20, day=8, in_day=4)
        """
        before = self.in_day if self.answers and day == self.day else 0
        in_day = before + saved

        return Saved(
            answers=self.answers + 1,
            total=self.total + saved,
            squares=self.squares + in_day * in_day - before * before,
            day=day,
            in_day=in_day,
        )


class Asked(NamedTuple):
    """How many questions were asked since a key's first answer, and on how many UTC days."""

    questions: int
    days: int


class Calendar:
    """When questions were asked that have their outcome."""

    def __init__(self, starts_ms: Sequence[int]) -> None:
        """Take the start of each, in order."""
        self._starts = starts_ms
        self._days = sorted({start // DAY_MS for start in starts_ms})

    def since(self, first_ms: int) -> Asked:
        """Count those from a start on.

        >>> Calendar([1, 2, DAY_MS]).since(2)
        Asked(questions=2, days=2)
        """
        questions = len(self._starts) - bisect_left(self._starts, first_ms)
        days = len(self._days) - bisect_left(self._days, first_ms // DAY_MS)
        return Asked(questions, days)


class Rank(NamedTuple):
    """What a key saved per question asked since its first answer; means with four decimals."""

    asked: int
    saved: Estimate
    luck: float  # the best of so many keys that know nothing stays below it in 95 of 100 cases
    beyond_luck: bool


class Entrant(NamedTuple):
    """One key that answered."""

    address: str
    saved: Saved
    since_ms: int  # start of the first question that it answered


class Place(NamedTuple):
    """A rank, from 1."""

    place: int
    address: str
    rank: Rank


class Ranking(NamedTuple):
    """The best, in order, and how many keys there are."""

    places: tuple[Place, ...]
    entrants: int
    too_early: int  # of them: for a rank


def ranking(entrants: Iterable[Entrant], calendar: Calendar, most: int) -> Ranking:
    """Rank keys by the lower end of the interval; ties go to the longer record, then the address.

    Args:
        entrants: every key that answered at least once.
        calendar: of the questions that have their outcome.
        most: how many places are given.
    """
    everyone = tuple(entrants)
    ranks = [
        (entrant, rank)
        for entrant in everyone
        if (rank := rank_of(entrant.saved, calendar.since(entrant.since_ms), len(everyone))) is not None
    ]

    # The mean alone would let a lucky start lead.
    ranks.sort(key=lambda pair: (-(pair[1].saved.low or 0.0), -pair[1].asked, pair[0].address))
    places = tuple(Place(number, entrant.address, rank) for number, (entrant, rank) in enumerate(ranks[:most], 1))
    return Ranking(places, len(everyone), len(everyone) - len(ranks))


def rank_of(saved: Saved, asked: Asked, keys: int) -> Rank | None:
    """Return what the rank of a key goes by; None where it is too early: below thirty of its own, or ten days.

    The variance of the total is that of the days' totals: answers of one day are right or wrong together.

    Args:
        saved: of its answers.
        asked: since its first one.
        keys: how many keys answered at all, those without a rank too: who makes many may drop the unlucky ones.
    """
    if saved.answers < ENOUGH or asked.days < ENOUGH_BLOCKS:
        return None

    # Per question asked, not per answer given: what was left out is in the mean as nothing saved.
    mean = saved.total / UNITS / asked.questions
    around_mean = saved.squares - saved.total * saved.total / asked.days
    variance = max(0.0, around_mean) * asked.days / (asked.days - 1)
    error = sqrt(variance) / UNITS / asked.questions

    half = student(Z_95, asked.days) * error
    luck = rounded(student(best_of(keys), asked.days) * error, 4)
    value = rounded(mean, 4)
    estimate = Estimate(value, rounded(mean - half, 4), rounded(mean + half, 4))
    return Rank(asked.questions, estimate, luck, value > luck)


@lru_cache(maxsize=256)
def best_of(keys: int) -> float:
    """Return below how many standard errors the best of so many lucky keys stays in 95 of 100 cases.

    >>> round(best_of(1), 2), round(best_of(1000), 2)
    (1.64, 3.88)
    """
    return NormalDist().inv_cdf(SURE ** (1 / max(1, keys)))
