"""Patterns over many rounds: what they show, and that few rounds or overlapping intervals show nothing."""

from dataclasses import replace

import pytest

from generator.arena.scores import wilson
from generator.arena.teacher import AGREED, ALL, DIFFERED, PatternSums, finding
from generator.arena.values import Lesson, Pattern
from generator.catalog.words import PatternType
from tests.support import builders

KINDS = {
    PatternType.BOTH_CORRECT: (1, 1, 1),
    PatternType.BRAIN_ONLY: (1, 0, 0),
    PatternType.CROWD_ONLY: (0, 1, 0),
    PatternType.BOTH_WRONG: (0, 0, 0),
    PatternType.NO_CROWD: (1, 0, 0),
}


def lesson(kind: PatternType, asset: str = "BTC") -> Lesson:
    brain, crowd, agreement = KINDS[kind]
    made = builders.lesson(1)
    return replace(made, asset=asset, pattern_type=kind, brain_correct=brain, crowd_correct=crowd, agreement=agreement)


def after(**counts: int) -> dict[str, Pattern]:
    sums = PatternSums()
    for name, count in counts.items():
        for _ in range(count):
            sums = sums.plus(lesson(PatternType(name)), "RISK_ON")
    return {pattern.when: pattern for pattern in sums.patterns()}


def test_every_round_with_a_crowd_is_in_its_groups() -> None:
    groups = after(both_correct=2, brain_only=3, crowd_only=4, both_wrong=5, no_crowd=6)

    assert {name: group.rounds for name, group in groups.items()} == {
        ALL: 14,
        AGREED: 2,
        DIFFERED: 12,
        "asset BTC": 14,
        "market mode RISK_ON at sealing": 14,
    }
    assert (groups[ALL].brain.percent, groups[ALL].crowd.percent) == (35.7, 42.9)
    assert groups[ALL].both_wrong.percent == 35.7


@pytest.mark.parametrize(
    ("crowd_only", "brain_only", "named"),
    [
        (60, 10, "The crowd was right more often"),
        (10, 60, "The brain was right more often"),
        (22, 18, "could be chance"),
        (1, 0, "too few to tell"),
        (29, 0, "too few to tell"),
    ],
)
def test_a_finding_says_no_more_than_the_intervals_show(crowd_only: int, brain_only: int, named: str) -> None:
    assert named in after(crowd_only=crowd_only, brain_only=brain_only)[DIFFERED].finding


def test_rounds_of_agreement_are_not_a_contest() -> None:
    assert finding(AGREED, wilson(20, 40), wilson(20, 40)) == (
        "When both said the same they were right in 50% of 40 rounds."
    )


def test_without_rounds_there_are_no_patterns() -> None:
    assert after(no_crowd=40) == {}
