"""Which lessons a page explains, and which it lists."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from generator.catalog.text.concepts import CONCEPTS, chapter_of
from generator.values.rounds import Lesson

EXPLAINED: Final = 3


@dataclass(frozen=True, slots=True)
class ExplainedLesson:
    """A lesson with its idea, question and answer."""

    lesson: Lesson
    idea: str
    chapter: str  # path on this site


@dataclass(frozen=True, slots=True)
class Lessons:
    """The lessons of a page: some explained, all others listed, newest first."""

    explained: tuple[ExplainedLesson, ...] = ()
    listed: tuple[Lesson, ...] = ()


def chosen(lessons: Iterable[Lesson]) -> Lessons:
    """Explain the most surprising lessons, each with another idea; older ones have none and are listed."""
    by_surprise = sorted(lessons, key=lambda lesson: (-lesson.learning_score, -lesson.created_ms))

    explained: list[Lesson] = []
    for lesson in by_surprise:
        ideas = {before.concept for before in explained}
        if lesson.concept is not None and lesson.concept not in ideas:
            explained.append(lesson)
        if len(explained) == EXPLAINED:
            break

    rest = [lesson for lesson in by_surprise if lesson not in explained]
    return Lessons(tuple(map(_explained, explained)), _newest_first(rest))


def _explained(lesson: Lesson) -> ExplainedLesson:
    if lesson.concept is None:
        raise ValueError(f"lesson {lesson.lesson_id} explains nothing")
    return ExplainedLesson(lesson, CONCEPTS[lesson.concept].name, chapter_of(lesson.concept))


def _newest_first(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    return tuple(sorted(lessons, key=lambda lesson: -lesson.created_ms))
