"""Lessons on pages: explained ones with their question, older ones in a table."""

import re
from dataclasses import replace
from html import unescape

import pytest

from generator.arena.concepts import FITS
from generator.arena.lessons import lesson_of
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import Prediction
from generator.values.rounds import Lesson
from tests.arena.test_concepts import MONDAY_NOON, NO_ONE, a_round
from tests.support.page_view import Rendered, view


def lessons(count: int = 6) -> tuple[Lesson, ...]:
    """Return the lessons of some hours, newest first, each with another idea and the earlier the more surprising."""
    ideas = list(FITS)
    made = []
    for hour in range(count):
        start_ms = MONDAY_NOON + hour * HOUR_MS
        played = a_round(start_ms=start_ms, round_id=f"BTC-20251124-{12 + hour}0000")
        others = [idea for idea in ideas if idea is not ideas[hour]]
        lesson = lesson_of(played, NO_ONE, start_ms + HOUR_MS, used=others)
        made.append(replace(lesson, concept=ideas[hour], learning_score=90.0 - hour))
    return tuple(reversed(made))


@pytest.fixture(scope="module")
def learn() -> str:
    base = view()
    ctx = replace(base.ctx, arena=replace(base.ctx.arena, lessons=lessons()))
    return unescape(Rendered(replace(base, ctx=ctx))["/learn/index.html"].decode())


def test_learn_explains_the_three_most_surprising_lessons(learn: str) -> None:
    explained = re.findall(r'<article class="lesson".*?</article>', learn, re.DOTALL)

    assert len(explained) == 3
    for article, lesson in zip(explained, reversed(lessons()), strict=False):
        text = re.sub(r"<[^>]+>", "", article)  # terms link to the glossary
        assert lesson.summary in text
        assert str(lesson.point) in text


def test_the_answer_to_a_question_is_behind_a_fold(learn: str) -> None:
    first = lessons()[-1]

    fold = re.search(rf"<summary>{re.escape(str(first.question))}</summary>\s*<p>(.*?)</p>", learn, re.DOTALL)

    assert fold is not None
    assert str(first.answer) in re.sub(r"<[^>]+>", "", fold[1])
    assert re.search('<a href="/learn/[a-z-]+/">', fold[1])


def test_lessons_from_before_ideas_are_listed() -> None:
    base = view()
    old = tuple(replace(lesson, concept=None) for lesson in lessons())
    ctx = replace(base.ctx, arena=replace(base.ctx.arena, lessons=old))

    page = Rendered(replace(base, ctx=ctx))["/learn/index.html"].decode()

    assert "Lessons of finished rounds, newest first" in page
    assert "No round has finished yet" not in page


def test_a_listed_lesson_without_a_call_is_neither_right_nor_wrong() -> None:
    base = view()
    made = (replace(lessons()[0], concept=None, brain_called=called, brain_correct=0) for called in (0, 1, None))
    old = tuple(replace(lesson, brain_prediction=Prediction.NEUTRAL) for lesson in made)
    ctx = replace(base.ctx, arena=replace(base.ctx.arena, lessons=old))

    page = Rendered(replace(base, ctx=ctx))["/learn/index.html"].decode()

    cells = re.findall(r'data-label="Brain">(.*?)</td>', page)
    said = [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in cells]
    assert said == ["no call", "small move ✗ wrong", "small move ✗ wrong"]
    assert not re.search("bullish|bearish|neutral", page)
