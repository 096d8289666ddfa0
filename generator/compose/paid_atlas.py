"""GET /api/x402-atlas.php, once paid: everything that the others carry, structured."""

from collections.abc import Collection
from statistics import fmean, pstdev

from pydantic import Field

from generator.catalog import words
from generator.catalog.assets import ASSETS
from generator.catalog.formats import change, fixed, significant
from generator.catalog.products import ATLAS_SCHEMA_VERSION
from generator.compose import coins
from generator.compose.body import Body
from generator.compose.derivatives import DerivativesAsset, derivatives_asset, overall
from generator.compose.envelope import PaidResponse, paid_envelope
from generator.compose.inputs import reading_of
from generator.compose.joint import JOINT, JointBlock
from generator.compose.ladder import (
    DAY_AHEAD,
    LAST_WEEK,
    PAIRS,
    DayAhead,
    LadderBlock,
    PairRow,
    PartitionBlock,
    partition,
)
from generator.compose.liquidity_lite import LiquidityLiteAsset, liquidity_asset
from generator.compose.main_brain import brain
from generator.compose.market_regime import label_of, same_as_market
from generator.compose.paid_words import atlas_headline, atlas_summary
from generator.compose.regime import Regime
from generator.compose.scores import KIND, TrackRecord, score_limits, track_record
from generator.compose.spells import Spells
from generator.compose.tick import Tick
from generator.values.ranges import RangesOfWeek


class AtlasAsset(coins.Weighed, coins.Quoted):
    """Everything read of one asset but for derivatives and liquidity."""

    regime: words.RegimeLabel = Field(description="Its own regime label.")
    trend: words.Trend = Field(description="Direction of the last hours.")
    structure: words.MarketStructure = Field(description="Shape of the last days.")
    volatility: words.VolatilityWord = Field(
        description="How rough the next four hours look against its whole kept record."
    )
    expected_move: coins.ExpectedMove | None = Field(description="Expected size of moves; null without a reading.")
    bias: words.Bias | None = Field(
        description="The call in three words, FLAT for small_move and none; null without a forecast."
    )
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class AtlasDerivatives(Body):
    """Derivatives over all assets."""

    overall_state: words.OverallState | None = Field(
        description="The state of most assets; null with fewer than three."
    )
    overall_vote: words.OverallVote | None = Field(description="The vote of most assets; null with fewer than three.")
    open_interest_usd: float | None = Field(description="Sum over the assets that have it, US dollars.")
    open_interest_assets: int = Field(description="Assets in that sum.")
    mean_rate_8h_percent: float | None = Field(description="Mean funding over the assets that have it, percent.")
    funding_assets: int = Field(description="Assets in that mean.")
    crowded: dict[str, str] = Field(description="Assets whose longs or shorts are crowded: symbol to state.")
    assets: dict[str, DerivativesAsset] = Field(description="Asset symbol to its derivatives pressure.")


class AtlasLiquidity(Body):
    """Liquidity over all assets."""

    depth_1pct_usd: float | None = Field(description="Sum over the assets that have it, US dollars.")
    depth_assets: int = Field(description="Assets in that sum.")
    thin: tuple[str, ...] = Field(description="Assets that are thin now.")
    deepest_first: tuple[str, ...] = Field(description="Assets with a known book, deepest first.")
    assets: dict[str, LiquidityLiteAsset] = Field(description="Asset symbol to its liquidity.")


class CrossAsset(Body):
    """How the assets move against each other."""

    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent.")
    assets_compared: int = Field(description="Assets with a known change over 24 hours.")
    mean_change_24h: float | None = Field(description="Mean change over 24 hours, percent.")
    dispersion_24h: float | None = Field(description="Standard deviation of the changes, percentage points.")
    strongest: str | None = Field(description="Asset with the highest change over 24 hours.")
    weakest: str | None = Field(description="Asset with the lowest change over 24 hours.")
    biases: dict[str, int] = Field(description="Bias word to the number of assets that have it.")
    calls: dict[str, int] = Field(description="Call to the number of assets that have it.")
    same_regime: int | None = Field(description="Assets in the market's regime; null without a reading.")
    note: str = Field(description="The same in words.")


class IntelligenceLayer(Body):
    """Everything the brain reads, structured."""

    regime: Regime = Field(description="The market's regime.")
    assets: dict[str, AtlasAsset] = Field(description="Asset symbol to what is read of it.")
    derivatives: AtlasDerivatives = Field(description="Derivatives pressure.")
    liquidity: AtlasLiquidity = Field(description="Liquidity.")
    cross_asset: CrossAsset = Field(description="How the assets move against each other.")
    joint: JointBlock | None = Field(description=JOINT)
    ladder: LadderBlock = Field(description="How likely moves beyond several levels are, at the end and on the way.")
    partition: PartitionBlock = Field(description="The next four hours in three parts, of which one happens.")
    day_ahead: DayAhead | None = Field(description=DAY_AHEAD)
    pairs: tuple[PairRow, ...] = Field(description=PAIRS)
    ranges_last_week: dict[str, dict[str, RangesOfWeek]] = Field(description=LAST_WEEK)
    spells: Spells | None = Field(
        description="How long: spells of the state that the market is in now, what ended them and what followed; "
        "null without a reading."
    )
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")


class AtlasConfidence(coins.Agreeing):
    """Two confidences of different kinds, never mixed."""

    regime: float | None = Field(description="Chance that the regime label still stands in four hours, percent 0..100.")
    regime_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.HOLDS_FOUR_HOURS, description=KIND)
    prediction: float | None = Field(
        description="Share of assets with the call of most, percent 0..100; null where that is none."
    )
    prediction_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.SHARE_OF_ASSETS, description=KIND)


class FamilyEvidence(Body):
    """One family of evidence and the assets that it was found for."""

    family: str = Field(description="hours, day, week, breadth, volume, funding, interest or liquidity.")
    assets: tuple[str, ...] = Field(description="Asset symbols.")


class AtlasEvidence(Body):
    """Which evidence the reading rests on."""

    used: tuple[FamilyEvidence, ...] = Field(description="What was read.")
    missing: tuple[FamilyEvidence, ...] = Field(description="What could not be read.")
    disagreeing: tuple[FamilyEvidence, ...] = Field(description="What speaks against the shown direction.")


class X402AtlasPaidResponse(PaidResponse):
    """The structured ATLAS."""

    schema_version: str = Field(description="Public schema version; evolving.")
    intelligence_layer: IntelligenceLayer = Field(description="Everything the brain reads, structured.")
    summary: str | None = Field(description="The reading in words.")
    confidence: AtlasConfidence = Field(description="Two confidences of different kinds, never mixed.")
    evidence: AtlasEvidence = Field(description="Which evidence the reading rests on.")


_CROWDED = {words.DerivativesState.CROWDED_LONGS, words.DerivativesState.CROWDED_SHORTS}


def paid_atlas(ctx: Tick) -> X402AtlasPaidResponse:
    """Compose the structured ATLAS."""
    now = ctx.regime
    limits = score_limits(ctx.arena.hourly_record)

    return X402AtlasPaidResponse(
        **paid_envelope(ctx, "x402-atlas", *limits, news=atlas_headline(ctx.paid)).as_fields(),
        schema_version=ATLAS_SCHEMA_VERSION,
        intelligence_layer=IntelligenceLayer(
            regime=now,
            assets={asset: atlas_asset(ctx, asset) for asset in ASSETS},
            derivatives=atlas_derivatives(ctx),
            liquidity=atlas_liquidity(ctx),
            cross_asset=cross_asset(ctx),
            joint=ctx.joint,
            ladder=ctx.ladder,
            partition=partition(ctx),
            day_ahead=ctx.day_ahead,
            pairs=ctx.pairs,
            ranges_last_week=ctx.ranges_last_week,
            spells=ctx.spells,
            track_record=track_record(ctx.arena.hourly_record),
        ),
        summary=atlas_summary(ctx.paid),
        confidence=atlas_confidence(ctx, now),
        evidence=atlas_evidence(ctx),
    )


def atlas_confidence(ctx: Tick, now: Regime) -> AtlasConfidence:
    """Compose the confidence in the regime and the one in the directions."""
    overall_brain = brain(ctx)
    return AtlasConfidence(
        regime=now.confidence,
        prediction=overall_brain.confidence,
        agreement_percent=overall_brain.agreement_percent,
        coverage_percent=overall_brain.coverage_percent,
    )


def atlas_evidence(ctx: Tick) -> AtlasEvidence:
    """Compose which evidence the reading rests on."""
    return AtlasEvidence(
        used=_families(ctx, words.Side.FOR, words.Side.AGAINST, words.Side.NEUTRAL),
        missing=_families(ctx, words.Side.MISSING),
        disagreeing=_families(ctx, words.Side.AGAINST),
    )


def _families(ctx: Tick, *sides: words.Side) -> tuple[FamilyEvidence, ...]:
    families = evidence_of(ctx, *sides)
    return tuple(FamilyEvidence(family=family, assets=tuple(assets)) for family, assets in families.items())


def evidence_of(ctx: Tick, *sides: words.Side) -> dict[str, list[str]]:
    """Return family of evidence -> assets, over the given sides."""
    families: dict[str, list[str]] = {}
    for asset in ASSETS:
        read = reading_of(ctx, asset)
        if read is None:
            continue
        for row in read.evidence:
            if row.side in sides:
                families.setdefault(row.family, []).append(asset)
    return families


def atlas_asset(ctx: Tick, asset: str) -> AtlasAsset:
    """Compose everything read of one asset but for derivatives and liquidity."""
    return AtlasAsset(
        **ctx.quotes[asset].as_fields(),
        **ctx.forecasts[asset].as_fields(),
        regime=label_of(ctx, asset),
        trend=coins.trend_of(ctx, asset),
        structure=coins.structure_of(ctx, asset),
        volatility=coins.volatility_of(ctx, asset),
        expected_move=coins.expected_move_of(ctx, asset),
        bias=coins.bias_of(ctx, asset),
        limitations=ctx.limitations_of[asset],
    )


def _total(amounts: Collection[float]) -> float | None:
    """Return a sum as published; None of nothing."""
    return significant(sum(amounts)) if amounts else None


def _mean(figures: Collection[float]) -> float | None:
    """Return a mean; None of nothing."""
    return fmean(figures) if figures else None


def atlas_derivatives(ctx: Tick) -> AtlasDerivatives:
    """Compose derivatives over all assets; sums and means are of the figures as published."""
    assets = {asset: derivatives_asset(ctx, asset) for asset in ASSETS}
    rows = assets.values()
    state, vote = overall(rows)

    rates = [row.funding.rate_8h_percent for row in rows if row.funding]
    interest = [row.open_interest.usd for row in rows if row.open_interest and row.open_interest.usd is not None]
    crowded = {asset: row.state.value for asset, row in assets.items() if row.state in _CROWDED}

    return AtlasDerivatives(
        overall_state=state,
        overall_vote=vote,
        open_interest_usd=_total(interest),
        open_interest_assets=len(interest),
        mean_rate_8h_percent=fixed(_mean(rates), 4),
        funding_assets=len(rates),
        crowded=crowded,
        assets=assets,
    )


def atlas_liquidity(ctx: Tick) -> AtlasLiquidity:
    """Compose liquidity over all assets; the sum is of the figures as published."""
    assets = {asset: liquidity_asset(ctx, asset) for asset in ASSETS}
    depth = {asset: row.depth_1pct_usd for asset, row in assets.items() if row.depth_1pct_usd is not None}
    thin = [asset for asset, row in assets.items() if row.liquidity_context is words.LiquidityContext.THIN]

    return AtlasLiquidity(
        depth_1pct_usd=_total(depth.values()),
        depth_assets=len(depth),
        thin=tuple(thin),
        deepest_first=tuple(sorted(depth, key=lambda asset: -depth[asset])),
        assets=assets,
    )


def cross_asset(ctx: Tick) -> CrossAsset:
    """Compose how the assets move against each other, from the changes as published."""
    changes = ctx.counted.changes
    note = "Too few assets with a known change to compare."
    dispersion = None
    strongest = None
    weakest = None
    if len(changes) >= 2:
        note = f"{ctx.counted.up} of {len(changes)} assets rose over 24 hours."
        # These are all the assets, not a sample of them: the deviation of a population.
        dispersion = pstdev(changes.values())
        strongest = max(changes, key=changes.__getitem__)
        weakest = min(changes, key=changes.__getitem__)

    return CrossAsset(
        breadth_percent=ctx.regime.breadth_percent,
        assets_compared=len(changes),
        mean_change_24h=change(_mean(changes.values())),
        dispersion_24h=change(dispersion),
        strongest=strongest,
        weakest=weakest,
        biases=coins.bias_counts(ctx),
        calls={call.value: count for call, count in coins.call_counts(ctx).items()},
        same_regime=_same_regime(ctx),
        note=note,
    )


def _same_regime(ctx: Tick) -> int | None:
    """Count the assets in the market's regime; None where that is known of none."""
    same = [same_as_market(ctx, asset) for asset in ASSETS]
    known = [value for value in same if value is not None]
    return sum(known) if known else None
