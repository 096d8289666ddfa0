"""The charts of this minute: how far prices may move, what futures cost to hold, where the live round stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from generator.arena.values import Round
from generator.site.charts.plot import Axis, Chart, Plot, Row, Told, nice_ticks, row_chart
from generator.site.format import UNKNOWN, moment, percent, price, signed, word

SIGMAS_IN_BAND: Final = 0.4307  # the neutral band in standard deviations (contract section 6)
_HEIGHT: Final = 330


def swings(bands_bps: Mapping[str, float | None], source: Markup | str) -> Chart | None:
    """Draw the usual size of each asset's move over the next hour, from the published neutral bands.

    Args:
        bands_bps: asset -> half-width of the neutral band of the hour; None where there is no forecast.
        source: for the line under it.
    """
    sizes = {asset: None if band is None else band / SIGMAS_IN_BAND / 100 for asset, band in bands_bps.items()}
    return usual_moves("swings", sizes, source)


def usual_moves(name: str, sizes: Mapping[str, float | None], source: Markup | str) -> Chart | None:
    """Draw the usual size of each asset's move over the next hour.

    Args:
        name: for element ids.
        sizes: asset -> one standard deviation, percent; None where it is unknown.
        source: for the line under it.
    """
    known = {asset: size for asset, size in sizes.items() if size is not None}
    if not known:
        return None
    widest, calmest = max(known, key=lambda asset: known[asset]), min(known, key=lambda asset: known[asset])
    if len(known) > 1 and known[widest] > known[calmest]:
        finding = f"{widest} may swing most in the next hour, {calmest} least"
    else:
        finding = f"A usual move in the next hour: {percent(known[widest], 2)} up or down"
    rows = [
        Row(asset, size, UNKNOWN if size is None else f"\N{PLUS-MINUS SIGN}{percent(size, 2)}")
        for asset, size in sizes.items()
    ]
    told = Told(
        name,
        finding,
        "A bar for each asset as long as the usual size of its move over the next hour, up or down. It says nothing "
        "about which way.",
        source,
        ("Asset", "Usual move in the next hour"),
        tuple((row.label, row.text) for row in rows),
    )
    return row_chart(told, _from_zero(max(known.values()), "usual move in an hour, % up or down"), rows, bars=True)


def fundings(
    rates: Mapping[str, float | None],
    states: Mapping[str, str | None],
    source: Markup | str,
    *,
    name: str = "funding",
) -> Chart | None:
    """Draw the funding of each asset around zero.

    Args:
        name: for element ids.
        rates: asset -> percent per 8 hours, None where unknown.
        states: asset -> the word of its futures.
        source: for the line under it.
    """
    known = {asset: rate for asset, rate in rates.items() if rate is not None}
    if not known:
        return None
    above = sum(rate > 0 for rate in known.values())
    below = sum(rate < 0 for rate in known.values())
    rows = [Row(asset, rate, signed(rate, 4)) for asset, rate in rates.items()]
    told = Told(
        name,
        _funding_finding(above, below, len(known)),
        "A bar for each asset from zero to its funding rate. Right of zero, those who hold longs pay; left of it, those "
        "who hold shorts pay.",
        source,
        ("Asset", "Funding, 8 h", "Futures"),
        tuple((row.label, row.text, word(states.get(row.label))) for row in rows),
    )
    return row_chart(
        told,
        around_zero(known.values(), "funding, % per 8 hours"),
        rows,
        bars=True,
        mark=(0.0, "shorts pay \N{LEFTWARDS ARROW} 0 \N{RIGHTWARDS ARROW} longs pay"),
    )


def live_round(
    live: Round, path: Sequence[tuple[int, float]], now_ms: int, now_price: float | None, source: Markup | str
) -> Chart | None:
    """Draw the live round: the price since its start and the neutral band around it.

    Args:
        live: the round.
        path: (wall ms, price) of closed bars, oldest first; those outside the round are left out.
        now_ms: wall time of the tick.
        now_price: the price of the tick, where known.
        source: for the line under it.

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
    parts = [] if band is None else _band(plot, live, band)
    parts += [plot.frame(), plot.path("line", moves), plot.dot("end", moves[-1], _tip(points[-1], moves[-1]))]
    parts += [plot.dot("unseen", move, _tip(point, move)) for point, move in zip(points[:-1], moves[:-1], strict=True)]
    told = Told(
        "live",
        _round_finding(live.asset, moves[-1][1], band),
        "A line of the price since the start, in percent. Between the two dashed lines a round counts as NEUTRAL.",
        source,
        ("Time, UTC", "Price", "Since the start"),
        tuple(
            (f"{moment(at):%H:%M}", price(seen), signed(move))
            for (at, seen), (_, move) in zip(points, moves, strict=True)
        ),
    )
    return Chart(told, Markup("").join(parts), _HEIGHT)


def _funding_finding(above: int, below: int, n: int) -> str:
    if above == n:
        return "Longs pay shorts in every asset: more people hold bets on a rise"
    if below == n:
        return "Shorts pay longs in every asset: more people hold bets on a fall"
    if above == below:
        return f"Funding is split: longs pay in {above} of {n} assets, shorts in {below}"
    return f"Longs pay in {above} of {n} assets, shorts in {below}"


def _round_finding(asset: str, move: float, band: float | None) -> str:
    now = f"{asset} stands {percent(abs(move), 2)} {'above' if move >= 0 else 'below'} its start"
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
        plot.note("axis", (end, band), f"+{band:.2f}", "end", -6),
        plot.note("axis", (end, -band), f"\N{MINUS SIGN}{band:.2f}", "end", 22),
    ]


def _tip(point: tuple[int, float], move: tuple[int, float]) -> str:
    return f"{moment(point[0]):%H:%M} UTC: {price(point[1])}, {signed(move[1])}"


def _quarters(live: Round) -> tuple[tuple[float, str], ...]:
    step = (live.end_ms - live.start_ms) // 4
    return tuple((float(at), f"{moment(at):%H:%M}") for at in range(live.start_ms, live.end_ms + 1, step))


def around_zero(values: Iterable[float], label: str) -> Axis:
    """Return an axis that is as long to the left of zero as to the right."""
    reach = max(abs(value) for value in values) * 1.1 or 0.01
    return Axis(-reach, reach, tuple((tick, tick_text(tick)) for tick in nice_ticks(-reach, reach, 4)), label)


def _from_zero(highest: float, label: str) -> Axis:
    top = highest * 1.05 or 0.01
    return Axis(0.0, top, tuple((tick, tick_text(tick)) for tick in nice_ticks(0.0, top, 4)), label)


def tick_text(value: float) -> str:
    """Write the number at a tick."""
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")
