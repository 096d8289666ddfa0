"""Small accessible SVG charts, drawn on the server. No inline style: colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from generator.site.format import moment, price, signed

WIDTH: Final = 132
HEIGHT: Final = 36
DAY_MS: Final = 86_400_000
_PAD: Final = 3
_MAX_POINTS: Final = 96

_SVG: Final = Markup(
    '<svg class="{kind}" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" aria-labelledby="{id}-t {id}-d">'
    '<title id="{id}-t">{title}</title><desc id="{id}-d">{desc}</desc>{inner}</svg>'
)


def sparkline(asset: str, closes: Sequence[tuple[int, float]], change: float | None) -> Markup | None:
    """Draw the closes of the last day as one line with a dot at the end.

    Args:
        asset: symbol, used in the title and the element ids.
        closes: (open time in ms, close in USD), oldest first.
        change: over 24 hours in percent, as it is published beside the line; None where it is not known.

    Returns:
        The chart, or None with fewer than two known closes: there is nothing honest to draw.
    """
    closes = [(t, close) for t, close in closes if math.isfinite(close) and close > 0]
    closes = [(t, close) for t, close in closes if t >= closes[-1][0] - DAY_MS]
    if len(closes) < 2:
        return None
    points = _thin(closes)
    low, high = min(close for _, close in closes), max(close for _, close in closes)
    (first_ms, first), (last_ms, last) = closes[0], closes[-1]
    x_scale = (WIDTH - 2 * _PAD) / max(1, last_ms - first_ms)
    y_scale = (HEIGHT - 2 * _PAD) / (high - low) if high > low else 0.0
    middle = HEIGHT / 2
    places = [
        (_PAD + (t - first_ms) * x_scale, HEIGHT - _PAD - (close - low) * y_scale if y_scale else middle)
        for t, close in points
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    end_x, end_y = places[-1]
    inner = Markup('<polyline points="{}"/><circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>').format(path, end_x, end_y)
    title = f"{asset}: the last 24 hours" if change is None else f"{asset}: {signed(change)} over 24 hours"
    desc = (
        f"From {price(first)} at {moment(first_ms):%d %b %H:%M} UTC to {price(last)} at "
        f"{moment(last_ms):%d %b %H:%M} UTC; low {price(low)}, high {price(high)}."
    )
    return _svg("spark", f"spark-{asset.lower()}", (WIDTH, HEIGHT), (title, desc), inner)


def scale(name: str, label: str, value: float | None) -> Markup | None:
    """Draw a value of 0..100 on a bar; None where it is unknown."""
    if value is None:
        return None
    filled = max(0.0, min(100.0, value))
    inner = Markup(
        '<rect class="track" width="100" height="6" rx="3"/><rect width="{:.1f}" height="6" rx="3"/>'
    ).format(filled)
    return _svg("scale", f"scale-{name}", (100, 6), (f"{label}: {value:.1f} of 100", "A bar from 0 to 100."), inner)


def shares(name: str, label: str, parts: Sequence[tuple[str, str, int]]) -> Markup | None:
    """Draw counts as one divided bar.

    Args:
        name: for element ids.
        label: what is counted.
        parts: (css class, word, count); a pattern and the text beside the bar tell them apart, not colour alone.

    Returns:
        The chart, or None when nothing was counted.
    """
    total = sum(number for _, _, number in parts)
    if total == 0:
        return None
    pieces, x = [], 0.0
    for css, _, number in parts:
        width = 100 * number / total
        if number:
            shape = Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="10"/>')
            pieces.append(shape.format(css, x, max(0.2, width - 0.6)))
        x += width
    desc = ", ".join(f"{word} {number} ({100 * number / total:.1f} %)" for _, word, number in parts)
    return _svg("shares", f"shares-{name}", (100, 10), (label, desc), Markup("").join(pieces))


def _svg(kind: str, identity: str, size: tuple[int, int], told: tuple[str, str], inner: Markup) -> Markup:
    (width, height), (title, desc) = size, told
    return _SVG.format(kind=kind, id=identity, width=width, height=height, title=title, desc=desc, inner=inner)


def _thin(closes: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    # Every k-th close counted from the newest, so that the line always ends at the newest one.
    step = -(-len(closes) // _MAX_POINTS)
    return closes[::-1][::step][::-1]
