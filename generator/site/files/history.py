"""The market over time as files and figures: charts of each window and asset, the numbers as CSV, pictures to embed."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup, escape

from generator.brain.label import REGIMES
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import iso, moment
from generator.catalog.links import BADGE, HISTORY_CSV, asset_feed, embedded
from generator.catalog.text.figures import UNKNOWN
from generator.catalog.text.labels import REGIME
from generator.catalog.text.now import asset_day
from generator.catalog.words import SourceMode
from generator.compose.inputs import reading_of
from generator.compose.tick import Tick
from generator.site.charts.history import WINDOWS, Lately, Point, Window, history, line_chart, uptime
from generator.site.charts.lessons import day_charts
from generator.site.charts.plot import Chart
from generator.site.charts.sources import DATA_FROM, source_of
from generator.site.files.csv_file import csv_file
from generator.site.words.days import Day, days, regime_of
from generator.site.words.format import when
from generator.site.words.month import HourlyMonth, hourly_month
from generator.values.hours import Hour
from generator.values.rounds import Lesson

WEEK: Final = "7d"  # the window in which every asset is drawn
EVERY: Final = 4 * HOUR_MS  # between two points of funding and open interest
FILES: Final = (HISTORY_CSV, BADGE, *map(embedded, ASSETS), *map(asset_feed, ASSETS))
_HOVER: Final = re.compile(r'<rect class="hour"[^>]*/>')
_CLASS: Final = re.compile(r'class="([a-z0-9_ -]+)"')
_INK: Final = "#1c2426"
_SOFT: Final = "#55605f"
_LINE: Final = "#dcd9d0"
_ACCENT: Final = "#0b6470"
_HALO: Final = f'fill="{_SOFT}" font-size="11" stroke="#fbfaf7" stroke-width="3" paint-order="stroke"'
_LOOKS: Final = {
    "tick": _HALO,
    "axis": _HALO,
    "value": _HALO.replace(_SOFT, _INK),
    "grid": f'stroke="{_LINE}"',
    "notch": f'stroke="{_LINE}"',
    "mark": f'stroke="{_SOFT}" stroke-dasharray="5 5"',
    "line": f'fill="none" stroke="{_INK}" stroke-width="2"',
    "end": f'fill="{_INK}"',
    "row": _HALO.replace(_SOFT, _INK),
    "far90": 'fill="#c3dadb"',
    "far50": 'fill="#7fb1b5"',
    "here": f'stroke="{_INK}" stroke-width="2"',
    "fan90": 'fill="#c3dadb"',
    "fan50": 'fill="#7fb1b5"',
    "tint": "",
    "chance": "",
    "r-transition": 'fill="none"',
    "r-hatch": 'stroke="#8f9a97" stroke-width="1.2"',
    "r-risk_on": 'fill="#b4dad3"',
    "r-risk_off": 'fill="#f3d2b3"',
    "r-range": 'fill="#ecebe4"',
    "r-high_volatility": 'fill="#d3c8ea"',
    "r-mark": 'stroke="#c98a52" stroke-width="1.2"',
    "r-dot": 'fill="#6d55a3"',
}
_BADGE_MARKS: Final[Mapping[SourceMode, str]] = {
    SourceMode.SIMULATED: " (simulated)",
    SourceMode.RECORDED: " (replayed)",
}
_FONT: Final = 'font-family="Open Sans, system-ui, sans-serif"'
_CARD: Final = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 560" width="680" height="560" {_FONT} role="img">'
    '<title>{finding}</title><rect width="680" height="560" rx="12" fill="#fbfaf7"/>'
    f'<text x="20" y="30" font-size="16" font-weight="600" fill="{_INK}">{{title}}</text>'
    f'<text x="20" y="50" font-size="13" fill="{_INK}">{{moved}}</text>'
    '<g transform="translate(20 62)">{inner}</g>'
    f'<text x="20" y="548" font-size="11" fill="{_SOFT}">{{about}}</text></svg>'
)
_BADGE: Final = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{{width}}" height="20" {_FONT} role="img" font-size="12">'
    "<title>Crypto market: {regime}</title>"
    f'<rect width="{{width}}" height="20" rx="4" fill="{_ACCENT}"/>'
    f'<rect width="{{right}}" height="20" rx="4" fill="{_INK}"/>'
    '<g fill="#fff"><text x="8" y="14">crypto market</text><text x="{text}" y="14">{regime}</text></g></svg>'
)


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
    minutes: Mapping[int, int],
    lessons: Sequence[Lesson] = (),
) -> Histories:
    """Draw what is shown of the last month.

    Args:
        hours: of the last month, oldest first.
        published: every hour since the start, without those of a backtest.
        minutes: with a published tick, by the number of the day.
        lessons: of the days that have a page, without those of a backtest.
    """
    month = hourly_month(ctx.bars)
    drawn = [*_price_charts(ctx, hours), *_futures_charts(ctx)]
    drawn += day_charts(month, ctx.market_now.usual_day, source_of(ctx))
    drawn.append(uptime("uptime", minutes, ctx.freshness.generated_ms, "Source: own record of ticks."))
    charts = {chart.caption.name: chart for chart in drawn if chart is not None}

    files = {HISTORY_CSV: hours_csv(hours), BADGE: badge(hours, ctx).encode()}
    for asset in ASSETS:
        files[embedded(asset)] = card(charts.get(_week_of(asset)), asset, ctx).encode()

    # A day that was published is listed as it was published, however much of it a backtest read as well.
    backtested = hours
    if published:
        backtested = [hour for hour in hours if hour.warm_up and _day_of(hour) < _day_of(published[0])]
    listed = days([*backtested, *published], ctx.freshness.generated_ms, lessons)

    figures = {name: escape(chart) for name, chart in charts.items()}
    return Histories(charts, figures, files, month, listed)


def _price_charts(ctx: Tick, hours: Sequence[Hour]) -> Iterator[Chart | None]:
    """Draw the default asset over every window, and the others over a week."""
    source = _source_of_regimes(ctx, hours)
    for asset in ASSETS:
        for window in WINDOWS.values():
            if asset == DEFAULT_ASSET or window.name == WEEK:
                yield history(f"{asset.lower()}-{window.name}", window, _lately(ctx, asset, hours, window), source)


def _futures_charts(ctx: Tick) -> Iterator[Chart | None]:
    """Draw funding and open interest of each asset."""
    source = source_of(ctx)
    unit = "% per 8 hours"
    for asset in ASSETS:
        name = asset.lower()
        funding = [(at, 100 * rate) for at, rate in _series(ctx, asset, "funding", EVERY)]
        yield line_chart(f"{name}-funding", f"{asset} funding, {unit}", unit, funding, source)

        interest = _series(ctx, asset, "open_interest", EVERY)
        title = f"{asset} open interest, contracts"
        yield line_chart(f"{name}-interest", title, f"contracts, in {asset}", interest, source)


def _week_of(asset: str) -> str:
    """Return the name of an asset's chart over a week."""
    return f"{asset.lower()}-{WEEK}"


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


def badge(hours: Sequence[Hour], ctx: Tick) -> str:
    """Draw the regime as a badge."""
    regime = REGIME[regime_of(hours[-1])] if hours else UNKNOWN
    regime += _BADGE_MARKS.get(ctx.observation.mode, "")
    return _BADGE.format(regime=regime, width=104 + 13 * len(regime) // 2, right=96, text=102)


def card(chart: Chart | None, asset: str, ctx: Tick) -> str:
    """Draw a chart as a picture of its own; its colours are attributes, as a policy may forbid styles."""
    if chart is None:
        finding = f"{asset}: no prices are known yet"
        inner = Markup("")
    else:
        finding = chart.caption.finding
        inner = attributed(chart.inner)

    about = f"{ctx.site.project}, {DATA_FROM[ctx.observation.mode]}, {as_of(ctx)}. For learning only."
    moved = asset_day(ctx.market_now, asset) if chart else ""
    return _CARD.format(finding=finding, title=escape(finding), moved=escape(moved), inner=inner, about=escape(about))


def as_of(ctx: Tick) -> str:
    """Write the market's time: of a replay that is when its prices were made, not now."""
    return f"{moment(ctx.observation.market_ms):%-d %b %Y, %H:%M} UTC"


def attributed(inner: Markup) -> Markup:
    """Replace the classes of a drawing by attributes, and leave out what only answers a pointer."""
    plain = _HOVER.sub("", str(inner))
    styled = _CLASS.sub(lambda match: _LOOKS[match[1].split()[0]], plain)
    return Markup(styled)  # noqa: S704  ours, escaped when made


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
    return Lately(asset, ctx.observation.market_ms, closes, hours, ranges)


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
