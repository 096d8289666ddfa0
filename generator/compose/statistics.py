"""GET /api/statistics.php."""

from typing import Final

from generator.catalog.assets import ASSETS
from generator.catalog.discovery import CATALOG_VERSION
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS
from generator.catalog.products import ATLAS_SCHEMA_VERSION, PRODUCTS
from generator.catalog.text.answers import DEVELOPER_NOTE
from generator.catalog.words import RoundPhase, TeacherStatus
from generator.compose.context import TickContext
from generator.compose.envelope import notice
from generator.compose.scores import how_far, score_limits, track_record
from generator.compose.teacher_lessons import teacher_brain
from generator.contract.statistics import (
    ApiEcosystem,
    ArenaStatistics,
    CoreLearning,
    MainBrainStatistics,
    StatisticsResponse,
)

HORIZON_MINUTES: Final = 60


def statistics(ctx: TickContext) -> StatisticsResponse:
    """Compose counts and scores."""
    limits = score_limits(ctx.arena.hourly_record, ctx.arena.arena_record, rounds_ended=rounds_ended(ctx))
    return StatisticsResponse(
        **notice(ctx, ENDPOINT_BY_ID["statistics"], *limits),
        main_brain=MainBrainStatistics(
            horizon_minutes=HORIZON_MINUTES,
            assets=len(ASSETS),
            how_far=how_far(ctx.arena),
            record=track_record(ctx.arena.hourly_record),
        ),
        core_learning=core_learning(ctx),
        arena=arena(ctx),
        teacher_brain=teacher_brain(ctx),
        api_ecosystem=api_ecosystem(ctx),
        developer_note=DEVELOPER_NOTE,
    )


def core_learning(ctx: TickContext) -> CoreLearning:
    """Compose what the online part has learned from."""
    if ctx.reading is None:
        return CoreLearning(status=TeacherStatus.IDLE, outcomes_learned=None, bars_seen=None)
    learned = ctx.reading.learning
    return CoreLearning(
        status=TeacherStatus(learned.status), outcomes_learned=learned.resolved, bars_seen=ctx.reading.bars_seen
    )


def rounds_ended(ctx: TickContext) -> int:
    """Count the rounds that are over."""
    return ctx.arena.rounds.get(RoundPhase.RESOLVED, 0) + ctx.arena.rounds.get(RoundPhase.VOID, 0)


def arena(ctx: TickContext) -> ArenaStatistics:
    """Compose counts and scores of the Arena."""
    view = ctx.arena
    return ArenaStatistics.of(
        view,
        rounds={phase.value: view.rounds.get(phase, 0) for phase in RoundPhase},
        rounds_ended=rounds_ended(ctx),
        record=track_record(view.arena_record),
    )


def api_ecosystem(ctx: TickContext) -> ApiEcosystem:
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
