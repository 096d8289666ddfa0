"""What several bodies show of one asset: price, bias, chances, ranges."""

from collections import Counter
from typing import Final

from pydantic import Field

from generator.arena import scores
from generator.brain.forecast import Forecast
from generator.brain.reading import AssetReading, VolatilityOutlook
from generator.catalog.assets import ASSETS
from generator.catalog.formats import band_percent, basis_points, change, fixed, price, share
from generator.catalog.words import (
    Bias,
    Call,
    ConfidenceKind,
    LiquidityContext,
    MarketStructure,
    Trend,
    VolatilityWord,
)
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.inputs import reading_of
from generator.compose.scores import KIND
from generator.values.chances import MoveChance, Probabilities
from generator.values.ranges import MoveRange
from generator.values.rounds import Triple

RANGES = (
    "Ranges of the move by horizon (15m, 1h, 4h, 24h), percent; null without a reading, in the first half day of bars "
    "and where the data is in doubt. Each holds the shorter ones. Moves over a day overlap and assets move together: "
    "the misses of 24h come in whole weeks."
)


class ExpectedMove(Body):
    """Expected size of moves: one standard deviation of the return, whichever the direction."""

    minutes_15_percent: float = Field(description="Over 15 minutes, percent, two decimals.")
    hour_1_percent: float = Field(description="Over one hour, percent, two decimals.")
    hours_4_percent: float = Field(description="Over four hours, percent, two decimals.")


class Quoted(Body):
    """An asset and its price."""

    asset: str = Field(description="Asset symbol.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")


class Moving(Body):
    """Whether the price will have moved when the hour ends: the second skill that the track record shows."""

    chance: float = Field(
        description="Chance that the price at the end of the hour lies outside the band round the price at its start, "
        "above or below it, 0..1; not that it does so on the way."
    )
    base_rate: float = Field(description="How often it did in the past, 0..1: the comparison.")
    band_percent: float = Field(description="Half-width of the band, percent of the price at the start.")


CALL: Final = "What the forecast claims; none: nothing. Null without a forecast."
MOVE: Final = "Chance of more than a small move, up or down; null without a forecast."
CONFIDENCE: Final = "Chance of the called outcome over 60 minutes, percent 0..100; null without a call."


class Called(Body):
    """What a forecast claims, and how likely that is."""

    call: Call | None = Field(description=CALL)
    confidence: float | None = Field(description=CONFIDENCE)
    confidence_kind: ConfidenceKind = Field(description=KIND)
    move: Moving | None = Field(description=MOVE)


class Forecasted(Called):
    """How far an asset may move, what is called, and the chances of each outcome."""

    probabilities: Probabilities | None = Field(description="Chances of the three outcomes; null without a forecast.")
    base_rates: Probabilities | None = Field(
        description="How often each outcome happened in the past, the comparison; null without a forecast."
    )
    ranges: dict[str, MoveRange] | None = Field(description=RANGES)


class Agreeing(Body):
    """How far the evidence agrees with the call. It is context: no call rests on it."""

    agreement_percent: float | None = Field(
        description="Of the families of evidence that speak for a rise or a fall, the share that agrees with the call, "
        "percent 0..100; null without a call."
    )
    coverage_percent: float | None = Field(description="Families of evidence present, percent 0..100.")


class Weighed(Agreeing, Forecasted):
    """The same with its band of a small move and how far the evidence agrees."""

    band_bps: float | None = Field(description="A move within this many basis points counts as neutral.")


def forecast_of(ctx: TickContext, asset: str) -> Forecast | None:
    """Return an asset's forecast; None without one."""
    read = reading_of(ctx, asset)
    return read.forecast if read else None


def call_of(ctx: TickContext, asset: str) -> Call | None:
    """Return what is called of an asset; None without a forecast."""
    forecast = forecast_of(ctx, asset)
    return forecast.call if forecast else None


def bias_of(ctx: TickContext, asset: str) -> Bias | None:
    """Return an asset's bias; None without a forecast."""
    read = reading_of(ctx, asset)
    return read.bias if read and read.forecast else None


def trend_of(ctx: TickContext, asset: str) -> Trend:
    """Return an asset's trend: the brain's, else the one read from slower bars."""
    read = reading_of(ctx, asset)
    return read.trend if read else Trend(ctx.trends.get(asset, Trend.UNKNOWN))


def structure_of(ctx: TickContext, asset: str) -> MarketStructure:
    """Return the shape of an asset's last days; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.structure if read else MarketStructure.UNKNOWN


def volatility_of(ctx: TickContext, asset: str) -> VolatilityWord:
    """Return an asset's volatility outlook; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.volatility if read else VolatilityWord.UNKNOWN


def liquidity_of(ctx: TickContext, asset: str) -> LiquidityContext:
    """Return how deep an asset's order book is; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.liquidity if read else LiquidityContext.UNKNOWN


def expected_move_of(ctx: TickContext, asset: str) -> ExpectedMove | None:
    """Publish the expected size of an asset's moves; None without a reading."""
    read = reading_of(ctx, asset)
    return expected_move(read.outlook) if read else None


def bias_counts(ctx: TickContext) -> dict[str, int]:
    """Count the assets of each bias; assets without a forecast are not counted."""
    counted = Counter(bias_of(ctx, asset) for asset in ASSETS)
    return {word.value: counted[word] for word in Bias}


def call_counts(ctx: TickContext) -> dict[Call, int]:
    """Count the assets of each call; assets without a forecast are not counted."""
    counted = Counter(call_of(ctx, asset) for asset in ASSETS)
    return {call: counted[call] for call in Call}


def price_source(ctx: TickContext, asset: str) -> str | None:
    """Name how a price is made; None without one."""
    return ctx.observation.price_basis if ctx.seen[asset].venues else None


def published(triple: Triple | None) -> Probabilities | None:
    """Publish three chances, 0..1: down, neutral, up."""
    if triple is None:
        return None
    down, neutral, up = triple
    return Probabilities(down=down, neutral=neutral, up=up)


def confidence_percent(forecast: Forecast | None) -> float | None:
    """Return the chance of the called outcome in percent, from the chances as published; None without a call."""
    if forecast is None:
        return None
    return scores.confidence_percent(scores.published_triple(forecast.probabilities), forecast.call)


def kind_of(call: Call | None) -> ConfidenceKind:
    """Return what the confidence of a forecast measures."""
    if call is None or call is Call.NONE:
        return ConfidenceKind.NO_CALL
    return ConfidenceKind.CLASS_PROBABILITY


def moving(move: MoveChance | None, band_bps: float | None) -> Moving | None:
    """Publish the chance of a move beyond the band; None without a forecast.

    Args:
        move: as published, four decimals.
        band_bps: half-width of the band, basis points.
    """
    if move is None or band_bps is None:
        return None
    return Moving(chance=move.chance, base_rate=move.base_rate, band_percent=band_percent(band_bps))


def called(ctx: TickContext, asset: str) -> Called:
    """Publish what is called of an asset, and how likely a move is."""
    forecast = forecast_of(ctx, asset)
    if forecast is None:
        return Called(call=None, confidence=None, confidence_kind=ConfidenceKind.NO_CALL, move=None)

    return Called(
        call=forecast.call,
        confidence=confidence_percent(forecast),
        confidence_kind=kind_of(forecast.call),
        move=moving(scores.published_move(forecast), forecast.band_bps),
    )


def expected_move(outlook: VolatilityOutlook | None) -> ExpectedMove | None:
    """Publish the expected size of moves."""
    if outlook is None:
        return None

    quarter, hour, four_hours = (fixed(100 * sigma, 2) for sigma in (outlook.m15, outlook.h1, outlook.h4))
    if quarter is None or hour is None or four_hours is None:
        return None
    return ExpectedMove(minutes_15_percent=quarter, hour_1_percent=hour, hours_4_percent=four_hours)


def ranges(read: AssetReading | None) -> dict[str, MoveRange] | None:
    """Publish where the price may be at the end of each horizon."""
    if read is None or read.ranges is None:
        return None
    return {horizon: move.rounded(2) for horizon, move in read.ranges.items()}


def quoted(ctx: TickContext, asset: str) -> Quoted:
    """Publish an asset's price."""
    seen = ctx.seen[asset]
    return Quoted(asset=asset, price=price(seen.price), change_24h=change(seen.change_24h_percent))


def forecasted(ctx: TickContext, asset: str) -> Forecasted:
    """Publish how far an asset may move, and the chances of each direction."""
    move_ranges = ranges(reading_of(ctx, asset))
    forecast = forecast_of(ctx, asset)
    claim = called(ctx, asset).as_fields()
    if forecast is None:
        return Forecasted(**claim, probabilities=None, base_rates=None, ranges=move_ranges)

    return Forecasted(
        **claim,
        probabilities=published(scores.published_triple(forecast.probabilities)),
        base_rates=published(scores.published_triple(forecast.base_rate)),
        ranges=move_ranges,
    )


def weighed(ctx: TickContext, asset: str) -> Weighed:
    """Publish the same with its band of a small move and how far the evidence agrees."""
    fields = forecasted(ctx, asset).as_fields()
    read = reading_of(ctx, asset)
    if read is None:
        return Weighed(**fields, band_bps=None, agreement_percent=None, coverage_percent=None)

    return Weighed(
        **fields,
        band_bps=basis_points(read.forecast.band_bps) if read.forecast else None,
        agreement_percent=share(read.agreement),
        coverage_percent=share(read.coverage),
    )
