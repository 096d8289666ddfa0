"""GET /api/x402-atlas.php, once paid; its scenarios are in the human report too."""

from statistics import fmean, pstdev
from typing import Final

from pydantic import Field

from generator.catalog import words
from generator.catalog.assets import ASSETS
from generator.catalog.counts import ASSETS_IN_WORDS, in_words
from generator.catalog.formats import change, fixed, significant
from generator.catalog.products import ATLAS_SCHEMA_VERSION
from generator.catalog.text.labels import REGIME
from generator.compose import coins
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.derivatives import DerivativesAsset, derivatives_asset, overall
from generator.compose.envelope import PaidResponse, paid_head
from generator.compose.facts import moves
from generator.compose.inputs import asset_limitations, reading_of
from generator.compose.liquidity_lite import LiquidityLiteAsset, liquidity_asset
from generator.compose.main_brain import brain, brain_sentence
from generator.compose.regime import Regime, breadth, label_of, regime, same_as_market
from generator.compose.scores import KIND, TrackRecord, score_limits, track_record


class AtlasAsset(coins.Weighed, coins.Quoted):
    """Everything read of one asset but for derivatives and liquidity."""

    regime: words.RegimeLabel = Field(description="Its own regime label.")
    trend: words.Trend = Field(description="Direction of the last hours.")
    structure: words.MarketStructure = Field(description="Shape of the last days.")
    volatility: words.VolatilityWord = Field(description="Volatility outlook against the last week.")
    expected_move: coins.ExpectedMove | None = Field(description="Expected size of moves; null without a reading.")
    bias: words.Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
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
    same_regime: int | None = Field(description="Assets in the market's regime; null without a reading.")
    note: str = Field(description="The same in words.")


class Scenario(Body):
    """One way in which the next hours may go; no chance is given to it."""

    name: str = Field(description="Its name.")
    description: str = Field(description="What it looks like.")
    supported_by: tuple[str, ...] = Field(description="What speaks for it now.")
    wrong_if: str = Field(description="What would prove it wrong.")
    horizon_hours: int = Field(description="How far it looks, hours.")
    expected_move_percent: float | None = Field(
        description="One standard deviation of the market's move over the horizon, percent; null without a reading."
    )


class IntelligenceLayer(Body):
    """Everything the brain reads, structured."""

    regime: Regime = Field(description="The market's regime.")
    assets: dict[str, AtlasAsset] = Field(description="Asset symbol to what is read of it.")
    derivatives: AtlasDerivatives = Field(description="Derivatives pressure.")
    liquidity: AtlasLiquidity = Field(description="Liquidity.")
    cross_asset: CrossAsset = Field(description="How the assets move against each other.")
    scenarios: tuple[Scenario, ...] = Field(description="Ways in which the next hours may go.")
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")


class AtlasConfidence(coins.Agreeing):
    """Two confidences of different kinds, never mixed."""

    regime: float | None = Field(description="Posterior of the regime label, percent 0..100.")
    regime_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.POSTERIOR, description=KIND)
    prediction: float | None = Field(description="Share of assets with the brain's overall word, percent 0..100.")
    prediction_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.SHARE_OF_ASSETS, description=KIND)


class FamilyEvidence(Body):
    """One family of evidence and the assets that it was found for."""

    family: str = Field(description="trend, momentum, volatility, breadth, liquidity or derivatives.")
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
        evidence=AtlasEvidence(
            used=_families(ctx, words.Side.FOR, words.Side.AGAINST, words.Side.NEUTRAL),
            missing=_families(ctx, words.Side.MISSING),
            disagreeing=_families(ctx, words.Side.AGAINST),
        ),
    )


def _families(ctx: TickContext, *sides: words.Side) -> tuple[FamilyEvidence, ...]:
    return tuple(FamilyEvidence(family=name, assets=tuple(assets)) for name, assets in evidence_of(ctx, *sides).items())


def evidence_of(ctx: TickContext, *sides: words.Side) -> dict[str, list[str]]:
    """Return family of evidence -> assets, over the given sides."""
    found: dict[str, list[str]] = {}
    for asset in ASSETS:
        read = reading_of(ctx, asset)
        for row in read.evidence if read else ():
            if row.side in sides:
                found.setdefault(row.family, []).append(asset)
    return found


def atlas_asset(ctx: TickContext, asset: str) -> AtlasAsset:
    """Compose everything read of one asset but for derivatives and liquidity."""
    read = reading_of(ctx, asset)
    return AtlasAsset(
        **coins.quoted(ctx, asset),
        **coins.weighed(ctx, asset),
        regime=label_of(ctx, asset),
        trend=coins.trend_of(ctx, asset),
        structure=read.structure if read else words.MarketStructure.UNKNOWN,
        volatility=read.volatility if read else words.VolatilityWord.UNKNOWN,
        expected_move=coins.expected_move(read.outlook) if read else None,
        bias=coins.bias_of(ctx, asset),
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
        thin=tuple(asset for asset, row in assets.items() if row.liquidity_context is words.LiquidityContext.THIN),
        deepest_first=tuple(sorted(depth, key=lambda asset: -depth[asset])),
        assets=assets,
    )


def cross_asset(ctx: TickContext) -> CrossAsset:
    """Compose how the assets move against each other, from the changes as published."""
    found = moves(ctx)
    enough = len(found) >= 2
    rose = f"{sum(moved > 0 for moved in found.values())} of {len(found)} assets rose over 24 hours."
    same = [same_as_market(ctx, asset) for asset in ASSETS]
    return CrossAsset(
        breadth_percent=breadth(ctx),
        assets_compared=len(found),
        mean_change_24h=change(fmean(found.values())) if found else None,
        dispersion_24h=change(pstdev(found.values())) if enough else None,
        strongest=max(found, key=found.__getitem__) if enough else None,
        weakest=min(found, key=found.__getitem__) if enough else None,
        biases=coins.bias_counts(ctx),
        same_regime=sum(value is True for value in same) if any(value is not None for value in same) else None,
        note=rose if enough else "Too few assets with a known change to compare.",
    )


HOURS: Final = 4
# Where "most coins" rise or fall, fewer than a majority prove it wrong.
_FEWER: Final = f"fewer than {in_words(len(ASSETS) // 2 + 1)} of the {ASSETS_IN_WORDS} assets"


def scenarios(ctx: TickContext) -> tuple[Scenario, ...]:
    """Compose three scenarios; none without a regime."""
    if ctx.reading is None or ctx.reading.regime.label is words.RegimeLabel.UNKNOWN:
        return ()
    rises = _moves(ctx, "It rises", "rise", words.Trend.UP, words.DerivativesVote.BULLISH)
    falls = _moves(ctx, "It falls", "fall", words.Trend.DOWN, words.DerivativesVote.BEARISH)
    return (_continues(ctx), rises, falls)


def four_hour_move(ctx: TickContext) -> float | None:
    """Return one standard deviation of the market's move over four hours, percent."""
    move = coins.expected_move(ctx.reading.outlook) if ctx.reading else None
    return move.hours_4_percent if move else None


def _sized(ctx: TickContext, sentence: str, factor: float) -> str:
    move = four_hour_move(ctx)
    return sentence.format(move=f"{factor * move:.2g}%" if move else "its usual range")


def _span(minutes: int) -> str:
    """Return a length of time in words, e.g. `7 hours and 55 minutes`."""
    hours, rest = divmod(minutes, 60)
    parts = [
        f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in ((hours, "hour"), (rest, "minute")) if count
    ]
    return " and ".join(parts) or "less than a minute"


def _continues(ctx: TickContext) -> Scenario:
    label = REGIME[ctx.reading.regime.label] if ctx.reading else ""
    minutes = ctx.reading.regime.dwell_minutes if ctx.reading else 0
    return Scenario(
        name="It continues",
        description=f"The regime stays as it is: {label}.",
        supported_by=(f"it has lasted for {_span(minutes)}",),
        wrong_if=_sized(
            ctx, "Another regime holds for two hours, or most assets move more than {move} in four hours.", 2
        ),
        horizon_hours=HOURS,
        expected_move_percent=four_hour_move(ctx),
    )


def _moves(ctx: TickContext, name: str, verb: str, trend: words.Trend, vote: words.DerivativesVote) -> Scenario:
    wrong = f"In four hours {_FEWER} are {trend}, or their mean is {trend} less than {{move}}."
    return Scenario(
        name=name,
        description=f"Most assets {verb} together over the next hours.",
        supported_by=_support(ctx, trend, words.Bias(trend.upper()), vote),
        wrong_if=_sized(ctx, wrong, 0.25),
        horizon_hours=HOURS,
        expected_move_percent=four_hour_move(ctx),
    )


def _support(ctx: TickContext, trend: words.Trend, bias: words.Bias, vote: words.DerivativesVote) -> tuple[str, ...]:
    reads = [read for asset in ASSETS if (read := reading_of(ctx, asset))]
    counts = (
        (sum(read.trend is trend for read in reads), f"a trend {trend} over the last 8 to 20 hours"),
        (coins.bias_counts(ctx)[bias.value], f"a forecast {bias.lower()} for the next hour"),
        (sum(read.vote is vote for read in reads), f"{vote} derivatives"),
    )
    return tuple(
        f"{count} of {len(ASSETS)} assets {'has' if count == 1 else 'have'} {what}" for count, what in counts if count
    ) or ("nothing now",)
