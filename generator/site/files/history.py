"""The market over time as files and figures: charts of each window and asset, the numbers as CSV."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup, escape

from generator.brain.label import REGIMES
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.links import HISTORY_CSV, asset_feed
from generator.catalog.words import SourceMode
from generator.compose.inputs import reading_of
from generator.compose.tick import Tick
from generator.site.charts.history import WINDOWS, Lately, Point, Window, history, line_chart
from generator.site.charts.lessons import day_charts
from generator.site.charts.plot import Chart
from generator.site.charts.sources import source_of
from generator.site.files.csv_file import csv_file
from generator.site.words.days import Day, days
from generator.site.words.format import when
from generator.site.words.month import HourlyMonth, hourly_month
from generator.values.hours import Hour

EVERY: Final = 4 * HOUR_MS  # between two points of funding and open interest
FILES: Final = (HISTORY_CSV, *map(asset_feed, ASSETS))


@dataclass(frozen=True, slots=True)
class Histories:
    """What is shown of the last month."""

    charts: Mapping[str, Chart] = field(default_factory=dict)  # by name; what could not be drawn is left out
    figures: Mapping[str, Markup] = field(default_factory=dict)  # the same as pages show them
    files: Mapping[str, bytes] = field(default_factory=dict)
    month: HourlyMonth = field(default_factory=HourlyMonth)  # what the chapters of Learn count
    days: tuple[Day, ...] = ()  # newest first, those of the last month's backtest after those that were published


def histories(
    ctx: Tick,
    hours: Sequence[Hour],
    published: Sequence[Hour],
) -> Histories:
    """Draw what is shown of the last month.

    Args:
        hours: of the last month, oldest first.
        published: every hour since the start, without those of a backtest.
    """
    month = hourly_month(ctx.bars)
    drawn = [*_price_charts(ctx, hours), *_futures_charts(ctx)]
    drawn += day_charts(month, ctx.market_now.usual_day, source_of(ctx))
    charts = {chart.caption.name: chart for chart in drawn if chart is not None}

    files = {HISTORY_CSV: hours_csv(hours)}

    # A day that was published is listed as it was published, however much of it a backtest read as well.
    backtested = hours
    if published:
        backtested = [hour for hour in hours if hour.warm_up and _day_of(hour) < _day_of(published[0])]
    listed = days([*backtested, *published])

    figures = {name: escape(chart) for name, chart in charts.items()}
    return Histories(charts, figures, files, month, listed)


def _price_charts(ctx: Tick, hours: Sequence[Hour]) -> Iterator[Chart | None]:
    """Draw each asset over every window."""
    source = _source_of_regimes(ctx, hours)
    for asset in ASSETS:
        for window in WINDOWS.values():
            yield history(f"{asset.lower()}-{window.name}", window, _lately(ctx, asset, hours, window), source)


def _futures_charts(ctx: Tick) -> Iterator[Chart | None]:
    """Draw funding and open interest of each asset."""
    source = source_of(ctx)
    unit = "% per 8 hours"
    is_replay = ctx.observation.mode is SourceMode.RECORDED
    for asset in ASSETS:
        name = asset.lower()
        funding = [(at, 100 * rate) for at, rate in _series(ctx, asset, "funding", EVERY)]
        yield line_chart(f"{name}-funding", f"{asset} funding, {unit}", unit, funding, source, year=is_replay)

        interest = _series(ctx, asset, "open_interest", EVERY)
        title = f"{asset} open interest, contracts"
        yield line_chart(f"{name}-interest", title, f"contracts, in {asset}", interest, source, year=is_replay)


def _day_of(hour: Hour) -> int:
    return hour.at_ms // DAY_MS


def hours_csv(hours: Sequence[Hour]) -> bytes:
    """Write the hours as CSV: what was published first in each, or read by the backtest at its beginning."""
    chances = (f"chance_{label}" for label in REGIMES)
    prices = (f"price_{asset}" for asset in ASSETS)
    columns = ["at", "market_time", "warm_up", "regime", *chances, *prices, "chances_kind"]
    return csv_file(columns, map(_hour_row, hours))


def _hour_row(hour: Hour) -> list[Any]:
    chances = hour.chances or (None,) * len(REGIMES)
    prices = (hour.prices.get(asset) for asset in ASSETS)
    return [iso(hour.at_ms), iso(hour.market_ms), hour.warm_up, hour.label, *chances, *prices, hour.chances_kind]


def _lately(ctx: Tick, asset: str, hours: Sequence[Hour], window: Window) -> Lately:
    """Return an asset's closes up to its newest price, which is more recent than the last closed bar."""
    closes = _series(ctx, asset, "close", window.step_ms)
    newest = ctx.seen[asset]
    if newest.price is not None and newest.price_as_of_ms is not None and closes:
        last_ms, _ = closes[-1]
        if newest.price_as_of_ms > last_ms:
            closes.append((newest.price_as_of_ms, newest.price))

    reading = reading_of(ctx, asset)
    ranges = reading.ranges if reading else None
    is_replay = ctx.observation.mode is SourceMode.RECORDED
    return Lately(asset, ctx.observation.market_ms, closes, hours, ranges, year=is_replay)


def _series(ctx: Tick, asset: str, name: str, every_ms: int) -> list[Point]:
    """Return (close time in ms, value) of known bars, one each `every_ms` counted from the newest, oldest first."""
    bars = ctx.bars
    if bars is None or not len(bars):
        return []

    step = max(1, every_ms // bars.interval_ms)
    newest_first = slice(None, None, -step)
    times = (bars.t[newest_first] + bars.interval_ms)[::-1]
    values = bars.fields[name][newest_first, bars.assets.index(asset)][::-1]
    points = zip(times.tolist(), values.tolist(), strict=True)
    return [(at, value) for at, value in points if not math.isnan(value)]


def _source_of_regimes(ctx: Tick, hours: Sequence[Hour]) -> Markup:
    """Say where the prices come from, and which of the regimes are a backtest."""
    source = source_of(ctx)
    if not any(hour.warm_up for hour in hours):
        return source

    first_published = next((hour for hour in hours if not hour.warm_up), None)
    if first_published is None:
        return source + " The regimes shown are a backtest: nothing was published yet."
    return source + Markup(" Regimes before {} are a backtest.").format(when(first_published.market_ms))
