"""GET /api/teacher-lessons.php."""

from typing import Final

from pydantic import Field

from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso
from generator.catalog.text.answers import DEVELOPER_NOTE, NO_LESSONS, PRIVACY_NOTE, TEACHER_ROLE
from generator.catalog.text.concepts import chapter_of
from generator.catalog.words import Concept, Consensus, PatternType, Prediction, TeacherStatus
from generator.compose.body import Body
from generator.compose.envelope import NoticeResponse, notice_envelope
from generator.compose.tick import Tick
from generator.values.rounds import Lesson
from generator.values.scores import TeacherMetrics, TeacherPattern
from generator.values.votes import Leaderboard


class TeacherBrain(Body):
    """The teacher's state."""

    status: TeacherStatus = Field(description="learning once there are lessons, else idle.")
    role: str = Field(description="What the teacher does.")
    metrics: TeacherMetrics = Field(description="Counts and rates.")


class LessonInShort(Body):
    """How one resolved round turned out."""

    lesson_id: str = Field(description="Identity of the lesson.")
    round_id: str = Field(description="The round that it is about.")
    asset: str = Field(description="Asset symbol.")
    brain_prediction: Prediction = Field(description="What the brain had said.")
    brain_called: int | None = Field(
        description="1 where the brain made a call, 0 where it made none, so that it was neither right nor wrong; null "
        "of a round that was sealed before calls existed."
    )
    human_consensus: Consensus = Field(description="What most voters had said.")
    actual_outcome: Prediction = Field(description="What happened.")
    brain_correct: int = Field(description="1 or 0; 0 without a call.")
    crowd_correct: int = Field(description="1 or 0; 0 without votes.")
    agreement: int = Field(description="1 when brain and crowd gave the same answer, else 0; 0 without a call.")
    shared_intelligence_score: float = Field(description="How well both together did, 0..100; see the methodology.")
    learning_score: float = Field(description="How much there was to learn, 0..100; see the methodology.")
    pattern_type: PatternType = Field(description="Who was right.")
    summary: str = Field(
        description="The move, how many hours on record moved as far, the chances at sealing, the score, the votes."
    )
    concept: Concept | None = Field(description="The idea that it explains; null in lessons from before they had one.")
    chapter: str | None = Field(description="Path of the chapter on this site that says more.")
    created_at: str = Field(description="When the round was resolved, ISO 8601 UTC.")
    warm_up: bool = Field(description="True when made by backtest before the start.")


class TeacherLesson(LessonInShort):
    """What one resolved round teaches."""

    point: str | None = Field(description="What the round shows of its idea.")
    question: str | None = Field(description="A question about it.")
    answer: str | None = Field(description="Its answer.")


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
        latest_lessons=tuple(lesson_row(lesson) for lesson in lessons[:LATEST]),
        developer_note=DEVELOPER_NOTE,
        privacy_note=PRIVACY_NOTE,
    )


def teacher_status(ctx: Tick) -> TeacherStatus:
    """Return learning once there are lessons."""
    return TeacherStatus.LEARNING if ctx.arena.teacher.lessons_total else TeacherStatus.IDLE


def teacher_brain(ctx: Tick) -> TeacherBrain:
    """Compose the teacher's state."""
    return TeacherBrain(status=teacher_status(ctx), role=TEACHER_ROLE, metrics=ctx.arena.teacher)


def lesson_row(lesson: Lesson) -> TeacherLesson:
    """Compose one lesson."""
    return TeacherLesson(
        **lesson_in_short(lesson).as_fields(),
        point=lesson.point,
        question=lesson.question,
        answer=lesson.answer,
    )


def lesson_in_short(lesson: Lesson) -> LessonInShort:
    """Compose how one round turned out."""
    return LessonInShort(
        lesson_id=lesson.lesson_id,
        round_id=lesson.round_id,
        asset=lesson.asset,
        brain_prediction=lesson.brain_prediction,
        brain_called=lesson.brain_called,
        human_consensus=lesson.human_consensus,
        actual_outcome=lesson.actual_outcome,
        brain_correct=lesson.brain_correct,
        crowd_correct=lesson.crowd_correct,
        agreement=lesson.agreement,
        shared_intelligence_score=lesson.shared_intelligence_score,
        learning_score=lesson.learning_score,
        pattern_type=lesson.pattern_type,
        summary=lesson.summary,
        concept=lesson.concept,
        chapter=None if lesson.concept is None else chapter_of(lesson.concept),
        created_at=iso(lesson.created_ms),
        warm_up=lesson.warm_up,
    )
