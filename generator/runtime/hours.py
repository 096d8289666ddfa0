"""The market hour by hour: what is kept of a release, and what a backtest reads from history."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from generator.arena.values import Hour
from generator.brain.hourly import HOUR_MS
from generator.brain.reading import BrainReading
from generator.catalog.formats import price, probabilities
from generator.catalog.words import RegimeLabel
from generator.compose.context import TickContext
from generator.market.bars import BAR_MS, BarFrame
from generator.runtime.market import Market


def published_hour(context: TickContext, body: Mapping[str, Any]) -> Hour:
    """Return the market as a release published it.

    Args:
        body: the market regime, as published.
    """
    seen = context.observation
    chances = body["regime"]["probabilities"]
    prices = {asset: price(one.price) for asset, one in seen.assets.items()}
    return Hour(
        context.freshness.generated_ms,
        seen.market_ms,
        str(body["regime"]["label"]),
        None if chances is None else tuple(chances.values()),
        str(body["headline"]),
        {asset: value for asset, value in prices.items() if value is not None},
    )


def read_hour(at_ms: int, market_ms: int, reading: BrainReading, prices: Mapping[str, float | None]) -> Hour:
    """Return the market as a backtest reads it."""
    known = reading.regime.label is not RegimeLabel.UNKNOWN
    return Hour(
        at_ms,
        market_ms,
        str(reading.regime.label),
        tuple(probabilities(tuple(reading.regime.posterior.values()))) if known else None,
        "",
        {asset: value for asset, raw in prices.items() if (value := price(raw)) is not None},
        warm_up=True,
    )


async def hours_of(market: Market, bars: BarFrame, offset_ms: int) -> AsyncIterator[Hour]:
    """Let the brain read bars, and give the market at each full hour that one of them closed at.

    Args:
        offset_ms: wall minus market time.
    """
    closes_ms, begin = (bars.t + BAR_MS).tolist(), 0
    for end, close_ms in enumerate(closes_ms, 1):
        if close_ms % HOUR_MS:
            continue
        market.engine = await market.brain_of(bars.rows(begin, end), market.engine)
        begin = end
        reading = market.engine.reading()
        if reading is not None:
            prices = dict(zip(bars.assets, bars.fields["close"][end - 1].tolist(), strict=True))
            yield read_hour(close_ms + offset_ms, close_ms, reading, prices)
    market.engine = await market.brain_of(bars.rows(begin), market.engine)
