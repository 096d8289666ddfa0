"""GET /api/main-brain.php."""

from __future__ import annotations

from generator.brain.evidence import Side
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import change, price, share
from generator.compose.coins import bias_of, confidence_percent, forecast_of, price_source
from generator.compose.context import TickContext
from generator.compose.envelope import rich
from generator.compose.inputs import asset_limitations, missing_reason, observed, reading_of
from generator.compose.regime import market_context, regime, regime_sentence
from generator.compose.scores import score_limits, track_record
from generator.contract.main_brain import Brain, CoinSnapshot, MainBrainResponse, MarketStateSummary


def main_brain(ctx: TickContext) -> MainBrainResponse:
    """Compose the brain's public state."""
    now = regime(ctx)
    return MainBrainResponse(
        **rich(ctx, ENDPOINT_BY_ID["main-brain"], *score_limits(ctx.arena.hourly_record)),
        brain=brain(ctx),
        market_context=market_context(ctx),
        public_performance=track_record(ctx.arena.hourly_record),
        summary=brain_sentence(ctx),
        market_state=MarketStateSummary(mode=now.mode, state=now.state, summary=regime_sentence(ctx)),
        coins={asset: coin(ctx, asset) for asset in ASSETS},
        educational_only=True,
    )


def brain(ctx: TickContext) -> Brain:
    """Compose the brain's overall state; all null without a reading."""
    said = ctx.reading
    forecasts = any(forecast_of(ctx, asset) for asset in ASSETS)
    return Brain(
        direction=said.direction if said and forecasts else None,
        confidence=share(said.confidence) if said and forecasts else None,
        agreement_percent=share(said.agreement) if said else None,
        coverage_percent=share(said.coverage) if said else None,
        evidence_for=_count(ctx, Side.FOR),
        evidence_against=_count(ctx, Side.AGAINST),
        evidence_missing=_count(ctx, Side.MISSING),
    )


def _count(ctx: TickContext, side: Side) -> int | None:
    if ctx.reading is None:
        return None
    return sum(row.side is side for read in ctx.reading.assets.values() for row in read.evidence)


def brain_sentence(ctx: TickContext) -> str:
    """Return the brain's own summary, or why there is none."""
    return ctx.reading.summary if ctx.reading else f"The brain says nothing now: {missing_reason(ctx)}."


def coin(ctx: TickContext, asset: str) -> CoinSnapshot:
    """Compose one asset in short."""
    seen, read = observed(ctx, asset), reading_of(ctx, asset)
    return CoinSnapshot(
        asset=asset,
        bias=bias_of(ctx, asset),
        confidence=confidence_percent(forecast_of(ctx, asset)),
        summary=read.summary if read else None,
        price=price(seen.price),
        change_24h=change(seen.change_24h_percent),
        price_source=price_source(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )
