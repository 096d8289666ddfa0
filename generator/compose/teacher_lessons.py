"""GET /api/teacher-lessons.php."""

from __future__ import annotations

from typing import Final

from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.text.answers import DEVELOPER_NOTE, NO_LESSONS, PRIVACY_NOTE, TEACHER_ROLE
from generator.catalog.words import PatternType, TeacherStatus
from generator.compose.context import TickContext
from generator.compose.crowd import leaderboard, patterns
from generator.compose.envelope import notice
from generator.compose.rounds import lesson_row
from generator.compose.scores import rate
from generator.contract.teacher_lessons import TeacherBrain, TeacherLessonsResponse, TeacherMetrics

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
        metrics=TeacherMetrics(
            lessons_total=held.lessons_total,
            warm_up=held.warm_up,
            brain=rate(held.brain),
            crowd=rate(held.crowd),
            agreement=rate(held.agreement),
            patterns={word.value: held.patterns.get(word, 0) for word in PatternType},
        ),
    )
