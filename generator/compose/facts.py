"""The facts of a tick as published."""

import math
from dataclasses import replace
from typing import Final

from generator.arena.scores import published_triple
from generator.brain.reading import AssetReading, BrainReading, RegimeReading
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import (
    band_percent,
    chance_percent,
    change,
    fixed,
    price,
    probabilities,
    share,
)
from generator.catalog.horizons import HOUR
from generator.catalog.text.happened import Chance, Coin, MarketFacts, Situation
from generator.catalog.text.market import TREND_OF_SIDE, PublishedMarket
from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import RegimeLabel, Trend
from generator.compose.context import TickContext
from generator.compose.inputs import fresh, reading_age, reading_of
from generator.market.bars import BarFrame
from generator.values.chances import Probabilities

FEWEST_BARS: Final = 2  # for a change from one to the next


def _moves(ctx: TickContext) -> dict[str, float]:
    """Return the published changes over 24 hours, percent, of the assets that have one."""
    changes = {asset: change(ctx.seen[asset].change_24h_percent) for asset in ASSETS}
    return {asset: moved for asset, moved in changes.items() if moved is not None}


def market_trend(ctx: TickContext) -> Trend:
    """Return the market's trend by the side that its last 24 hours were on."""
    return TREND_OF_SIDE.get(ctx.side, Trend.UNKNOWN)


def counted(ctx: TickContext) -> PublishedMarket:
    """Return what happened in the market by this tick."""
    changes = _moves(ctx)
    up = sum(moved > FLAT_PERCENT for moved in changes.values())
    down = sum(moved < -FLAT_PERCENT for moved in changes.values())
    market = PublishedMarket(changes=changes, up=up, down=down, flat=len(changes) - up - down)
    if ctx.reading is None:
        return replace(market, hours=last_bars_hour(ctx.bars))

    week = ctx.reading.regime.facts
    return replace(
        market,
        usual_day=_percent(week.usual_day),
        usual_days_kept=week.usual_days,
        hours=_hours(ctx.reading),
        move_rank=share(week.move_rank),
        correlation=fixed(week.correlation, 2),
    )


def last_bars_hour(bars: BarFrame | None) -> dict[str, float]:
    """Return the published changes over the last of some 60-minute bars, percent; none of other bars."""
    if bars is None or bars.interval_ms != HOUR_MS or len(bars) < FEWEST_BARS:
        return {}
    # With a bar missing in between, the change is not that of an hour.
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


def market_now(ctx: TickContext) -> MarketFacts:
    """Return the market's facts with the numbers that are published at this tick."""
    now_ms = ctx.observation.market_ms
    happened = ctx.reading.market if ctx.reading else ctx.market
    # A reading of an old bar says nothing of now.
    if happened is None or reading_age(ctx):
        happened = MarketFacts(now_ms=now_ms)

    coins = {asset: _coin_now(ctx, asset, happened.coins.get(asset)) for asset in ASSETS}
    watched_ms, first_price = _watched(ctx.bars, now_ms)
    return replace(
        happened,
        now_ms=now_ms,
        coins={asset: coin for asset, coin in coins.items() if coin is not None},
        names=ASSET_NAMES,
        # Hours count from the first that has a move, which of a record of a day is far from all of it.
        record_days=happened.record_days if happened.record_days >= 1 else watched_ms / DAY_MS,
        first_price=first_price,
    )


def _coin_now(ctx: TickContext, asset: str, coin: Coin | None) -> Coin | None:
    """Return a coin with its published price, day, range and forecast; None without a price.

    Of an old price nothing but its age is known.
    """
    seen = ctx.seen[asset]
    now = price(seen.price)
    if now is None:
        return None
    now_ms = ctx.observation.market_ms
    if seen.price_as_of_ms is not None and not fresh(ctx, asset):
        last = Coin(price=now, day=None, minutes_old=(now_ms - seen.price_as_of_ms) / MINUTE_MS)
        if last.is_stale:
            return last
    read = reading_of(ctx, asset)
    reach = _hour_range(read)
    moved = Coin(
        price=now,
        day=change(seen.change_24h_percent),
        hour_range=None if reach is None else (now * (1 + reach[0] / 100), now * (1 + reach[1] / 100)),
        chance=_chance(read),
    )
    if coin is None:
        return moved

    # The price of this minute may lie beyond the day's closed bars.
    is_top = coin.high is not None and now > coin.high
    is_bottom = coin.low is not None and now < coin.low
    return moved._replace(
        hour=coin.hour,
        high=now if is_top else coin.high,
        low=now if is_bottom else coin.low,
        high_ms=now_ms if is_top else coin.high_ms,
        low_ms=now_ms if is_bottom else coin.low_ms,
    )


def _chance(read: AssetReading | None) -> Chance | None:
    """Return whether the price will have left its band, as published."""
    if read is None or read.forecast is None:
        return None
    forecast = read.forecast
    down, small, up = _chances(forecast.probabilities)
    _, usual_small, _ = _chances(forecast.base_rate)
    return Chance(forecast.call, small, usual_small, up, down, band_percent(forecast.band_bps))


def _watched(bars: BarFrame | None, now_ms: int) -> tuple[int, float | None]:
    """Return for how long bars have been kept, and the first close of Bitcoin among them."""
    if bars is None or not len(bars) or DEFAULT_ASSET not in bars.assets:
        return 0, None
    closes = bars.fields["close"][:, bars.assets.index(DEFAULT_ASSET)].tolist()
    first = next((close for close in closes if math.isfinite(close)), None)
    return max(0, now_ms - int(bars.t[0])), first


def situation_of(market: MarketFacts) -> str | None:
    """Return what the headline is about, by its name in small letters; None where no situation is known."""
    situation = market.situation
    return None if situation is Situation.UNKNOWN else situation.name.lower()


def _chances(values: Probabilities) -> tuple[float, float, float]:
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
    # Rounded as published, so that the prices made from it agree with the range that a reader sees.
    return round(hour.low_90, 2), round(hour.high_90, 2)


def _hours(reading: BrainReading) -> dict[str, float]:
    """Return the published changes over the last hour, percent, of the assets that have one."""
    changes = {asset: _percent(read.facts.hour) for asset, read in reading.assets.items()}
    return {asset: moved for asset, moved in changes.items() if moved is not None}
