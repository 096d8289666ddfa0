"""The page of Learn, and its picture of few cases; pictures of days are held in tests/words."""

import re
from statistics import NormalDist

import pytest

from generator.catalog.text.chapters import CHAPTER_OF
from generator.catalog.text.concepts import CONCEPTS
from generator.site.charts.lessons import few_cases
from tests.support.page_view import rendered


@pytest.mark.parametrize(("row", "right", "of"), [(0, 5, 10), (1, 50, 100), (2, 500, 1_000)])
def test_the_intervals_of_few_and_many_cases_are_wilsons(row: int, right: int, of: int) -> None:
    z = NormalDist().inv_cdf(0.975)
    rates = [step / 10_000 for step in range(1, 10_000)]
    # Wilson's interval: every true rate from which the share found is no more than z standard deviations away.
    possible = [rate for rate in rates if abs(right / of - rate) <= z * (rate * (1 - rate) / of) ** 0.5]
    low, high = possible[0], possible[-1]

    label, between = few_cases("few").caption.rows[row]

    assert label == f"{right:,} of {of:,}"
    assert between == f"{100 * low:.0f} to {100 * high:.0f}%"


def test_the_text_on_few_cases_says_what_its_picture_shows() -> None:
    text = re.sub(r"<[^>]+>", " ", rendered()["/learn/luck/index.html"].decode())

    assert "24 in 100, and as high as 76" in text
    assert "to three points either way" in text
    assert [between for _, between in few_cases("few").caption.rows][::2] == ["24 to 76%", "47 to 53%"]


def test_every_idea_of_a_lesson_has_a_chapter() -> None:
    assert {text.chapter for text in CONCEPTS.values()} <= CHAPTER_OF.keys()


def test_a_screen_of_learn_is_an_idea_in_few_words() -> None:
    html = rendered()["/learn/index.html"].decode()

    for idea in re.findall(r'<section class="idea.*?</section>', html, re.DOTALL):
        read = re.sub(r"<(svg|table|details|figure)\b.*?</\1>", " ", idea, flags=re.DOTALL)
        assert len(re.sub(r"<[^>]+>", " ", read).split()) <= 180
