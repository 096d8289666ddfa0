"""The charts of this minute: how far prices may move, what futures cost to hold, how the live round goes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from generator.arena.rates import enough, rate, share
from generator.arena.values import Proportion, Round
from generator.catalog.durations import DAY_MS
from generator.site.charts.plot import HEIGHT, Axis, Caption, Chart, Plane, Row, axis, row_chart, svg, text
from generator.site.words.format import UNKNOWN, moment, percent, price, signed, word

_MAX_POINTS: Final = 96
Numbers = Mapping[str, float | None]
_KIND: Final = Markup(' class="{}" preserveAspectRatio="none"')


def usual_moves(name: str, sizes: Numbers, source: Markup | str) -> Chart | None:
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
    return row_chart(caption, "expected move in an hour, \N{PLUS-MINUS SIGN}%", rows, bars=True)


def fundings(name: str, rates: Numbers, states: Mapping[str, str | None], source: Markup | str) -> Chart | None:
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
    mark = "shorts pay \N{LEFTWARDS ARROW} 0 \N{RIGHTWARDS ARROW} longs pay"
    return row_chart(caption, "funding, % per 8 hours", rows, bars=True, marks=((0.0, mark),))


def live_round(
    live: Round, path: Sequence[tuple[int, float]], now_ms: int, now_price: float | None, source: Markup | str
) -> Chart | None:
    """Draw the price since the start of the live round and its neutral band; None while the start price is unknown.

    Args:
        path: (wall ms, price) of closed bars, oldest first; those outside the round are left out.
    """
    start = live.start_price
    if start is None or not start > 0:
        return None
    points = [(live.start_ms, start), *((at, seen) for at, seen in path if live.start_ms < at < now_ms)]
    if now_price is not None and now_ms > live.start_ms:
        points.append((min(now_ms, live.end_ms), now_price))
    points = [(at, seen) for at, seen in points if math.isfinite(seen)]
    moves = [(at, 100 * (seen / start - 1)) for at, seen in points]
    rows = [(f"{moment(at):%H:%M}", price(seen), signed(100 * (seen / start - 1))) for at, seen in points]
    band = None if live.band_bps is None else live.band_bps / 100
    reach = 1.25 * max(0.02, band or 0.0, *(abs(move) for _, move in moves))
    step = (live.end_ms - live.start_ms) // 4
    quarters = tuple((float(at), f"{moment(at):%H:%M}") for at in range(live.start_ms, live.end_ms + 1, step))
    plane = Plane(
        Axis(live.start_ms, live.end_ms, quarters, "time, UTC"),
        axis(-reach, reach, f"{live.asset}: change since the start of the round, %"),
    )
    tips = [f"{when} UTC: {seen}, {move}" for when, seen, move in rows]
    parts = [*plane.grid(), *plane.labels(), *([] if band is None else _band(plane, band)), plane.path("line", moves)]
    parts += [plane.dot("unseen", move, tip) for move, tip in zip(moves, tips, strict=True)]
    parts.append(plane.dot("end", moves[-1], tips[-1]))
    caption = Caption(
        "live",
        _round_finding(live.asset, moves[-1][1], band),
        "A line of the price since the start, in percent. Between the dashed lines the outcome is NEUTRAL.",
        source,
        ("Time, UTC", "Price", "Since the start"),
        tuple(rows),
    )
    return Chart(caption, Markup("").join(parts), HEIGHT)


def _funding_finding(above: int, below: int, n: int) -> str:
    if above == n:
        return "Longs pay shorts in every asset"
    if below == n:
        return "Shorts pay longs in every asset"
    split = "Funding is split: longs" if above == below else "Longs"
    return f"{split} pay in {above} of {n} assets, shorts in {below}"


def _round_finding(asset: str, move: float, band: float | None) -> str:
    away = percent(abs(move), 2)
    where = "at" if away == percent(0.0, 2) else f"{away} above" if move > 0 else f"{away} below"
    now = f"{asset} is {where} its starting price"
    if band is None:
        return now
    return f"{now}, {'inside' if abs(move) <= band else 'above' if move > 0 else 'below'} the neutral band"


def _band(plane: Plane, band: float) -> Iterator[Markup]:
    start, end = plane.x.low, plane.x.high
    yield plane.area("band", [(start, band), (end, band), (end, -band), (start, -band)])
    for edge, words, down in ((band, f"+{band:.2f}", -6), (-band, f"\N{MINUS SIGN}{band:.2f}", 22)):
        x, y = plane.at(start, edge)
        yield plane.across("mark", edge) + text("axis halo", x, y + down, words)


def _ranked(values: Numbers) -> list[tuple[str, float | None]]:
    """Return the largest first, the unknown last."""
    return sorted(values.items(), key=lambda row: (row[1] is None, -(row[1] or 0.0)))


def sparkline(asset: str, closes: Sequence[tuple[int, float]], change: float | None) -> Markup | None:
    """Draw the closes of the last day as one line with a dot at the end; None with fewer than two known closes.

    Args:
        closes: (open time in ms, close in USD), oldest first.
        change: over 24 hours in percent, as it is published next to the line; None where it is not known.
    """
    closes = [(t, close) for t, close in closes if math.isfinite(close) and close > 0]
    closes = [(t, close) for t, close in closes if t >= closes[-1][0] - DAY_MS]
    if len(closes) < 2:
        return None
    low, high = min(close for _, close in closes), max(close for _, close in closes)
    (first_ms, first), (last_ms, last) = closes[0], closes[-1]
    flat = float(high == low)  # drawn in the middle
    plane = Plane(Axis(first_ms, last_ms, (), ""), Axis(low - flat, high + flat, (), ""), 3, 33, 3, 129)
    # Every k-th close counted from the newest, so that the line always ends at the newest one.
    points = closes[::-1][:: -(-len(closes) // _MAX_POINTS)][::-1]
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>').format(*plane.at(last_ms, last))
    inner = plane.path("line", points) + dot
    title = f"{asset}: the last 24 hours" if change is None else f"{asset}: {signed(change)} over 24 hours"
    desc = (
        f"From {price(first)} at {moment(first_ms):%d %b %H:%M} UTC to {price(last)} at "
        f"{moment(last_ms):%d %b %H:%M} UTC; low {price(low)}, high {price(high)}."
    )
    return svg(f"spark-{asset.lower()}", (132, 36), title, desc, inner, _KIND.format("spark"))


def shares(name: str, label: str, parts: Sequence[tuple[str, str, int]]) -> Markup | None:
    """Draw counts (css class, word, count) as one bar in parts that differ by more than colour; None without any."""
    total = sum(number for _, _, number in parts)
    if total == 0:
        return None
    pieces, x = Markup(""), 0.0
    for css, _, number in parts:
        width = 100 * number / total
        if number:
            shape = Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="10"/>')
            pieces += shape.format(css, x, max(0.2, width - 0.6))
        x += width
    desc = ", ".join(_votes(word, rate(number, total)) for _, word, number in parts)
    return svg(f"shares-{name}", (100, 10), label, desc, pieces, _KIND.format("shares"))


def _votes(word: str, of: Proportion) -> str:
    return f"{word} {of.hits:,} ({share(of)})" if enough(of) else f"{word} {of.hits}"
