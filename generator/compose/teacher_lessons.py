"""GET /api/teacher-lessons.php."""

from typing import Final

from generator.arena.values import Lesson
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso
from generator.catalog.text.answers import DEVELOPER_NOTE, LEADERBOARD_NOTE, NO_LESSONS, PRIVACY_NOTE, TEACHER_ROLE
from generator.catalog.words import PatternType, TeacherStatus
from generator.compose.context import TickContext
from generator.compose.envelope import notice
from generator.contract.teacher_lessons import (
    Leaderboard,
    LeaderboardPlace,
    TeacherBrain,
    TeacherLesson,
    TeacherLessonsResponse,
    TeacherMetrics,
    TeacherPattern,
)

LATEST: Final = 20


def teacher_lessons(ctx: TickContext) -> TeacherLessonsResponse:
    """Compose the latest lessons."""
    limits = () if ctx.arena.lessons else (NO_LESSONS,)
    return TeacherLessonsResponse(
        **notice(ctx, ENDPOINT_BY_ID["teacher-lessons"], *limits),
        teacher_brain=teacher_brain(ctx),
        patterns=patterns(ctx),
        leaderboard=leaderboard(ctx),
        latest_lessons=tuple(lesson_row(lesson) for lesson in ctx.arena.lessons[:LATEST]),
        developer_note=DEVELOPER_NOTE,
        privacy_note=PRIVACY_NOTE,
    )


def teacher_status(ctx: TickContext) -> TeacherStatus:
    """Return learning once there are lessons."""
    return TeacherStatus.LEARNING if ctx.arena.teacher.lessons_total else TeacherStatus.IDLE


def teacher_brain(ctx: TickContext) -> TeacherBrain:
    """Compose the teacher's state."""
    held = ctx.arena.teacher
    return TeacherBrain(
        status=teacher_status(ctx),
        role=TEACHER_ROLE,
        metrics=TeacherMetrics.of(
            held,
            same_answer=held.agreement,
            patterns={word.value: held.patterns.get(word, 0) for word in PatternType},
        ),
    )


def patterns(ctx: TickContext) -> tuple[TeacherPattern, ...]:
    """Compose what many rounds show."""
    return tuple(map(TeacherPattern.of, ctx.arena.patterns))


def leaderboard(ctx: TickContext) -> Leaderboard:
    """Compose the leaderboard; addresses are shortened."""
    board = ctx.arena.leaderboard
    return Leaderboard(
        places=tuple(
            LeaderboardPlace.of(place, voter=f"{place.address[:6]}\u2026{place.address[-4:]}") for place in board.places
        ),
        voters=board.voters,
        below_30=board.below,
        note=LEADERBOARD_NOTE,
    )


def lesson_row(lesson: Lesson) -> TeacherLesson:
    """Compose one lesson."""
    return TeacherLesson.of(lesson, created_at=iso(lesson.created_ms))
