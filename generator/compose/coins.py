"""What several bodies show of one asset: bias, confidence, chances."""

from collections import Counter
from typing import Any

from generator.brain.forecast import Forecast
from generator.brain.forecast import Probabilities as Chances
from generator.brain.reading import AssetReading, VolatilityOutlook
from generator.catalog.assets import ASSETS
from generator.catalog.formats import basis_points, chances, change, fixed, percent, price, share
from generator.catalog.words import Bias, Prediction, Trend
from generator.compose.context import TickContext
from generator.compose.inputs import observed, reading_of
from generator.contract.forecast import MoveRange
from generator.contract.paid import ExpectedMove
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


def expected_move(outlook: VolatilityOutlook | None) -> ExpectedMove | None:
    """Publish the expected size of moves."""
    if outlook is None:
        return None
    quarter, hour, four = (fixed(100 * sigma, 2) for sigma in (outlook.m15, outlook.h1, outlook.h4))
    if quarter is None or hour is None or four is None:
        return None
    return ExpectedMove(minutes_15_percent=quarter, hour_1_percent=hour, hours_4_percent=four)


def ranges(read: AssetReading) -> dict[str, MoveRange] | None:
    """Publish where the price may be at the end of each horizon."""
    if read.ranges is None:
        return None
    return {
        horizon: MoveRange(**{name: change(100 * getattr(one, name)) or 0.0 for name in MoveRange.model_fields})
        for horizon, one in read.ranges.items()
    }


def quoted(ctx: TickContext, asset: str) -> dict[str, Any]:
    """Fill the fields of `Quoted`."""
    seen = observed(ctx, asset)
    return {"asset": asset, "price": price(seen.price), "change_24h": change(seen.change_24h_percent)}


def forecasted(ctx: TickContext, asset: str) -> dict[str, Any]:
    """Fill the fields of `Forecasted`."""
    read, said = reading_of(ctx, asset), forecast_of(ctx, asset)
    return {
        "confidence": confidence_percent(said),
        "probabilities": published(said.probabilities) if said else None,
        "base_rates": published(said.base_rate) if said else None,
        "ranges": ranges(read) if read else None,
    }


def weighed(ctx: TickContext, asset: str) -> dict[str, Any]:
    """Fill the fields of `Weighed`."""
    read, said = reading_of(ctx, asset), forecast_of(ctx, asset)
    return {
        **forecasted(ctx, asset),
        "band_bps": basis_points(said.band_bps) if said else None,
        "agreement_percent": share(read.agreement) if read else None,
        "coverage_percent": share(read.coverage) if read else None,
    }


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
