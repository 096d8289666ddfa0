"""What several bodies show of one asset: bias, confidence, chances."""

from collections import Counter
from typing import Any

from generator.brain.forecast import Forecast
from generator.brain.forecast import Probabilities as Chances
from generator.brain.reading import AssetReading, VolatilityOutlook
from generator.catalog.assets import ASSETS
from generator.catalog.formats import chances, change, fixed, percent, share
from generator.catalog.words import Bias, Prediction, Trend
from generator.compose.context import TickContext
from generator.compose.inputs import observed, reading_of
from generator.contract.paid import ExpectedMove, MoveRange
from generator.contract.scores import Probabilities


def forecast_of(ctx: TickContext, asset: str) -> Forecast | None:
    """Return an asset's forecast; None without one."""
    read = reading_of(ctx, asset)
    return read.forecast if read else None


def bias_of(ctx: TickContext, asset: str) -> Bias | None:
    """Return an asset's bias; None without a forecast."""
    read = reading_of(ctx, asset)
    return read.bias if read and read.forecast else None


def published(values: Chances) -> Probabilities:
    """Publish three chances that sum to 1."""
    down, neutral, up = chances(values.down, values.neutral, values.up)
    return Probabilities(down=down, neutral=neutral, up=up)


def chance(values: Probabilities, word: Prediction) -> float:
    """Return the published chance of one word."""
    return {Prediction.BEARISH: values.down, Prediction.NEUTRAL: values.neutral, Prediction.BULLISH: values.up}[word]


def confidence_percent(forecast: Forecast | None) -> float | None:
    """Return the chance of the shown class in percent, from the chances as published."""
    if forecast is None:
        return None
    return percent(100 * chance(published(forecast.probabilities), forecast.prediction))


def probabilities(forecast: Forecast | None) -> Probabilities | None:
    """Publish a forecast's chances."""
    return None if forecast is None else published(forecast.probabilities)


def base_rates(forecast: Forecast | None) -> Probabilities | None:
    """Publish the base rates that a forecast is judged against."""
    return None if forecast is None else published(forecast.base_rate)


def expected_move(outlook: VolatilityOutlook | None) -> ExpectedMove | None:
    """Publish the expected size of moves."""
    if outlook is None:
        return None
    quarter, hour, four = (fixed(100 * sigma, 2) for sigma in (outlook.m15, outlook.h1, outlook.h4))
    if quarter is None or hour is None or four is None:
        return None
    return ExpectedMove(minutes_15_percent=quarter, hour_1_percent=hour, hours_4_percent=four)


def three_chances(forecast: Forecast | None) -> dict[str, Any]:
    """Publish a forecast's chances and, next to them, its base rates."""
    return {"probabilities": probabilities(forecast), "base_rates": base_rates(forecast)}


def ranges(read: AssetReading) -> dict[str, MoveRange] | None:
    """Publish where the price may be at the end of each horizon."""
    if read.ranges is None:
        return None
    return {
        horizon: MoveRange(**{name: change(100 * getattr(one, name)) or 0.0 for name in MoveRange.model_fields})
        for horizon, one in read.ranges.items()
    }


def agreement(read: AssetReading | None) -> float | None:
    """Publish the agreement between an asset's families of evidence."""
    return share(read.agreement) if read else None


def coverage(read: AssetReading | None) -> float | None:
    """Publish the share of families of evidence that are present."""
    return share(read.coverage) if read else None


def trend_of(ctx: TickContext, asset: str) -> Trend:
    """Return an asset's trend: the brain's, else the one read from slower bars."""
    read = reading_of(ctx, asset)
    return read.trend if read else Trend(ctx.trends.get(asset, Trend.UNKNOWN))


def bias_counts(ctx: TickContext) -> dict[str, int]:
    """Count the assets of each bias; assets without a forecast are not counted."""
    counted = Counter(bias_of(ctx, asset) for asset in ASSETS)
    return {word.value: counted[word] for word in Bias}


def price_source(ctx: TickContext, asset: str) -> str | None:
    """Name the venues behind a price."""
    venues = observed(ctx, asset).venues
    return f"{ctx.observation.price_basis} of {', '.join(venues)}" if venues else None
