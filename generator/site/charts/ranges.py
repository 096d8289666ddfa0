"""How far a price may move: its ranges at the end of one horizon or of several, around the price now."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.catalog.assets import ASSET_NAMES, DEFAULT_ASSET
from generator.catalog.formats import price as published
from generator.catalog.horizons import HORIZONS, HOUR
from generator.catalog.text.figures import price, signed
from generator.compose.coins import ranges as ranges_of
from generator.compose.inputs import reading_of
from generator.compose.tick import Tick
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, line, text
from generator.site.charts.sources import source_of
from generator.values.ranges import MoveRange

_TOP: Final = 30.0  # the price now is written above
_ROW: Final = 58.0
_BAR: Final = 34.0  # height of the bar in a row
_LABEL: Final = 112.0  # what the name of a row takes
_SHORT_LABEL: Final = 60.0
_VALUE: Final = 132.0  # what the value at an end of a bar takes on a phone, where letters are largest
_NAMES: Final = 18.0  # what the names of the two ranges take under several rows
_RECT: Final = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:g}"/>')


class _Row(NamedTuple):
    """A row of the picture: bars one over the other, the widest first, and the values at the ends of the first."""

    label: str
    bars: tuple[tuple[str, float, float], ...]  # what it is drawn as, and its ends in percent from now


def how_far(
    name: str,
    asset: str,
    now: float | None,
    ranges: Mapping[str, MoveRange],
    source: Markup | str,
    *,
    at: str = "now",
    came: float | None = None,
) -> Chart | None:
    """Draw where a price should end 50 and 90 times in 100; None without a range.

    Args:
        now: the price now in USD; where it is None, the ends are in percent alone.
        ranges: by horizon, the shortest first. One alone has a row for each range; several have a row each.
        at: when the price was that, in words.
        came: the move that came, in percent, where it is known.
    """
    if not ranges:
        return None

    longest = max(ranges, key=lambda horizon: HORIZONS[horizon].minutes)
    rows = tuple(_rows(ranges))
    room = (_SHORT_LABEL if len(ranges) == 1 else _LABEL) + _VALUE
    moves = [0.0 if came is None else came]
    low = min(*moves, *(move.low_90 for move in ranges.values()))
    high = max(*moves, *(move.high_90 for move in ranges.values()))
    across = Axis(low, high if high > low else low + 1.0, (), "")
    plane = Plane(across, Axis(0.0, 1.0, (), ""), _TOP, _TOP + _ROW * len(rows), room, WIDTH - _VALUE)

    middle, _ = plane.at(0.0, 0.0)
    here = at if now is None else f"{at} {price(now)}"
    parts = [text("value", middle, 18, here, "middle")]
    for number, row in enumerate(rows):
        parts += _drawn(row, plane, _TOP + _ROW * number, now)
    parts.append(line("here", (middle, _TOP - 6), (middle, plane.bottom - 16)))

    height = plane.bottom
    if len(ranges) > 1:
        parts += _names(plane, ranges[longest])
        height += _NAMES

    if came is not None:
        parts += _came(plane, came, rows)
        height += _NAMES

    caption = Caption(
        name=name,
        finding=_finding(asset, now, longest, ranges[longest]),
        desc=(
            "Bars around the price now: the price should end inside the darker one 50 times in 100, inside the lighter "
            "one 90 times in 100. How far is forecast, not which way."
        ),
        source=source,
        columns=("From now", "90% range", "50% range"),
        rows=tuple(
            (
                HORIZONS[horizon].words,
                _between(move.low_90, move.high_90, now),
                _between(move.low_50, move.high_50, now),
            )
            for horizon, move in ranges.items()
        ),
    )
    return Chart(caption, Markup("").join(parts), round(height))


def hour_ranges(ctx: Tick) -> Chart | None:
    """Draw how far the price of the default asset may move in an hour; None where that is unknown."""
    hour = (ranges_of(reading_of(ctx, DEFAULT_ASSET)) or {}).get(HOUR)
    if hour is None:
        return None
    now = published(ctx.seen[DEFAULT_ASSET].price)
    return how_far("far", DEFAULT_ASSET, now, {HOUR: hour}, source_of(ctx))


def _rows(ranges: Mapping[str, MoveRange]) -> Iterator[_Row]:
    """Give a row for each range of the one horizon, or for each of several horizons with its ranges in it."""
    for horizon, move in ranges.items():
        half = ("far50", move.low_50, move.high_50)
        most = ("far90", move.low_90, move.high_90)
        if len(ranges) == 1:
            yield _Row("50%", (half,))
            yield _Row("90%", (most,))
        else:
            yield _Row(HORIZONS[horizon].words, (most, half))


def _drawn(row: _Row, plane: Plane, top: float, now: float | None) -> Iterator[Markup]:
    """Draw the bars of a row, its name at the left edge and the values of the widest bar at its ends."""
    middle = top + _BAR / 2
    yield text("row", 0, middle + 5, row.label)

    for kind, low, high in row.bars:
        left, _ = plane.at(low, 0.0)
        right, _ = plane.at(high, 0.0)
        yield _RECT.format(kind, left, top, max(1.5, right - left), _BAR)

    _, low, high = row.bars[0]
    for end, anchor, gap in ((low, "end", -10), (high, "start", 10)):
        x, _ = plane.at(end, 0.0)
        if now is None:
            yield text("row", x + gap, middle + 5, signed(end), anchor)
        else:
            yield text("row", x + gap, middle - 3, price(_moved(now, end)), anchor)
            yield text("tick", x + gap, middle + 19, signed(end), anchor)


def _names(plane: Plane, widest: MoveRange) -> Iterator[Markup]:
    """Name the two ranges under the bars of the last row."""
    y = plane.bottom + 4
    for name, begin, end in (("90%", widest.low_90, widest.low_50), ("50%", 0.0, 0.0)):
        left, _ = plane.at(begin, 0.0)
        right, _ = plane.at(end, 0.0)
        yield text("row", (left + right) / 2, y, name, "middle")


def _came(plane: Plane, came: float, rows: Sequence[_Row]) -> Iterator[Markup]:
    """Mark the move that came in the last row, and name it below."""
    x, _ = plane.at(came, 0.0)
    up_from_bottom = 1 - (_ROW * (len(rows) - 1) + _BAR / 2) / (plane.bottom - plane.top)
    yield plane.dot("end", (came, up_from_bottom), f"ended {signed(came)}", 7)
    yield text("value", x, plane.bottom + 4, "ended", "middle")


def _moved(now: float, move: float) -> float:
    """Return a price after a move in percent."""
    return now * (1 + move / 100)


def _between(low: float, high: float, now: float | None) -> str:
    """Write the ends of a range as prices and in percent; in percent alone where the price now is unknown."""
    in_percent = f"{signed(low)} to {signed(high)}"
    if now is None:
        return in_percent
    return f"{price(_moved(now, low))} to {price(_moved(now, high))} ({in_percent})"


def _finding(asset: str, now: float | None, horizon: str, move: MoveRange) -> str:
    """Say where the price should end after a horizon."""
    low = signed(move.low_90) if now is None else price(_moved(now, move.low_90))
    high = signed(move.high_90) if now is None else price(_moved(now, move.high_90))
    return f"{ASSET_NAMES[asset]} in {HORIZONS[horizon].words}: nine times in ten between {low} and {high}"
