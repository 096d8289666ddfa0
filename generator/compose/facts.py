"""The facts of a tick as published, and the sentences made of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from generator.arena.scores import published_triple
from generator.brain.forecast import OutcomeChances
from generator.brain.reading import AssetReading, BrainReading, RegimeReading
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import band_percent, chance_percent, change, clock, fixed, percent, probabilities, share
from generator.catalog.horizons import HOUR
from generator.catalog.text import market
from generator.catalog.text.answers import clause
from generator.catalog.text.asset import PublishedAsset, asset_summary
from generator.catalog.text.forecast import PublishedForecast
from generator.catalog.text.labels import DERIVATIVES, FAMILY, LIQUIDITY
from generator.catalog.text.market import PublishedMarket
from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import MarketStructure, Points, RegimeLabel, Trend
from generator.compose.context import TickContext
from generator.compose.inputs import forecast_reason, is_simulated, missing_reason, observed, reading_of
from generator.market.bars import BAR_MS, BarFrame

FEWEST_BARS: Final = 2  # for a change from one to the next


def moves(ctx: TickContext) -> dict[str, float]:
    """Return the published changes over 24 hours, percent, of the assets that have one."""
    changes = {asset: change(observed(ctx, asset).change_24h_percent) for asset in ASSETS}
    return {asset: moved for asset, moved in changes.items() if moved is not None}


def market_trend(ctx: TickContext) -> Trend:
    """Return the market's trend by the side that its last 24 hours were on."""
    return market.TREND_OF_SIDE.get(ctx.side, Trend.UNKNOWN)


def facts(ctx: TickContext) -> PublishedMarket:
    """Return what is said of the market at this tick."""
    now_ms = ctx.observation.market_ms
    as_of = clock(now_ms, now_ms) or ""
    if ctx.reading is None:
        counted = market_facts(None, moves(ctx), missing=clause(missing_reason(ctx)))
        return replace(
            counted,
            side=ctx.side,
            trend=market_trend(ctx),
            hours=last_bars_hour(ctx.bars),
            as_of=as_of,
        )
    return replace(market_facts(ctx.reading, moves(ctx), now_ms=now_ms), as_of=as_of)


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
    axes = regime.axes
    week = regime.facts
    at_ms = now_ms or reading.t_ms + BAR_MS
    return replace(
        counted,
        label=regime.label,
        confidence=share(regime.confidence),
        chances=published_chances(regime),
        volatility=axes.swings,
        side=axes.side,
        trend=regime.trend,
        usual_day=_percent(week.usual_day),
        usual_days_kept=week.usual_days,
        most_since=clock(week.since_ms, at_ms),
        since_share=fixed(week.since_share, 2),
        hours=_hours(reading),
        move_rank=share(week.move_rank),
        largest_of=week.largest_of,
        risk_score=percent(regime.risk_score),
        hour_rank=share(week.hour_rank),
        volume_ratio=fixed(week.volume_ratio, 2),
        correlation=fixed(week.correlation, 2),
        hour_range=_hour_range(reading.assets.get(DEFAULT_ASSET)),
        futures=_futures(reading),
    )


def last_bars_hour(bars: BarFrame | None) -> dict[str, float]:
    """Return the published changes over the last of some 60-minute bars, percent; none of other bars."""
    if bars is None or bars.interval_ms != HOUR_MS or len(bars) < FEWEST_BARS:
        return {}
    if int(bars.t[-1]) - int(bars.t[-2]) != HOUR_MS:
        return {}

    before, last = bars.fields["close"][-2:].tolist()
    changes = {}
    for asset, start, end in zip(bars.assets, before, last, strict=True):
        moved = change(100 * (end / start - 1.0)) if start > 0 else None
        if moved is not None:
            changes[asset] = moved
    return changes


def published_chances(regime: RegimeReading) -> dict[RegimeLabel, float]:
    """Return the chances of the four labels in four hours as published, in percent; none without a label."""
    if regime.confidence is None:
        return {}
    chances = probabilities(tuple(regime.holding.values()))
    return {label: round(100 * chance, 2) for label, chance in zip(regime.holding, chances, strict=True)}


def headline(ctx: TickContext) -> str:
    """Return the market's state, its day and, where it stands out, its hour, in at most 240 characters."""
    return market.headline(facts(ctx))


def regime_sentence(ctx: TickContext) -> str:
    """Say what the market did, how far it may move and what the regime is."""
    return market.summary(facts(ctx))


def asset_facts(ctx: TickContext, asset: str) -> PublishedAsset:
    """Return what is said of one asset at this tick."""
    moved = change(observed(ctx, asset).change_24h_percent)
    read = reading_of(ctx, asset)
    if read is None:
        return PublishedAsset(asset, moved, missing=clause(missing_reason(ctx)))
    now_ms = ctx.observation.market_ms
    if read.forecast is not None:
        return read_facts(read, moved, now_ms, simulated=is_simulated(ctx))

    first_reason = forecast_reason(ctx, asset).partition(";")[0]
    return read_facts(read, moved, now_ms, missing=clause(first_reason), simulated=is_simulated(ctx))


def read_facts(
    read: AssetReading, moved: float | None, now_ms: int, *, missing: str = "", simulated: bool
) -> PublishedAsset:
    """Return one asset's facts.

    Args:
        moved: its change over 24 hours as published, percent.
        now_ms: market time, for how a time is written.
        missing: why there is no forecast.
        simulated: whether the market is.
    """
    week = read.facts
    rose = read.structure is MarketStructure.BREAKOUT
    words = (LIQUIDITY[read.liquidity], DERIVATIVES[read.derivatives])
    published = PublishedAsset(
        asset=read.asset,
        change=moved,
        usual_day=_percent(week.usual_day),
        structure=read.structure,
        place=fixed(week.place_in_week, 2),
        hour_range=_hour_range(read),
        notes=tuple(word.reading for word in words if word.most),
        missing=missing,
        hour=_percent(week.hour),
        hour_rank=share(week.hour_rank),
        last_3h=_percent(week.last_3h),
        broke_at=clock(week.broke_high_ms if rose else week.broke_low_ms, now_ms),
        off_edge=_percent(week.below_high if rose else week.above_low),
    )
    if read.forecast is None:
        return published

    return replace(
        published,
        forecast=PublishedForecast(
            call=read.forecast.call,
            chances=_chances(read.forecast.probabilities),
            base=_chances(read.forecast.base_rate),
            band=band_percent(read.forecast.band_bps),
            points=(_families(read, Points.UP), _families(read, Points.DOWN)),
            simulated=simulated,
        ),
    )


def asset_sentence(ctx: TickContext, asset: str) -> str:
    """Say what one asset did, how far it may move and which way."""
    return asset_summary(asset_facts(ctx, asset))


def _families(read: AssetReading, way: Points) -> tuple[str, ...]:
    """Name the families of evidence that point one way."""
    return tuple(FAMILY[row.family] for row in read.evidence if row.points is way)


def _chances(values: OutcomeChances) -> tuple[float, float, float]:
    """Return three chances as published, in percent."""
    down, neutral, up = map(chance_percent, published_triple(values))
    return down, neutral, up


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else fixed(100 * fraction, 2)


def _hour_range(read: AssetReading | None) -> tuple[float, float] | None:
    """Return the 90% range of the next hour, percent; None where unknown."""
    if read is None or not read.ranges:
        return None
    hour = read.ranges[HOUR]
    return round(100 * hour.low_90, 2), round(100 * hour.high_90, 2)


def _hours(reading: BrainReading) -> dict[str, float]:
    """Return the published changes over the last hour, percent, of the assets that have one."""
    changes = {asset: _percent(read.facts.hour) for asset, read in reading.assets.items()}
    return {asset: moved for asset, moved in changes.items() if moved is not None}


def _futures(reading: BrainReading) -> str:
    """Say what the futures of more than half of the assets show; empty where no word has so many."""
    words = Counter(read.derivatives for read in reading.assets.values())
    word, count = words.most_common(1)[0]
    return DERIVATIVES[word].most if 2 * count > len(reading.assets) else ""
