"""GET /api/statistics.php."""

from pydantic import Field

from generator.arena.hourly import HORIZON_MINUTES
from generator.arena.rates import shared
from generator.catalog.assets import ASSETS
from generator.catalog.discovery import CATALOG_VERSION
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS
from generator.catalog.products import ATLAS_SCHEMA_VERSION, PRODUCTS
from generator.catalog.text.answers import DEVELOPER_NOTE
from generator.catalog.words import RoundPhase, TeacherStatus
from generator.compose.body import Body, Percent
from generator.compose.envelope import NoticeResponse, notice_envelope
from generator.compose.holds import RegimeRecord, regime_record
from generator.compose.scores import (
    HowFar,
    TrackRecord,
    how_far,
    score_limits,
    track_record,
)
from generator.compose.teacher_lessons import TeacherBrain, teacher_brain
from generator.compose.tick import Tick
from generator.values.scores import CrowdRecord, MoveHourRow


class MainBrainStatistics(Body):
    """How the hourly forecasts turned out."""

    horizon_minutes: int = Field(description="How far ahead they look, minutes.")
    assets: int = Field(description="Assets that are forecast.")
    how_far: HowFar = Field(description="How far prices would move: the ranges, scored.")
    move_by_hour: tuple[MoveHourRow, ...] = Field(description="Whether they would move, by hour of the day.")
    record: TrackRecord = Field(description="Whether and which way they would move: scores with their counts.")
    regime: RegimeRecord = Field(description="Whether the regime's label would still stand: the chances, scored.")


class CoreLearning(Body):
    """What the online part has learned from."""

    status: TeacherStatus = Field(description="learning once outcomes have been learned from, else idle.")
    outcomes_learned: int | None = Field(description="Resolved outcomes it has learned from; null without a reading.")
    bars_seen: int | None = Field(description="Closed 5-minute bars read; null without a reading.")


class ArenaStatistics(Body):
    """Counts and scores of the Arena."""

    rounds: dict[str, int] = Field(description="Phase to number of rounds.")
    rounds_warm_up: int = Field(description="How many of them were played by backtest before the start.")
    ballots_counted: int = Field(description="Ballots counted.")
    ballots_rejected: int = Field(description="Ballots refused.")
    void_rate_percent: Percent = Field(description="Void among rounds_ended, percent; null below 30.")
    rounds_ended: int = Field(description="Rounds that ended since the start, without the backtest's.")
    record: TrackRecord = Field(description="Scores of the brain's sealed forecasts with their counts.")
    crowd: CrowdRecord = Field(description="Scores of the mean chances that people gave.")
    simulated_crowd: CrowdRecord = Field(description="Likewise of the simulated voters of a simulated market.")


class ApiEcosystem(Body):
    """The API's own state; never sales."""

    endpoints_public: int = Field(description="Free endpoints.")
    endpoints_paid: int = Field(description="Paid endpoints.")
    endpoints_stable: int = Field(description="Endpoints whose schema is stable.")
    endpoints_evolving: int = Field(description="Endpoints whose schema is evolving.")
    catalog_version: str = Field(description="Version of the OpenAPI catalogue.")
    versions: dict[str, str] = Field(description="Endpoint identity to its version.")
    ticks_published_24h: int = Field(description="Ticks published in the last 24 hours, without this one.")
    ticks_failed_24h: int = Field(description="Ticks failed in the last 24 hours.")
    ticks_missed_24h: int = Field(
        description="Full minutes of the last 24 hours, since the first tick, in which none began."
    )


class StatisticsResponse(NoticeResponse):
    """How much was predicted and how it turned out; not a market signal."""

    main_brain: MainBrainStatistics = Field(description="How the hourly forecasts turned out.")
    core_learning: CoreLearning = Field(description="What the online part has learned from.")
    arena: ArenaStatistics = Field(description="Counts and scores of the Arena.")
    teacher_brain: TeacherBrain = Field(description="The teacher's state.")
    api_ecosystem: ApiEcosystem = Field(description="The API's own state.")
    developer_note: str = Field(description="Advice for clients.")


def statistics(ctx: Tick) -> StatisticsResponse:
    """Compose counts and scores."""
    limits = score_limits(ctx.arena.hourly_record, ctx.arena.arena_record, rounds_ended=_rounds_over(ctx))

    return StatisticsResponse(
        **notice_envelope(ctx, ENDPOINT_BY_ID["statistics"], *limits).as_fields(),
        main_brain=MainBrainStatistics(
            horizon_minutes=HORIZON_MINUTES,
            assets=len(ASSETS),
            how_far=how_far(ctx.arena),
            move_by_hour=ctx.arena.hourly_record.move.hours,
            record=track_record(ctx.arena.hourly_record),
            regime=regime_record(ctx.arena.holds),
        ),
        core_learning=core_learning(ctx),
        arena=arena(ctx),
        teacher_brain=teacher_brain(ctx),
        api_ecosystem=api_ecosystem(ctx),
        developer_note=DEVELOPER_NOTE,
    )


def core_learning(ctx: Tick) -> CoreLearning:
    """Compose what the online part has learned from."""
    if ctx.reading is None:
        return CoreLearning(status=TeacherStatus.IDLE, outcomes_learned=None, bars_seen=None)

    learned = ctx.reading.learning
    return CoreLearning(
        status=TeacherStatus(learned.status),
        outcomes_learned=learned.resolved,
        bars_seen=ctx.reading.bars_seen,
    )


def _rounds_over(ctx: Tick) -> int:
    """Count the rounds that are over, those of the backtest too."""
    rounds = ctx.arena.rounds
    return rounds.get(RoundPhase.RESOLVED, 0) + rounds.get(RoundPhase.VOID, 0)


def arena(ctx: Tick) -> ArenaStatistics:
    """Compose counts and scores of the Arena."""
    view = ctx.arena

    return ArenaStatistics(
        rounds={phase.value: view.rounds.get(phase, 0) for phase in RoundPhase},
        rounds_warm_up=view.rounds_warm_up,
        ballots_counted=view.ballots_counted,
        ballots_rejected=view.ballots_rejected,
        void_rate_percent=shared(view.void).percent,
        rounds_ended=view.void.n,
        record=track_record(view.arena_record),
        crowd=view.crowd_record,
        simulated_crowd=view.simulated_crowd_record,
    )


def api_ecosystem(ctx: Tick) -> ApiEcosystem:
    """Compose the API's own state; never sales."""
    evolving = sum(product.stability == "evolving" for product in PRODUCTS)
    versions = {endpoint.id: endpoint.schema_version or endpoint.version for endpoint in ENDPOINTS}

    return ApiEcosystem(
        endpoints_public=len(ENDPOINTS),
        endpoints_paid=len(PRODUCTS),
        endpoints_stable=len(ENDPOINTS) + len(PRODUCTS) - evolving,
        endpoints_evolving=evolving,
        catalog_version=CATALOG_VERSION,
        versions={**versions, "x402-atlas": ATLAS_SCHEMA_VERSION},
        ticks_published_24h=ctx.ticks.published_24h,
        ticks_failed_24h=ctx.ticks.failed_24h,
        ticks_missed_24h=ctx.ticks.missed_24h,
    )
