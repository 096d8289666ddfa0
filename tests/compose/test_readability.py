"""The grade that the report is held to is itself checked."""

from __future__ import annotations

import pytest

from tests.compose.readability import grade, syllables

WORDS = {
    "the": 1, "market": 2, "prices": 2, "moved": 1, "closed": 1, "changes": 2, "little": 2, "people": 2, "made": 1,
    "seven": 2, "dollars": 2, "million": 2, "minutes": 2, "nothing": 2, "surprise": 2, "forecast": 2, "crowded": 2,
    "expected": 3, "institutional": 5, "simultaneously": 6, "considerable": 5, "internationally": 6,
}  # fmt: skip


@pytest.mark.parametrize(("word", "count"), WORDS.items())
def test_syllables_are_counted_within_one(word: str, count: int) -> None:
    assert abs(syllables(word) - count) <= 1


def test_the_mean_count_is_not_too_low() -> None:
    assert sum(map(syllables, WORDS)) >= 0.97 * sum(WORDS.values())


def test_hard_prose_is_above_grade_nine_and_easy_prose_below() -> None:
    hard = "Institutional participants simultaneously reallocated considerable derivative exposure internationally."
    easy = "The price went up. Then it went down. No one knows why."

    assert grade(hard) > 9
    assert grade(easy) < 3
