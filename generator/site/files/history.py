"""The market over time as files and figures: charts of each window and asset, the numbers as CSV, pictures to embed."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup, escape

from generator.arena.values import Hour
from generator.brain.regime import REGIMES
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.links import BADGE, HISTORY_CSV, asset_feed, embedded
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel, SourceMode
from generator.compose.context import TickContext
from generator.compose.inputs import observed, reading_of
from generator.site.charts.history import WINDOWS, Lately, Point, history, line_chart, uptime
from generator.site.charts.plot import Chart
from generator.site.charts.report import DATA_FROM, source_of
from generator.site.words.days import Day, days
from generator.site.words.format import UNKNOWN, moment, when

EVERY: Final = 4 * HOUR_MS  # between two points of funding and open interest
FILES: Final = (HISTORY_CSV, BADGE, *map(embedded, ASSETS), *map(asset_feed, ASSETS))
_HOVER: Final = re.compile(r'<rect class="hour"[^>]*/>')
_CLASS: Final = re.compile(r'class="([a-z0-9_ -]+)"')
_INK, _SOFT, _LINE, _ACCENT = "#1c2426", "#55605f", "#dcd9d0", "#0b6470"
_HALO: Final = f'fill="{_SOFT}" font-size="11" stroke="#fbfaf7" stroke-width="3" paint-order="stroke"'
_LOOKS: Final = {
    "tick": _HALO,
    "axis": _HALO,
    "value": _HALO.replace(_SOFT, _INK),
    "grid": f'stroke="{_LINE}"',
    "notch": f'stroke="{_LINE}"',
    "mark": f'stroke="{_SOFT}" stroke-dasharray="5 5"',
    "line": f'fill="none" stroke="{_ACCENT}" stroke-width="2"',
    "end": f'fill="{_ACCENT}"',
    "fan90": f'fill="{_ACCENT}" opacity="0.2"',
    "fan50": f'fill="{_ACCENT}" opacity="0.35"',
    "tint": 'opacity="0.3"',
    "chance": "",
    "r-risk_on": 'fill="#2f8f8b"',
    "r-risk_off": 'fill="#d9925a"',
    "r-range": 'fill="#d8dcd6"',
    "r-high_volatility": 'fill="#4d3a73"',
    "r-mark": 'stroke="#6b3208" stroke-width="1.6"',
    "r-dot": 'fill="#e9dcff"',
}
_FONT: Final = 'font-family="Open Sans, system-ui, sans-serif"'
_CARD: Final = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 560" width="680" height="560" {_FONT} role="img">'
    '<title>{finding}</title><rect width="680" height="560" rx="12" fill="#fbfaf7"/>'
    f'<text x="20" y="30" font-size="15" font-weight="600" fill="{_INK}">{{finding}}</text>'
    '<g transform="translate(20 44)">{inner}</g>'
    f'<text x="20" y="548" font-size="11" fill="{_SOFT}">{{about}}</text></svg>'
)
_BADGE: Final = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{{width}}" height="20" {_FONT} role="img" font-size="12">'
    "<title>Crypto market: {said}</title>"
    f'<rect width="{{width}}" height="20" rx="4" fill="{_ACCENT}"/><rect width="{{right}}" height="20" rx="4" fill="{_INK}"/>'
    '<g fill="#fff"><text x="8" y="14">crypto market</text><text x="{text}" y="14">{said}</text></g></svg>'
)


@dataclass(frozen=True, slots=True)
class Histories:
    """What is shown of the last month."""

    charts: Mapping[str, Chart] = field(default_factory=dict)  # by name; what could not be drawn is left out
    figures: Mapping[str, Markup] = field(default_factory=dict)  # the same as pages show them
    files: Mapping[str, bytes] = field(default_factory=dict)
    days: tuple[Day, ...] = ()  # newest first, those of the last month's backtest after those that were published


def histories(
    ctx: TickContext, hours: Sequence[Hour], published: Sequence[Hour], minutes: Mapping[int, int]
) -> Histories:
    """Draw what is shown of the last month.

    Args:
        hours: of the last month, oldest first.
        published: every hour since the start, without those of a backtest.
        minutes: with a published tick, by the number of the day.
    """
    source, backtested = source_of(ctx), _source(ctx, hours)
    windows = [(DEFAULT_ASSET, name) for name in WINDOWS] + [(asset, "7d") for asset in ASSETS[1:]]
    drawn = [
        history(f"{asset.lower()}-{name}", WINDOWS[name], _lately(ctx, asset, hours, name), backtested)
        for asset, name in windows
    ]
    for asset in ASSETS:
        funding = [(at, 100 * value) for at, value in _series(ctx, asset, "funding", EVERY)]
        interest, name = _series(ctx, asset, "open_interest", EVERY), asset.lower()
        unit, held = "% per 8 hours", f"{asset} open interest, contracts"
        drawn.append(line_chart(f"{name}-funding", f"{asset} funding, {unit}", unit, funding, source))
        drawn.append(line_chart(f"{name}-interest", held, f"contracts, in {asset}", interest, source))
    drawn.append(uptime("uptime", minutes, ctx.freshness.generated_ms, "Source: own record of ticks."))
    charts = {chart.caption.name: chart for chart in drawn if chart is not None}
    cards = {embedded(asset): card(charts.get(f"{asset.lower()}-7d"), asset, ctx).encode() for asset in ASSETS}
    before = [hour for hour in hours if hour.warm_up and _day_of(hour) < _day_of(published[0])] if published else hours
    lines = days([*before, *published], ctx.freshness.generated_ms)
    files = {HISTORY_CSV: hours_csv(hours), BADGE: badge(hours, ctx).encode(), **cards}
    return Histories(charts, {name: escape(chart) for name, chart in charts.items()}, files, lines)


def _day_of(hour: Hour) -> int:
    return hour.at_ms // DAY_MS


def hours_csv(hours: Sequence[Hour]) -> bytes:
    """Write the hours as CSV: what was published first in each, or read by the backtest at its beginning."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    chances, prices = (f"chance_{label}" for label in REGIMES), (f"price_{asset}" for asset in ASSETS)
    writer.writerow(["at", "market_time", "warm_up", "regime", *chances, *prices])
    for hour in hours:
        said = iso(hour.at_ms), iso(hour.market_ms), str(hour.warm_up).lower(), hour.label
        known = (hour.prices.get(asset, "") for asset in ASSETS)
        writer.writerow([*said, *(hour.chances or ("",) * len(REGIMES)), *known])
    return text.getvalue().encode()


def badge(hours: Sequence[Hour], ctx: TickContext) -> str:
    """Draw the regime as a badge."""
    newest = hours[-1] if hours else None
    said = REGIME[RegimeLabel(newest.label)] if newest else UNKNOWN
    mark = {SourceMode.SIMULATED: " (simulated)", SourceMode.RECORDED: " (replayed)"}.get(ctx.observation.mode, "")
    return _BADGE.format(said=f"{said}{mark}", width=104 + 13 * len(said + mark) // 2, right=96, text=102)


def card(chart: Chart | None, asset: str, ctx: TickContext) -> str:
    """Draw a chart as a picture of its own; its colours are attributes, as a policy may forbid styles."""
    finding = chart.caption.finding if chart else f"{asset}: no prices are known yet"
    inner = attributed(chart.inner) if chart else Markup("")
    made = f"{moment(ctx.freshness.generated_ms):%-d %b %Y, %H:%M} UTC"
    about = f"{ctx.site.project}, {DATA_FROM[ctx.observation.mode]}, {made}. For learning only."
    return _CARD.format(finding=finding, inner=inner, about=escape(about))


def attributed(inner: Markup) -> Markup:
    """Replace the classes of a drawing by attributes, and leave out what only answers a pointer."""
    plain = _HOVER.sub("", str(inner))
    return Markup(_CLASS.sub(lambda found: _LOOKS[found[1].split()[0]], plain))  # noqa: S704  ours, escaped when made


def _lately(ctx: TickContext, asset: str, hours: Sequence[Hour], window: str) -> Lately:
    read = reading_of(ctx, asset)
    closes, seen = _series(ctx, asset, "close", WINDOWS[window].step_ms), observed(ctx, asset)
    if seen.price is not None and seen.price_as_of_ms is not None and closes and seen.price_as_of_ms > closes[-1][0]:
        closes.append((seen.price_as_of_ms, seen.price))
    return Lately(asset, ctx.observation.market_ms, closes, hours, read.ranges if read else None)


def _series(ctx: TickContext, asset: str, name: str, every_ms: int) -> list[Point]:
    """Return (close time, value) of known bars, one each `every_ms` counted from the newest."""
    bars = ctx.bars
    if bars is None or not len(bars):
        return []
    step = max(1, every_ms // bars.interval_ms)
    times = bars.t[::-1][::step][::-1] + bars.interval_ms
    values = bars.fields[name][:, bars.assets.index(asset)][::-1][::step][::-1]
    return [(at, value) for at, value in zip(times.tolist(), values.tolist(), strict=True) if value == value]  # noqa: PLR0124  not NaN


def _source(ctx: TickContext, hours: Sequence[Hour]) -> Markup:
    said = source_of(ctx)
    first = next((hour for hour in hours if not hour.warm_up), None)
    if not any(hour.warm_up for hour in hours):
        return said
    if first is None:
        return said + " The regimes shown are a backtest: nothing was published yet."
    return said + Markup(" Regimes before {} are a backtest.").format(when(first.market_ms))
