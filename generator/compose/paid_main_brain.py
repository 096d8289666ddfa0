"""GET /api/x402-main-brain.php, once paid."""

from __future__ import annotations

from generator.brain.forecast import Forecast
from generator.catalog.assets import ASSETS
from generator.catalog.formats import basis_points, percent, price
from generator.catalog.words import Prediction
from generator.compose.coins import (
    agreement,
    base_rates,
    bias_counts,
    bias_of,
    chance,
    confidence_percent,
    coverage,
    forecast_of,
    probabilities,
    published,
)
from generator.compose.context import TickContext
from generator.compose.inputs import asset_limitations, forecast_reason, observed, reading_of
from generator.compose.main_brain import brain, brain_sentence
from generator.compose.paid import evidence_block, paid_head
from generator.compose.scores import score_limits, track_record
from generator.contract.paid_main_brain import AssetDirection, BrainSummary, X402MainBrainPaidResponse


def paid_main_brain(ctx: TickContext) -> X402MainBrainPaidResponse:
    """Compose the brain's directions with chances and evidence."""
    now = brain(ctx)
    return X402MainBrainPaidResponse(
        **paid_head(ctx, "x402-main-brain", *score_limits(ctx.arena.hourly_record)),
        summary=BrainSummary(
            text=brain_sentence(ctx),
            direction=now.direction,
            confidence=now.confidence,
            agreement_percent=now.agreement_percent,
            coverage_percent=now.coverage_percent,
            biases=bias_counts(ctx),
        ),
        assets={asset: asset_direction(ctx, asset) for asset in ASSETS},
        track_record=track_record(ctx.arena.hourly_record),
    )


def asset_direction(ctx: TickContext, asset: str) -> AssetDirection:
    """Compose one asset's direction."""
    read, forecast = reading_of(ctx, asset), forecast_of(ctx, asset)
    without = [] if forecast else [f"no forecast: {forecast_reason(ctx, asset)}"]
    return AssetDirection(
        asset=asset,
        bias=bias_of(ctx, asset),
        prediction=forecast.prediction if forecast else Prediction.NEUTRAL,
        brain_silent=forecast is None,
        confidence=confidence_percent(forecast),
        horizon_minutes=forecast.horizon_minutes if forecast else None,
        probabilities=probabilities(forecast),
        base_rates=base_rates(forecast),
        edge_percent=edge_percent(forecast),
        band_bps=basis_points(forecast.band_bps) if forecast else None,
        agreement_percent=agreement(read),
        coverage_percent=coverage(read),
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
