"""What Learn shows: a picture or a count and a question for each idea, and three lessons of the latest rounds."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from generator.arena.values import ArenaView, PredictionMade
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.horizons import HOUR
from generator.catalog.text.labels import REGIME
from generator.compose.coins import MoveRange
from generator.site.charts.lessons import by_label, few_cases
from generator.site.charts.ranges import how_far
from generator.site.charts.record import reliability
from generator.site.pages.chapters import chapters, times_and_moves
from generator.site.words.format import day, price, signed
from generator.site.words.lessons import chosen

OWN_RECORD: Final = "Source: own record."


def learn_view(arena: ArenaView, due: Sequence[PredictionMade], figures: Mapping[str, Markup]) -> dict[str, Any]:
    """Return what pages/learn.html reads.

    Args:
        due: hourly forecasts that came due or were void, newest first.
        figures: name -> drawn chart; one that could not be drawn is left out.
    """
    chances = reliability("honest", arena.hourly_record.move, OWN_RECORD)
    if chances is None and arena.backtest is not None:
        chances = reliability("honest", arena.backtest.hourly.move, OWN_RECORD)

    return {
        "regimes": tuple((REGIME[label].capitalize(), label.meaning, picture) for label, picture in by_label(figures)),
        "guess": range_guess(due),
        "chances": chances,
        "few": few_cases("few"),
        "chapters": chapters(due),
        "growth": times_and_moves(due),
        "funding": figures.get(f"{DEFAULT_ASSET.lower()}-funding"),
        "lessons": chosen(arena.lessons),
    }


def range_guess(due: Sequence[PredictionMade]) -> dict[str, Any] | None:
    """Ask how far a price should have moved in the newest hour that is over; None before there is one."""
    for made in due:
        ranges = (made.ranges or {}).get(HOUR)
        came = made.moves.get(HOUR)
        if made.asset == DEFAULT_ASSET and ranges and came and came.move is not None and made.start_price is not None:
            break
    else:
        return None

    within = MoveRange(low_90=ranges.low_90, low_50=ranges.low_50, high_50=ranges.high_50, high_90=ranges.high_90)
    drawn = how_far(
        "guess",
        DEFAULT_ASSET,
        made.start_price,
        {HOUR: within},
        OWN_RECORD,
        at=f"{day(made.start_ms)} UTC",
        came=came.move,
    )
    return {
        "at": day(made.start_ms),
        "start_ms": made.start_ms,
        "price": price(made.start_price),
        "picture": drawn,
        "ended": f"{price(came.end_price)}, {signed(came.move)}",
        "where": _where(within, came.move),
        "tested": made.warm_up,
    }


def _where(within: MoveRange, move: float) -> str:
    """Say in which of its ranges a move ended."""
    if within.low_50 <= move <= within.high_50:
        return "inside both ranges, as half of all hours should"
    if within.low_90 <= move <= within.high_90:
        return "outside the 50% range and inside the 90% range, as 40 of 100 hours should"
    return "outside both ranges, as one hour in ten should"
