"""GET /api/main-brain.php and /api/reasoning.php, and GET /api/x402-main-brain.php once paid."""

from collections import Counter

from pydantic import Field

from generator.arena.scores import chance_of, published_triple
from generator.brain.forecast import Forecast
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import percent, price, share
from generator.catalog.text import market
from generator.catalog.text.answers import DEVELOPER_NOTE, NO_FORECAST, NOTHING_CLAIMED
from generator.catalog.words import Bias, ConfidenceKind, MarketMode, MarketState, Points, Prediction, Side
from generator.compose import coins, envelope
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.facts import asset_sentence, facts, regime_sentence
from generator.compose.inputs import asset_limitations, forecast_reason, observed, reading_of
from generator.compose.regime import MarketContext, market_context, regime
from generator.compose.scores import KIND, Performance, TrackRecord, performance, score_limits, track_record


class Direction(coins.Agreeing):
    """The word of most assets."""

    direction: Bias | None = Field(description="The word of most assets, FLAT on a tie; null without a reading.")
    confidence: float | None = Field(description="Share of assets with that word, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.SHARE_OF_ASSETS, description=KIND)


class Brain(Direction):
    """The brain's overall state."""

    evidence_for: int | None = Field(
        description="Facts that support the assets' biases; one about the whole market counts once."
    )
    evidence_against: int | None = Field(description="Facts that speak against them, counted likewise.")
    evidence_missing: int | None = Field(description="Facts that could not be read, counted likewise.")


class MarketStateSummary(Body):
    """Mode and state of the market in words."""

    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    summary: str = Field(description="The same in one sentence.")


class CoinSnapshot(coins.Forecasted, coins.Quoted):
    """One asset in short."""

    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    summary: str | None = Field(description="The asset in words.")
    price_source: str | None = Field(description="Venues whose median mid is the price.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class MainBrainResponse(envelope.RichResponse):
    """The brain's public state and aggregate performance."""

    brain: Brain = Field(description="The brain's overall state.")
    market_context: MarketContext = Field(description="The regime in short.")
    market_state: MarketStateSummary = Field(description="Mode and state in words.")
    coins: dict[str, CoinSnapshot] = Field(description="Asset symbol to its snapshot.")
    public_performance: Performance = Field(description="How resolved hourly forecasts turned out.")
    educational_only: bool = Field(description="Always true.")


class BrainSummary(Direction):
    """The brain's overall state."""

    text: str = Field(description="The reading in words.")
    biases: dict[str, int] = Field(description="Bias word to the number of assets that have it.")


class EvidenceBlock(Body):
    """Evidence in words, by how it bears on the shown direction."""

    supporting: tuple[str, ...] = Field(description="What supports it.")
    opposing: tuple[str, ...] = Field(description="What speaks against it.")
    neutral: tuple[str, ...] = Field(description="What says nothing either way.")
    missing: tuple[str, ...] = Field(description="What could not be read.")


class AssetDirection(coins.Weighed):
    """One asset's direction with its chances and evidence."""

    asset: str = Field(description="Asset symbol.")
    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    prediction: Prediction | None = Field(description="The same as a forecast word; NEUTRAL without a forecast.")
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")
    edge_percent: float | None = Field(description="Chance of the shown class minus its base rate, percentage points.")
    evidence: EvidenceBlock = Field(description="The evidence in words.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class X402MainBrainPaidResponse(envelope.PaidResponse):
    """The brain's directions with chances and evidence."""

    summary: BrainSummary = Field(description="The brain's overall state.")
    assets: dict[str, AssetDirection] = Field(description="Asset symbol to its direction.")
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")


class Reason(Body):
    """One family of evidence: which way it points, and how that bears on the forecast."""

    family: str = Field(description="trend, momentum, volatility, breadth, liquidity or derivatives.")
    points: Points | None = Field(description="up, down or flat; null where it points nowhere or is unknown.")
    bears_on_call: Side = Field(description="for, against or neutral to the direction shown; missing where unknown.")
    text: str = Field(description="The evidence in words.")


class Reasoning(coins.Weighed):
    """The forecast for one asset and the evidence next to it."""

    prediction: Prediction = Field(
        description="The likeliest class if it clearly exceeds its base rate, else NEUTRAL; "
        "NEUTRAL with confidence null means that no forecast is made."
    )
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    summary: str = Field(description="The reading in words.")
    reason_points: tuple[str, ...] = Field(description="The evidence in words, each after the direction it points to.")
    reasons: tuple[Reason, ...] = Field(description="The same by family of evidence.")
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")


class ReasoningResponse(envelope.NoticeResponse):
    """The evidence behind one asset's prediction."""

    asset: str = Field(description="Asset symbol.")
    reasoning: Reasoning = Field(description="Prediction, chances and reasons.")
    supported_assets: tuple[str, ...] = Field(description="Assets that the asset parameter accepts.")
    developer_note: str = Field(description="Advice for clients.")


def main_brain(ctx: TickContext) -> MainBrainResponse:
    """Compose the brain's public state."""
    now = regime(ctx)
    return MainBrainResponse(
        **envelope.rich(ctx, ENDPOINT_BY_ID["main-brain"], *score_limits(ctx.arena.hourly_record)),
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
    words = coins.bias_counts(ctx)
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
    words = coins.bias_counts(ctx)
    return market.brain_summary(facts(ctx), words["UP"], words["DOWN"], words["FLAT"])


def coin(ctx: TickContext, asset: str) -> CoinSnapshot:
    """Compose one asset in short."""
    return CoinSnapshot(
        **coins.quoted(ctx, asset),
        **coins.forecasted(ctx, asset),
        bias=coins.bias_of(ctx, asset),
        summary=asset_sentence(ctx, asset) if reading_of(ctx, asset) else None,
        price_source=coins.price_source(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def paid_main_brain(ctx: TickContext) -> X402MainBrainPaidResponse:
    """Compose the brain's directions with chances and evidence."""
    now = brain(ctx)
    return X402MainBrainPaidResponse(
        **envelope.paid_head(ctx, "x402-main-brain", *score_limits(ctx.arena.hourly_record)),
        summary=BrainSummary.of(now, text=brain_sentence(ctx), biases=coins.bias_counts(ctx)),
        assets={asset: asset_direction(ctx, asset) for asset in ASSETS},
        track_record=track_record(ctx.arena.hourly_record),
    )


def asset_direction(ctx: TickContext, asset: str) -> AssetDirection:
    """Compose one asset's direction."""
    forecast = coins.forecast_of(ctx, asset)
    without = [] if forecast else [f"no forecast: {forecast_reason(ctx, asset)}"]
    return AssetDirection(
        asset=asset,
        **coins.weighed(ctx, asset),
        bias=coins.bias_of(ctx, asset),
        prediction=forecast.prediction if forecast else Prediction.NEUTRAL,
        brain_silent=forecast is None,
        horizon_minutes=forecast.horizon_minutes if forecast else None,
        edge_percent=edge_percent(forecast),
        evidence=evidence_block(ctx, asset),
        price=price(observed(ctx, asset).price),
        limitations=asset_limitations(ctx, asset, *without),
    )


def evidence_block(ctx: TickContext, asset: str) -> EvidenceBlock:
    """Sort one asset's evidence by how it bears on its bias."""
    read = reading_of(ctx, asset)
    rows = read.evidence if read else ()
    texts = {side: tuple(f"{row.family}: {row.text}" for row in rows if row.side is side) for side in Side}
    return EvidenceBlock(
        supporting=texts[Side.FOR],
        opposing=texts[Side.AGAINST],
        neutral=texts[Side.NEUTRAL],
        missing=texts[Side.MISSING],
    )


def edge_percent(forecast: Forecast | None) -> float | None:
    """Return the published chance of the shown class minus its published base rate, percentage points."""
    if forecast is None:
        return None
    triples = map(published_triple, (forecast.probabilities, forecast.base_rate))
    chance, usual = (chance_of(triple, forecast.prediction) for triple in triples)
    return percent(100 * (chance - usual))


def reasoning(ctx: TickContext, asset: str = DEFAULT_ASSET) -> ReasoningResponse:
    """Compose the evidence behind one asset's prediction."""
    limits = list(asset_limitations(ctx, asset))
    if coins.forecast_of(ctx, asset) is None:
        limits.append(NO_FORECAST.format(reason=forecast_reason(ctx, asset)))
    return ReasoningResponse(
        **envelope.notice(ctx, ENDPOINT_BY_ID["reasoning"], *limits),
        asset=asset,
        reasoning=reasoning_block(ctx, asset),
        supported_assets=ASSETS,
        developer_note=DEVELOPER_NOTE,
    )


def reasoning_block(ctx: TickContext, asset: str) -> Reasoning:
    """Compose prediction, chances and reasons."""
    read, forecast = reading_of(ctx, asset), coins.forecast_of(ctx, asset)
    evidence = read.evidence if read else ()
    nothing = NOTHING_CLAIMED.format(reason=forecast_reason(ctx, asset))
    return Reasoning(
        prediction=forecast.prediction if forecast else Prediction.NEUTRAL,
        **coins.weighed(ctx, asset),
        brain_silent=forecast is None,
        summary=asset_sentence(ctx, asset) if forecast else nothing,
        reason_points=tuple(f"{row.points or row.side}: {row.text}" for row in evidence),
        reasons=tuple(Reason.of(row, bears_on_call=row.side) for row in evidence),
        horizon_minutes=forecast.horizon_minutes if forecast else None,
    )
