"""The frame of a chart: axes with units, a finding as its title, its numbers as a table, source and time under it.

Nothing here carries a style: colours and letters come from the style sheet, marks differ in shape as well. Lengths are
SVG units; the view box is 640 wide and scales with its column.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from markupsafe import Markup

WIDTH: Final = 640
LEFT: Final = 62
RIGHT: Final = 18
TOP: Final = 40
NO_MARK_TOP: Final = 8
BOTTOM: Final = 62
HEIGHT: Final = 330
ROW: Final = 40
ROW_LABEL: Final = 118
ROW_VALUE: Final = 168
LETTER: Final = 13  # units that a letter of a row takes on a phone, where it is largest
BOLD_LETTER: Final = 14.5  # and one of its value

_FIGURE: Final = Markup(
    '<figure class="chart{wide}" id="chart-{id}"><figcaption>{finding}</figcaption>{svg}'
    '<p class="source">{source}</p>{details}</figure>'
)
_DETAILS: Final = Markup("<details><summary>The numbers of this chart</summary>{}</details>")
_SVG: Final = Markup(
    '<svg{more} viewBox="0 0 {width} {height}" role="img" aria-labelledby="{id}-t {id}-d">'
    '<title id="{id}-t">{title}</title><desc id="{id}-d">{desc}</desc>{inner}</svg>'
)
_NAMESPACE: Final = Markup(' xmlns="http://www.w3.org/2000/svg"')
# What a chart draws hundreds of times takes its values by `%`, which is three times as fast as `format`.
_TEXT: Final = Markup('<text class="%s" x="%.1f" y="%.1f"%s>%s</text>')
_LINE: Final = Markup('<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>')
_HOVER: Final = Markup('<rect class="hour" x="%.1f" y="%g" width="%.1f" height="%g" data-tip="%s"/>')
_DOT: Final = Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:g}" data-tip="{}"/>')
_BAR: Final = Markup('<rect class="bar{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="16" rx="2" data-tip="{}"/>')
_ANCHORS: Final = {
    "start": Markup(""),
    "middle": Markup(' text-anchor="middle"'),
    "end": Markup(' text-anchor="end"'),
}


@dataclass(frozen=True, slots=True)
class Caption:
    """What a chart says with its picture."""

    name: str
    finding: str
    desc: str  # how to read it, for those who do not see it
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
    """One row of a chart of rows."""

    label: str
    value: float | None  # None draws no mark
    text: str  # the value in words, drawn next to the mark and shown by the tooltip
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
        """Return the picture; `alone` outside of a page, where it must name its own language."""
        more = _NAMESPACE if alone else Markup("")
        return svg(self.caption.name, (WIDTH, self.height), self.caption.finding, self.caption.desc, self.inner, more)

    def details(self) -> Markup:
        """Return its numbers, folded."""
        return _DETAILS.format(_table(self.caption))

    def __html__(self) -> str:
        """Return the figure."""
        caption = self.caption
        return _FIGURE.format(
            id=caption.name,
            wide=" broad" if self.wide else "",
            finding=caption.finding,
            svg=self.svg(),
            source=caption.source,
            details=self.details(),
        )

    __str__ = __html__


@dataclass(frozen=True, slots=True)
class Plane:
    """A part of a picture between two axes, placed by its edges."""

    x: Axis
    y: Axis
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM
    left: float = LEFT  # room for the labels; 0 has them inside
    right: float = WIDTH - RIGHT

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point."""
        across = self.left + self.x.share(x) * (self.right - self.left)
        down = self.bottom - self.y.share(y) * (self.bottom - self.top)
        return across, down

    def grid(self) -> Iterator[Markup]:
        """Draw a line across at each tick."""
        return (self.across("grid", value) for value, _ in self.y.ticks)

    def labels(self) -> Iterator[Markup]:
        """Write what the axes show: left of the plane, or above the lines where there is no room."""
        yield text("axis", 0, 16, self.y.label)
        for value, label in self.y.ticks:
            _, y = self.at(self.x.low, value)
            if self.left:
                yield text("tick", self.left - 9, y + 5, label, "end")
            else:
                yield text("tick halo", 0, y - 4, label)
        yield from self.notches()

    def notches(self) -> Iterator[Markup]:
        """Draw what is under the plane: ticks and what they measure."""
        for value, label in self.x.ticks:
            x, _ = self.at(value, self.y.low)
            # The last label ends with the axis: half of it would stand outside of the picture.
            anchor = "end" if self.x.share(value) == 1 and len(label) > 3 else "middle"
            yield line("notch", (x, self.bottom), (x, self.bottom + 6))
            yield text("tick", x, self.bottom + 25, label, anchor)
        if self.x.label:
            yield text("axis", self.right, self.bottom + 56, self.x.label, "end")

    def across(self, kind: str, y: float) -> Markup:
        """Draw a line from the left edge to the right."""
        return line(kind, self.at(self.x.low, y), self.at(self.x.high, y))

    def upright(self, kind: str, x: float) -> Markup:
        """Draw a line from the top to the bottom."""
        return line(kind, self.at(x, self.y.high), self.at(x, self.y.low))

    def path(self, kind: str, points: Iterable[tuple[float, float]]) -> Markup:
        """Draw a line through points."""
        return Markup('<polyline class="{}" points="{}"/>').format(kind, self._places(points))

    def area(self, kind: str, points: Iterable[tuple[float, float]], fill: str = "") -> Markup:
        """Fill what points surround, with a pattern where `fill` names one."""
        pattern = Markup(' fill="url(#{})"').format(fill) if fill else ""
        return Markup('<polygon class="{}"{} points="{}"/>').format(kind, pattern, self._places(points))

    def _places(self, points: Iterable[tuple[float, float]]) -> str:
        places = (self.at(x, y) for x, y in points)
        return " ".join(f"{across:.1f},{down:.1f}" for across, down in places)

    def dot(self, kind: str, point: tuple[float, float], tip: str, radius: float = 5) -> Markup:
        """Draw a point that shows its number when it is pointed at."""
        return _DOT.format(kind, *self.at(*point), radius, tip)

    def hover(self, at: float, width: float, tip: str, bottom: float | None = None) -> Markup:
        """Draw the unseen strip that shows its number when it is pointed at."""
        x, _ = self.at(at, self.y.low)
        height = (bottom or self.bottom) - self.top
        return _HOVER % (x - width / 2, self.top, width, height, tip)


def svg(  # noqa: PLR0917  each is another thing
    name: str, size: tuple[int, int], title: str, desc: str, inner: Markup, more: Markup
) -> Markup:
    """Return a picture with its title, its description and `more` attributes, which begin with a space."""
    return _SVG.format(id=name, width=size[0], height=size[1], title=title, desc=desc, inner=inner, more=more)


def tick_text(value: float) -> str:
    """Write the number at a tick."""
    return plain(value, 6)


def plain(value: float, digits: int) -> str:
    """Write a number with so many significant digits at most, without an exponent and without zeros at its end."""
    written = format(Decimal(f"{value:.{digits}g}"), "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return written.replace("-", "\N{MINUS SIGN}")


def of_backtest(caption: Caption) -> Caption:
    """Name a backtest in what is said of a chart and in each row of its numbers."""
    finding = f"Backtest before the start: {caption.finding[0].lower()}{caption.finding[1:]}"
    rows = tuple((f"{label}, backtest", *cells) for label, *cells in caption.rows)
    return replace(caption, finding=finding, rows=rows)


def row_chart(
    caption: Caption,
    label: str,
    rows: Sequence[Row],
    *,
    bars: bool = False,
    marks: Sequence[tuple[float, str]] = (),
    tested: bool = False,
) -> Chart:
    """Draw one mark for each row along one axis, from zero on or around a mark at zero.

    Args:
        label: of the axis.
        bars: from zero to the value, instead of a dot with its interval.
        marks: values that the rows are compared with, and their names.
        tested: the rows are of a backtest: hollow dots, dashed intervals.
    """
    top = TOP if marks else NO_MARK_TOP
    bottom = top + ROW * len(rows)
    left = max(ROW_LABEL, *(LETTER * len(row.label) for row in rows))
    along = _row_axis(label, rows, marks)
    value = max(ROW_VALUE, *(RIGHT + BOLD_LETTER * len(row.text) for row in rows))
    plane = Plane(along, Axis(0.0, 1.0, (), ""), top, bottom, left, WIDTH - value)

    parts = [text("axis", 0, 22, "backtest")] if tested else []
    parts += [*(plane.upright("grid", value) for value, _ in along.ticks), *plane.notches()]
    for value, name in marks:
        x, _ = plane.at(value, 0.0)
        parts += [line("mark", (x, top - 8), (x, bottom)), text("axis", x, 22, name, "middle")]
    for number, row in enumerate(rows):
        parts.append(_row(row, top + ROW * (number + 0.5), plane, bars=bars, tested=tested))

    if not caption.rows:
        caption = replace(caption, rows=tuple((row.label, row.text) for row in rows))
    if tested:
        caption = of_backtest(caption)
    return Chart(caption, Markup("").join(parts), bottom + BOTTOM)


def _row_axis(label: str, rows: Sequence[Row], marks: Sequence[tuple[float, str]]) -> Axis:
    """Return an axis for all values, interval ends and marks: from zero on, or to both sides of a mark at zero."""
    shown = [value for value, _ in marks]
    for row in rows:
        shown += [end for end in (row.value, row.low, row.high) if end is not None]
    most = max((abs(value) for value in shown), default=0.0) or 0.01

    around_zero = any(value == 0.0 for value, _ in marks)
    return axis(-most if around_zero else 0.0, most, label, rounded=True)


def axis(
    low: float, high: float, label: str, write: Callable[[float], str] = tick_text, *, rounded: bool = False
) -> Axis:
    """Return an axis labelled at steps of 1, 2, 2.5 or 5 times a power of ten, `rounded` to them at both ends."""
    quarter = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(quarter))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= quarter * 0.999)

    # An end that lies on a step but for the last bits is taken for that step.
    slack = 1e-9
    if rounded:
        first = math.floor(low / step + slack)
        last = math.ceil(high / step - slack)
    else:
        first = math.ceil(low / step - slack)
        last = math.floor(high / step + slack)
    values = [round(number * step, 12) + 0.0 for number in range(first, last + 1)]

    if rounded:
        low = values[0]
        high = values[-1]
    return Axis(low, high, tuple((value, write(value)) for value in values), label)


def text(kind: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    """Write words into a chart."""
    return _TEXT % (kind, x, y, _ANCHORS[anchor], words)


def line(kind: str, start: tuple[float, float], end: tuple[float, float]) -> Markup:
    """Draw a line between two places."""
    return _LINE % (kind, *start, *end)


def _row(row: Row, y: float, plane: Plane, *, bars: bool, tested: bool) -> Markup:
    label = text("row", 0, y + 5, row.label)
    if row.value is None:
        return label + text("row none", WIDTH - RIGHT, y + 5, row.text, "end")

    zero, _ = plane.at(0.0, 0.0)
    x, _ = plane.at(row.value, 0.0)
    tip = f"{row.label}: {row.text}"
    hollow = " tested" if tested else ""
    if bars:
        under = " under" if x < zero else ""
        shape = _BAR.format(under, min(zero, x), y - 8, max(1.5, abs(x - zero)), tip)
    else:
        shape = _DOT.format(f"dot{hollow}", x, y, 6, tip)
    if not bars and row.low is not None and row.high is not None:
        low, _ = plane.at(row.low, 0.0)
        high, _ = plane.at(row.high, 0.0)
        shape = line(f"whisker{hollow}", (low, y), (high, y)) + shape
    return label + shape + text("value", WIDTH - RIGHT, y + 5, row.text, "end")


def _table(caption: Caption) -> Markup:
    columns = len(caption.columns)
    heads = (Markup('<th scope="col">{}</th>') * columns).format(*caption.columns)
    row = Markup('<tr><th scope="row">%s</th>') + Markup("<td>%s</td>") * (columns - 1) + Markup("</tr>")
    body = Markup("").join(row % cells for cells in caption.rows)

    frame = Markup('<table class="twin"><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>')
    return frame.format(caption.finding, heads, body)
