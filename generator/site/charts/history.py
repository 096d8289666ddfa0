"""The market over time: prices as a line, the regimes as a strip below it, and where prices may go next."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeVar

from markupsafe import Markup

from generator.brain.label import REGIMES
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.durations import DAY_MS, HOUR_MS, WEEK_MS
from generator.catalog.formats import moment, rounded
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.figures import UNKNOWN, percent, price, tick_dollars
from generator.catalog.text.labels import REGIME
from generator.catalog.text.titles import TITLES, Drawn
from generator.catalog.words import RegimeLabel
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, axis, line, plain, text
from generator.site.words.days import regime_of
from generator.values.hours import Hour
from generator.values.ranges import MoveRange

_LEFT: Final = 96.0  # room for the labels of the axes on a phone, where letters are largest
_RIGHT: Final = WIDTH - 50.0  # and for the names of the ranges ahead
_PRICES: Final = (34.0, 262.0, _LEFT, _RIGHT)  # edges of the plane of prices
_STRIP: Final = (270.0, 282.0, _LEFT, _RIGHT)  # and of the strip of regimes
_LEGEND: Final = 344.0
_HEIGHT: Final = 356
_LINE: Final = 24.0  # and a line
_BAND: Final = Markup('<rect class="tint" fill="url(#{})" x="{:.1f}" y="{:g}" width="{:.1f}" height="{:g}"/>')
_SWATCH: Final = Markup('<rect class="chance" fill="url(#{})" x="{:.0f}" y="{:g}" width="16" height="14"/>')
_PATTERN: Final = Markup(
    '<pattern id="{}-{}" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="r-{}" width="8" height="8"/>'
    "{}</pattern>"
)
# What a stripe may be: one of the four, or (transition) mixed. How they differ without colour: plain, slanted lines,
# nothing, dots, lines that slant the other way.
_SHOWN: Final = (*REGIMES, RegimeLabel.TRANSITION)
_MARKS: Final = {
    RegimeLabel.RISK_OFF: Markup('<path class="r-mark" d="M-2 2l4-4M0 8l8-8M6 10l4-4"/>'),
    RegimeLabel.HIGH_VOLATILITY: Markup('<circle class="r-dot" cx="4" cy="4" r="1.6"/>'),
    RegimeLabel.TRANSITION: Markup('<path class="r-hatch" d="M-2 6l4 4M0 0l8 8M6 -2l4 4"/>'),
}
Point = tuple[int, float]  # UTC milliseconds and a value
Fan = list[tuple[int, tuple[float, ...]]]  # UTC milliseconds, and the prices low 90%, low 50%, high 50%, high 90%
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Window:
    """How far back a chart looks."""

    name: str
    words: str
    of: str  # the same in a title: `in a week`, `a week ago`
    span_ms: int
    step_ms: int  # between two closes of the line
    hours: int  # between two readings
    tick_ms: int  # between two labels of the time axis
    tick: str  # such a label, as strftime writes it
    ahead: str  # longest horizon of the ranges


WINDOWS: Final = {
    row.name: row
    for row in (
        Window(
            name="24h",
            words="24 hours",
            of="a day",
            span_ms=DAY_MS,
            step_ms=300_000,
            hours=1,
            tick_ms=4 * HOUR_MS,
            tick="%H:%M",
            ahead="4h",
        ),
        Window(
            name="7d",
            words="7 days",
            of="a week",
            span_ms=WEEK_MS,
            step_ms=1_800_000,
            hours=1,
            tick_ms=DAY_MS,
            tick="%-d",
            ahead="24h",
        ),
        Window(
            name="30d",
            words="30 days",
            of="30 days",
            span_ms=30 * DAY_MS,
            step_ms=3 * HOUR_MS,
            hours=3,
            tick_ms=5 * DAY_MS,
            tick="%-d",
            ahead="24h",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Lately:
    """One asset lately, in market time."""

    asset: str
    now_ms: int
    closes: Sequence[Point]  # (close time in ms, USD), oldest first; gaps are gaps
    hours: Sequence[Hour]
    ranges: Mapping[str, MoveRange] | None  # by horizon, None where unknown
    year: bool = False  # its dates need one: of a replay

    def day(self, at_ms: int) -> str:
        """Write a day."""
        return f"{moment(at_ms):{'%-d %b %Y' if self.year else '%-d %b'}}"


def history(name: str, window: Window, lately: Lately, source: Markup | str) -> Chart | None:
    """Draw the price on the market's regimes, their chances below it, and its ranges ahead; None without two closes."""
    since_ms = lately.now_ms - window.span_ms
    closes = [(at, close) for at, close in lately.closes if since_ms <= at <= lately.now_ms]
    if len(closes) < 2:
        return None
    every_hour = [hour for hour in lately.hours if since_ms <= hour.market_ms <= lately.now_ms]
    hours = _each(every_hour, window.hours)
    fan = _fan(closes[-1], window, lately.ranges)

    ahead_ms = HORIZONS[window.ahead].length_ms
    until_ms = lately.now_ms + ahead_ms
    times = _times(since_ms, closes[-1][0], until_ms, window.tick_ms, window.tick, _LEFT, _RIGHT, year=lately.year)
    prices = _price_axis(lately.asset, closes, fan)
    upper = Plane(replace(times, ticks=()), prices, *_PRICES)
    strip = Plane(times, Axis(0.0, 1.0, (), ""), *_STRIP)

    parts = [
        _patterns(name),
        *_bands(name, strip, every_hour, lately.now_ms),
        *upper.grid(),
        *_ahead(upper, fan),
        *(upper.path("line", part) for part in _unbroken(closes, 3 * window.step_ms)),
        *upper.labels(),
        *strip.notches(),
        *_now(upper, window, closes[-1]),
        *_begin(strip, every_hour),
        *_legend(name),
        *_touch(upper, hours, lately, window),
    ]
    caption = Caption(
        name=name,
        finding=_finding(lately, window, closes),
        desc=(
            "The price as a line, and to the right the ranges in which it should end 50 and 90 times in 100. The strip "
            "below has the regime of each hour, hatched where no regime has a chance of one half (mixed)."
        ),
        source=source,
        columns=("Time, UTC", lately.asset, "Regime", *(REGIME[label].capitalize() for label in REGIMES)),
        rows=tuple(_rows(hours, lately)),
    )
    return Chart(caption, Markup("").join(parts), _HEIGHT, wide=True)


def _each(values: Sequence[Value], step: int) -> Sequence[Value]:
    """Return each k-th value (k is `step`) counted from the newest, which is the last."""
    return values[::-1][::step][::-1]


def _price_axis(asset: str, closes: Sequence[Point], fan: Fan) -> Axis:
    """Return an axis with some room above and below everything that is drawn."""
    drawn = [close for _, close in closes]
    for _, ends in fan:
        drawn += ends
    low = min(drawn)
    high = max(drawn)
    room = (high - low) * 0.06 or high * 0.01
    return axis(low - room, high + room, f"{asset}, USD", tick_dollars)


def _patterns(name: str) -> Markup:
    patterns = (_PATTERN.format(name, label, label, _MARKS.get(label, "")) for label in _SHOWN)
    return Markup("<defs>{}</defs>").format(Markup("").join(patterns))


def line_chart(
    name: str, title: str, unit: str, points: Sequence[Point], source: Markup | str, *, year: bool = False
) -> Chart | None:
    """Draw one number of one asset over its days; None with fewer than two known values.

    Args:
        year: its dates name the year, as those of a replay do.
    """
    if len(points) < 2:
        return None
    first_ms = points[0][0]
    last_ms = points[-1][0]
    low = min(value for _, value in points)
    high = max(value for _, value in points)

    # Numbers are written to a hundredth of what the chart spans: it shows no smaller difference.
    decimals = 2 - math.floor(math.log10((high - low) or abs(high) or 1.0))
    values = [rounded(value, decimals) for _, value in points]
    rows = [(f"{moment(at):%-d %b, %H:%M}", _short(value)) for (at, _), value in zip(points, values, strict=True)]

    room = (high - low) * 0.08 or abs(low) * 0.01 or 1.0
    days_between_ticks = 1 if last_ms - first_ms < 10 * DAY_MS else 5
    times = _times(first_ms, last_ms, last_ms, days_between_ticks * DAY_MS, year=year)
    plane = Plane(times, axis(low - room, high + room, unit, _short), 34.0, 220.0, 0.0, WIDTH)

    parts = [*plane.grid()]
    if low - room < 0.0 < high + room:
        parts.append(plane.across("base", 0.0))
    parts += [plane.path("line", part) for part in _unbroken(points, 2 * DAY_MS)]
    parts += plane.labels()
    for (at, _), (when, value) in zip(points, rows, strict=True):
        parts.append(plane.hover(at, 4, f"{when} UTC: {value}"))

    between = f"between {_short(min(values))} and {_short(max(values))}"
    since = f"{moment(first_ms):{'%-d %b %Y' if year else '%-d %b'}}"
    caption = Caption(
        name=name,
        # The chart may be minutes older than the page round it, which gives the value of now.
        finding=f"{title}: {_short(values[-1])} at {moment(last_ms):%H:%M}, {between} since {since}",
        desc="A line over the last days.",
        source=source,
        columns=("Time, UTC", unit),
        rows=tuple(rows[:: max(1, len(rows) // 30)]),
    )
    return Chart(caption, Markup("").join(parts), 256)


def _short(value: float) -> str:
    for size, unit in ((1e9, " bn"), (1e6, " m"), (1e3, " k")):
        if abs(value) >= size:
            return plain(value / size, 4) + unit
    return plain(value, 4)


def _fan(last: Point, window: Window, ranges: Mapping[str, MoveRange] | None) -> Fan:
    """Return the ends of the ranges as prices, from the last close on; empty where none is known."""
    last_ms, close = last
    fan: Fan = [(last_ms, (close,) * 4)]
    for name, horizon in HORIZONS.items():
        forecast = (ranges or {}).get(name)
        if forecast is None or horizon.minutes > HORIZONS[window.ahead].minutes:
            continue
        fan.append((last_ms + horizon.length_ms, forecast.prices(close)))
    return fan if len(fan) > 1 else []


def _ahead(plane: Plane, fan: Fan) -> Iterator[Markup]:
    """Draw the wider range, the narrower one over it, and what they say at each horizon."""
    if not fan:
        return
    for kind, low, high in (("fan90", 0, 3), ("fan50", 1, 2)):
        upper_edge = [(at, ends[high]) for at, ends in fan]
        lower_edge = [(at, ends[low]) for at, ends in reversed(fan)]
        yield plane.area(kind, upper_edge + lower_edge)

    yield from _names_ahead(plane, fan)
    for at, (low_90, low_50, high_50, high_90) in fan[1:]:
        inner = f"50% between {price(low_50)} and {price(high_50)}"
        outer = f"90% between {price(low_90)} and {price(high_90)}"
        yield plane.hover(at, 8, f"{moment(at):%-d %b, %H:%M} UTC: {inner}, {outer}", _STRIP[1])


def _names_ahead(plane: Plane, fan: Fan) -> Iterator[Markup]:
    """Name the ranges right of their ends: the narrower at its middle, the wider at its upper edge or clear of that."""
    at, (_, low_50, high_50, high_90) = fan[-1]
    x, top = plane.at(at, high_90)
    _, middle = plane.at(at, (low_50 + high_50) / 2)

    yield text("tick", x + 6, middle + 5, "50%")
    yield text("tick", x + 6, min(top + 5, middle + 5 - _LINE), "90%")


def _bands(name: str, plane: Plane, hours: Sequence[Hour], until_ms: int) -> Iterator[Markup]:
    """Draw a part of the strip for each spell of a regime."""
    for label, begin_ms, end_ms in _spells(hours, until_ms):
        if label not in _SHOWN:
            continue
        left, _ = plane.at(begin_ms, 0)
        right, _ = plane.at(end_ms, 0)
        yield _BAND.format(f"{name}-{label}", left, plane.top, right - left, plane.bottom - plane.top)


def _spells(hours: Sequence[Hour], until_ms: int) -> list[tuple[RegimeLabel, int, int]]:
    """Return spells of one regime as shown, with begin and end in ms; an hour that is missing ends a spell."""
    spells: list[tuple[RegimeLabel, int, int]] = []
    ends = [*(hour.market_ms for hour in hours[1:]), until_ms]

    for hour, next_ms in zip(hours, ends, strict=False):
        begin_ms = hour.market_ms
        shown = regime_of(hour)
        if spells:
            label, before_ms, end_ms = spells[-1]
            if label is shown and end_ms == begin_ms:
                spells.pop()
                begin_ms = before_ms

        spells.append((shown, begin_ms, min(next_ms, hour.market_ms + 2 * HOUR_MS)))
    return spells


def _unbroken(series: Sequence[tuple[int, Value]], most_ms: int) -> Iterator[Sequence[tuple[int, Value]]]:
    """Cut a series where two neighbours are more than `most_ms` apart."""
    begin = 0
    for place in range(1, len(series)):
        if series[place][0] - series[place - 1][0] > most_ms:
            yield series[begin:place]
            begin = place
    if series:
        yield series[begin:]


def _times(  # noqa: PLR0917  an axis, its edges and its labels
    begin: int,
    now: int,
    end: int,
    step_ms: int,
    form: str = "%-d",
    left: float = 0.0,
    right: float = WIDTH,
    *,
    year: bool = False,
) -> Axis:
    """Return the axis of time, labelled at each step but where half of a label would stand outside of the picture.

    Args:
        begin: UTC milliseconds, as `now` and `end`.
        form: of a label, as strftime writes it; where it is the day, a new month is named with it.
        left: edge of the plane, as `right`.
        year: name the year with a month.
    """
    ticks = []
    month = 0
    first = -(-begin // step_ms) * step_ms

    for at in range(first, now, step_ms):
        x = left + (right - left) * (at - begin) / (end - begin)
        if not 30 < x < WIDTH - 20:
            continue
        label = f"{moment(at):{form}}"
        if form == "%-d" and moment(at).month != month:
            label += f" {moment(at):{'%b %Y' if year else '%b'}}"
        ticks.append((float(at), label))
        month = moment(at).month
    return Axis(begin, end, tuple(ticks), "")


def _now(plane: Plane, window: Window, last: Point) -> Iterator[Markup]:
    """Mark the last close, and how far the axis reaches behind it."""
    at, close = last
    x, y = plane.at(at, close)

    yield line("mark", (x, plane.top - 4), (x, _STRIP[1]))
    yield Markup('<circle class="end" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(x, y)
    yield text("value", x, plane.top - 12, f"{price(close)} at {moment(at):%H:%M}", "end")
    if plane.right - x > 30:
        yield text("tick", plane.right, _STRIP[1] + 25, f"+{window.ahead}", "middle")


def _begin(plane: Plane, hours: Sequence[Hour]) -> Iterator[Markup]:
    """Mark where the backtest ends and what was published begins."""
    for before, after in pairwise(hours):
        if before.warm_up and not after.warm_up:
            yield plane.upright("mark", after.market_ms)


def _legend(name: str) -> Iterator[Markup]:
    """Name the patterns, each with as much room as its name has letters."""
    letters = {label: len(REGIME[label]) + 4 for label in _SHOWN}
    x = 0.0
    for label in _SHOWN:
        yield _SWATCH.format(f"{name}-{label}", x, _LEGEND - 13)
        yield text("tick", x + 22, _LEGEND, REGIME[label])
        x += WIDTH * letters[label] / sum(letters.values())


def _touch(plane: Plane, hours: Sequence[Hour], lately: Lately, window: Window) -> Iterator[Markup]:
    """Give each hour a strip that shows its numbers when it is pointed at."""
    width = max(2.0, (plane.right - plane.left) * window.hours * HOUR_MS / (plane.x.high - plane.x.low))
    for hour in hours:
        when = f"{lately.day(hour.market_ms)}, {moment(hour.market_ms):%H:%M} UTC"
        tip = f"{when}: {price(hour.prices.get(lately.asset))}"
        if hour.chances is not None:
            ranked = sorted(zip(hour.chances, REGIMES, strict=True), key=lambda row: -row[0])
            tip += "; " + ", ".join(f"{REGIME[label]} {percent(100 * chance)}" for chance, label in ranked)
        yield plane.hover(hour.market_ms, width, tip + _backtest_mark(hour), _STRIP[1])


def _backtest_mark(hour: Hour) -> str:
    return " (backtest)" if hour.warm_up else ""


def _finding(lately: Lately, window: Window, closes: Sequence[Point]) -> str:
    """Say how far the line went that is drawn, and where it had been."""
    first_ms, first = closes[0]
    last_ms, last = closes[-1]

    def point(place: Point) -> tuple[float, str]:
        at_ms, close = place
        when = f"at {moment(at_ms):%H:%M} UTC" if window.span_ms <= DAY_MS else f"on {lately.day(at_ms)}"
        return 100 * (close / first - 1), when

    drawn = Drawn(
        name=ASSET_NAMES[lately.asset],
        span="" if first_ms > last_ms - 0.9 * window.span_ms else window.of,
        begun=f"{lately.day(first_ms)}, {moment(first_ms):%H:%M} UTC",
        moved=100 * (last / first - 1),
        high=point(max(closes, key=lambda place: place[1])),
        low=point(min(closes, key=lambda place: place[1])),
    )
    return TITLES.say("title", drawn)


def _rows(hours: Sequence[Hour], lately: Lately) -> Iterator[tuple[str, ...]]:
    """Give about 42 rows of the table, the newest first."""
    step = max(1, len(hours) // 42)
    for hour in hours[::-1][::step]:
        chances = [percent(100 * chance) for chance in hour.chances or ()] or [UNKNOWN] * len(REGIMES)
        yield (
            f"{lately.day(hour.market_ms)}, {moment(hour.market_ms):%H:%M}{_backtest_mark(hour)}",
            price(hour.prices.get(lately.asset)),
            REGIME[regime_of(hour)],
            *chances,
        )
