"""GET /api/main-brain.php and /api/reasoning.php, and GET /api/x402-main-brain.php once paid."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from pydantic import Field

from generator.arena.scores import chance_of, published_triple
from generator.brain.evidence import Evidence
from generator.brain.forecast import Forecast
from generator.brain.reading import BrainReading
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import percent, price, share
from generator.catalog.text.answers import DEVELOPER_NOTE, NO_FORECAST, NOTHING_CLAIMED, clause
from generator.catalog.text.book import joined
from generator.catalog.text.now import asset_line, call_sentence, coin_day, first_screen
from generator.catalog.words import (
    BIAS_OF_CALL,
    Bias,
    Call,
    ConfidenceKind,
    MarketMode,
    MarketState,
    Points,
    Prediction,
    Side,
)
from generator.compose import coins, envelope
from generator.compose.body import Body
from generator.compose.inputs import forecast_reason, reading_of, unique
from generator.compose.joint import JOINT, JointBlock
from generator.compose.ladder import (
    DAY_AHEAD,
    LAST_WEEK,
    PAIRS,
    DayAhead,
    LadderBlock,
    PairRow,
)
from generator.compose.market_regime import MarketContext, market_context
from generator.compose.paid_words import brain_headline, brain_summary_text
from generator.compose.scores import KIND, Performance, TrackRecord, performance, score_limits, track_record
from generator.compose.tick import Tick
from generator.values.ranges import RangesOfWeek


class OverallDirection(coins.Agreeing):
    """The call of most assets."""

    direction: Bias | None = Field(description="The call of most assets in three words; null without a forecast.")
    call: Call | None = Field(description="The call of most assets, none on a tie; null without a forecast.")
    calls: dict[str, int] = Field(description="Call to the number of assets that have it.")
    confidence: float | None = Field(
        description="Share of assets with that call, percent 0..100; null where it is none."
    )
    confidence_kind: ConfidenceKind = Field(description=KIND)


class Brain(OverallDirection):
    """The brain's overall state."""

    evidence_for: int | None = Field(
        description="Facts that agree with the assets' calls; one about the whole market counts once. They are context."
    )
    evidence_against: int | None = Field(
        description="Facts that speak against them, counted likewise; 0 without a call."
    )
    evidence_missing: int | None = Field(description="Facts that could not be read, counted likewise.")


class MarketStateSummary(Body):
    """Mode and state of the market."""

    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")


class CoinSnapshot(coins.Forecasted, coins.Quoted):
    """One asset in short."""

    bias: Bias | None = Field(
        description="The call in three words, FLAT for small_move and none; null without a forecast."
    )
    summary: str | None = Field(
        description="What it did over the day, in words; the reasoning answer says how far it may move."
    )
    price_source: str | None = Field(
        description="How the price is made: venue_mid, the median mid of its venues, or recorded_close."
    )
    price_venues: tuple[str, ...] = Field(description="Venues whose price it is.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class MainBrainResponse(envelope.RichResponse):
    """The brain's public state and aggregate performance."""

    brain: Brain = Field(description="The brain's overall state.")
    market_context: MarketContext = Field(description="The regime in short.")
    market_state: MarketStateSummary = Field(description="Mode and state in words.")
    coins: dict[str, CoinSnapshot] = Field(description="Asset symbol to its snapshot.")
    public_performance: Performance = Field(description="How resolved hourly forecasts turned out.")
    educational_only: bool = Field(description="Always true.")


class BrainSummary(OverallDirection):
    """The brain's overall state."""

    text: str = Field(description="The reading in words.")
    biases: dict[str, int] = Field(description="Bias word to the number of assets that have it.")


class EvidenceBlock(Body):
    """Families of evidence and what each speaks for, by how it bears on the call: context, not a reason."""

    supporting: tuple[str, ...] = Field(description="What agrees with the call; empty without one.")
    opposing: tuple[str, ...] = Field(description="What speaks against it; empty without a call.")
    neutral: tuple[str, ...] = Field(description="What speaks for neither way, and everything without a call.")
    missing: tuple[str, ...] = Field(description="What could not be read.")


class AssetDirection(coins.Weighed):
    """One asset's direction with its chances and evidence."""

    asset: str = Field(description="Asset symbol.")
    bias: Bias | None = Field(
        description="The call in three words, FLAT for small_move and none; null without a forecast."
    )
    prediction: Prediction | None = Field(
        description="The call as an outcome; NEUTRAL for small_move, none and without a forecast."
    )
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")
    edge_percent: float | None = Field(
        description="Chance of the called outcome minus its base rate, percentage points; null without a call."
    )
    evidence: EvidenceBlock = Field(description="The evidence in words.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class X402MainBrainPaidResponse(envelope.PaidResponse):
    """The brain's directions with chances and evidence."""

    summary: BrainSummary = Field(description="The brain's overall state.")
    assets: dict[str, AssetDirection] = Field(description="Asset symbol to its direction.")
    joint: JointBlock | None = Field(description=JOINT)
    ladder: LadderBlock = Field(description="How likely moves beyond several levels are, at the end and on the way.")
    day_ahead: DayAhead | None = Field(description=DAY_AHEAD)
    pairs: tuple[PairRow, ...] = Field(description=PAIRS)
    ranges_last_week: dict[str, dict[str, RangesOfWeek]] = Field(description=LAST_WEEK)
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")


class Reason(Body):
    """One family of evidence: which way it speaks for, and how that bears on the forecast."""

    family: str = Field(description="trend, momentum, volatility, breadth, liquidity or derivatives.")
    points: Points | None = Field(description="up, down or flat; null where unknown.")
    bears_on_call: Side = Field(
        description="for, against or neutral to the call, neutral without one; missing where unknown."
    )


class Reasoning(coins.Weighed):
    """The forecast for one asset and the evidence next to it."""

    prediction: Prediction = Field(
        description="The call as an outcome: BULLISH for up, BEARISH for down, NEUTRAL for small_move and none."
    )
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    summary: str = Field(description="The reading in words.")
    reason_points: tuple[str, ...] = Field(description="The evidence in words, each after the direction it speaks for.")
    reasons: tuple[Reason, ...] = Field(description="What each of these points is about, in their order.")
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")


class ReasoningResponse(envelope.NoticeResponse):
    """The evidence behind one asset's prediction."""

    asset: str = Field(description="Asset symbol.")
    reasoning: Reasoning = Field(description="Prediction, chances and reasons.")
    supported_assets: tuple[str, ...] = Field(description="Assets that the asset parameter accepts.")
    developer_note: str = Field(description="Advice for clients.")


def main_brain(ctx: Tick) -> MainBrainResponse:
    """Compose the brain's public state."""
    now = ctx.regime
    summary = brain_sentence(ctx)
    limits = score_limits(ctx.arena.hourly_record)

    return MainBrainResponse(
        **envelope.rich_envelope(ctx, ENDPOINT_BY_ID["main-brain"], *limits, summary=summary).as_fields(),
        brain=brain(ctx),
        market_context=market_context(ctx),
        public_performance=performance(ctx.arena),
        market_state=MarketStateSummary(mode=now.mode, state=now.state),
        coins={asset: coin(ctx, asset) for asset in ASSETS},
        educational_only=True,
    )


def brain(ctx: Tick) -> Brain:
    """Compose the brain's overall state; all null without a reading, direction and confidence without a forecast."""
    if ctx.reading is None:
        return Brain(
            direction=None,
            call=None,
            calls=dict.fromkeys(map(str, Call), 0),
            confidence=None,
            confidence_kind=ConfidenceKind.NO_CALL,
            agreement_percent=None,
            coverage_percent=None,
            evidence_for=None,
            evidence_against=None,
            evidence_missing=None,
        )

    counts = coins.call_counts(ctx)
    forecasts = sum(counts.values())
    call = None
    confidence = None
    if forecasts:
        call = commonest_call(counts)
        confidence = None if call is Call.NONE else share(counts[call] / forecasts)

    return Brain(
        direction=BIAS_OF_CALL[call] if call else None,
        call=call,
        calls={word.value: counts[word] for word in Call},
        confidence=confidence,
        confidence_kind=ConfidenceKind.NO_CALL if confidence is None else ConfidenceKind.SHARE_OF_ASSETS,
        agreement_percent=share(ctx.reading.agreement),
        coverage_percent=share(ctx.reading.coverage),
        evidence_for=evidence_count(ctx.reading, Side.FOR),
        evidence_against=evidence_count(ctx.reading, Side.AGAINST),
        evidence_missing=evidence_count(ctx.reading, Side.MISSING),
    )


def commonest_call(counts: Mapping[Call, int]) -> Call:
    """Return the call of most assets, none on a tie.

    >>> commonest_call({Call.UP: 3, Call.SMALL_MOVE: 2, Call.NONE: 2}), commonest_call({Call.UP: 3, Call.NONE: 3})
    (<Call.UP: 'up'>, <Call.NONE: 'none'>)
    """
    most = max(counts.values())
    leaders = [call for call, count in counts.items() if count == most]
    return leaders[0] if len(leaders) == 1 else Call.NONE


def evidence_count(reading: BrainReading, side: Side) -> int:
    """Count the facts on one side over all assets; one about the whole market counts once."""
    families = Counter(row.family for read in reading.assets.values() for row in read.evidence if row.side is side)

    count = 0
    for family, assets in families.items():
        # Breadth is one fact about the market, and so is that no asset has an order book; neither is one of each asset.
        whole = family == "breadth" or (side is Side.MISSING and assets == len(ASSETS))
        if whole:
            count += 1
        else:
            count += assets
    return count


def brain_sentence(ctx: Tick) -> str:
    """Return the brain's own summary, or why there is none."""
    return first_screen(ctx.market_now)


def coin(ctx: Tick, asset: str) -> CoinSnapshot:
    """Compose one asset in short."""
    return CoinSnapshot(
        **ctx.quotes[asset].as_fields(),
        **coins.forecasted(ctx, asset).as_fields(),
        bias=coins.bias_of(ctx, asset),
        summary=coin_day(ctx.market_now, asset) if reading_of(ctx, asset) else None,
        price_source=coins.price_source(ctx, asset),
        price_venues=ctx.seen[asset].venues,
        limitations=ctx.limitations_of[asset],
    )


def paid_main_brain(ctx: Tick) -> X402MainBrainPaidResponse:
    """Compose the brain's directions with chances and evidence."""
    limits = score_limits(ctx.arena.hourly_record)

    return X402MainBrainPaidResponse(
        **envelope.paid_envelope(ctx, "x402-main-brain", *limits, news=brain_headline(ctx.paid)).as_fields(),
        summary=brain_summary(ctx),
        assets={asset: asset_direction(ctx, asset) for asset in ASSETS},
        joint=ctx.joint,
        ladder=ctx.ladder,
        day_ahead=ctx.day_ahead,
        pairs=ctx.pairs,
        ranges_last_week=ctx.ranges_last_week,
        track_record=track_record(ctx.arena.hourly_record),
    )


def brain_summary(ctx: Tick) -> BrainSummary:
    """Compose the brain's overall state in words and counts."""
    now = brain(ctx)

    return BrainSummary(
        direction=now.direction,
        call=now.call,
        calls=now.calls,
        confidence=now.confidence,
        confidence_kind=now.confidence_kind,
        agreement_percent=now.agreement_percent,
        coverage_percent=now.coverage_percent,
        text=brain_summary_text(ctx.paid),
        biases=coins.bias_counts(ctx),
    )


def asset_direction(ctx: Tick, asset: str) -> AssetDirection:
    """Compose one asset's direction."""
    forecast = coins.forecast_of(ctx, asset)
    limits = []
    if forecast is None:
        limits.append(f"no forecast: {forecast_reason(ctx, asset)}")

    return AssetDirection(
        asset=asset,
        **ctx.forecasts[asset].as_fields(),
        bias=coins.bias_of(ctx, asset),
        prediction=prediction_of(forecast),
        brain_silent=forecast is None,
        horizon_minutes=horizon_of(forecast),
        edge_percent=edge_percent(forecast),
        evidence=evidence_block(ctx, asset),
        price=price(ctx.seen[asset].price),
        limitations=unique([*ctx.limitations_of[asset], *limits]),
    )


def prediction_of(forecast: Forecast | None) -> Prediction:
    """Return the call of a forecast as an outcome; without one NEUTRAL, which claims nothing."""
    return forecast.prediction if forecast else Prediction.NEUTRAL


def horizon_of(forecast: Forecast | None) -> int | None:
    """Return how far a forecast looks ahead, minutes."""
    return forecast.horizon_minutes if forecast else None


def evidence_rows(ctx: Tick, asset: str) -> tuple[Evidence, ...]:
    """Return the evidence read of an asset; none without a reading."""
    read = reading_of(ctx, asset)
    return read.evidence if read else ()


NOT_KNOWN: Final = "none"


def evidence_block(ctx: Tick, asset: str) -> EvidenceBlock:
    """Sort one asset's evidence by how it bears on the call."""
    texts: dict[Side, list[str]] = {side: [] for side in Side}
    for row in evidence_rows(ctx, asset):
        texts[row.side].append(f"{row.family}: {row.points or NOT_KNOWN}")

    return EvidenceBlock(
        supporting=tuple(texts[Side.FOR]),
        opposing=tuple(texts[Side.AGAINST]),
        neutral=tuple(texts[Side.NEUTRAL]),
        missing=tuple(texts[Side.MISSING]),
    )


def edge_percent(forecast: Forecast | None) -> float | None:
    """Return the published chance of the called outcome minus its published base rate, percentage points."""
    if forecast is None or forecast.call is Call.NONE:
        return None

    chance = chance_of(published_triple(forecast.probabilities), forecast.prediction)
    usual = chance_of(published_triple(forecast.base_rate), forecast.prediction)
    return percent(100 * (chance - usual))


def reasoning(ctx: Tick, asset: str = DEFAULT_ASSET) -> ReasoningResponse:
    """Compose the evidence behind one asset's prediction."""
    limits = [*ctx.limitations_of[asset]]
    if coins.forecast_of(ctx, asset) is None:
        limits.append(NO_FORECAST.format(reason=forecast_reason(ctx, asset)))

    return ReasoningResponse(
        **envelope.notice_envelope(ctx, ENDPOINT_BY_ID["reasoning"], *limits).as_fields(),
        asset=asset,
        reasoning=reasoning_block(ctx, asset),
        supported_assets=ASSETS,
        developer_note=DEVELOPER_NOTE,
    )


def reasoning_block(ctx: Tick, asset: str) -> Reasoning:
    """Compose prediction, chances and reasons; without a forecast the prediction is NEUTRAL and claims nothing."""
    evidence = evidence_rows(ctx, asset)
    forecast = coins.forecast_of(ctx, asset)

    if forecast:
        summary = joined([asset_line(ctx.market_now, asset), call_sentence(ctx.market_now, asset)])
    else:
        nothing = NOTHING_CLAIMED.format(reason=clause(forecast_reason(ctx, asset)))
        summary = f"{asset_line(ctx.market_now, asset)} {nothing}"

    return Reasoning(
        prediction=prediction_of(forecast),
        **ctx.forecasts[asset].as_fields(),
        brain_silent=forecast is None,
        summary=summary,
        reason_points=tuple(f"{row.points or row.side}: {row.text}" for row in evidence),
        reasons=tuple(reason(row) for row in evidence),
        horizon_minutes=horizon_of(forecast),
    )


def reason(row: Evidence) -> Reason:
    """Compose one family of evidence."""
    return Reason(family=row.family, points=row.points, bears_on_call=row.side)
