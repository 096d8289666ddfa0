"""Ranks: questions left out saved nothing, whole days are the blocks, and the luck of the best of many is known."""

import random
from collections import defaultdict
from math import sqrt
from statistics import NormalDist, fmean, quantiles

import pytest

from generator.arena.ranks import Asked, Calendar, Entrant, Rank, Saved, best_of, rank_of, ranking
from generator.catalog.durations import DAY_MS, HOUR_MS
from tests.support.known import known

HOURS = 24 * 40
CALENDAR = Calendar([hour * HOUR_MS for hour in range(HOURS)])


def saved_in(answers: dict[int, int]) -> Saved:
    """Return the sums of answers by the hour of their question."""
    sums = Saved()
    for hour, saved in sorted(answers.items()):
        sums = sums.plus(saved, hour * HOUR_MS // DAY_MS)
    return sums


def of_hours(answers: dict[int, int], keys: int = 1) -> Rank | None:
    return rank_of(saved_in(answers), CALENDAR.since(min(answers) * HOUR_MS), keys)


def test_a_question_left_out_saved_nothing_and_counts_from_the_first_answer_on() -> None:
    often = dict.fromkeys(range(HOURS), 300)
    seldom = dict.fromkeys(range(0, HOURS, 8), 300)
    late = dict.fromkeys(range(HOURS // 2, HOURS), 300)

    assert [known(of_hours(answers)).saved.value for answers in (often, seldom, late)] == [0.03, 0.0038, 0.03]
    assert [known(of_hours(answers)).asked for answers in (often, seldom, late)] == [HOURS, HOURS, HOURS // 2]


def test_the_interval_is_that_of_the_days_totals() -> None:
    dice = random.Random(3)
    answers = {hour: dice.randrange(-4000, 5000) for hour in range(HOURS) if dice.random() < 0.7}
    days: dict[int, int] = defaultdict(int)
    for hour, saved in answers.items():
        days[hour // 24] += saved

    found = known(of_hours(answers)).saved

    first = min(answers)
    mean = fmean(days.values())
    spread = sqrt(sum((total - mean) ** 2 for total in days.values()) / 39 * 40) / 10_000 / (HOURS - first)
    assert found.value == pytest.approx(sum(answers.values()) / 10_000 / (HOURS - first), abs=6e-5)
    assert known(found.high) - found.value == pytest.approx(2.0227 * spread, rel=0.01)  # t of 39 degrees of freedom
    assert found.value - known(found.low) == pytest.approx(known(found.high) - found.value, abs=2e-4)


def test_days_without_an_answer_are_blocks_too() -> None:
    """Else a key of one lucky day in forty had an interval without a spread."""
    found = known(of_hours({0: 10, **dict.fromkeys(range(240, 270), 5000)}))

    assert known(found.saved.low) < 0 < found.saved.value


@pytest.mark.parametrize(
    ("answers", "days", "has_rank"), [(29, 40, False), (30, 40, True), (30, 9, False), (30, 10, True)]
)
def test_a_rank_needs_thirty_answers_of_ones_own_and_ten_days(answers: int, days: int, has_rank: bool) -> None:
    sums = Saved(answers=answers, total=300, squares=9000)

    assert (rank_of(sums, Asked(24 * days, days), 1) is not None) is has_rank


def test_ranks_go_by_the_lower_end_then_the_longer_record_then_the_address() -> None:
    steady = saved_in(dict.fromkeys(range(HOURS), 200))
    lucky = saved_in({hour: 9000 if hour < 40 else 0 for hour in range(HOURS)})
    entrants = [
        Entrant("lucky", lucky, 0),
        Entrant("steady", steady, 0),
        Entrant("b", Saved(30), 0),
        Entrant("a", Saved(30), 0),
        Entrant("shorter", Saved(30), HOUR_MS),
        Entrant("new", Saved(29), 0),
    ]

    found = ranking(entrants, CALENDAR, 5)

    assert [place.address for place in found.places] == ["steady", "a", "b", "shorter", "lucky"]
    assert [place.place for place in found.places] == [1, 2, 3, 4, 5]
    assert (found.entrants, found.too_early) == (6, 1)
    assert ranking(entrants[::-1], CALENDAR, 2).places == found.places[:2]


@pytest.mark.parametrize("keys", [1, 10, 1000])
def test_the_best_of_many_lucky_keys_is_below_what_is_shown_in_95_of_100_cases(keys: int) -> None:
    dice = random.Random(keys)

    # The largest of n uniform numbers is the n-th root of one.
    best = [dice.random() ** (1 / keys) for _ in range(4000)]
    drawn = [NormalDist().inv_cdf(one) for one in best]
    assert best_of(keys) == pytest.approx(quantiles(drawn, n=20)[-1], abs=0.1)


def test_luck_grows_with_the_keys_and_a_record_is_beyond_it_or_not() -> None:
    dice = random.Random(5)
    answers = {hour: 150 + dice.randrange(-3000, 3001) for hour in range(HOURS)}

    alone = known(of_hours(answers, keys=1))
    among_many = known(of_hours(answers, keys=1000))

    assert alone.luck < among_many.luck
    assert alone.saved == among_many.saved
    assert (alone.beyond_luck, among_many.beyond_luck) == (alone.saved.value > alone.luck, False)
