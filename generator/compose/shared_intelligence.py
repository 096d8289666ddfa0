"""GET /arena/get_shared_intelligence.php."""

from pydantic import Field

from generator.arena.tally import consensus_of
from generator.arena.values import Round
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, iso, iso_or_none, price
from generator.catalog.text.answers import NO_START_PRICE, TEACHER_ROLE
from generator.catalog.words import ConfidenceKind, Consensus, Prediction, TeacherStatus
from generator.compose import rounds
from generator.compose.body import Body, Percent
from generator.compose.coins import published
from generator.compose.context import TickContext
from generator.compose.envelope import NoticeResponse, notice
from generator.compose.inputs import observed
from generator.compose.scores import KIND, Probabilities
from generator.compose.statistics import rounds_ended
from generator.compose.teacher_lessons import TeacherLesson, lesson_row, teacher_status


class BrainSnapshot(Body):
    """The brain's forecast of the live round, as sealed before it started."""

    prediction: Prediction | None = Field(
        description="The revealed forecast; null while sealed or without one; NEUTRAL where the brain is silent."
    )
    brain_silent: bool = Field(
        description="True while the brain makes no forecasts: the NEUTRAL next to it claims nothing and is never scored."
    )
    confidence: float | None = Field(description="Chance of the shown class, percent 0..100; null while sealed.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.CLASS_PROBABILITY, description=KIND)
    probabilities: Probabilities | None = Field(description="The three chances; null while sealed.")
    base_rates: Probabilities | None = Field(description="How often each outcome came up before; null while sealed.")
    regime_mode: str | None = Field(description="Market mode when it was sealed; null while sealed.")
    sealed_digest: str | None = Field(description="SHA-256 of the forecast and its salt, published before the votes.")
    salt: str | None = Field(description="The salt, with which the digest can be checked; null while sealed.")


class CombinedIntelligence(Body):
    """Brain and people side by side."""

    brain: Prediction | None = Field(description="The brain's revealed forecast.")
    crowd: Consensus = Field(description="What most voters said.")
    agreement: bool | None = Field(
        description="Whether they gave the same answer, as in a lesson; null when one of them gave none."
    )
    note: str = Field(description="What to make of it.")


class TeacherSnapshot(Body):
    """The teacher in short."""

    status: TeacherStatus = Field(description="learning once there are lessons, else idle.")
    role: str = Field(description="What the teacher does.")
    lessons_total: int = Field(description="Lessons so far.")
    last_lesson: TeacherLesson | None = Field(description="The newest lesson; null before the first.")


class EventRow(Body):
    """One transition."""

    at: str = Field(description="When, ISO 8601 UTC, wall time.")
    kind: str = Field(description="Kind of the transition.")
    text: str = Field(description="What happened, in words.")


class Events(Body):
    """What happened lately."""

    latest: tuple[EventRow, ...] = Field(description="The last 10, newest first.")


class RoundPrice(Body):
    """Price of the round's asset."""

    asset: str = Field(description="Asset symbol.")
    now: float | None = Field(description="Price now, US dollars, 6 significant digits.")
    start: float | None = Field(description="Price at the start of the live round, US dollars.")
    change_bps: float | None = Field(description="now against start, basis points.")
    venues: tuple[str, ...] = Field(description="Venues whose median mid is the price.")
    as_of: str | None = Field(description="Market time of the price, ISO 8601 UTC.")


class SystemIntegrity(Body):
    """What can be checked."""

    log_size: int = Field(description="Entries in the transparency log.")
    checkpoint_digest: str | None = Field(description="Digest of its newest checkpoint; null before the first.")
    last_tick: str | None = Field(description="The tick published before this one.")
    void_rate_percent: Percent = Field(description="Share of void among ended rounds, percent.")
    rounds_ended: int = Field(description="Ended rounds, the count behind void_rate_percent.")


class SharedIntelligenceResponse(NoticeResponse):
    """The live round in one document."""

    asset: str = Field(description="Asset of the live round.")
    round: rounds.RoundInfo = Field(description="The live round.")
    open_round: rounds.OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    my_prediction: str | None = Field(description="Null in this public file; a client may fill in its own vote.")
    brain_snapshot: BrainSnapshot = Field(description="The brain's forecast of the live round.")
    human_layer: rounds.HumanConsensus = Field(description="Counted votes of the live round.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    combined_intelligence: CombinedIntelligence = Field(description="Brain and people side by side.")
    teacher_brain: TeacherSnapshot = Field(description="The teacher in short.")
    events: Events = Field(description="What happened lately.")
    price: RoundPrice = Field(description="Price of the round's asset.")
    system_integrity: SystemIntegrity = Field(description="What can be checked.")


def shared_intelligence(ctx: TickContext) -> SharedIntelligenceResponse:
    """Compose the live round in one document."""
    current = rounds.shown_round(ctx)
    snapshot = brain_snapshot(ctx, current)
    missing = [] if _said(snapshot) else ["no forecast of the brain is revealed for this round"]
    missing += [] if current.start_price else [NO_START_PRICE]
    return SharedIntelligenceResponse(
        **notice(ctx, ENDPOINT_BY_ID["shared-intelligence"], *rounds.round_limits(ctx), *missing),
        asset=current.asset,
        round=rounds.round_info(ctx),
        open_round=rounds.open_round(ctx),
        my_prediction=None,
        brain_snapshot=snapshot,
        human_layer=rounds.human_consensus_block(rounds.live_tally(ctx)),
        simulated_votes=rounds.simulated_votes(ctx),
        combined_intelligence=combined(ctx, snapshot),
        teacher_brain=teacher(ctx),
        events=Events(latest=tuple(EventRow.of(row, at=iso(row.at_ms)) for row in ctx.arena.events[:10])),
        price=round_price(ctx, current),
        system_integrity=SystemIntegrity.of(
            ctx.arena, last_tick=ctx.ticks.last_tick_id, rounds_ended=rounds_ended(ctx)
        ),
    )


def brain_snapshot(ctx: TickContext, current: Round) -> BrainSnapshot:
    """Reveal the forecast of a round that is live; of any other only its digest."""
    if rounds.sealed(ctx, current):
        secret = dict.fromkeys(BrainSnapshot.model_fields.keys() - {"brain_silent", "confidence_kind", "sealed_digest"})
        return BrainSnapshot(brain_silent=False, sealed_digest=current.sealed_digest, **secret)
    silent = current.prediction is None and ctx.reading is None
    return BrainSnapshot.of(
        current,
        prediction=Prediction.NEUTRAL if silent else current.prediction,
        brain_silent=silent,
        confidence=current.confidence_percent,
        probabilities=published(current.probabilities),
        base_rates=published(current.base_rate),
    )


def _said(snapshot: BrainSnapshot) -> Prediction | None:
    return None if snapshot.brain_silent else snapshot.prediction


def combined(ctx: TickContext, snapshot: BrainSnapshot) -> CombinedIntelligence:
    """Put brain and people side by side."""
    crowd, said = consensus_of(rounds.live_tally(ctx)), _said(snapshot)
    same = None if said is None or crowd is Consensus.NONE else said.value == crowd.value
    note = "There is nothing to compare: the brain or the people have said nothing yet."
    if same is not None:
        word = "say the same" if same else "do not say the same"
        people = "the simulated crowd" if rounds.simulated_votes(ctx) == rounds.live_tally(ctx).total else "people"
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
