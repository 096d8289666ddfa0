"""What was published over the last month by hour, and over the last day every five minutes: a part of ATLAS."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pydantic import Field

from generator.brain.past import past
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import fixed, iso, significant
from generator.catalog.text import series as texts
from generator.catalog.words import MarketSide, VolatilityWord
from generator.compose.body import Body, encode
from generator.compose.context import TickContext
from generator.market.bars import BAR_MS, BarFrame
from generator.values.series import KeptSeries, KeptSpans

HOURS: Final = 30 * 24
BARS: Final = DAY_MS // BAR_MS
# Every digit of a series costs three kilobytes, compressed. These are what a chart shows.
_PRICE_DIGITS: Final = 5
_DIGITS: Final = 3
_FEW_DIGITS: Final = 2
SERIES: Final = "What was published before: 30 days by hour and 24 hours by five minutes, one array a quantity."

Column = tuple[float | None, ...]


class SeriesSince(Body):
    """The time that the first value of each quantity is of, ISO 8601 UTC; null where none is kept."""

    price: str | None = Field(description="Of price.")
    realised_percent: str | None = Field(description="Of realised_percent.")
    trend: str | None = Field(description="Of trend; kept from the service's first tick on.")
    volatility: str | None = Field(description="Of volatility; kept from the first tick on.")
    funding_rate_8h_percent: str | None = Field(description="Of funding, of every venue; kept from the first tick on.")
    open_interest_usd: str | None = Field(description="Of open interest; kept from the first tick on.")
    depth_1pct_usd: str | None = Field(description="Of depth; kept from the first tick on.")
    spread_bps: str | None = Field(description="Of spread; kept from the first tick on.")
    disagreement_bps: str | None = Field(description="Of the venues' disagreement; kept from the first tick on.")


class HourlySince(SeriesSince):
    """The same, with ranges."""

    ranges: str | None = Field(description="Of low_90, high_90 and held_90; kept from the first tick on.")


class AssetSeries(Body):
    """The values of one asset, oldest first; empty where none is kept."""

    price: Column = Field(description="Close of the bar that ends then, US dollars, 5 significant digits.")
    realised_percent: Column = Field(
        description="Realised volatility of the hour before: root of the sum of its squared 5-minute log returns."
    )
    funding_rate_8h_percent: dict[str, Column] = Field(description="Venue to its funding rate per 8 hours, percent.")
    open_interest_usd: Column = Field(description="Open interest of all venues, US dollars.")
    depth_1pct_usd: Column = Field(description="Resting within 1% of the mid, both sides, US dollars.")
    spread_bps: Column = Field(description="Best ask less best bid, basis points.")
    disagreement_bps: Column = Field(description="Highest less lowest price of the venues, basis points.")


class HourlyAssetSeries(AssetSeries):
    """The same, with the ranges that were published and whether they held."""

    low_90: Column = Field(description="Lower end of the 90% range for the hour that begins then, percent.")
    high_90: Column = Field(description="Its upper end.")
    held_90: tuple[bool | None, ...] = Field(
        description="Whether the price ended within it; null while that is not known, and where it never was."
    )


class MarketSeries(Body):
    """The words of the market, oldest first; empty where none is kept."""

    trend: tuple[MarketSide | None, ...] = Field(description="Side of the 24 hours before.")
    volatility: tuple[VolatilityWord | None, ...] = Field(description="How rough the next four hours looked then.")


class FiveMinuteSeries(Body):
    """The last 24 hours by five minutes."""

    step_minutes: int = Field(description="Minutes from one value to the next.")
    until: str = Field(description="The time that the last value of every quantity is of, ISO 8601 UTC.")
    since: SeriesSince = Field(description="The time that the first value of each is of.")
    market: MarketSeries = Field(description="The words of the market.")
    assets: dict[str, AssetSeries] = Field(description="Asset symbol to its values.")


class HourlySeries(Body):
    """The last 30 days by hour."""

    step_minutes: int = Field(description="Minutes from one value to the next.")
    until: str = Field(description="The time that the last value of every quantity is of, ISO 8601 UTC.")
    since: HourlySince = Field(description="The time that the first value of each is of.")
    market: MarketSeries = Field(description="The words of the market.")
    assets: dict[str, HourlyAssetSeries] = Field(description="Asset symbol to its values.")


class SeriesBlock(Body):
    """The series, with what they can be checked by."""

    text: str = Field(description="How to read it.")
    by_hour: HourlySeries = Field(description="The last 30 days by hour.")
    by_five_minutes: FiveMinuteSeries = Field(description="The last 24 hours by five minutes.")
    sha256: str = Field(
        description="SHA-256 of an object of by_hour and by_five_minutes in this order, without spaces, in UTF-8, "
        "lowercase hex."
    )
    log_size: int = Field(description="Entries in the transparency log.")
    checkpoint_digest: str | None = Field(description="Digest of its newest checkpoint; null before the first.")


def series_block(ctx: TickContext) -> SeriesBlock:
    """Compose the series."""
    now_ms = ctx.freshness.generated_ms // BAR_MS * BAR_MS
    # Bars of a recording carry the time at which they were recorded.
    by_hour, by_five_minutes, sha256 = _series(_Given(ctx.bars, ctx.kept, now_ms, ctx.freshness.offset_ms or 0))
    return SeriesBlock(
        text=texts.HOW_TO_READ,
        by_hour=by_hour,
        by_five_minutes=by_five_minutes,
        sha256=sha256,
        log_size=ctx.arena.log_size,
        checkpoint_digest=ctx.arena.checkpoint_digest,
    )


class _Given(NamedTuple):
    """What the series are made from: the same objects in five ticks of six."""

    bars: BarFrame | None
    kept: KeptSeries
    now_ms: int  # wall time, when the newest bar may have ended
    offset_ms: int  # from the time of a bar to its wall time


class _Quantity(NamedTuple):
    """One quantity of every asset: its columns, cut to where the first of them is known, and the time of that."""

    since: str | None
    columns: Mapping[str, tuple[Any, ...]]


@lru_cache(maxsize=1)
def _series(given: _Given) -> tuple[HourlySeries, FiveMinuteSeries, str]:
    """Return both parts, and the digest of them."""
    by_hour = _hourly(given)
    by_five_minutes = _five_minutes(given)
    content = encode({"by_hour": by_hour.as_json(), "by_five_minutes": by_five_minutes.as_json()})
    return by_hour, by_five_minutes, hashlib.sha256(content).hexdigest()


def _hourly(given: _Given) -> HourlySeries:
    times = _times(given, HOUR_MS, HOURS)
    quantities = _quantities(given, given.kept.hours, times)
    market = _market(given.kept.hours, times)

    said = {asset: [given.kept.ranges.get(asset, {}).get(at_ms) for at_ms in times] for asset in ASSETS}
    ranges = _cut(said, times)
    return HourlySeries(
        step_minutes=HOUR_MS // MINUTE_MS,
        until=iso(times[-1]),
        since=HourlySince(**_since(quantities, market), ranges=ranges.since),
        market=_words(market),
        assets={
            asset: HourlyAssetSeries(
                **_columns(quantities, asset),
                low_90=_brief([row and row.low_90 for row in ranges.columns[asset]], _FEW_DIGITS),
                high_90=_brief([row and row.high_90 for row in ranges.columns[asset]], _FEW_DIGITS),
                held_90=tuple(row and row.held for row in ranges.columns[asset]),
            )
            for asset in ASSETS
        },
    )


def _five_minutes(given: _Given) -> FiveMinuteSeries:
    times = _times(given, BAR_MS, BARS)
    quantities = _quantities(given, given.kept.bars, times)
    market = _market(given.kept.bars, times)
    return FiveMinuteSeries(
        step_minutes=BAR_MS // MINUTE_MS,
        until=iso(times[-1]),
        since=SeriesSince(**_since(quantities, market)),
        market=_words(market),
        assets={asset: AssetSeries(**_columns(quantities, asset)) for asset in ASSETS},
    )


def _times(given: _Given, step_ms: int, count: int) -> list[int]:
    """Return the wall times of the values, the newest at or before the tick."""
    last_ms = given.now_ms // step_ms * step_ms
    return [last_ms - place * step_ms for place in reversed(range(count))]


def _quantities(given: _Given, spans: KeptSpans, times: Sequence[int]) -> dict[str, _Quantity]:
    """Return every quantity but funding by its name, and funding by `funding <venue>`."""
    of_bars = past(given.bars, ASSETS, [at_ms - given.offset_ms for at_ms in times])
    quantities = {
        "price": _cut({asset: _brief(of_bars.closes[asset], _PRICE_DIGITS) for asset in ASSETS}, times),
        "realised_percent": _cut({asset: _brief(of_bars.realised[asset], _FEW_DIGITS) for asset in ASSETS}, times),
    }

    rows = [spans.venues.get(at_ms, {}) for at_ms in times]
    of_asset = {asset: [row.get(asset) or {} for row in rows] for asset in ASSETS}
    kept: dict[str, tuple[str, Callable[[float | None], float | None]]] = {
        "open_interest_usd": ("interest_usd", lambda value: significant(value, _DIGITS)),
        "depth_1pct_usd": ("depth_usd", lambda value: significant(value, _FEW_DIGITS)),
        "spread_bps": ("spread_bps", lambda value: significant(value, _FEW_DIGITS)),
        "disagreement_bps": ("disagreement_bps", lambda value: fixed(value, 1)),
    }
    for name, (kept_as, published) in kept.items():
        columns = {asset: [published(seen.get(kept_as)) for seen in of_asset[asset]] for asset in ASSETS}
        quantities[name] = _cut(columns, times)

    quantities["funding_rate_8h_percent"] = _cut({asset: _funding(of_asset[asset]) for asset in ASSETS}, times)
    return quantities


def _funding(seen: Sequence[Mapping[str, Any]]) -> list[dict[str, float] | None]:
    """Return the rates of the venues at each time, percent; None without any."""
    return [
        {venue: 100 * rate for venue, rate in (row.get("funding") or {}).items() if rate is not None} or None
        for row in seen
    ]


def _cut(columns: Mapping[str, Sequence[Any]], times: Sequence[int]) -> _Quantity:
    """Leave out the times before the first at which a column has a value."""
    known = (any(value is not None for value in row) for row in zip(*columns.values(), strict=True))
    first = next((place for place, is_known in enumerate(known) if is_known), None)
    if first is None:
        return _Quantity(None, dict.fromkeys(columns, ()))
    return _Quantity(iso(times[first]), {name: tuple(column[first:]) for name, column in columns.items()})


def _columns(quantities: Mapping[str, _Quantity], asset: str) -> dict[str, Any]:
    """Return the columns of one asset, funding by venue."""
    columns: dict[str, Any] = {name: quantity.columns[asset] for name, quantity in quantities.items()}
    rates = columns["funding_rate_8h_percent"]
    venues = sorted({venue for row in rates if row for venue in row})
    columns["funding_rate_8h_percent"] = {
        venue: _rounded([row and row.get(venue) for row in rates], 4) for venue in venues
    }
    return columns


def _market(spans: KeptSpans, times: Sequence[int]) -> dict[str, _Quantity]:
    """Return the two words of the market."""
    words = [spans.words.get(at_ms) for at_ms in times]
    return {
        "trend": _cut({"market": [word and word.trend for word in words]}, times),
        "volatility": _cut({"market": [word and word.volatility for word in words]}, times),
    }


def _words(market: Mapping[str, _Quantity]) -> MarketSeries:
    return MarketSeries(trend=market["trend"].columns["market"], volatility=market["volatility"].columns["market"])


def _since(quantities: Mapping[str, _Quantity], market: Mapping[str, _Quantity]) -> dict[str, str | None]:
    return {name: quantity.since for name, quantity in (*quantities.items(), *market.items())}


def _brief(values: Sequence[float | None], digits: int) -> Column:
    return tuple(significant(value, digits) for value in values)


def _rounded(values: Sequence[float | None], decimals: int) -> Column:
    return tuple(fixed(value, decimals) for value in values)
