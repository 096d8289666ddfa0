"""GET /api/main-brain.php, and GET /api/x402-main-brain.php once paid."""

from collections import Counter

from generator.brain.forecast import Forecast
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import percent, price, share
from generator.catalog.text import market
from generator.catalog.words import Prediction, Side
from generator.compose.coins import (
    bias_counts,
    bias_of,
    chance,
    forecast_of,
    forecasted,
    price_source,
    published,
    quoted,
    weighed,
)
from generator.compose.context import TickContext
from generator.compose.envelope import rich
from generator.compose.facts import asset_sentence, facts, regime_sentence
from generator.compose.inputs import asset_limitations, forecast_reason, observed, reading_of
from generator.compose.paid import evidence_block, paid_head
from generator.compose.regime import market_context, regime
from generator.compose.scores import performance, score_limits, track_record
from generator.contract.main_brain import (
    AssetDirection,
    Brain,
    BrainSummary,
    CoinSnapshot,
    MainBrainResponse,
    MarketStateSummary,
    X402MainBrainPaidResponse,
)


def main_brain(ctx: TickContext) -> MainBrainResponse:
    """Compose the brain's public state."""
    now = regime(ctx)
    return MainBrainResponse(
        **rich(ctx, ENDPOINT_BY_ID["main-brain"], *score_limits(ctx.arena.hourly_record)),
        brain=brain(ctx),
        market_context=market_context(ctx),
        public_performance=performance(ctx.arena),
        summary=brain_sentence(ctx),
        market_state=MarketStateSummary.of(now, summary=regime_sentence(ctx)),
        coins={asset: coin(ctx, asset) for asset in ASSETS},
        educational_only=True,
    )


def brain(ctx: TickContext) -> Brain:
    """Compose the brain's overall state; all null without a reading."""
    said = ctx.reading
    words = bias_counts(ctx)
    known = sum(words.values())
    return Brain(
        direction=said.direction if said and known else None,
        confidence=share(words[said.direction] / known) if said and known else None,
        agreement_percent=share(said.agreement) if said else None,
        coverage_percent=share(said.coverage) if said else None,
        evidence_for=_count(ctx, Side.FOR),
        evidence_against=_count(ctx, Side.AGAINST),
        evidence_missing=_count(ctx, Side.MISSING),
    )


def _count(ctx: TickContext, side: Side) -> int | None:
    if ctx.reading is None:
        return None
    families = Counter(row.family for read in ctx.reading.assets.values() for row in read.evidence if row.side is side)
    # Breadth is one fact about the market, and so is that no asset has an order book; neither is one of each asset.
    whole = {name for name, n in families.items() if name == "breadth" or (side is Side.MISSING and n == len(ASSETS))}
    return sum(1 if name in whole else n for name, n in families.items())


def brain_sentence(ctx: TickContext) -> str:
    """Return the brain's own summary, or why there is none."""
    words = bias_counts(ctx)
    return market.brain_summary(facts(ctx), words["UP"], words["DOWN"], words["FLAT"])


def coin(ctx: TickContext, asset: str) -> CoinSnapshot:
    """Compose one asset in short."""
    return CoinSnapshot(
        **quoted(ctx, asset),
        **forecasted(ctx, asset),
        bias=bias_of(ctx, asset),
        summary=asset_sentence(ctx, asset) if reading_of(ctx, asset) else None,
        price_source=price_source(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def paid_main_brain(ctx: TickContext) -> X402MainBrainPaidResponse:
    """Compose the brain's directions with chances and evidence."""
    now = brain(ctx)
    return X402MainBrainPaidResponse(
        **paid_head(ctx, "x402-main-brain", *score_limits(ctx.arena.hourly_record)),
        summary=BrainSummary.of(now, text=brain_sentence(ctx), biases=bias_counts(ctx)),
        assets={asset: asset_direction(ctx, asset) for asset in ASSETS},
        track_record=track_record(ctx.arena.hourly_record),
    )


def asset_direction(ctx: TickContext, asset: str) -> AssetDirection:
    """Compose one asset's direction."""
    forecast = forecast_of(ctx, asset)
    without = [] if forecast else [f"no forecast: {forecast_reason(ctx, asset)}"]
    return AssetDirection(
        asset=asset,
        **weighed(ctx, asset),
        bias=bias_of(ctx, asset),
        prediction=forecast.prediction if forecast else Prediction.NEUTRAL,
        brain_silent=forecast is None,
        horizon_minutes=forecast.horizon_minutes if forecast else None,
        edge_percent=edge_percent(forecast),
        evidence=evidence_block(ctx, asset),
        price=price(observed(ctx, asset).price),
        limitations=asset_limitations(ctx, asset, *without),
    )


def edge_percent(forecast: Forecast | None) -> float | None:
    """Return the published chance of the shown class minus its published base rate, percentage points."""
    if forecast is None:
        return None
    word = forecast.prediction
    return percent(
        100 * (chance(published(forecast.probabilities), word) - chance(published(forecast.base_rate), word))
    )
