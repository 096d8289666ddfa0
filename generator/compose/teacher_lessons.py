"""GET /api/teacher-lessons.php."""

from typing import Final

from pydantic import Field

from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.text.answers import DEVELOPER_NOTE, NO_LESSONS, PRIVACY_NOTE, TEACHER_ROLE
from generator.catalog.words import TeacherStatus
from generator.compose.body import Body
from generator.compose.envelope import NoticeResponse, notice_envelope
from generator.compose.tick import Tick
from generator.values.rounds import TeacherLesson
from generator.values.scores import TeacherMetrics, TeacherPattern
from generator.values.votes import Leaderboard


class TeacherBrain(Body):
    """The teacher's state."""

    status: TeacherStatus = Field(description="learning once there are lessons, else idle.")
    role: str = Field(description="What the teacher does.")
    metrics: TeacherMetrics = Field(description="Counts and rates.")


class TeacherLessonsResponse(NoticeResponse):
    """Lessons from finished rounds; historical, not a live signal."""

    teacher_brain: TeacherBrain = Field(description="The teacher's state.")
    patterns: tuple[TeacherPattern, ...] = Field(description="What many rounds show together.")
    leaderboard: Leaderboard = Field(description="Voters by their record.")
    latest_lessons: tuple[TeacherLesson, ...] = Field(description="The last 20 lessons, newest first.")
    developer_note: str = Field(description="Advice for clients.")
    privacy_note: str = Field(description="What is not stored or shown.")


LATEST: Final = 20


def teacher_lessons(ctx: Tick) -> TeacherLessonsResponse:
    """Compose the latest lessons."""
    lessons = ctx.arena.lessons
    limits = () if lessons else (NO_LESSONS,)

    return TeacherLessonsResponse(
        **notice_envelope(ctx, ENDPOINT_BY_ID["teacher-lessons"], *limits).as_fields(),
        teacher_brain=teacher_brain(ctx),
        patterns=ctx.arena.patterns,
        leaderboard=ctx.arena.leaderboard,
        latest_lessons=lessons[:LATEST],
        developer_note=DEVELOPER_NOTE,
        privacy_note=PRIVACY_NOTE,
    )


def teacher_status(ctx: Tick) -> TeacherStatus:
    """Return learning once there are lessons."""
    return TeacherStatus.LEARNING if ctx.arena.teacher.lessons_total else TeacherStatus.IDLE


def teacher_brain(ctx: Tick) -> TeacherBrain:
    """Compose the teacher's state."""
    return TeacherBrain(status=teacher_status(ctx), role=TEACHER_ROLE, metrics=ctx.arena.teacher)
