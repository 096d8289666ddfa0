"""Charts read back: the points of their lines in the units of the axis, and captions held against them.

Nothing here knows how a chart or a caption was made: a chart is the SVG that a page carries.
"""

import re
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tests.words.figures import SIZE, count, fits, number

Floats = npt.NDArray[np.float64]
GRID: Final = re.compile(r'<line class="grid" x1="[\d.]+" y1="([\d.]+)"')
TICK: Final = re.compile(r'<text class="tick(?: halo)?" x="[\d.]+" y="([\d.]+)"[^>]*>([^<]+)</text>')
LINE: Final = re.compile(r'<polyline class="(line(?: other)?)" points="([^"]+)"')
FINDING: Final = re.compile(r"<figcaption>(.*?)</figcaption>")
ENDED: Final = rf"(?:{SIZE} from )?where it began"
NEAR: Final = 12.0  # units between a grid line and its number, at most
DRAWN: Final = 0.1  # units to which a point is drawn


class Plotted(NamedTuple):
    """What a chart shows."""

    finding: str
    thick: tuple[Floats, ...]  # lines, oldest point first, in the axis's units
    thin: tuple[Floats, ...]
    fine: float  # to which they can be read


def plotted(figure: str) -> Plotted:
    """Read a figure of a page."""
    ticks = [(float(y), value) for y, words in TICK.findall(figure) if (value := number(words)) is not None]
    marked: dict[float, float] = {}
    for text in GRID.findall(figure):
        y = float(text)
        near = [(abs(at - y), value) for at, value in ticks if abs(at - y) <= NEAR]
        if near:
            marked[y] = min(near)[1]
    (top, at_top), *_, (bottom, at_bottom) = sorted(marked.items())
    scale = (at_bottom - at_top) / (bottom - top)

    lines: dict[str, list[Floats]] = {"line": [], "line other": []}
    for kind, points in LINE.findall(figure):
        heights = np.array([float(point.split(",")[1]) for point in points.split()])
        lines[kind].append(at_top + scale * (heights - top))
    found = FINDING.search(figure)
    return Plotted(found[1] if found else "", tuple(lines["line"]), tuple(lines["line other"]), abs(scale) * DRAWN)


def untrue_picture(figure: str) -> list[str]:
    """Return what is wrong with the caption of a picture of a day, by the lines that are drawn."""
    drawn = plotted(figure)
    (line,) = drawn.thick
    ends = np.array([path[-1] for path in drawn.thin])
    out = []
    if abs(line[-1] - ends.mean()) > 2 * drawn.fine:
        out.append("the thick line is not the average of the others")

    said = re.fullmatch(
        rf"(?:(Rising|Falling) together: all ([a-z]+) coins are (higher|lower) after 24 hours, by {SIZE} on average"
        rf"|Going nowhere: hour by hour the average coin stayed within {SIZE} for a day, and ended {ENDED}"
        rf"|Up and down: hour by hour the average coin travelled {SIZE} in 24 hours, and ended {ENDED})",
        drawn.finding,
    )
    if said is None:
        return [*out, f"unread: {drawn.finding}"]
    side, coins, way, moved, wide, nowhere_end, travelled, restless_end = said.groups()

    if side:
        sign = 1 if side == "Rising" else -1
        out += [] if (way == "higher") == (sign > 0) else ["two ways in one caption"]
        out += [] if count(coins) == len(ends) else [f"{coins} coins, {len(ends)} lines"]
        out += [] if (sign * ends > 0).all() else [f"a coin went the other way: {ends.round(2).tolist()}"]
        out += [] if sign * line[-1] > 0 else ["the average went the other way"]
        out += [] if abs(line[-1]) >= 0.6 * np.ptp(line) else ["most of it was given back"]
        return out + _off(moved, line[-1], drawn.fine)

    if wide:
        out += _off(wide, np.ptp(line), 2 * drawn.fine)
        out += [] if abs(line[-1]) <= 0.55 * np.ptp(line) + drawn.fine else ["it went somewhere"]
        return out + _off(nowhere_end or "0.0", line[-1], drawn.fine)

    far = sum(abs(after - before) for before, after in pairwise(line.tolist()))
    out += [] if far >= 4 * abs(line[-1]) else ["it mostly went one way"]
    return out + _off(travelled, far, len(line) * drawn.fine) + _off(restless_end or "0.0", line[-1], drawn.fine)


def _off(said: str, true: float, fine: float) -> list[str]:
    return [] if fits(said, true, fine) else [f"said {said}%, drawn {true:.2f}%"]
