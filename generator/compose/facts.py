"""The facts of a tick as published, and the sentences made of them."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from generator.arena.scores import published_triple
from generator.brain.forecast import OutcomeChances
from generator.brain.reading import AssetReading, BrainReading, RegimeReading
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.formats import change, fixed, percent, probabilities, share
from generator.catalog.text import market
from generator.catalog.text.labels import DERIVATIVES, FAMILY, LIQUIDITY
from generator.catalog.text.market import FLAT, AssetFacts, Facts
from generator.catalog.words import Points, RegimeLabel, Trend
from generator.compose.context import TickContext
from generator.compose.inputs import commonest, forecast_reason, missing_reason, observed, reading_of
from generator.market.bars import BAR_MS


def moves(ctx: TickContext) -> dict[str, float]:
    """Return the published changes over 24 hours of the assets that have one."""
    found = {asset: change(observed(ctx, asset).change_24h_percent) for asset in ASSETS}
    return {asset: moved for asset, moved in found.items() if moved is not None}


def market_trend(ctx: TickContext) -> Trend:
    """Return the trend of most assets, sideways on a tie, unknown with fewer than three."""
    known = (word for word in ctx.trends.values() if word != Trend.UNKNOWN)
    return Trend(commonest(known, Trend.SIDEWAYS) or Trend.UNKNOWN)


def facts(ctx: TickContext) -> Facts:
    """Return what is said of the market at this tick."""
    if ctx.reading is None:
        return market_facts(None, moves(ctx), missing=missing_reason(ctx))
    return market_facts(ctx.reading, moves(ctx), now_ms=ctx.observation.market_ms)


def market_facts(
    reading: BrainReading | None, changes: Mapping[str, float], *, now_ms: int | None = None, missing: str = ""
) -> Facts:
    """Return the market's facts.

    Args:
        changes: over 24 hours as published, percent, of the assets where they are known.
        now_ms: market time, for how a time is written; the close of the last bar by default.
        missing: why there is no reading.
    """
    up, down = sum(moved > FLAT for moved in changes.values()), sum(moved < -FLAT for moved in changes.values())
    counted: dict[str, Any] = {"changes": changes, "up": up, "down": down, "flat": len(changes) - up - down}
    if reading is None:
        return Facts(missing=missing, **counted)
    now, week = reading.regime, reading.regime.facts
    close_ms = reading.t_ms + BAR_MS
    return Facts(
        label=now.label,
        confidence=share(now.confidence),
        chances=published_chances(now),
        since=_clock(now.since_ms, now_ms or close_ms),
        trend=now.trend,
        volatility=now.volatility,
        **counted,
        usual_day=_percent(week.usual_day),
        since_hour=week.since_hour,
        since_share=fixed(week.since_share, 2),
        risk_score=percent(now.risk_score),
        hour_rank=share(week.hour_rank),
        volume_ratio=fixed(week.volume_ratio, 2),
        correlation=fixed(week.correlation, 2),
        hour_range=_hour_range(reading.assets.get(DEFAULT_ASSET)),
        futures=_futures(reading),
    )


def published_chances(now: RegimeReading) -> dict[RegimeLabel, float]:
    """Return the chances of the four regimes as published, in percent."""
    values = probabilities(tuple(now.posterior.values())) if now.label is not RegimeLabel.UNKNOWN else ()
    return {label: round(100 * value, 2) for label, value in zip(now.posterior, values, strict=False)}


def headline(ctx: TickContext) -> str:
    """Return the market in one sentence of at most 140 characters."""
    return market.headline(facts(ctx))


def regime_sentence(ctx: TickContext) -> str:
    """Say what the market did, how far it may move and what the regime is."""
    return market.summary(facts(ctx))


def asset_facts(ctx: TickContext, asset: str) -> AssetFacts:
    """Return what is said of one asset at this tick."""
    read = reading_of(ctx, asset)
    moved = change(observed(ctx, asset).change_24h_percent)
    if read is None:
        return AssetFacts(asset, moved, missing=missing_reason(ctx))
    return read_facts(
        read, moved, missing=forecast_reason(ctx, asset).partition(";")[0] if read.forecast is None else ""
    )


def read_facts(read: AssetReading, moved: float | None, *, missing: str = "") -> AssetFacts:
    """Return one asset's facts; `moved` is its published change over 24 hours in percent."""
    said, week = read.forecast, read.facts
    sides = [
        tuple(FAMILY[row.family] for row in read.evidence if row.points is way) for way in (Points.UP, Points.DOWN)
    ]
    notes = [text.reading for text in (LIQUIDITY[read.liquidity], DERIVATIVES[read.derivatives]) if text.most]
    return AssetFacts(
        asset=read.asset,
        change=moved,
        usual_day=_percent(week.usual_day),
        structure=read.structure,
        place=fixed(week.place_in_week, 2),
        hour_range=_hour_range(read),
        forecast=read.bias if said else None,
        chances=_chances(said.probabilities) if said else None,
        base=_chances(said.base_rate) if said else None,
        points=(sides[0], sides[1]),
        notes=tuple(notes),
        missing=missing,
    )


def asset_sentence(ctx: TickContext, asset: str) -> str:
    """Say what one asset did, how far it may move and which way."""
    return market.asset_summary(asset_facts(ctx, asset))


def _chances(values: OutcomeChances) -> tuple[float, float, float]:
    """Return three chances as published, in percent."""
    down, neutral, up = (round(100 * one, 2) for one in published_triple(values))
    return down, neutral, up


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else fixed(100 * fraction, 2)


def _hour_range(read: AssetReading | None) -> tuple[float, float] | None:
    hour = read.ranges["1h"] if read and read.ranges else None
    return None if hour is None else (round(100 * hour.low_90, 2), round(100 * hour.high_90, 2))


def _clock(at_ms: int, now_ms: int) -> str:
    """Write a time of the last day as `14:05 UTC`, an older one with its date."""
    at, now = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (at_ms, now_ms))
    return at.strftime("%H:%M UTC") if now - at < timedelta(days=1) else f"{at.day} {at.strftime('%b, %H:%M')} UTC"


def _futures(reading: BrainReading) -> str:
    words = Counter(read.derivatives for read in reading.assets.values())
    word, count = words.most_common(1)[0]
    return DERIVATIVES[word].most if 2 * count > len(reading.assets) else ""
