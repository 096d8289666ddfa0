"""GET /arena/get_shared_intelligence.php."""

from generator.arena.tally import consensus_of
from generator.arena.values import Round
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, iso, iso_or_none, price
from generator.catalog.text.answers import NO_START_PRICE, TEACHER_ROLE
from generator.catalog.words import Consensus, Prediction
from generator.compose.context import TickContext
from generator.compose.envelope import notice
from generator.compose.inputs import observed
from generator.compose.rounds import (
    human_consensus_block,
    live_tally,
    open_round,
    round_info,
    round_limits,
    sealed,
    shown_round,
    simulated_votes,
)
from generator.compose.statistics import rounds_ended
from generator.compose.teacher_lessons import lesson_row, teacher_status
from generator.contract.scores import Probabilities
from generator.contract.shared_intelligence import (
    BrainSnapshot,
    CombinedIntelligence,
    EventRow,
    Events,
    RoundPrice,
    SharedIntelligenceResponse,
    SystemIntegrity,
    TeacherSnapshot,
)


def shared_intelligence(ctx: TickContext) -> SharedIntelligenceResponse:
    """Compose the live round in one document."""
    current = shown_round(ctx)
    snapshot = brain_snapshot(ctx, current)
    missing = [] if _said(snapshot) else ["no forecast of the brain is revealed for this round"]
    missing += [] if current.start_price else [NO_START_PRICE]
    return SharedIntelligenceResponse(
        **notice(ctx, ENDPOINT_BY_ID["shared-intelligence"], *round_limits(ctx), *missing),
        asset=current.asset,
        round=round_info(ctx),
        open_round=open_round(ctx),
        my_prediction=None,
        brain_snapshot=snapshot,
        human_layer=human_consensus_block(live_tally(ctx)),
        simulated_votes=simulated_votes(ctx),
        combined_intelligence=combined(ctx, snapshot),
        teacher_brain=teacher(ctx),
        events=Events(
            latest=tuple(EventRow(at=iso(row.at_ms), kind=row.kind, text=row.text) for row in ctx.arena.events[:10])
        ),
        price=round_price(ctx, current),
        system_integrity=integrity(ctx),
    )


def _triple(values: tuple[float, float, float] | None) -> Probabilities | None:
    return None if values is None else Probabilities(down=values[0], neutral=values[1], up=values[2])


def brain_snapshot(ctx: TickContext, current: Round) -> BrainSnapshot:
    """Reveal the forecast of a round that is live; of any other only its digest."""
    if sealed(ctx, current):
        secret = dict.fromkeys(BrainSnapshot.model_fields.keys() - {"brain_silent", "confidence_kind", "sealed_digest"})
        return BrainSnapshot(brain_silent=False, sealed_digest=current.sealed_digest, **secret)
    silent = current.prediction is None and ctx.reading is None
    return BrainSnapshot.of(
        current,
        prediction=Prediction.NEUTRAL if silent else current.prediction,
        brain_silent=silent,
        confidence=current.confidence_percent,
        probabilities=_triple(current.probabilities),
        base_rates=_triple(current.base_rate),
    )


def _said(snapshot: BrainSnapshot) -> Prediction | None:
    return None if snapshot.brain_silent else snapshot.prediction


def combined(ctx: TickContext, snapshot: BrainSnapshot) -> CombinedIntelligence:
    """Put brain and people side by side."""
    crowd, said = consensus_of(live_tally(ctx)), _said(snapshot)
    same = None if said is None or crowd is Consensus.NONE else said.value == crowd.value
    note = "There is nothing to compare: the brain or the people have said nothing yet."
    if same is not None:
        word = "say the same" if same else "do not say the same"
        people = "the simulated crowd" if simulated_votes(ctx) == live_tally(ctx).total else "people"
        note = f"Brain and {people} {word}. Neither is evidence that one of them is right."
    return CombinedIntelligence(brain=said, crowd=crowd, agreement=same, note=note)


def teacher(ctx: TickContext) -> TeacherSnapshot:
    """Compose the teacher in short."""
    lessons = ctx.arena.lessons
    return TeacherSnapshot(
        status=teacher_status(ctx),
        role=TEACHER_ROLE,
        lessons_total=ctx.arena.teacher.lessons_total,
        last_lesson=lesson_row(lessons[0]) if lessons else None,
    )


def round_price(ctx: TickContext, current: Round) -> RoundPrice:
    """Compose the price of the round's asset; the change is computed from the prices as published."""
    seen = observed(ctx, current.asset)
    now, start = price(seen.price), price(current.start_price)
    moved = None if now is None or not start else basis_points(10_000 * (now / start - 1))
    return RoundPrice(
        asset=current.asset,
        now=now,
        start=start,
        change_bps=moved,
        venues=seen.venues,
        as_of=iso_or_none(seen.price_as_of_ms),
    )


def integrity(ctx: TickContext) -> SystemIntegrity:
    """Compose what can be checked."""
    return SystemIntegrity.of(ctx.arena, last_tick=ctx.ticks.last_tick_id, rounds_ended=rounds_ended(ctx))
