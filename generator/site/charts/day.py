"""The daily question in dollars: the last day with the column on which it is answered, and how the last one ended."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import price as published
from generator.catalog.horizons import HOUR
from generator.catalog.text.figures import price, tick_dollars
from generator.compose.coins import ranges as ranges_of
from generator.compose.inputs import reading_of
from generator.compose.tick import Tick
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, axis, line, text
from generator.site.charts.sources import DATA_FROM
from generator.values.questions import DailyQuestion
from generator.values.ranges import MoveRange

HEIGHT: Final = 344
MINE: Final = "daily-mine-row"
"""The group into which a script draws what was answered in this browser."""
FINDING: Final = "Bitcoin: the last day and the range of the next hour"
_TOP: Final = 30.0
_BOTTOM: Final = 304.0
_LEFT: Final = 96.0  # room for prices on a phone, where letters are largest
_NOW: Final = 364.0
_NOW_ALONE: Final = 550.0  # where no question is open
_HOUR_GAP: Final = 40.0  # from now to the column of the next hour
_HOUR_WIDTH: Final = 44.0
COLUMN: Final = (484.0, float(WIDTH))  # edges of the column of the daily question
NO_ANSWER: Final = "no answer here"
_MINE: Final = Markup('<g id="{}">{}</g>')
_RECT: Final = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')


@dataclass(frozen=True, slots=True)
class DayPicture:
    """The picture, and what a script needs to lay ranges on it; `base`, `low` and `high` in USD."""

    chart: Chart
    base: float  # the price that ranges count from
    low: float  # at the lower edge of the plane
    high: float  # at the upper edge
    column: str  # its edges in percent of the picture: top, bottom, left, right


def day_picture(ctx: Tick, most: int, when: str, base: float | None) -> DayPicture | None:
    """Draw the day, the hour and the column; None without a price or with fewer than two closes.

    Args:
        most: how far ranges can be set, in hundredths of a percent of the base.
        when: the daily question is measured, under its column; empty where none is open.
        base: USD that its ranges count from; None for the price now.
    """
    now = published(ctx.seen[DEFAULT_ASSET].price)
    known = [(at, close) for at, close in ctx.closes.get(DEFAULT_ASSET, ()) if math.isfinite(close) and close > 0]
    closes = [(at, close) for at, close in known if at >= known[-1][0] - DAY_MS]
    if now is None or len(closes) < 2:
        return None
    now_ms = closes[-1][0] + ctx.observation.bar_interval_ms  # the last bar closed at about this time

    hour = (ranges_of(reading_of(ctx, DEFAULT_ASSET)) or {}).get(HOUR)
    if base is None:
        base = now
    reach = base * most / 10_000
    drawn = [base - reach, base + reach, *(close for _, close in closes)]
    prices = axis(min(drawn), max(drawn), "", tick_dollars)
    right = _NOW if when else _NOW_ALONE
    plane = Plane(Axis(now_ms - DAY_MS, now_ms, (), ""), prices, _TOP, _BOTTOM, _LEFT, right)

    heights = [plane.at(now_ms, value)[1] for value, _ in prices.ticks]
    parts = [
        *(line("grid", (_LEFT, y), (right + _HOUR_GAP + _HOUR_WIDTH, y)) for y in heights),
        *_column(heights, when),
        *_next_hour(plane, now, hour),
        plane.path("line", [*closes, (now_ms, now)]),
        *plane.labels(),
        *_times(plane),
        *_ends(plane, now, hour),
    ]
    caption = Caption(
        name="day",
        finding=FINDING,
        desc=(
            "A line of the price over the last day; right of it where the price should end the next hour, 50 times in "
            "100 inside the darker box and 90 times inside the lighter one; further right, on the same scale, the "
            "column of the daily question."
        ),
        source=f"Source: {DATA_FROM[ctx.observation.mode]}.",
        columns=("When", "Bitcoin"),
        rows=tuple(_rows(closes, now, hour)),
    )
    chart = Chart(caption, Markup("").join(parts), HEIGHT)
    return DayPicture(chart, base, prices.low, prices.high, _place())


def _place() -> str:
    """Return the column's edges in percent of the picture: top, bottom, left, right."""
    edges = (100 * _TOP / HEIGHT, 100 * _BOTTOM / HEIGHT, 100 * COLUMN[0] / WIDTH, 100 * COLUMN[1] / WIDTH)
    return " ".join(f"{edge:.3f}" for edge in edges)


def _next_hour(plane: Plane, now: float, hour: MoveRange | None) -> Iterator[Markup]:
    """Draw the two ranges of the next hour, the wider one first."""
    if hour is None:
        return
    low_90, low_50, high_50, high_90 = hour.prices(now)
    for kind, low, high in (("far90", low_90, high_90), ("far50", low_50, high_50)):
        _, top = plane.at(plane.x.high, high)
        _, bottom = plane.at(plane.x.high, low)
        yield _RECT.format(kind, plane.right + _HOUR_GAP, top, _HOUR_WIDTH, max(1.5, bottom - top))


def _times(plane: Plane) -> Iterator[Markup]:
    """Write how long ago: relative, so that a replay has no second clock here."""
    for at, words, anchor in ((plane.x.low, "a day ago", "start"), (plane.x.high, "now", "middle")):
        x, _ = plane.at(at, plane.y.low)
        yield line("notch", (x, plane.bottom), (x, plane.bottom + 6))
        yield text("tick", x, plane.bottom + 26, words, anchor)


def _column(heights: Sequence[float], when: str) -> Iterator[Markup]:
    """Draw the empty column of the question, and under it the time that it asks about."""
    if not when:
        return
    left, right = COLUMN
    yield _RECT.format("question", left, _TOP, right - left, _BOTTOM - _TOP)
    for y in heights:
        yield line("grid", (left, y), (right, y))
    yield text("tick", right, _BOTTOM + 26, when, "end")


def _ends(plane: Plane, now: float, hour: MoveRange | None) -> Iterator[Markup]:
    """Label the line at its end, and name the column of the next hour."""
    x, y = plane.at(plane.x.high, now)
    yield line("here", (x, y), (x + _HOUR_GAP + _HOUR_WIDTH, y))
    yield Markup('<circle class="end" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(x, y)
    yield text("value halo", x, _TOP - 12, f"Bitcoin {price(now)}", "end")
    if hour is not None:
        yield text("tick", x + _HOUR_GAP + _HOUR_WIDTH / 2, plane.bottom + 26, "+1 h", "middle")


def _rows(closes: Sequence[tuple[int, float]], now: float, hour: MoveRange | None) -> Iterator[tuple[str, str]]:
    """Give the ranges of the next hour, the price now, and the price at each full hour before."""
    if hour is not None:
        low_90, low_50, high_50, high_90 = hour.prices(now)
        yield "in an hour, 90 times in 100", f"{price(low_90)} to {price(high_90)}"
        yield "in an hour, 50 times in 100", f"{price(low_50)} to {price(high_50)}"
    yield "now", price(now)

    last_ms = closes[-1][0]
    for at, close in reversed(closes):
        hours, rest = divmod(last_ms - at, HOUR_MS)
        if hours and not rest:
            yield f"{hours} h ago", price(close)


@dataclass(frozen=True, slots=True)
class Yesterday:
    """The last question that was measured: its picture, and what a script needs to draw one's own answer into it."""

    question_id: str
    chart: Chart
    start: float  # USD
    low: float  # hundredths of a percent, at the left edge
    high: float  # at the right edge
    row: str  # edges of one's own row in the picture: left, right, top, height


_OWN_LEFT: Final = 140.0
_OWN_RIGHT: Final = WIDTH - 12.0
_OWN_TOP: Final = 40.0
_OWN_ROW: Final = 46.0
_OWN_BAR: Final = 26.0


def yesterday(question: DailyQuestion) -> Yesterday:
    """Draw what a measured question is compared with, the brain's ranges and a usual day's, and where the price ended.

    Raises:
        ValueError: the question is not measured.
    """
    start = question.counted_from
    if question.move is None or start is None or question.end_price is None:
        raise ValueError(f"{question.question_id} is not measured")

    move = 100 * question.move
    brain, usual = question.compared
    ends = (*brain, *usual, move)
    room = 0.12 * (max(ends) - min(ends))
    across = Axis(min(ends) - room, max(ends) + room, (), "")
    rows = (("You", ()), ("Brain", brain), ("Usual day", usual))
    bottom = _OWN_TOP + _OWN_ROW * len(rows)
    plane = Plane(across, Axis(0.0, 1.0, (), ""), _OWN_TOP, bottom, _OWN_LEFT, _OWN_RIGHT)

    parts = []
    for number, (name, said) in enumerate(rows):
        top = _OWN_TOP + _OWN_ROW * number
        parts.append(text("row", 0, top + 19, name))
        parts += _said(plane, said, top) if said else [_MINE.format(MINE, text("tick", _OWN_LEFT, top + 19, NO_ANSWER))]
    truth, _ = plane.at(move, 0.0)
    parts.append(line("here", (truth, _OWN_TOP - 10), (truth, bottom - 14)))
    anchor = "end" if truth > WIDTH / 2 else "start"
    parts.append(text("value", truth, 22, price(question.end_price), anchor))

    caption = Caption(
        name="yesterday",
        finding=f"The last question: Bitcoin ended at {price(question.end_price)}",
        desc="A row each for you, the brain and a usual day: the outer range should hold nine times in ten, the inner "
        "one half of the time. The line is where the price ended.",
        source="",
        columns=("Who", "90% range", "50% range"),
        rows=tuple(
            (name, _dollars(start, said[0], said[3]), _dollars(start, said[1], said[2])) for name, said in rows[1:]
        ),
    )
    chart = Chart(caption, Markup("").join(parts), round(bottom))
    row = f"{_OWN_LEFT:g} {_OWN_RIGHT:g} {_OWN_TOP:g} {_OWN_BAR:g}"
    return Yesterday(question.question_id, chart, start, across.low, across.high, row)


def _said(plane: Plane, ends: Sequence[int], top: float) -> Iterator[Markup]:
    """Draw two ranges as bars in a row, the wider one first."""
    low_90, low_50, high_50, high_90 = ends
    for kind, low, high in (("far90", low_90, high_90), ("far50", low_50, high_50)):
        left, _ = plane.at(low, 0.0)
        right, _ = plane.at(high, 0.0)
        yield _RECT.format(kind, left, top, max(1.5, right - left), _OWN_BAR)


def _dollars(start: float, low: int, high: int) -> str:
    return f"{price(start * (1 + low / 10_000))} to {price(start * (1 + high / 10_000))}"
