"""The market over time: prices on the regimes, the chances of the four, and where prices may go next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, TypeVar

from markupsafe import Markup

from generator.arena.values import Hour
from generator.brain.reading import Range
from generator.brain.regime import REGIMES
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel
from generator.site.charts.plot import WIDTH, Caption, Chart, line, nice_ticks, text
from generator.site.format import moment, percent, price, signed

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
_PRICES: Final = (34.0, 300.0)  # top and bottom of the upper plane
_CHANCES: Final = (366.0, 456.0)
_HEIGHT: Final = 492
_TICKS: Final = 104.0  # what the labels of the price axis may take
_LONGEST_NAME: Final = 11.5  # units a letter of a name takes on a phone, where letters are largest
_SPANS: Final = {"15m": 0.25, "1h": 1.0, "4h": 4.0, "24h": 24.0}
Point = tuple[int, float]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Window:
    """How far back a chart looks, and how finely.

    Args:
        step_ms: between two closes of the line.
        hours: between two readings.
        tick_ms: between two labels of the time axis, from `tick` as strftime writes it.
        ahead: longest horizon of the ranges.
    """

    name: str
    words: str
    span_ms: int
    step_ms: int
    hours: int
    tick_ms: int
    tick: str
    ahead: str


WINDOWS: Final = {
    row.name: row
    for row in (
        Window("24h", "24 hours", DAY_MS, 300_000, 1, 4 * HOUR_MS, "%H:%M", "4h"),
        Window("7d", "7 days", 7 * DAY_MS, 1_800_000, 1, DAY_MS, "%-d", "24h"),
        Window("30d", "30 days", 30 * DAY_MS, 3 * HOUR_MS, 3, 5 * DAY_MS, "%-d", "24h"),
    )
}


@dataclass(frozen=True, slots=True)
class Lately:
    """One asset lately, in market time.

    Args:
        closes: (close time in ms, USD), oldest first; gaps are gaps.
        ranges: by horizon, None where unknown.
    """

    asset: str
    now_ms: int
    closes: Sequence[Point]
    hours: Sequence[Hour]
    ranges: Mapping[str, Range] | None


class _Plane:
    """A part of the picture with a time axis that all parts share."""

    def __init__(self, span: tuple[int, int], values: tuple[float, float], place: tuple[float, float]) -> None:
        self.span, self.values, self.place = span, values, place

    def x(self, at_ms: float) -> float:
        return WIDTH * (at_ms - self.span[0]) / (self.span[1] - self.span[0])

    def y(self, value: float) -> float:
        (low, high), (top, bottom) = self.values, self.place
        return bottom - (bottom - top) * (value - low) / (high - low)

    def points(self, found: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(at):.1f},{self.y(value):.1f}" for at, value in found)

    def path(self, kind: str, found: Sequence[tuple[float, float]]) -> Markup:
        return Markup('<polyline class="{}" points="{}"/>').format(kind, self.points(found))

    def area(self, kind: str, found: Sequence[tuple[float, float]], fill: str = "") -> Markup:
        filled = Markup(' fill="url(#{})"').format(fill) if fill else ""
        return Markup('<polygon class="{}"{} points="{}"/>').format(kind, filled, self.points(found))


def history(name: str, window: Window, lately: Lately, source: Markup | str) -> Chart | None:
    """Draw the price of an asset on the market's regimes, their chances below it, and its ranges ahead.

    Returns:
        The chart, or None with fewer than two closes in the window.
    """
    since_ms = lately.now_ms - window.span_ms
    closes = [point for point in lately.closes if since_ms <= point[0] <= lately.now_ms]
    if len(closes) < 2:
        return None
    every = [one for one in lately.hours if since_ms <= one.market_ms <= lately.now_ms]
    hours = every[::-1][:: window.hours][::-1]
    fan = _fan(closes[-1], window, lately.ranges)
    reach = [value for _, value in closes] + [value for _, row in fan for value in row]
    span = since_ms, lately.now_ms + round(_SPANS[window.ahead] * HOUR_MS)
    room = (max(reach) - min(reach)) * 0.06 or max(reach) * 0.01
    upper = _Plane(span, (min(reach) - room, max(reach) + room), _PRICES)
    lower = _Plane(span, (0.0, 1.0), _CHANCES)
    parts = [
        _patterns(name),
        *_bands(name, upper, every, lately.now_ms),
        *_grid(upper),
        *_stack(name, lower, hours, window),
        *_ahead(upper, fan),
        *(upper.path("line", part) for part in _joined(closes, 3 * window.step_ms)),
        *_axes(upper, window, lately, closes[-1]),
        *_begin(upper, every),
        *_legend(name),
        *_touch(upper, hours, lately.asset, window),
    ]
    caption = Caption(
        name,
        _finding(lately.asset, window, closes, every),
        "Above, the price as a line on stripes that name the regime of each hour, and to the right the ranges in which it "
        "should end 50 and 90 times in 100. Below, the chances of the four regimes, stacked to 100%.",
        source,
        ("Time, UTC", lately.asset, "Regime", *(REGIME[label].capitalize() for label in REGIMES)),
        tuple(_rows(hours, lately.asset, max(1, len(hours) // 42))),
    )
    return Chart(caption, Markup("").join(parts), _HEIGHT, wide=True)


def line_chart(name: str, title: str, unit: str, found: Sequence[Point], source: Markup | str) -> Chart | None:
    """Draw one number of one asset over its days; None with fewer than two known values."""
    if len(found) < 2:
        return None
    values = [value for _, value in found]
    since = f"{moment(found[0][0]):%-d %b}"
    finding = (
        f"{title}: {_short(values[-1])} now, between {_short(min(values))} and {_short(max(values))} since {since}"
    )
    room = (max(values) - min(values)) * 0.08 or abs(values[0]) * 0.01 or 1.0
    plane = _Plane((found[0][0], found[-1][0]), (min(values) - room, max(values) + room), (34.0, 220.0))
    ticks = nice_ticks(*plane.values, 4)
    parts = [line("grid", (0, plane.y(tick)), (WIDTH, plane.y(tick))) for tick in ticks]
    parts += [line("base", (0, plane.y(0.0)), (WIDTH, plane.y(0.0)))] if plane.values[0] < 0.0 < plane.values[1] else []
    parts += [plane.path("line", part) for part in _joined(found, 2 * DAY_MS)]
    parts += [text("tick halo", 0, plane.y(tick) - 4, _short(tick)) for tick in ticks]
    parts += [text("axis", 0, 16, unit)]
    days = range(-(-found[0][0] // DAY_MS) * DAY_MS, found[-1][0], 5 * DAY_MS)
    parts += [
        text("tick", plane.x(at), 246, f"{moment(at):%-d %b}", "start") for at in days if plane.x(at) < WIDTH - 70
    ]
    parts += [
        Markup(
            '<rect class="hour" x="{:.1f}" y="34" width="4" height="186" data-tip="{:%-d %b, %H:%M} UTC: {}"/>'
        ).format(plane.x(at) - 2, moment(at), _short(value))
        for at, value in found
    ]
    rows = tuple((f"{moment(at):%-d %b, %H:%M}", _short(value)) for at, value in found[:: max(1, len(found) // 30)])
    caption = Caption(name, finding, "A line over the last days.", source, ("Time, UTC", unit), rows)
    return Chart(caption, Markup("").join(parts), 256)


def uptime(name: str, minutes: Mapping[int, int], now_ms: int, source: str) -> Chart | None:
    """Draw the share of minutes with a published tick, a bar a day; None before the first."""
    if not minutes:
        return None
    today, first = now_ms // DAY_MS, min(minutes)
    shares: list[tuple[int, float]] = []
    for day in range(max(first, today - 89), today + 1):
        whole = 1440 if day < today else max(1, (now_ms - today * DAY_MS) // 60_000)
        if day > first or first == today - 89:  # the day of the start has no whole
            shares.append((day, min(1.0, minutes.get(day, 0) / whole)))
    if not shares:
        return None
    step = WIDTH / 90
    shape = Markup('<rect class="bar{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="1" data-tip="{}"/>')
    parts = [line("base", (0, 80), (WIDTH, 80))]
    for day, share in shares:
        x, tall = WIDTH - (today - day + 1) * step, max(2.0, 64 * share)
        tip = f"{moment(day * DAY_MS):%-d %b}: published in {percent(100 * share, 2)} of minutes"
        parts.append(shape.format(" short" if share < 0.99 else "", x, 80 - tall, step - 1.5, tall, tip))
    mean = 100 * sum(share for _, share in shares) / len(shares)
    since = f"{moment(shares[0][0] * DAY_MS):%-d %b}"
    parts += [text("tick", 0, 104, "90 days ago"), text("tick", WIDTH, 104, "today", "end")]
    rows = tuple((f"{moment(day * DAY_MS):%-d %b %Y}", percent(100 * share, 2)) for day, share in reversed(shares))
    caption = Caption(
        name,
        f"Published in {percent(mean, 2)} of the minutes since {since}",
        "A bar for each day, as tall as the share of its minutes in which a release was published.",
        source,
        ("Day", "Minutes with a release"),
        rows,
    )
    return Chart(caption, Markup("").join(parts), 112, wide=True)


def _short(value: float) -> str:
    for size, unit in ((1e9, " bn"), (1e6, " m"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


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


def _ahead(plane: _Plane, fan: Sequence[tuple[int, tuple[float, ...]]]) -> Iterator[Markup]:
    for kind, low, high in (("fan90", 0, 3), ("fan50", 1, 2)):
        if fan:
            edge = [(at, row[high]) for at, row in fan] + [(at, row[low]) for at, row in reversed(fan)]
            yield plane.area(kind, edge)
    for at, row in fan[1:]:
        tip = f"{moment(at):%-d %b, %H:%M} UTC: 50% between {price(row[1])} and {price(row[2])}, 90% between {price(row[0])} and {price(row[3])}"
        yield _hover(plane.x(at) - 4, 8, tip)


def _bands(name: str, plane: _Plane, hours: Sequence[Hour], until_ms: int) -> Iterator[Markup]:
    top, bottom = plane.place
    shape = Markup('<rect class="tint" fill="url(#{})" x="{:.1f}" y="{:g}" width="{:.1f}" height="{:g}"/>')
    for label, begin, end in _runs(hours, until_ms):
        if label in REGIMES:
            x, width = plane.x(begin), plane.x(end) - plane.x(begin)
            yield shape.format(f"{name}-{label}", x, top, width, bottom - top)
            words = REGIME[RegimeLabel(label)]
            begins = max(x + 5, _TICKS)
            if x + width > begins + _LONGEST_NAME * len(words):
                yield text("tick halo", begins, bottom - 8, words)


def _runs(hours: Sequence[Hour], until_ms: int) -> Iterator[tuple[str, int, int]]:
    """Give spells of one label as (label, begin, end); an hour that is missing ends a spell."""
    ends = [min(b.market_ms, a.market_ms + 2 * HOUR_MS) for a, b in pairwise(hours)]
    ends += [min(until_ms, hours[-1].market_ms + 2 * HOUR_MS)] if hours else []
    spell: list[tuple[str, int, int]] = []
    for hour, end in zip(hours, ends, strict=True):
        if spell and spell[-1][0] == hour.label and spell[-1][2] == hour.market_ms:
            spell[-1] = (hour.label, spell[-1][1], end)
        else:
            spell.append((hour.label, hour.market_ms, end))
    return iter(spell)


def _grid(plane: _Plane) -> list[Markup]:
    return [line("grid", (0, plane.y(tick)), (WIDTH, plane.y(tick))) for tick in nice_ticks(*plane.values, 4)]


def _stack(name: str, plane: _Plane, hours: Sequence[Hour], window: Window) -> Iterator[Markup]:
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


def _axes(plane: _Plane, window: Window, lately: Lately, last: Point) -> Iterator[Markup]:
    (at, value), bottom = last, _CHANCES[1]
    x = plane.x(at)
    yield text("axis", 0, 16, f"{lately.asset}, USD")
    yield text("axis", 0, _CHANCES[0] - 8, "Chance of each regime, %")
    for tick in nice_ticks(*plane.values, 4):
        yield text("tick halo", 0, plane.y(tick) - 4, price(tick))
    yield line("mark", (x, _PRICES[0]), (x, bottom))
    yield Markup('<circle class="end" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(x, plane.y(value))
    yield text("value halo", x - 10, plane.y(value) - 12, price(value), "end")
    yield text("tick", x, bottom + 24, f"{moment(at):%H:%M}", "end")
    if WIDTH - x > 60:
        yield text("tick", WIDTH, bottom + 24, f"+{window.ahead}", "end")
    shown = 0
    first = -(-plane.span[0] // window.tick_ms) * window.tick_ms
    for tick_ms in range(first, at, window.tick_ms):
        place = plane.x(tick_ms)
        if 30 < place < x - 86:
            month = f" {moment(tick_ms):%b}" if window.tick == "%-d" and moment(tick_ms).month != shown else ""
            shown = moment(tick_ms).month
            yield line("notch", (place, bottom), (place, bottom + 6))
            yield text("tick", place, bottom + 24, f"{moment(tick_ms):{window.tick}}{month}", "middle")


def _begin(plane: _Plane, hours: Sequence[Hour]) -> Iterator[Markup]:
    """Mark where the backtest ends and what was published begins."""
    for before, after in pairwise(hours):
        if before.warm_up and not after.warm_up:
            x = plane.x(after.market_ms)
            yield line("mark", (x, _CHANCES[0]), (x, _CHANCES[1]))


def _legend(name: str) -> Iterator[Markup]:
    x = 0.0
    swatch = Markup('<rect class="chance" fill="url(#{})" x="{:.0f}" y="314" width="16" height="14"/>')
    words = [REGIME[label] for label in REGIMES]
    for label, name_of in zip(REGIMES, words, strict=True):
        yield swatch.format(f"{name}-{label}", x)
        yield text("tick", x + 22, 327, name_of)
        x += WIDTH * (len(name_of) + 4) / sum(len(one) + 4 for one in words)


def _touch(plane: _Plane, hours: Sequence[Hour], asset: str, window: Window) -> Iterator[Markup]:
    width = max(2.0, WIDTH * window.hours * HOUR_MS / (plane.span[1] - plane.span[0]))
    for hour in hours:
        said = f"{moment(hour.market_ms):%-d %b, %H:%M} UTC: {price(hour.prices.get(asset))}"
        if hour.chances is not None:
            ranked = sorted(zip(hour.chances, REGIMES, strict=True), key=lambda row: -row[0])
            said += "; " + ", ".join(f"{REGIME[label]} {percent(100 * chance)}" for chance, label in ranked)
        yield _hover(plane.x(hour.market_ms) - width / 2, width, said + " (backtest)" * hour.warm_up)


def _hover(x: float, width: float, tip: str) -> Markup:
    shape = Markup('<rect class="hour" x="{:.1f}" y="{:g}" width="{:.1f}" height="{:g}" data-tip="{}"/>')
    return shape.format(x, _PRICES[0], width, _CHANCES[1] - _PRICES[0], tip)


def _patterns(name: str) -> Markup:
    """Define how the regimes differ without colour: plain, slanted lines, nothing, dots."""
    marks = {
        RegimeLabel.RISK_OFF: Markup('<path class="r-mark" d="M-2 2l4-4M0 8l8-8M6 10l4-4"/>'),
        RegimeLabel.HIGH_VOLATILITY: Markup('<circle class="r-dot" cx="4" cy="4" r="1.6"/>'),
    }
    shape = Markup(
        '<pattern id="{}-{}" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="r-{}" width="8" height="8"/>'
        "{}</pattern>"
    )
    return Markup("<defs>{}</defs>").format(
        Markup("").join(shape.format(name, label, label, marks.get(label, "")) for label in REGIMES)
    )


def _finding(asset: str, window: Window, closes: Sequence[Point], hours: Sequence[Hour]) -> str:
    moved = f"{asset} {signed(100 * (closes[-1][1] / closes[0][1] - 1))} in {window.words}"
    if closes[0][0] > closes[-1][0] - 0.9 * window.span_ms:
        moved = (
            f"{asset} {signed(100 * (closes[-1][1] / closes[0][1] - 1))} since {moment(closes[0][0]):%-d %b, %H:%M} UTC"
        )
    labels = sorted(one.label for one in hours if one.label in REGIMES)
    counted = sorted(((len(list(group)), label) for label, group in groupby(labels)), reverse=True)
    if not counted:
        return moved
    n, label = counted[0]
    return f"{moved}. Most frequent regime: {REGIME[RegimeLabel(label)]}, {n} of {len(hours)} hours"


def _rows(hours: Sequence[Hour], asset: str, step: int) -> Iterator[tuple[str, ...]]:
    for hour in hours[::-1][::step]:
        chances = hour.chances or (None,) * len(REGIMES)
        yield (
            f"{moment(hour.market_ms):%-d %b, %H:%M}{' (backtest)' * hour.warm_up}",
            price(hour.prices.get(asset)),
            REGIME[RegimeLabel(hour.label)],
            *(percent(None if chance is None else 100 * chance) for chance in chances),
        )
