"""Plots as SVG text, written by hand: no library is needed to draw four rectangles and a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

COLOURS: Final = ("#2a7", "#c43", "#57b", "#d92", "#999")
WORDS: Final = ("risk_on", "risk_off", "range", "high_volatility", "transition")
_STYLE: Final = "<style>text{font:12px sans-serif;fill:#333}.t{font-weight:600;font-size:14px}line{stroke:#bbb}</style>"


def reliability_plot(title: str, curves: dict[str, list[tuple[float, float, float]]]) -> str:
    """Draw confidence against how often it was right; curves as from `scores.reliability`."""
    left, top, side = 60, 40, 320
    body = [f'<line x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}" stroke-dasharray="4"/>']
    for tick in range(0, 101, 20):
        x, y = left + side * tick / 100, top + side * (1 - tick / 100)
        body.append(f'<text x="{x:.0f}" y="{top + side + 18}" text-anchor="middle">{tick}</text>')
        body.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{tick}</text>')
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        where = [(left + side * said, top + side * (1 - hit), share) for said, hit, share in points if share > 0.002]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in where)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + 10 * share**0.5:.1f}" fill="{colour}" fill-opacity="0.4"/>'
            for x, y, share in where
        ]
        body.append(_key(left + side + 20, top + 20 * number + 10, colour, name))
    body.append(f'<text x="{left + side / 2}" y="{top + side + 38}" text-anchor="middle">said, %</text>')
    body.append(f'<text x="14" y="{top - 10}">came true, %</text>')
    return _page(560, 420, title, body)


def bars_plot(title: str, groups: Sequence[str], values: Mapping[str, Sequence[float]]) -> str:
    """Draw bars of 0 to 1 for every group, one for each reader."""
    left, top, height, each = 50, 40, 260, 22
    wide = each * len(values) + 24
    body = []
    for tick in range(0, 101, 20):
        y = top + height * (1 - tick / 100)
        body.append(f'<line x1="{left}" y1="{y:.0f}" x2="{left + wide * len(groups)}" y2="{y:.0f}"/>')
        body.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{tick}</text>')
    for column, group in enumerate(groups):
        start = left + wide * column + 12
        for number, (_, row) in enumerate(values.items()):
            size = height * row[column]
            x, y = start + each * number, top + height - size
            colour = COLOURS[number % len(COLOURS)]
            body.append(f'<rect x="{x}" y="{y:.1f}" width="{each - 3}" height="{size:.1f}" fill="{colour}"/>')
        middle = start + each * len(values) / 2
        body.append(f'<text x="{middle:.0f}" y="{top + height + 18}" text-anchor="middle">{escape(group)}</text>')
    end = left + wide * len(groups) + 20
    body += [_key(end, top + 20 * n + 10, COLOURS[n % len(COLOURS)], name) for n, name in enumerate(values)]
    return _page(end + 240, 350, title, body)


def timeline_plot(title: str, rows: dict[str, npt.NDArray[np.int64]], bars_a_day: int) -> str:
    """Draw labels over time, one band for each row."""
    left, top, wide, tall = 90, 50, 780, 44
    body = []
    for number, (name, labels) in enumerate(rows.items()):
        y = top + number * (tall + 14)
        body.append(f'<text x="{left - 10}" y="{y + tall / 2 + 4:.0f}" text-anchor="end">{escape(name)}</text>')
        edges = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
        for start, end in pairwise(edges):
            x, size = left + wide * start / len(labels), wide * (end - start) / len(labels)
            colour = COLOURS[int(labels[start])]
            body.append(f'<rect x="{x:.1f}" y="{y}" width="{size:.1f}" height="{tall}" fill="{colour}"/>')
    floor = top + len(rows) * (tall + 14)
    days = max(len(next(iter(rows.values()))) // bars_a_day, 1)
    body += [
        f'<text x="{left + wide * day / days:.0f}" y="{floor + 8}" text-anchor="middle">{day}</text>'
        for day in range(0, days + 1, max(days // 10, 1))
    ]
    body.append(f'<text x="{left + wide / 2:.0f}" y="{floor + 26}" text-anchor="middle">days</text>')
    body += [_key(left + 150 * n, floor + 44, COLOURS[n], word) for n, word in enumerate(WORDS)]
    return _page(left + wide + 30, floor + 70, title, body)


def _key(x: float, y: float, colour: str, name: str) -> str:
    """Return one line of a legend."""
    return f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/><text x="{x + 18}" y="{y}">{escape(name)}</text>'


def _page(width: float, height: float, title: str, body: Sequence[str]) -> str:
    """Return a whole SVG file."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    name = f'<title>{escape(title)}</title><text class="t" x="20" y="24">{escape(title)}</text>'
    return "\n".join([head, _STYLE, paper, name, *body, "</svg>"]) + "\n"
