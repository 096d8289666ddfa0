"""The live and the open round, and votes. A forecast is shown only once its round is live."""

from __future__ import annotations

from typing import Final

from generator.arena.tally import consensus_of, disagreement_score
from generator.arena.timetable import round_id_of
from generator.arena.values import Lesson, Round, Tally
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.formats import basis_points, iso, percent
from generator.catalog.text.answers import NO_OPEN_ROUND, NO_ROUND, NO_VOTES, SIMULATED_VOTES, SPARSE_VOTES
from generator.catalog.words import RoundPhase
from generator.compose.context import TickContext
from generator.contract.rounds import HumanConsensus, OpenRound, RoundInfo
from generator.contract.teacher_lessons import TeacherLesson

_SEALED: Final = {RoundPhase.SCHEDULED, RoundPhase.OPEN}
_HOUR_MS: Final = 3_600_000
_SPARSE: Final = 10


def shown_round(ctx: TickContext) -> Round:
    """Return the live round; else the one that takes votes; else this hour's slot, which no one played."""
    return ctx.arena.live or ctx.arena.open or _unplayed(ctx.freshness.generated_ms)


def _unplayed(now_ms: int) -> Round:
    start_ms = now_ms // _HOUR_MS * _HOUR_MS
    return Round(
        round_id=round_id_of(DEFAULT_ASSET, start_ms),
        asset=DEFAULT_ASSET,
        opens_ms=start_ms,
        start_ms=start_ms,
        end_ms=start_ms + _HOUR_MS,
        phase=RoundPhase.VOID,
        band_bps=None,
        sealed_digest=None,
        salt=None,
        prediction=None,
        probabilities=None,
        confidence_percent=None,
        regime_mode=None,
    )


def sealed(ctx: TickContext, current: Round) -> bool:
    """Return whether a round's forecast must not be shown yet."""
    return current.phase in _SEALED or current.start_ms > ctx.freshness.generated_ms


def round_info(ctx: TickContext) -> RoundInfo:
    """Compose the shown round with its clock."""
    current = shown_round(ctx)
    seconds = max(0, (current.end_ms - ctx.freshness.generated_ms) // 1000)
    minutes, rest = divmod(seconds, 60)
    return RoundInfo(
        round_id=current.round_id,
        asset=current.asset,
        phase=current.phase,
        start=iso(current.start_ms),
        end=iso(current.end_ms),
        seconds_left=seconds,
        timer=f"{minutes:02d}:{rest:02d}",
        band_bps=basis_points(current.band_bps),
    )


def open_round(ctx: TickContext) -> OpenRound | None:
    """Compose the round that takes votes: its digest, never its forecast or its votes."""
    current = ctx.arena.open
    if current is None or current.phase is not RoundPhase.OPEN:
        return None
    return OpenRound(
        round_id=current.round_id,
        asset=current.asset,
        opens=iso(current.opens_ms),
        closes=iso(current.start_ms),
        band_bps=basis_points(current.band_bps),
        commitment=current.sealed_digest,
    )


def live_tally(ctx: TickContext) -> Tally:
    """Return the votes of the live round; none while only an open one is shown."""
    return ctx.arena.live_tally if ctx.arena.live else Tally()


def human_consensus_block(tally: Tally) -> HumanConsensus:
    """Compose counted votes."""
    part = 100 / tally.total if tally.total else 0.0
    return HumanConsensus(
        total=tally.total,
        bullish=tally.bullish,
        bearish=tally.bearish,
        neutral=tally.neutral,
        bullish_percent=percent(tally.bullish * part) or 0.0,
        bearish_percent=percent(tally.bearish * part) or 0.0,
        neutral_percent=percent(tally.neutral * part) or 0.0,
        consensus=consensus_of(tally),
        disagreement_score=disagreement_score(tally),
    )


def round_limits(ctx: TickContext) -> tuple[str, ...]:
    """Name what is restricted about the round and its votes."""
    said = []
    if open_round(ctx) is None:
        said.append(NO_OPEN_ROUND)
    if ctx.arena.live is None:
        return (NO_ROUND, *said)
    total = live_tally(ctx).total
    if total == 0:
        said.append(NO_VOTES)
    elif total < _SPARSE:
        said.append(SPARSE_VOTES)
    if ctx.arena.live_simulated_tally.total:
        said.append(SIMULATED_VOTES)
    return tuple(said)


def lesson_row(lesson: Lesson) -> TeacherLesson:
    """Compose one lesson."""
    return TeacherLesson(
        lesson_id=lesson.lesson_id,
        round_id=lesson.round_id,
        asset=lesson.asset,
        brain_prediction=lesson.brain_prediction,
        human_consensus=lesson.human_consensus,
        actual_outcome=lesson.actual_outcome,
        brain_correct=lesson.brain_correct,
        crowd_correct=lesson.crowd_correct,
        agreement=lesson.agreement,
        shared_intelligence_score=percent(lesson.shared_intelligence_score) or 0.0,
        learning_score=percent(lesson.learning_score) or 0.0,
        pattern_type=lesson.pattern_type,
        summary=lesson.summary,
        created_at=iso(lesson.created_ms),
        warm_up=lesson.warm_up,
    )
