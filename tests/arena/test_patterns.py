"""Patterns over many rounds: who was ahead, by the rounds in which brain and crowd differed, and whether by chance."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.arena.teacher import AGREED, ALL, DIFFERED, LessonSums, PatternSums, finding, sign_test
from generator.catalog.words import Consensus, PatternType
from generator.values.rounds import Lesson
from generator.values.scores import TeacherPattern
from tests.support import builders

KINDS = {
    PatternType.BOTH_CORRECT: (1, 1, 1),
    PatternType.BRAIN_ONLY: (1, 0, 0),
    PatternType.CROWD_ONLY: (0, 1, 0),
    PatternType.BOTH_WRONG: (0, 0, 0),
    PatternType.NO_CROWD: (1, 0, 0),
    PatternType.NO_CALL: (0, 1, 0),
}


def lesson(kind: PatternType, asset: str = "BTC") -> Lesson:
    brain, crowd, agreement = KINDS[kind]
    made = builders.lesson(1)
    made = replace(made, asset=asset, pattern_type=kind, brain_correct=brain, crowd_correct=crowd, agreement=agreement)
    if kind is PatternType.NO_CROWD:
        made = replace(made, human_consensus=Consensus.NONE)
    return replace(made, brain_called=int(kind is not PatternType.NO_CALL))


def after(**counts: int) -> dict[str, TeacherPattern]:
    sums = PatternSums()
    for name, count in counts.items():
        for _ in range(count):
            sums = sums.plus(lesson(PatternType(name)), "RISK_ON")
    return {pattern.when: pattern for pattern in sums.patterns()}


def test_every_round_with_a_call_and_a_crowd_is_in_its_groups() -> None:
    groups = after(both_correct=2, brain_only=3, crowd_only=4, both_wrong=5, no_crowd=6, no_call=7)

    assert {name: group.rounds for name, group in groups.items()} == {
        ALL: 14,
        AGREED: 2,
        DIFFERED: 12,
        "asset BTC": 14,
        "market mode RISK_ON at sealing": 14,
    }
    assert (groups[ALL].brain.hits, groups[ALL].crowd.hits, groups[ALL].both_wrong.hits) == (5, 6, 5)
    assert groups[ALL].brain.percent is None  # of fewer than 30 rounds


@pytest.mark.parametrize(
    ("crowd_only", "brain_only", "named"),
    [
        (60, 10, "The crowd was ahead, 86% to 14% of 70 rounds"),
        (10, 60, "(more than chance would give, sign test p = 0.00)"),
        (22, 18, "it was the crowd in 22 of 40 (that could be chance, sign test p = 0.64)"),
        (20, 20, "Brain and crowd were level: each was right in 50% of 40 rounds."),
        (1, 0, "too few to tell"),
        (29, 0, "too few to tell"),
    ],
)
def test_a_finding_says_who_was_ahead_and_whether_it_could_be_chance(
    crowd_only: int, brain_only: int, named: str
) -> None:
    assert named in after(crowd_only=crowd_only, brain_only=brain_only)[DIFFERED].finding


def test_rounds_of_agreement_are_not_a_contest() -> None:
    assert finding(AGREED, LessonSums(total=40, brain_hits=20, crowd_hits=20)) == (
        "When both said the same they were right in 50% of 40 rounds."
    )


def test_only_the_rounds_in_which_they_differ_decide() -> None:
    found = after(both_wrong=8, crowd_only=15, brain_only=8)[ALL].finding

    assert found == (
        "The crowd was ahead, 48% to 26% of 31 rounds: where only one of them was right it was the crowd in 15 of 23 "
        "(that could be chance, sign test p = 0.21)."
    )
    assert sign_test(3, 0) == 0.25


def test_without_rounds_there_are_no_patterns() -> None:
    assert after(no_crowd=40) == {}


@cache
def exact_tests(n: int) -> list[float]:
    """Return the test of every split of n cases, by the larger part: the plain sum, in whole numbers."""
    found, tail, ways = [0.0] * (n + 1), 0, 1
    for most in range(n, n // 2, -1):
        tail += ways
        ways = ways * most // (n - most + 1)
        found[most] = min(1.0, float(Fraction(2 * tail, 1 << n)))
    found[n // 2] = max(found[n // 2], 1.0)
    return found


@pytest.mark.parametrize("n", [199, 200, 201, 1000, 5000])
def test_the_sign_test_is_the_exact_sum_to_nine_digits(n: int) -> None:
    exact = exact_tests(n)

    found = [sign_test(most, n - most) for most in range((n + 1) // 2, n + 1)]

    assert found == pytest.approx(exact[(n + 1) // 2 :], abs=1e-9, rel=0)


@given(st.integers(0, 6000), st.integers(0, 6000))
def test_the_sign_test_is_a_chance_and_knows_no_sides(one: int, other: int) -> None:
    assert sign_test(one, other) == sign_test(other, one)
    assert 0.0 <= sign_test(one, other) <= 1.0


@pytest.mark.parametrize("n", [50, 199, 200, 4001])
def test_a_more_uneven_split_is_never_likelier(n: int) -> None:
    chances = [sign_test(most, n - most) for most in range((n + 1) // 2, n + 1)]

    assert all(before >= after for before, after in pairwise(chances))
    assert chances[0] == 1.0


def test_the_sign_test_of_a_century_of_rounds_ends() -> None:
    splits: Iterator[int] = iter(range(438_000, 439_000, 10))

    found = [sign_test(ahead, 876_000 - ahead) for ahead in splits]

    assert found[0] == 1.0
    assert 0.0 < found[-1] < 0.05
