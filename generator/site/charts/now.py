"""The charts of this minute: how the live round goes, the last day in one line, and votes as one bar."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup

from generator.arena.outcome import change_bps
from generator.arena.rates import enough, rate, share
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import moment
from generator.catalog.text import figures
from generator.catalog.text.figures import BPS_DECIMALS, percent, price, signed
from generator.site.charts.plot import HEIGHT, Axis, Caption, Chart, Plane, axis, svg, text
from generator.values.rounds import Round
from generator.values.scores import Rate

_MAX_POINTS: Final = 96
_SHARE: Final = Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="10"/>')
_KIND: Final = Markup(' class="{}" preserveAspectRatio="none"')


def live_round(
    live: Round, path: Sequence[tuple[int, float]], now_ms: int, now_price: float | None, source: Markup | str
) -> Chart | None:
    """Draw the price since the start of the live round and the band of a small move; None without a start price.

    Args:
        path: (wall ms, price) of closed bars, oldest first; those outside the round are left out.
    """
    start = live.start_price
    if start is None or not start > 0:
        return None
    points = [(live.start_ms, start)]
    points += [(at, close) for at, close in path if live.start_ms < at < now_ms]
    if now_price is not None and now_ms > live.start_ms:
        points.append((min(now_ms, live.end_ms), now_price))
    points = [(at, value) for at, value in points if math.isfinite(value)]

    moves = [(at, change_bps(start, value) / 100) for at, value in points]  # as it is published
    rows = [
        (figures.clock(at), price(value), signed(move, BPS_DECIMALS))
        for (at, value), (_, move) in zip(points, moves, strict=True)
    ]
    tips = [f"{when} UTC: {value}, {move}" for when, value, move in rows]

    band = None if live.band_bps is None else live.band_bps / 100
    plane = _round_plane(live, moves, band)
    parts = [*plane.grid(), *plane.labels()]
    if band is not None:
        parts += _band(plane, band)
    parts.append(plane.path("line", moves))
    parts += [plane.dot("unseen", move, tip) for move, tip in zip(moves, tips, strict=True)]
    parts.append(plane.dot("end", moves[-1], tips[-1]))

    caption = Caption(
        name="live",
        finding=_round_finding(live.asset, moves[-1][1], band),
        desc="A line of the price since the start, in percent. Between the dashed lines the outcome is a small move.",
        source=source,
        columns=("Time, UTC", "Price", "Since the start"),
        rows=tuple(rows),
    )
    return Chart(caption, Markup("").join(parts), HEIGHT)


def _round_plane(live: Round, moves: Sequence[tuple[int, float]], band: float | None) -> Plane:
    """Return a plane over the whole round, in its quarters, and a little more than every move and the band."""
    quarter_ms = (live.end_ms - live.start_ms) // 4
    times = range(live.start_ms, live.end_ms + 1, quarter_ms)
    ticks = tuple((float(at), figures.clock(at)) for at in times)

    reach = 1.25 * max(0.02, band or 0.0, *(abs(move) for _, move in moves))
    return Plane(
        Axis(live.start_ms, live.end_ms, ticks, "time, UTC"),
        axis(-reach, reach, f"{live.asset}: change since the start of the round, %"),
    )


def _round_finding(asset: str, move: float, band: float | None) -> str:
    away = percent(abs(move), BPS_DECIMALS)
    side = "above" if move > 0 else "below"
    where = "at" if away == percent(0.0, BPS_DECIMALS) else f"{away} {side}"
    now = f"{asset} is {where} its starting price"

    if band is None:
        return now
    if abs(move) <= band:
        return f"{now}: a small move so far"
    return f"{now}: {'up' if move > 0 else 'down'} so far"


def _band(plane: Plane, band: float) -> Iterator[Markup]:
    """Shade the band of a small move; its edges carry their values, above the upper and below the lower line."""
    start = plane.x.low
    end = plane.x.high
    yield plane.area("band", [(start, band), (end, band), (end, -band), (start, -band)])
    size = f"{band:.{BPS_DECIMALS}f}"
    for edge, words, down in ((band, f"+{size}", -6), (-band, f"\N{MINUS SIGN}{size}", 22)):
        x, y = plane.at(start, edge)
        yield plane.across("mark", edge) + text("axis halo", x, y + down, words)


def sparkline(asset: str, closes: Sequence[tuple[int, float]], change: float | None) -> Markup | None:
    """Draw the closes of the last day as one line with a dot at the end; None with fewer than two known closes.

    Args:
        closes: (open time in ms, close in USD), oldest first.
        change: over 24 hours in percent, as it is published next to the line; None where it is not known.
    """
    drawn = _day_line(tuple(closes))
    if drawn is None:
        return None

    line, desc = drawn
    title = f"{asset}: the last 24 hours"
    if change is not None:
        title = f"{asset}: {signed(change)} over 24 hours"
    return svg(f"spark-{asset.lower()}", (132, 36), title, desc, line, _KIND.format("spark"))


@lru_cache(maxsize=len(ASSETS))  # five ticks in six have the closes of the one before
def _day_line(closes: tuple[tuple[int, float], ...]) -> tuple[Markup, str] | None:
    """Draw the line with its dot, and say what it shows; None with fewer than two known closes."""
    known = [(at, close) for at, close in closes if math.isfinite(close) and close > 0]
    day = [(at, close) for at, close in known if at >= known[-1][0] - DAY_MS]
    if len(day) < 2:
        return None
    first_ms, first = day[0]
    last_ms, last = day[-1]
    low = min(close for _, close in day)
    high = max(close for _, close in day)

    # A line without any move is drawn in the middle.
    margin = 1.0 if high == low else 0.0
    plane = Plane(Axis(first_ms, last_ms, (), ""), Axis(low - margin, high + margin, (), ""), 3, 33, 3, 129)
    # Every k-th close counted from the newest, so that the line always ends at the newest one.
    step = math.ceil(len(day) / _MAX_POINTS)
    points = day[::-1][::step][::-1]
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>').format(*plane.at(last_ms, last))

    desc = (
        f"From {price(first)} at {moment(first_ms):%d %b %H:%M} UTC to {price(last)} at "
        f"{moment(last_ms):%d %b %H:%M} UTC; low {price(low)}, high {price(high)}."
    )
    return plane.path("line", points) + dot, desc


def shares(name: str, label: str, parts: Sequence[tuple[str, str, int]]) -> Markup | None:
    """Draw counts (css class, word, count) as one bar in parts that differ by more than colour; None without any."""
    total = sum(number for _, _, number in parts)
    if total == 0:
        return None

    bar = Markup("")
    x = 0.0
    for css, _, number in parts:
        width = 100 * number / total
        if number:
            bar += _SHARE.format(css, x, max(0.2, width - 0.6))
        x += width

    desc = ", ".join(_votes(word, rate(number, total)) for _, word, number in parts)
    return svg(f"shares-{name}", (100, 10), label, desc, bar, _KIND.format("shares"))


def _votes(word: str, votes: Rate) -> str:
    if enough(votes):
        return f"{word} {votes.hits:,} ({share(votes)})"
    return f"{word} {votes.hits}"
