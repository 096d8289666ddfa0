"""The facts of a tick as published, and the sentences made of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from generator.arena.scores import published_triple
from generator.brain.forecast import OutcomeChances
from generator.brain.reading import AssetReading, BrainReading, RegimeReading
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.formats import change, fixed, percent, probabilities, share
from generator.catalog.horizons import HOUR
from generator.catalog.text import market
from generator.catalog.text.labels import DERIVATIVES, FAMILY, LIQUIDITY
from generator.catalog.text.market import PublishedAsset, PublishedMarket
from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import Points, RegimeLabel, Trend
from generator.compose.context import TickContext
from generator.compose.inputs import commonest, forecast_reason, missing_reason, observed, reading_of
from generator.market.bars import BAR_MS

_DAY: Final = timedelta(days=1)


def moves(ctx: TickContext) -> dict[str, float]:
    """Return the published changes over 24 hours, percent, of the assets that have one."""
    changes = {asset: change(observed(ctx, asset).change_24h_percent) for asset in ASSETS}
    return {asset: moved for asset, moved in changes.items() if moved is not None}


def market_trend(ctx: TickContext) -> Trend:
    """Return the trend of most assets, sideways on a tie, unknown with fewer than three."""
    trends = (word for word in ctx.trends.values() if word != Trend.UNKNOWN)
    return Trend(commonest(trends, Trend.SIDEWAYS) or Trend.UNKNOWN)


def facts(ctx: TickContext) -> PublishedMarket:
    """Return what is said of the market at this tick."""
    if ctx.reading is None:
        return market_facts(None, moves(ctx), missing=missing_reason(ctx))
    return market_facts(ctx.reading, moves(ctx), now_ms=ctx.observation.market_ms)


def market_facts(
    reading: BrainReading | None, changes: Mapping[str, float], *, now_ms: int | None = None, missing: str = ""
) -> PublishedMarket:
    """Return the market's facts.

    Args:
        changes: over 24 hours as published, percent, of the assets where they are known.
        now_ms: market time, for how a time is written; the close of the last bar by default.
        missing: why there is no reading.
    """
    up = sum(moved > FLAT_PERCENT for moved in changes.values())
    down = sum(moved < -FLAT_PERCENT for moved in changes.values())
    counted = PublishedMarket(changes=changes, up=up, down=down, flat=len(changes) - up - down)
    if reading is None:
        return replace(counted, missing=missing)

    regime = reading.regime
    week = regime.facts
    close_ms = reading.t_ms + BAR_MS
    return replace(
        counted,
        label=regime.label,
        confidence=share(regime.confidence),
        chances=published_chances(regime),
        since=_clock(regime.since_ms, now_ms or close_ms),
        trend=regime.trend,
        volatility=regime.volatility,
        usual_day=_percent(week.usual_day),
        since_hour=week.since_hour,
        since_share=fixed(week.since_share, 2),
        risk_score=percent(regime.risk_score),
        hour_rank=share(week.hour_rank),
        volume_ratio=fixed(week.volume_ratio, 2),
        correlation=fixed(week.correlation, 2),
        hour_range=_hour_range(reading.assets.get(DEFAULT_ASSET)),
        futures=_futures(reading),
    )


def published_chances(regime: RegimeReading) -> dict[RegimeLabel, float]:
    """Return the chances of the four regimes as published, in percent; none of an unknown regime."""
    if regime.label is RegimeLabel.UNKNOWN:
        return {}
    chances = probabilities(tuple(regime.posterior.values()))
    return {label: round(100 * chance, 2) for label, chance in zip(regime.posterior, chances, strict=True)}


def headline(ctx: TickContext) -> str:
    """Return the market in one sentence of at most 140 characters."""
    return market.headline(facts(ctx))


def regime_sentence(ctx: TickContext) -> str:
    """Say what the market did, how far it may move and what the regime is."""
    return market.summary(facts(ctx))


def asset_facts(ctx: TickContext, asset: str) -> PublishedAsset:
    """Return what is said of one asset at this tick."""
    moved = change(observed(ctx, asset).change_24h_percent)
    read = reading_of(ctx, asset)
    if read is None:
        return PublishedAsset(asset, moved, missing=missing_reason(ctx))
    if read.forecast is not None:
        return read_facts(read, moved)

    first_reason = forecast_reason(ctx, asset).partition(";")[0]
    return read_facts(read, moved, missing=first_reason)


def read_facts(read: AssetReading, moved: float | None, *, missing: str = "") -> PublishedAsset:
    """Return one asset's facts.

    Args:
        moved: its change over 24 hours as published, percent.
        missing: why there is no forecast.
    """
    words = (LIQUIDITY[read.liquidity], DERIVATIVES[read.derivatives])
    published = PublishedAsset(
        asset=read.asset,
        change=moved,
        usual_day=_percent(read.facts.usual_day),
        structure=read.structure,
        place=fixed(read.facts.place_in_week, 2),
        hour_range=_hour_range(read),
        points=(_families(read, Points.UP), _families(read, Points.DOWN)),
        notes=tuple(word.reading for word in words if word.most),
        missing=missing,
    )
    if read.forecast is None:
        return published

    return replace(
        published,
        forecast=read.bias,
        chances=_chances(read.forecast.probabilities),
        base=_chances(read.forecast.base_rate),
    )


def asset_sentence(ctx: TickContext, asset: str) -> str:
    """Say what one asset did, how far it may move and which way."""
    return market.asset_summary(asset_facts(ctx, asset))


def _families(read: AssetReading, way: Points) -> tuple[str, ...]:
    """Name the families of evidence that point one way."""
    return tuple(FAMILY[row.family] for row in read.evidence if row.points is way)


def _chances(values: OutcomeChances) -> tuple[float, float, float]:
    """Return three chances as published, in percent."""
    down, neutral, up = (round(100 * chance, 2) for chance in published_triple(values))
    return down, neutral, up


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else fixed(100 * fraction, 2)


def _hour_range(read: AssetReading | None) -> tuple[float, float] | None:
    """Return the 90% range of the next hour, percent; None where unknown."""
    if read is None or not read.ranges:
        return None
    hour = read.ranges[HOUR]
    return round(100 * hour.low_90, 2), round(100 * hour.high_90, 2)


def _clock(at_ms: int, now_ms: int) -> str:
    """Write a time of the last day as `14:05 UTC`, an older one with its date."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    if now - at < _DAY:
        return at.strftime("%H:%M UTC")
    return f"{at.day} {at.strftime('%b, %H:%M')} UTC"


def _futures(reading: BrainReading) -> str:
    """Say what the futures of more than half of the assets show; empty where no word has so many."""
    words = Counter(read.derivatives for read in reading.assets.values())
    word, count = words.most_common(1)[0]
    return DERIVATIVES[word].most if 2 * count > len(reading.assets) else ""
