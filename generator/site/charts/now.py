"""The charts of this minute: how far prices may move, what futures cost to hold, how the live round goes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from generator.arena.values import Round
from generator.site.charts.plot import Axis, Caption, Chart, Plot, Row, nice_ticks, row_chart, ticks_around
from generator.site.format import UNKNOWN, moment, percent, price, signed, word

_HEIGHT: Final = 330


def usual_moves(name: str, sizes: Mapping[str, float | None], source: Markup | str) -> Chart | None:
    """Draw the expected move of each asset over the next hour."""
    known = {asset: size for asset, size in sizes.items() if size is not None}
    if not known:
        return None
    widest, calmest = max(known, key=lambda asset: known[asset]), min(known, key=lambda asset: known[asset])
    if len(known) > 1 and known[widest] > known[calmest]:
        finding = f"{widest} is expected to move most in the next hour, {calmest} least"
    else:
        finding = f"Expected move in the next hour: \N{PLUS-MINUS SIGN}{percent(known[widest], 2)}"
    rows = [
        Row(asset, size, UNKNOWN if size is None else f"\N{PLUS-MINUS SIGN}{percent(size, 2)}")
        for asset, size in _ranked(sizes)
    ]
    caption = Caption(
        name,
        finding,
        "A bar for each asset as long as its expected move over the next hour: one standard deviation, up or down. It says "
        "nothing about the direction.",
        source,
        ("Asset", "Expected move in the next hour"),
    )
    return row_chart(
        caption, _from_zero(max(known.values()), "expected move in an hour, \N{PLUS-MINUS SIGN}%"), rows, bars=True
    )


def fundings(
    rates: Mapping[str, float | None],
    states: Mapping[str, str | None],
    source: Markup | str,
    *,
    name: str = "funding",
) -> Chart | None:
    """Draw the funding of each asset around zero."""
    known = {asset: rate for asset, rate in rates.items() if rate is not None}
    if not known:
        return None
    above = sum(rate > 0 for rate in known.values())
    below = sum(rate < 0 for rate in known.values())
    rows = [Row(asset, rate, signed(rate, 4)) for asset, rate in _ranked(rates)]
    caption = Caption(
        name,
        _funding_finding(above, below, len(known)),
        "A bar for each asset from zero to its funding rate. Right of zero longs pay shorts, left of it shorts pay "
        "longs. The usual rate is 0.01% per 8 hours, not zero.",
        source,
        ("Asset", "Funding, 8 h", "Futures"),
        tuple((row.label, row.text, word(states.get(row.label))) for row in rows),
    )
    return row_chart(
        caption,
        around_zero(known.values(), "funding, % per 8 hours"),
        rows,
        bars=True,
        marks=((0.0, "shorts pay \N{LEFTWARDS ARROW} 0 \N{RIGHTWARDS ARROW} longs pay"),),
    )


def live_round(
    live: Round, path: Sequence[tuple[int, float]], now_ms: int, now_price: float | None, source: Markup | str
) -> Chart | None:
    """Draw the live round: the price since its start and the neutral band around it.

    Args:
        path: (wall ms, price) of closed bars, oldest first; those outside the round are left out.

    Returns:
        The chart, or None while the start price is unknown.
    """
    start = live.start_price
    if start is None or not start > 0:
        return None
    points = [(live.start_ms, start), *((at, seen) for at, seen in path if live.start_ms < at < now_ms)]
    if now_price is not None and now_ms > live.start_ms:
        points.append((min(now_ms, live.end_ms), now_price))
    moves = [(at, 100 * (seen / start - 1)) for at, seen in points if math.isfinite(seen)]
    band = None if live.band_bps is None else live.band_bps / 100
    reach = 1.25 * max(0.02, band or 0.0, *(abs(move) for _, move in moves))
    ticks = tuple((tick, tick_text(tick)) for tick in nice_ticks(-reach, reach, 4))
    plot = Plot(
        Axis(live.start_ms, live.end_ms, _quarters(live), "time, UTC"),
        Axis(-reach, reach, ticks, f"{live.asset}: change since the start of the round, %"),
        _HEIGHT,
    )
    parts = [plot.frame(), *([] if band is None else _band(plot, live, band))]
    parts += [plot.path("line", moves), plot.dot("end", moves[-1], _tip(points[-1], moves[-1]))]
    parts += [plot.dot("unseen", move, _tip(point, move)) for point, move in zip(points[:-1], moves[:-1], strict=True)]
    caption = Caption(
        "live",
        _round_finding(live.asset, moves[-1][1], band),
        "A line of the price since the start, in percent. Between the dashed lines the outcome is NEUTRAL.",
        source,
        ("Time, UTC", "Price", "Since the start"),
        tuple(
            (f"{moment(at):%H:%M}", price(seen), signed(move))
            for (at, seen), (_, move) in zip(points, moves, strict=True)
        ),
    )
    return Chart(caption, Markup("").join(parts), _HEIGHT)


def _funding_finding(above: int, below: int, n: int) -> str:
    if above == n:
        return "Longs pay shorts in every asset"
    if below == n:
        return "Shorts pay longs in every asset"
    if above == below:
        return f"Funding is split: longs pay in {above} of {n} assets, shorts in {below}"
    return f"Longs pay in {above} of {n} assets, shorts in {below}"


def _round_finding(asset: str, move: float, band: float | None) -> str:
    away = percent(abs(move), 2)
    where = "at" if away == percent(0.0, 2) else f"{away} above" if move > 0 else f"{away} below"
    now = f"{asset} is {where} its starting price"
    if band is None:
        return now
    if abs(move) <= band:
        return f"{now}, inside the neutral band"
    return f"{now}, {'above' if move > 0 else 'below'} the neutral band"


def _band(plot: Plot, live: Round, band: float) -> list[Markup]:
    start, end = live.start_ms, live.end_ms
    return [
        plot.path("band", [(start, band), (end, band), (end, -band), (start, -band)], closed=True),
        plot.span("mark", (start, band), (end, band)),
        plot.span("mark", (start, -band), (end, -band)),
        plot.note("axis halo", (start, band), f"+{band:.2f}", "start", -6),
        plot.note("axis halo", (start, -band), f"\N{MINUS SIGN}{band:.2f}", "start", 22),
    ]


def _tip(point: tuple[int, float], move: tuple[int, float]) -> str:
    return f"{moment(point[0]):%H:%M} UTC: {price(point[1])}, {signed(move[1])}"


def _quarters(live: Round) -> tuple[tuple[float, str], ...]:
    step = (live.end_ms - live.start_ms) // 4
    return tuple((float(at), f"{moment(at):%H:%M}") for at in range(live.start_ms, live.end_ms + 1, step))


def around_zero(values: Iterable[float], label: str) -> Axis:
    """Return an axis that is as long to the left of zero as to the right, labelled to both of its ends."""
    reach = max(abs(value) for value in values) or 0.01
    return _labelled(ticks_around(-reach, reach), label)


def _from_zero(highest: float, label: str) -> Axis:
    return _labelled(ticks_around(0.0, highest or 0.01), label)


def _labelled(ticks: tuple[float, ...], label: str) -> Axis:
    return Axis(ticks[0], ticks[-1], tuple((tick, tick_text(tick)) for tick in ticks), label)


def _ranked(values: Mapping[str, float | None]) -> list[tuple[str, float | None]]:
    """Return the largest first, the unknown last."""
    return sorted(values.items(), key=lambda row: (row[1] is None, -(row[1] or 0.0)))


def tick_text(value: float) -> str:
    """Write the number at a tick."""
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


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
        closes: (open time in ms, close in USD), oldest first.
        change: over 24 hours in percent, as it is published next to the line; None where it is not known.

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
        parts: (css class, word, count); a pattern and the text next to the bar tell them apart, not colour alone.

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
    desc = ", ".join(f"{word} {number} ({100 * number / total:.1f}%)" for _, word, number in parts)
    return _svg("shares", f"shares-{name}", (100, 10), (label, desc), Markup("").join(pieces))


def _svg(kind: str, identity: str, size: tuple[int, int], caption: tuple[str, str], inner: Markup) -> Markup:
    (width, height), (title, desc) = size, caption
    return _SVG.format(kind=kind, id=identity, width=width, height=height, title=title, desc=desc, inner=inner)


def _thin(closes: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    # Every k-th close counted from the newest, so that the line always ends at the newest one.
    step = -(-len(closes) // _MAX_POINTS)
    return closes[::-1][::step][::-1]
