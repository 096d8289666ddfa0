"""The first figure of the record, and the intervals of its rates, in words."""

from datetime import datetime
from typing import NamedTuple

from generator.arena.hourly import WINDOW_MS
from generator.arena.rates import ENOUGH, counted, enough, share
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import moment
from generator.catalog.text.figures import UNKNOWN, percent
from generator.compose.scores import hour_of
from generator.values.scores import Rate
from generator.values.view import ArenaView


class FirstFigure(NamedTuple):
    """The first figure of the record: a number, of what it is, and how to read it."""

    number: str
    what: str
    how: str
    tested: bool = False  # of the backtest


def far_figure(arena: ArenaView, now_ms: int) -> FirstFigure:
    """Return the first figure of the record: how many moves over an hour ended inside the 90% range."""
    hour = hour_of(arena.how_far)
    if hour is None or not hour.scores:
        return FirstFigure(
            number=f"{first_due(arena, now_ms):%H:%M} UTC",
            what="first scores of the ranges over 1 hour",
            how=_backtested(arena),
        )

    inside = hour.scores[0].inside_90
    ended = "moves over 1 hour ended inside the 90% range"
    if not enough(inside):
        return FirstFigure(share(inside), ended, f"9 in 10 would be right; fewer than {ENOUGH} say little")

    how = "90% would be right"
    if inside.low_percent is not None:
        how = f"95% interval {interval(inside)}; {how}"
    return FirstFigure(share(inside), f"of {inside.n:,} {ended}", how)


def far_sentence(arena: ArenaView, now_ms: int) -> str:
    """Say the first figure of the record in sentences."""
    figure = far_figure(arena, now_ms)
    hour = hour_of(arena.how_far)
    if hour is None or not hour.scores:
        begin = f"{figure.what.capitalize()}: {figure.number}."
    else:
        begin = f"{figure.number} {figure.what}."
    how = figure.how
    return f"{begin} {how[:1].upper()}{how[1:].removesuffix('.')}." if how else begin


def first_due(arena: ArenaView, now_ms: int) -> datetime:
    """Return when the first move over an hour is known: an hour after the first full hour with a forecast."""
    forecasts = arena.hourly_record.predictions
    next_hour_is_announced = now_ms % HOUR_MS >= HOUR_MS - WINDOW_MS
    # What was announced minutes before an hour is of that hour, not of the one that runs.
    of_this_hour = forecasts > len(ASSETS) or (forecasts > 0 and not next_hour_is_announced)

    hours = 1 if of_this_hour else 2
    return moment((now_ms // HOUR_MS + hours) * HOUR_MS)


def _backtested(arena: ArenaView) -> str:
    if arena.backtest is None:
        return ""
    hour = hour_of(arena.backtest.how_far)
    if hour is None or not hour.scores:
        return ""
    return f"In a backtest before the start {counted(hour.scores[0].inside_90, 'moves')} ended inside the 90% range."


def interval(rate: Rate) -> str:
    """Write the interval of a rate; the cases of a count are too few for one."""
    if not enough(rate):
        return UNKNOWN
    return between(rate.low_percent, rate.high_percent)


def between(low: float | None, high: float | None) -> str:
    """Write the ends of an interval, in percent."""
    if low is None or high is None:
        return UNKNOWN
    return f"{low:.1f} to {percent(high)}"
