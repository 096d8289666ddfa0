"""The frame of a chart: axes with units, a finding as its title, its numbers as a table, source and time under it.

Nothing here carries a style: colours and letters come from the style sheet, marks differ in shape as well. Lengths are
SVG units; the view box is 640 wide and scales with its column.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markupsafe import Markup

WIDTH: Final = 640
LEFT: Final = 62
RIGHT: Final = 18
TOP: Final = 40
NO_MARK_TOP: Final = 8
BOTTOM: Final = 62
ROW: Final = 40
ROW_LABEL: Final = 118
ROW_VALUE: Final = 168
LETTER: Final = 13  # units that a letter of a row takes on a phone, where it is largest

_FIGURE: Final = Markup(
    '<figure class="chart{wide}" id="chart-{id}"><figcaption>{finding}</figcaption>{svg}'
    '<p class="source">{source}</p>'
    "<details><summary>The numbers of this chart</summary>{table}</details></figure>"
)
_SVG: Final = Markup(
    '<svg{space} viewBox="0 0 {width} {height}" role="img" aria-labelledby="{id}-t {id}-d">'
    '<title id="{id}-t">{finding}</title><desc id="{id}-d">{desc}</desc>{inner}</svg>'
)
_NAMESPACE: Final = Markup(' xmlns="http://www.w3.org/2000/svg"')
_TEXT: Final = Markup('<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{anchor}>{text}</text>')
_LINE: Final = Markup('<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
_ANCHORS: Final = {
    "start": Markup(""),
    "middle": Markup(' text-anchor="middle"'),
    "end": Markup(' text-anchor="end"'),
}


@dataclass(frozen=True, slots=True)
class Caption:
    """What a chart says with its picture.

    Args:
        desc: how to read it, for those who do not see it.
    """

    name: str
    finding: str
    desc: str
    source: Markup | str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    label: str

    def share(self, value: float) -> float:
        """Return where a value lies, 0 at the start and 1 at the end; outside values at the nearer end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a chart of rows.

    Args:
        value: None draws no mark.
        text: the value in words, drawn next to the mark and shown by the tooltip.
    """

    label: str
    value: float | None
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A finished chart; in a template it is its figure: picture, title, description, source and table together."""

    caption: Caption
    inner: Markup
    height: int
    wide: bool = False  # drawn as wide as the page, so with smaller letters

    def svg(self, *, alone: bool = False) -> Markup:
        """Return the picture; `alone` outside of a page, where it and must name its own language."""
        caption, space = self.caption, _NAMESPACE if alone else Markup("")
        return _SVG.format(
            space=space,
            id=caption.name,
            width=WIDTH,
            height=self.height,
            finding=caption.finding,
            desc=caption.desc,
            inner=self.inner,
        )

    def __html__(self) -> str:
        """Return the figure."""
        caption = self.caption
        return _FIGURE.format(
            id=caption.name,
            wide=" broad" if self.wide else "",
            finding=caption.finding,
            svg=self.svg(),
            source=caption.source,
            table=_table(caption),
        )

    __str__ = __html__


class Plot:
    """A plane between two axes."""

    def __init__(self, x: Axis, y: Axis, height: int = 360) -> None:
        self.x, self.y, self.height = x, y, height
        self._width = WIDTH - LEFT - RIGHT
        self._tall = height - TOP - BOTTOM

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point."""
        return LEFT + self.x.share(x) * self._width, TOP + (1 - self.y.share(y)) * self._tall

    def frame(self) -> Markup:
        """Draw grid lines, tick labels and the two axis labels."""
        bottom = TOP + self._tall
        parts = [text("axis", 0, 16, self.y.label)]
        for value, label in self.y.ticks:
            _, y = self.at(self.x.low, value)
            parts += [line("grid", (LEFT, y), (WIDTH - RIGHT, y)), text("tick", LEFT - 9, y + 5, label, "end")]
        for value, label in self.x.ticks:
            x, _ = self.at(value, self.y.low)
            # The last label ends with the axis: half of it would stand outside of the picture.
            anchor = "end" if self.x.share(value) == 1 and len(label) > 3 else "middle"
            parts += [line("notch", (x, bottom), (x, bottom + 6)), text("tick", x, bottom + 25, label, anchor)]
        parts += [
            line("base", (LEFT, bottom), (WIDTH - RIGHT, bottom)),
            text("axis", WIDTH - RIGHT, self.height - 6, self.x.label, "end"),
        ]
        return Markup("").join(parts)

    def path(self, kind: str, points: Iterable[tuple[float, float]], *, closed: bool = False) -> Markup:
        """Draw a line through points, or an area when closed."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*point) for point in points))
        area, path = Markup('<polygon class="{}" points="{}"/>'), Markup('<polyline class="{}" points="{}"/>')
        return (area if closed else path).format(kind, places)

    def dot(self, kind: str, point: tuple[float, float], tip: str, radius: float = 5) -> Markup:
        """Draw a point that shows its number when it is pointed at."""
        x, y = self.at(*point)
        mark = Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:g}" data-tip="{}"/>')
        return mark.format(kind, x, y, radius, tip)

    def span(self, kind: str, start: tuple[float, float], end: tuple[float, float]) -> Markup:
        """Draw a straight line between two points."""
        return line(kind, self.at(*start), self.at(*end))

    def note(self, kind: str, point: tuple[float, float], words: str, anchor: str = "start", down: float = 0) -> Markup:
        """Write at a point, or `down` units below it."""
        x, y = self.at(*point)
        return text(kind, x, y + down, words, anchor)


def row_chart(
    caption: Caption, axis: Axis, rows: Sequence[Row], *, bars: bool = False, marks: Sequence[tuple[float, str]] = ()
) -> Chart:
    """Draw one mark for each row along one axis.

    Args:
        bars: from zero to the value, instead of a dot with its interval.
        marks: values that the rows are compared with, and their names.
    """
    top = TOP if marks else NO_MARK_TOP
    height = top + ROW * len(rows) + BOTTOM
    left = max(ROW_LABEL, *(LETTER * len(row.label) for row in rows))
    width = WIDTH - left - ROW_VALUE
    bottom = height - BOTTOM

    def x_of(value: float) -> float:
        return left + axis.share(value) * width

    parts = [line("grid", (x_of(value), top), (x_of(value), bottom)) for value, _ in axis.ticks]
    parts += [text("tick", x_of(value), bottom + 25, label, "middle") for value, label in axis.ticks]
    parts += [text("axis", left + width, height - 6, axis.label, "end")]
    for value, name in marks:
        x = x_of(value)
        parts += [line("mark", (x, top - 8), (x, bottom)), text("axis", x, 22, name, "middle")]
    for number, row in enumerate(rows):
        parts.append(_row(row, top + ROW * (number + 0.5), x_of, bars=bars))
    if not caption.rows:
        caption = replace(caption, rows=tuple((row.label, row.text) for row in rows))
    return Chart(caption, Markup("").join(parts), height)


def nice_ticks(low: float, high: float, wanted: int = 5) -> tuple[float, ...]:
    """Return round values between two, about as many as wanted: steps of 1, 2, 2.5 or 5 times a power of ten."""
    if not high > low:
        return (low,)
    step = _step(high - low, wanted)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(number * step, 12) + 0.0 for number in range(first, last + 1))


def ticks_around(low: float, high: float, wanted: int = 4) -> tuple[float, ...]:
    """Return round values likewise, of which the first and the last hold every value between."""
    step = _step(high - low, wanted)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(number * step, 12) + 0.0 for number in range(first, last + 1))


def _step(span: float, wanted: int) -> float:
    raw = span / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)


def text(kind: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    """Write words into a chart."""
    return _TEXT.format(kind=kind, x=x, y=y, anchor=_ANCHORS[anchor], text=words)


def line(kind: str, start: tuple[float, float], end: tuple[float, float]) -> Markup:
    """Draw a line between two places."""
    return _LINE.format(kind=kind, x1=start[0], y1=start[1], x2=end[0], y2=end[1])


def _row(row: Row, y: float, x_of: Callable[[float], float], *, bars: bool) -> Markup:
    label = text("row", 0, y + 5, row.label)
    if row.value is None:
        return label + text("row none", WIDTH - RIGHT, y + 5, row.text, "end")
    shape = (_bar if bars else _dot)(row, row.value, y, x_of)
    return label + shape + text("value", WIDTH - RIGHT, y + 5, row.text, "end")


def _bar(row: Row, value: float, y: float, x_of: Callable[[float], float]) -> Markup:
    zero, x = x_of(0.0), x_of(value)
    shape = Markup('<rect class="bar{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="16" rx="2" data-tip="{}"/>')
    under = " under" if x < zero else ""
    return shape.format(under, min(zero, x), y - 8, max(1.5, abs(x - zero)), f"{row.label}: {row.text}")


def _dot(row: Row, value: float, y: float, x_of: Callable[[float], float]) -> Markup:
    whisker = Markup("")
    if row.low is not None and row.high is not None:
        whisker = line("whisker", (x_of(row.low), y), (x_of(row.high), y))
    dot = Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="6" data-tip="{}"/>')
    return whisker + dot.format(x_of(value), y, f"{row.label}: {row.text}")


def _table(caption: Caption) -> Markup:
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in caption.columns)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            cells[0], Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells[1:])
        )
        for cells in caption.rows
    )
    frame = Markup('<table class="twin"><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>')
    return frame.format(caption.finding, heads, rows)
