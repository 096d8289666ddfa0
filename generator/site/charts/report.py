"""The charts of the human report, drawn from the same tick as its words, and put into its body.

They stand in the body itself: a report that was paid for, kept or downloaded has its pictures for good, and what
shows it needs to know nothing of drawing.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeAlias

from markupsafe import Markup

from generator.catalog.assets import ASSETS
from generator.catalog.formats import change, fixed, share
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel, SourceMode
from generator.compose.coins import expected_move
from generator.compose.context import TickContext
from generator.compose.inputs import futures_of, observed, reading_of
from generator.compose.paid_human_report import ReportChart, X402HumanReportPaidResponse
from generator.site.charts.now import either_way, fundings, usual_moves
from generator.site.charts.plot import HEIGHT, Axis, Caption, Chart, Plane, Row, axis, row_chart
from generator.site.charts.record import rates
from generator.site.words.format import moment, percent, signed, when

DATA_FROM: Final = {
    SourceMode.LIVE: "public exchange data",
    SourceMode.RECORDED: "a recording of public exchange data",
    SourceMode.SIMULATED: "a simulated market",
}


def source_of(ctx: TickContext) -> Markup:
    """Say where the numbers of a tick come from, and as of when."""
    return Markup("Source: {}, as of {}.").format(DATA_FROM[ctx.observation.mode], when(ctx.observation.market_ms))


Draw: TypeAlias = Callable[[], ReportChart | None]


def report_charts(
    ctx: TickContext, attempt: Callable[[str, Draw], ReportChart | None] = lambda _, draw: draw()
) -> tuple[ReportChart, ...]:
    """Draw the charts of a tick's report; what is unknown has none.

    Args:
        attempt: takes a name and calls what draws that one chart; may return None where that fails, and the report goes
            without it.
    """
    drawn = (
        attempt(f"report chart {number}, {part}", partial(_report_chart, part, draw))
        for number, (part, draw) in enumerate(_charts(ctx), 1)
    )
    return tuple(chart for chart in drawn if chart is not None)


def _charts(ctx: TickContext) -> Iterator[tuple[str, Callable[[], Chart | None]]]:
    """Give for each chart the part of the report it belongs to, and what draws it."""
    market_ms = ctx.observation.market_ms
    source = f"Source: {DATA_FROM[ctx.observation.mode]}, as of {moment(market_ms):%d %b %Y, %H:%M} UTC."

    yield "verdict", partial(_regimes, ctx, source)
    yield "what_changed", partial(_moves, ctx, source)
    yield "assets", partial(_swings, ctx, source)
    yield "derivatives", partial(_fees, ctx, source)
    yield "partition", partial(_cone, ctx, source)
    yield "track_record", partial(_hit_rate, ctx)


def illustrated(body: X402HumanReportPaidResponse, charts: tuple[ReportChart, ...]) -> X402HumanReportPaidResponse:
    """Return a human report with the charts of the same tick."""
    return body.model_copy(update={"report": body.report.model_copy(update={"charts": charts})})


def _report_chart(part: str, draw: Callable[[], Chart | None]) -> ReportChart | None:
    chart = draw()
    if chart is None:
        return None
    caption = chart.caption
    return ReportChart(
        name=caption.name,
        part=part,
        title=caption.finding,
        description=caption.desc,
        source=str(caption.source),
        columns=caption.columns,
        rows=caption.rows,
        svg=str(chart.svg(alone=True)),
    )


def _fees(ctx: TickContext, source: str) -> Chart | None:
    rates: dict[str, float | None] = {}
    for asset in ASSETS:
        funding = observed(ctx, asset).funding
        rates[asset] = None if funding is None else fixed(100 * funding.rate_8h, 4)
    states = {asset: str(futures_of(ctx, asset).shown) for asset in ASSETS}
    return fundings("report-funding", rates, states, source)


def _swings(ctx: TickContext, source: str) -> Chart | None:
    sizes = {asset: hour_move(ctx, asset) for asset in ASSETS}
    return usual_moves("report-swings", sizes, source)


def _hit_rate(ctx: TickContext) -> Chart | None:
    hourly = ctx.arena.hourly_record
    source = "Source: own record; each forecast is kept before its hour begins."
    return rates("report-rates", "The brain", (("The brain", hourly.hit),), source, hourly.chance)


def _regimes(ctx: TickContext, source: str) -> Chart | None:
    if ctx.reading is None or ctx.reading.regime.label is RegimeLabel.UNKNOWN:
        return None
    regime = ctx.reading.regime

    shares = {label: share(value) or 0.0 for label, value in regime.posterior.items()}
    ranked = sorted(shares, key=lambda label: -shares[label])
    first, second = ranked[:2]
    rows = [Row(REGIME[label].capitalize(), shares[label], percent(shares[label])) for label in ranked]

    caption = Caption(
        name="report-regimes",
        finding=(
            f"The most probable regime is {REGIME[first]}, {percent(shares[first])}; next is {REGIME[second]}, "
            f"{percent(shares[second])}"
        ),
        desc="A bar for each regime, as long as its probability. Together they make 100%.",
        source=source,
        columns=("Regime", "Probability"),
    )
    return row_chart(caption, "probability, %", rows, bars=True)


def _moves(ctx: TickContext, source: str) -> Chart | None:
    moves = {asset: change(observed(ctx, asset).change_24h_percent) for asset in ASSETS}
    known = {asset: moved for asset, moved in moves.items() if moved is not None}
    if not known:
        return None

    ranked = sorted(moves, key=lambda asset: -abs(known.get(asset, 0.0)))
    most = ranked[0]
    rose = sum(moved > 0 for moved in known.values())
    rows = [Row(asset, moves[asset], signed(moves[asset])) for asset in ranked]

    caption = Caption(
        name="report-moves",
        finding=f"{rose} of {len(known)} coins rose over 24 hours; {most} moved most, {signed(known[most])}",
        desc="A bar for each coin from zero to its change over 24 hours: to the right it rose, to the left it fell.",
        source=source,
        columns=("Coin", "Change in 24 hours"),
    )
    mark = "fell \N{LEFTWARDS ARROW} 0 \N{RIGHTWARDS ARROW} rose"
    return row_chart(caption, "change in 24 hours, %", rows, bars=True, marks=((0.0, mark),))


def hour_move(ctx: TickContext, asset: str) -> float | None:
    """Return the expected size of the next hour's move in percent, None where unknown."""
    reading = reading_of(ctx, asset)
    if reading is None:
        return None
    move = expected_move(reading.outlook)
    return move.hour_1_percent if move else None


def _cone(ctx: TickContext, source: str) -> Chart | None:
    """Draw the expected move of the market: a band that widens with time, around no change."""
    if ctx.reading is None:
        return None
    move = expected_move(ctx.reading.outlook)
    if move is None:
        return None

    # (hours from now, what the table calls them, one standard deviation in percent)
    spans = (
        (0.25, "15 minutes", move.minutes_15_percent),
        (1.0, "1 hour", move.hour_1_percent),
        (4.0, "4 hours", move.hours_4_percent),
    )
    rows = [(words, either_way(size)) for _, words, size in spans]

    reach = 1.25 * max(size for _, _, size in spans) or 0.01
    hours = tuple((float(hour), f"{hour} h" if hour else "now") for hour in range(5))
    plane = Plane(Axis(0.0, 4.0, hours, "from now"), axis(-reach, reach, "change of the market from now, %"))

    upper_edge = [(0.0, 0.0), *((hour, size) for hour, _, size in spans)]
    lower_edge = [(hour, -size) for hour, size in reversed(upper_edge)]
    parts = [plane.area("band", upper_edge + lower_edge), *plane.grid(), *plane.labels(), plane.across("mark", 0.0)]
    for hour, words, size in spans:
        tip = f"{words}: {either_way(size)}"
        parts += [plane.dot("dot", (hour, size), tip, 4), plane.dot("dot", (hour, -size), tip, 4)]

    caption = Caption(
        name="report-outlook",
        finding=f"Expected move of the market over four hours: {either_way(move.hours_4_percent)}",
        desc=(
            "A band that widens with time: about two moves in three end inside it. It says nothing about the direction."
        ),
        source=source,
        columns=("Over the next", "Expected move of the market"),
        rows=tuple(rows),
    )
    return Chart(caption, Markup("").join(parts), HEIGHT)
