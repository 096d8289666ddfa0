"""The market over time: prices on the regimes, the chances of the four, and where prices may go next."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeVar

from markupsafe import Markup

from generator.arena.values import Hour
from generator.brain.reading import Range
from generator.brain.regime import REGIMES
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, axis, line, plain, text
from generator.site.words.format import moment, percent, price, signed

_PRICES: Final = (34.0, 300.0, 0.0, WIDTH)  # edges of the upper plane
_CHANCES: Final = (366.0, 456.0, 0.0, WIDTH)
_HEIGHT: Final = 492
_TICKS: Final = 104.0  # what the labels of the price axis may take
_LONGEST_NAME: Final = 11.5  # units a letter of a name takes on a phone, where letters are largest
_SPANS: Final = {"15m": 0.25, "1h": 1.0, "4h": 4.0, "24h": 24.0}
_BAND: Final = Markup('<rect class="tint" fill="url(#{})" x="{:.1f}" y="{:g}" width="{:.1f}" height="{:g}"/>')
_SWATCH: Final = Markup('<rect class="chance" fill="url(#{})" x="{:.0f}" y="314" width="16" height="14"/>')
_DAY: Final = Markup('<rect class="bar{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="1" data-tip="{}"/>')
_PATTERN: Final = Markup(
    '<pattern id="{}-{}" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="r-{}" width="8" height="8"/>'
    "{}</pattern>"
)
# How the regimes differ without colour: plain, slanted lines, nothing, dots.
_MARKS: Final = {
    RegimeLabel.RISK_OFF: Markup('<path class="r-mark" d="M-2 2l4-4M0 8l8-8M6 10l4-4"/>'),
    RegimeLabel.HIGH_VOLATILITY: Markup('<circle class="r-dot" cx="4" cy="4" r="1.6"/>'),
}
Point = tuple[int, float]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Window:
    """How far back a chart looks."""

    name: str
    words: str
    span_ms: int
    step_ms: int  # between two closes of the line
    hours: int  # between two readings
    tick_ms: int  # between two labels of the time axis
    tick: str  # such a label, as strftime writes it
    ahead: str  # longest horizon of the ranges


WINDOWS: Final = {
    row.name: row
    for row in (
        Window("24h", "24 hours", DAY_MS, 300_000, 1, 4 * HOUR_MS, "%H:%M", "4h"),
        Window("7d", "7 days", 7 * DAY_MS, 1_800_000, 1, DAY_MS, "%-d", "24h"),
        Window("30d", "30 days", 30 * DAY_MS, 3 * HOUR_MS, 3, 5 * DAY_MS, "%-d", "24h"),
    )
}
FIRST_CHART: Final = f"{DEFAULT_ASSET.lower()}-7d"  # that of the landing page


@dataclass(frozen=True, slots=True)
class Lately:
    """One asset lately, in market time."""

    asset: str
    now_ms: int
    closes: Sequence[Point]  # (close time in ms, USD), oldest first; gaps are gaps
    hours: Sequence[Hour]
    ranges: Mapping[str, Range] | None  # by horizon, None where unknown


def history(name: str, window: Window, lately: Lately, source: Markup | str) -> Chart | None:
    """Draw the price on the market's regimes, their chances below it, and its ranges ahead; None without two closes."""
    since_ms, now_ms, asset = lately.now_ms - window.span_ms, lately.now_ms, lately.asset
    closes = [point for point in lately.closes if since_ms <= point[0] <= now_ms]
    if len(closes) < 2:
        return None
    every = [one for one in lately.hours if since_ms <= one.market_ms <= now_ms]
    hours = every[::-1][:: window.hours][::-1]
    fan = _fan(closes[-1], window, lately.ranges)
    reach = [value for _, value in closes] + [value for _, row in fan for value in row]
    room = (max(reach) - min(reach)) * 0.06 or max(reach) * 0.01
    times = _times(
        (since_ms, closes[-1][0], now_ms + round(_SPANS[window.ahead] * HOUR_MS)), window.tick_ms, window.tick
    )
    upper = Plane(
        replace(times, ticks=()), axis(min(reach) - room, max(reach) + room, f"{asset}, USD", price), *_PRICES
    )
    lower = Plane(times, Axis(0.0, 1.0, (), ""), *_CHANCES)
    parts = [
        Markup("<defs>{}</defs>").format(
            Markup("").join(_PATTERN.format(name, label, label, _MARKS.get(label, "")) for label in REGIMES)
        ),
        *_bands(name, upper, every, now_ms),
        *upper.grid(),
        *_stack(name, lower, hours, window),
        *_ahead(upper, fan),
        *(upper.path("line", part) for part in _joined(closes, 3 * window.step_ms)),
        *upper.labels(),
        *lower.notches(),
        *_now(upper, window, closes[-1]),
        *_begin(lower, every),
        *_legend(name),
        *_touch(upper, hours, asset, window),
    ]
    caption = Caption(
        name,
        _finding(asset, window, closes, every),
        "Above, the price as a line on stripes that name the regime of each hour, and to the right the ranges in which it "
        "should end 50 and 90 times in 100. Below, the chances of the four regimes, stacked to 100%.",
        source,
        ("Time, UTC", asset, "Regime", *(REGIME[label].capitalize() for label in REGIMES)),
        tuple(_rows(hours, asset, max(1, len(hours) // 42))),
    )
    return Chart(caption, Markup("").join(parts), _HEIGHT, wide=True)


def line_chart(name: str, title: str, unit: str, found: Sequence[Point], source: Markup | str) -> Chart | None:
    """Draw one number of one asset over its days; None with fewer than two known values."""
    if len(found) < 2:
        return None
    first, last = found[0][0], found[-1][0]
    low, high = min(value for _, value in found), max(value for _, value in found)
    decimals = 2 - math.floor(math.log10((high - low) or abs(high) or 1.0))  # the chart shows no smaller difference
    values = [round(value, decimals) + 0.0 for _, value in found]
    room = (high - low) * 0.08 or abs(low) * 0.01 or 1.0
    times = _times((first, last, last), DAY_MS * (1 if last - first < 10 * DAY_MS else 5))
    plane = Plane(times, axis(low - room, high + room, unit, _short), 34.0, 220.0, 0.0, WIDTH)
    parts = [*plane.grid(), *([plane.across("base", 0.0)] if low - room < 0.0 < high + room else [])]
    parts += [plane.path("line", part) for part in _joined(found, 2 * DAY_MS)]
    parts += plane.labels()
    said = [(f"{moment(at):%-d %b, %H:%M}", _short(value)) for (at, _), value in zip(found, values, strict=True)]
    parts += [plane.hover(at, 4, f"{when} UTC: {value}") for (at, _), (when, value) in zip(found, said, strict=True)]
    caption = Caption(
        name,
        f"{title}: {_short(values[-1])} now, between {_short(min(values))} and {_short(max(values))} since {moment(first):%-d %b}",
        "A line over the last days.",
        source,
        ("Time, UTC", unit),
        tuple(said[:: max(1, len(said) // 30)]),
    )
    return Chart(caption, Markup("").join(parts), 256)


def uptime(name: str, minutes: Mapping[int, int], now_ms: int, source: str) -> Chart | None:
    """Draw the share of minutes with a published tick, a bar a day; None before the first."""
    today = now_ms // DAY_MS
    days = range(max(min(minutes, default=today) + 1, today - 89), today + 1)  # the day of the start has no whole
    if not days:
        return None
    whole = dict.fromkeys(days, 1440) | {today: max(1, (now_ms - today * DAY_MS) // MINUTE_MS)}
    shares = {day: min(1.0, minutes.get(day, 0) / whole[day]) for day in days}
    said = {day: percent(100 * share, 2) for day, share in shares.items()}
    step = WIDTH / 90
    parts = [line("base", (0, 80), (WIDTH, 80))]
    for day, share in shares.items():
        x, tall = WIDTH - (today - day + 1) * step, max(2.0, 64 * share)
        tip = f"{moment(day * DAY_MS):%-d %b}: published in {said[day]} of minutes"
        parts.append(_DAY.format(" short" if share < 0.99 else "", x, 80 - tall, step - 1.5, tall, tip))
    parts += [text("tick", 0, 104, "90 days ago"), text("tick", WIDTH, 104, "today", "end")]
    mean, since = percent(100 * sum(shares.values()) / len(shares), 2), f"{moment(days[0] * DAY_MS):%-d %b}"
    caption = Caption(
        name,
        f"Published in {mean} of the minutes since {since}",
        "A bar for each day, as tall as the share of its minutes in which a release was published.",
        source,
        ("Day", "Minutes with a release"),
        tuple((f"{moment(day * DAY_MS):%-d %b %Y}", said[day]) for day in reversed(days)),
    )
    return Chart(caption, Markup("").join(parts), 112, wide=True)


def _short(value: float) -> str:
    for size, unit in ((1e9, " bn"), (1e6, " m"), (1e3, " k")):
        if abs(value) >= size:
            return plain(value / size, 4) + unit
    return plain(value, 4)


def _fan(last: Point, window: Window, ranges: Mapping[str, Range] | None) -> list[tuple[int, tuple[float, ...]]]:
    """Return (time, the four ends of the ranges as prices), from the last close on."""
    at, value = last
    rows: list[tuple[int, tuple[float, ...]]] = [(at, (value,) * 4)]
    for horizon, hours in _SPANS.items():
        found = (ranges or {}).get(horizon)
        if found is not None and hours <= _SPANS[window.ahead]:
            ends = (found.low_90, found.low_50, found.high_50, found.high_90)
            rows.append((at + round(hours * HOUR_MS), tuple(value * (1 + end) for end in ends)))
    return rows if len(rows) > 1 else []


def _ahead(plane: Plane, fan: Sequence[tuple[int, tuple[float, ...]]]) -> Iterator[Markup]:
    for kind, low, high in (("fan90", 0, 3), ("fan50", 1, 2)):
        if fan:
            edge = [(at, row[high]) for at, row in fan] + [(at, row[low]) for at, row in reversed(fan)]
            yield plane.area(kind, edge)
    for at, row in fan[1:]:
        inner, outer = f"{price(row[1])} and {price(row[2])}", f"{price(row[0])} and {price(row[3])}"
        tip = f"{moment(at):%-d %b, %H:%M} UTC: 50% between {inner}, 90% between {outer}"
        yield plane.hover(at, 8, tip, _CHANCES[1])


def _bands(name: str, plane: Plane, hours: Sequence[Hour], until_ms: int) -> Iterator[Markup]:
    for label, begin, end in _runs(hours, until_ms):
        if label in REGIMES:
            x, width = plane.at(begin, 0)[0], plane.at(end, 0)[0] - plane.at(begin, 0)[0]
            yield _BAND.format(f"{name}-{label}", x, plane.top, width, plane.bottom - plane.top)
            words = REGIME[RegimeLabel(label)]
            begins = max(x + 5, _TICKS)
            if x + width > begins + _LONGEST_NAME * len(words):
                yield text("tick halo", begins, plane.bottom - 8, words)


def _runs(hours: Sequence[Hour], until_ms: int) -> list[tuple[str, int, int]]:
    """Return spells of one label as (label, begin, end); an hour that is missing ends a spell."""
    spells: list[tuple[str, int, int]] = []
    for hour, after_ms in zip(hours, [*(one.market_ms for one in hours[1:]), until_ms], strict=False):
        begin = hour.market_ms
        if spells and spells[-1][0] == hour.label and spells[-1][2] == begin:
            begin = spells.pop()[1]
        spells.append((hour.label, begin, min(after_ms, hour.market_ms + 2 * HOUR_MS)))
    return spells


def _stack(name: str, plane: Plane, hours: Sequence[Hour], window: Window) -> Iterator[Markup]:
    """Draw the chances of the four regimes, the first at the bottom; a later one lies under those before it."""
    known = [(hour.market_ms, hour.chances) for hour in hours if hour.chances is not None]
    for part in _joined(known, 2 * window.hours * HOUR_MS):
        begin, end = part[0][0], part[-1][0]
        for place in reversed(range(len(REGIMES))):
            sums = [(at, min(1.0, sum(chances[: place + 1]))) for at, chances in part]
            if place == len(REGIMES) - 1:
                sums = [(begin, 1.0), (end, 1.0)]
            yield plane.area("chance", [(begin, 0.0), *sums, (end, 0.0)], f"{name}-{REGIMES[place]}")


def _joined(found: Sequence[tuple[int, Value]], most_ms: int) -> Iterator[Sequence[tuple[int, Value]]]:
    """Cut a series where something is missing."""
    begin = 0
    for place in range(1, len(found) + 1):
        if place == len(found) or found[place][0] - found[place - 1][0] > most_ms:
            yield found[begin:place]
            begin = place


def _times(span: tuple[int, int, int], step_ms: int, form: str = "%-d") -> Axis:
    """Return the axis of time (begin, now, end), labelled where a label is clear of the edge and of that of now."""
    begin, now, end = span
    ticks, month = [], 0
    for at in range(-(-begin // step_ms) * step_ms, now, step_ms):
        if 30 < WIDTH * (at - begin) / (end - begin) < WIDTH * (now - begin) / (end - begin) - 86:
            new = form == "%-d" and moment(at).month != month
            ticks.append((float(at), f"{moment(at):{form}}{f' {moment(at):%b}' * new}"))
            month = moment(at).month
    return Axis(begin, end, tuple(ticks), "")


def _now(plane: Plane, window: Window, last: Point) -> Iterator[Markup]:
    (x, y), bottom = plane.at(*last), _CHANCES[1]
    yield text("axis", 0, _CHANCES[0] - 8, "Chance of each regime, %")
    yield line("mark", (x, plane.top), (x, bottom))
    yield Markup('<circle class="end" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(x, y)
    yield text("value halo", x - 10, y - 12, price(last[1]), "end")
    yield text("tick", x, bottom + 25, f"{moment(last[0]):%H:%M}", "end")
    if WIDTH - x > 60:
        yield text("tick", WIDTH, bottom + 25, f"+{window.ahead}", "end")


def _begin(plane: Plane, hours: Sequence[Hour]) -> Iterator[Markup]:
    """Mark where the backtest ends and what was published begins."""
    for before, after in pairwise(hours):
        if before.warm_up and not after.warm_up:
            yield plane.upright("mark", after.market_ms)


def _legend(name: str) -> Iterator[Markup]:
    x, letters = 0.0, sum(len(REGIME[label]) + 4 for label in REGIMES)
    for label in REGIMES:
        yield _SWATCH.format(f"{name}-{label}", x)
        yield text("tick", x + 22, 327, REGIME[label])
        x += WIDTH * (len(REGIME[label]) + 4) / letters


def _touch(plane: Plane, hours: Sequence[Hour], asset: str, window: Window) -> Iterator[Markup]:
    width = max(2.0, WIDTH * window.hours * HOUR_MS / (plane.x.high - plane.x.low))
    for hour in hours:
        said = f"{moment(hour.market_ms):%-d %b, %H:%M} UTC: {price(hour.prices.get(asset))}"
        if hour.chances is not None:
            ranked = sorted(zip(hour.chances, REGIMES, strict=True), key=lambda row: -row[0])
            said += "; " + ", ".join(f"{REGIME[label]} {percent(100 * chance)}" for chance, label in ranked)
        yield plane.hover(hour.market_ms, width, said + " (backtest)" * hour.warm_up, _CHANCES[1])


def _finding(asset: str, window: Window, closes: Sequence[Point], hours: Sequence[Hour]) -> str:
    (first_ms, first), (last_ms, last) = closes[0], closes[-1]
    whole = first_ms <= last_ms - 0.9 * window.span_ms
    since = f"in {window.words}" if whole else f"since {moment(first_ms):%-d %b, %H:%M} UTC"
    moved = f"{asset} {signed(100 * (last / first - 1))} {since}"
    for label, n in Counter(one.label for one in hours if one.label in REGIMES).most_common(1):
        return f"{moved}. Most frequent regime: {REGIME[RegimeLabel(label)]}, {n} of {len(hours)} hours"
    return moved


def _rows(hours: Sequence[Hour], asset: str, step: int) -> Iterator[tuple[str, ...]]:
    for hour in hours[::-1][::step]:
        chances = hour.chances or (None,) * len(REGIMES)
        yield (
            f"{moment(hour.market_ms):%-d %b, %H:%M}{' (backtest)' * hour.warm_up}",
            price(hour.prices.get(asset)),
            REGIME[RegimeLabel(hour.label)],
            *(percent(None if chance is None else 100 * chance) for chance in chances),
        )
