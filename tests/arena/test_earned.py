"""Whether the live record has earned that a side is called."""

import random

import pytest

from generator.arena.earned import CASES, DAYS, LeadDay, look, lower_bound

GOOD = [LeadDay(6, 1 + day % 3) for day in range(DAYS)]
BAD = LeadDay(6, -6)


def test_a_new_record_opens_nothing() -> None:
    earned = look(3, [], was_open=False)

    assert (earned.is_open, earned.cases, earned.days, earned.mean) == (False, 0, 0, None)


def test_it_opens_with_the_last_case_and_the_last_day_that_it_needs() -> None:
    few_cases = [LeadDay(5, 2)] * (DAYS - 1) + [LeadDay(4, 2)]

    assert look(3, GOOD, was_open=False).is_open
    assert not look(3, GOOD[1:], was_open=False).is_open
    assert sum(day.cases for day in few_cases) == CASES - 1
    assert not look(3, few_cases, was_open=False).is_open
    assert look(3, [LeadDay(5, 2)] * DAYS, was_open=False).is_open


def test_a_mean_above_zero_by_luck_opens_nothing_and_closes_nothing() -> None:
    luck = [LeadDay(6, 6 if day % 2 else -5) for day in range(2 * DAYS)]

    assert look(3, luck, was_open=False).mean == pytest.approx(0.5 / 6)
    assert not look(3, luck, was_open=False).is_open
    assert look(3, luck, was_open=True).is_open


def test_open_sides_close_when_the_mean_is_not_above_zero() -> None:
    even = GOOD + [BAD] * 20

    assert sum(day.balance for day in even) == 0
    assert not look(3, even, was_open=True).is_open
    assert look(3, even[:-1], was_open=True).is_open


def test_the_bound_is_that_of_days_drawn_with_replacement() -> None:
    days = [LeadDay(1 + day % 9, (day * 7) % 5 - 1) for day in range(200)]
    draw = random.Random(0)
    means = []
    for _ in range(8_000):
        drawn = draw.choices(days, k=len(days))
        means.append(sum(day.balance for day in drawn) / sum(day.cases for day in drawn))
    mean = sum(day.balance for day in days) / sum(day.cases for day in days)

    bound = lower_bound(days)

    assert mean - bound == pytest.approx(mean - sorted(means)[40], rel=0.08)
    assert bound < mean
