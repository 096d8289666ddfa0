"""GET /api/x402-atlas.php, once paid."""

from statistics import fmean, pstdev

from generator.catalog.assets import ASSETS
from generator.catalog.formats import change, fixed, significant
from generator.catalog.products import ATLAS_SCHEMA_VERSION
from generator.catalog.words import DerivativesState, LiquidityContext, MarketStructure, Side, VolatilityWord
from generator.compose.coins import bias_counts, bias_of, expected_move, quoted, trend_of, weighed
from generator.compose.context import TickContext
from generator.compose.derivatives import derivatives_asset, overall
from generator.compose.facts import moves
from generator.compose.inputs import asset_limitations, reading_of
from generator.compose.liquidity_lite import liquidity_asset
from generator.compose.main_brain import brain, brain_sentence
from generator.compose.paid import evidence_of, paid_head
from generator.compose.regime import breadth, label_of, regime, same_as_market
from generator.compose.scenarios import scenarios
from generator.compose.scores import score_limits, track_record
from generator.contract.paid_atlas import (
    AtlasAsset,
    AtlasConfidence,
    AtlasDerivatives,
    AtlasEvidence,
    AtlasLiquidity,
    CrossAsset,
    FamilyEvidence,
    IntelligenceLayer,
    X402AtlasPaidResponse,
)

_CROWDED = {DerivativesState.CROWDED_LONGS, DerivativesState.CROWDED_SHORTS}


def paid_atlas(ctx: TickContext) -> X402AtlasPaidResponse:
    """Compose the structured ATLAS."""
    now, said = regime(ctx), brain(ctx)
    return X402AtlasPaidResponse(
        **paid_head(ctx, "x402-atlas", *score_limits(ctx.arena.hourly_record)),
        schema_version=ATLAS_SCHEMA_VERSION,
        intelligence_layer=IntelligenceLayer(
            regime=now,
            assets={asset: atlas_asset(ctx, asset) for asset in ASSETS},
            derivatives=atlas_derivatives(ctx),
            liquidity=atlas_liquidity(ctx),
            cross_asset=cross_asset(ctx),
            scenarios=scenarios(ctx),
            track_record=track_record(ctx.arena.hourly_record),
        ),
        summary=brain_sentence(ctx),
        confidence=AtlasConfidence.of(said, regime=now.confidence, prediction=said.confidence),
        evidence=used_evidence(ctx),
    )


def used_evidence(ctx: TickContext) -> AtlasEvidence:
    """List the families of evidence that were read, were missing, or disagree."""
    return AtlasEvidence(
        used=_families(ctx, Side.FOR, Side.AGAINST, Side.NEUTRAL),
        missing=_families(ctx, Side.MISSING),
        disagreeing=_families(ctx, Side.AGAINST),
    )


def _families(ctx: TickContext, *sides: Side) -> tuple[FamilyEvidence, ...]:
    return tuple(FamilyEvidence(family=name, assets=tuple(assets)) for name, assets in evidence_of(ctx, *sides).items())


def atlas_asset(ctx: TickContext, asset: str) -> AtlasAsset:
    """Compose everything read of one asset but for derivatives and liquidity."""
    read = reading_of(ctx, asset)
    return AtlasAsset(
        **quoted(ctx, asset),
        **weighed(ctx, asset),
        regime=label_of(ctx, asset),
        trend=trend_of(ctx, asset),
        structure=read.structure if read else MarketStructure.UNKNOWN,
        volatility=read.volatility if read else VolatilityWord.UNKNOWN,
        expected_move=expected_move(read.outlook) if read else None,
        bias=bias_of(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def atlas_derivatives(ctx: TickContext) -> AtlasDerivatives:
    """Compose derivatives over all assets; sums and means are of the figures as published."""
    assets = {asset: derivatives_asset(ctx, asset) for asset in ASSETS}
    state, vote = overall(assets.values())
    interest = [
        row.open_interest.usd for row in assets.values() if row.open_interest and row.open_interest.usd is not None
    ]
    rates = [row.funding.rate_8h_percent for row in assets.values() if row.funding]
    return AtlasDerivatives(
        overall_state=state,
        overall_vote=vote,
        open_interest_usd=significant(sum(interest)) if interest else None,
        open_interest_assets=len(interest),
        mean_rate_8h_percent=fixed(fmean(rates), 4) if rates else None,
        funding_assets=len(rates),
        crowded={asset: row.state.value for asset, row in assets.items() if row.state and row.state in _CROWDED},
        assets=assets,
    )


def atlas_liquidity(ctx: TickContext) -> AtlasLiquidity:
    """Compose liquidity over all assets."""
    assets = {asset: liquidity_asset(ctx, asset) for asset in ASSETS}
    depth = {asset: row.depth_1pct_usd for asset, row in assets.items() if row.depth_1pct_usd is not None}
    return AtlasLiquidity(
        depth_1pct_usd=significant(sum(depth.values())) if depth else None,
        depth_assets=len(depth),
        thin=tuple(asset for asset, row in assets.items() if row.liquidity_context is LiquidityContext.THIN),
        deepest_first=tuple(sorted(depth, key=lambda asset: -depth[asset])),
        assets=assets,
    )


def cross_asset(ctx: TickContext) -> CrossAsset:
    """Compose how the assets move against each other, from the changes as published."""
    found = moves(ctx)
    enough = len(found) >= 2
    same = [same_as_market(ctx, asset) for asset in ASSETS]
    return CrossAsset(
        breadth_percent=breadth(ctx),
        assets_compared=len(found),
        mean_change_24h=change(fmean(found.values())) if found else None,
        dispersion_24h=change(pstdev(found.values())) if enough else None,
        strongest=max(found, key=found.__getitem__) if enough else None,
        weakest=min(found, key=found.__getitem__) if enough else None,
        biases=bias_counts(ctx),
        same_regime=sum(value is True for value in same) if any(value is not None for value in same) else None,
        note=_note(found),
    )


def _note(found: dict[str, float]) -> str:
    if len(found) < 2:
        return "Too few assets with a known change to compare."
    rose = sum(moved > 0 for moved in found.values())
    return f"{rose} of {len(found)} assets rose over 24 hours."
