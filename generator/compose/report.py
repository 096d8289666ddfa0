"""The facts of the human report, as published, and the text made of them."""

import math
from dataclasses import fields
from typing import Final

from generator.arena.rates import rate
from generator.arena.scoring import Ratio
from generator.brain.like_days import LikeDays as CountedDays
from generator.brain.like_days import WordSpells
from generator.brain.month import Month
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.horizons import HOUR
from generator.catalog.text.happened import MarketFacts
from generator.catalog.text.report.facts import (
    FEWEST,
    LikeDays,
    ReportFacts,
    Share,
    Span,
    SpellSoFar,
    Trading,
    Yesterday,
)
from generator.compose.coins import ranges
from generator.compose.context import TickContext
from generator.compose.inputs import reading_of
from generator.values.scores import HorizonRecord, Rate

_MARKET: Final = tuple(field.name for field in fields(MarketFacts))


def report_facts(ctx: TickContext, market: MarketFacts) -> ReportFacts:
    """Return what the report is made from; `market` is as published."""
    month = ctx.month
    counts = month.counts if month else None
    large = counts.large_hours if counts else None
    held, in_backtest = _held(ctx)

    return ReportFacts(
        **{name: getattr(market, name) for name in _MARKET},
        correlation=month.ranks["correlation"].now if month else None,
        trading=_trading(month),
        spans=_spans(ctx, market),
        widths=_widths(ctx),
        held=held,
        held_in_backtest=in_backtest,
        like_days=_like_days(counts.like_days) if counts and counts.like_days else None,
        spell=_spell(counts.spell) if counts and counts.spell else None,
        yesterday=_yesterday(ctx),
        large_hours=_over_days(large.by_day) if large else None,
        large_hours_days=len(large.by_day) if large else 0,
        travelled=_percent(month.travelled) if month else None,
        largest_from_calm=counts.began_calm if counts else None,
        last_days=counts.last_days if counts else None,
        average_swing=_percent(month.average_swing) if month else None,
    )


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _trading(month: Month | None) -> Trading | None:
    """Return what was traded in a day; None where that, or its rank, is not known."""
    if month is None:
        return None
    volume = month.ranks["volume"]
    if not volume.now or volume.rank is None:
        return None
    # An hour missing at the edge of the record does not make it a day shorter.
    return Trading(volume.now, 100 * volume.rank, math.floor(month.days + 0.05))


def _spans(ctx: TickContext, market: MarketFacts) -> dict[str, Span]:
    """Return Bitcoin's ranges by horizon, as prices."""
    coin = market.bitcoin
    moves = ranges(reading_of(ctx, DEFAULT_ASSET))
    if coin is None or moves is None:
        return {}
    return {horizon: Span(*move.prices(coin.price)) for horizon, move in moves.items()}


def _widths(ctx: TickContext) -> dict[str, float]:
    """Return how far each coin's range for an hour reaches, percent."""
    by_asset = {asset: ranges(reading_of(ctx, asset)) for asset in ASSETS}
    return {asset: moves[HOUR].high_90 for asset, moves in by_asset.items() if moves}


def _held(ctx: TickContext) -> tuple[Share | None, bool]:
    """Return how many ranges for an hour held, live or else in the backtest, and which of these it is."""
    backtest = ctx.arena.backtest.how_far if ctx.arena.backtest else ()
    # Live first: the backtest speaks only while the live record is too short.
    for records, in_backtest in ((ctx.arena.how_far, False), (backtest, True)):
        inside = _inside(records)
        if inside is not None and inside.n >= FEWEST:
            return inside, in_backtest
    return None, False


def _inside(records: tuple[HorizonRecord, ...]) -> Share | None:
    for record in records:
        if record.horizon == HOUR and record.scores:
            return _share(record.scores[0].inside_90)
    return None


def _share(rate: Rate) -> Share | None:
    """Return a rate as it is published; None of no cases."""
    if rate.low_percent is None or rate.high_percent is None:
        return None
    return Share(rate.hits, rate.n, rate.low_percent, rate.high_percent)


def _of(hits: int, n: int) -> Share | None:
    """Return a share of independent cases; None of too few."""
    return _share(rate(hits, n)) if n >= FEWEST else None


def _over_days(by_day: tuple[tuple[int, int], ...]) -> Share | None:
    """Return a share of cases of which those of a day move together; None of too few."""
    total = Ratio()
    for hits, n in by_day:
        total = total.plus(hits, n)
    return _share(total.rate(backtest=False)) if total.below >= FEWEST else None


def _like_days(days: CountedDays) -> LikeDays:
    return LikeDays(
        n=days.n,
        smallest=100 * days.smallest,
        largest=100 * days.largest,
        rose=_of(days.rose, days.n),
        any_rose=100 * days.any_rose / max(1, days.any_n),
        moved_more=_of(days.moved_more, days.n),
        any_moved_more=100 * days.any_moved_more / max(1, days.any_n),
    )


def _spell(spells: WordSpells) -> SpellSoFar:
    return SpellSoFar(spells.hours, spells.n, spells.as_old, _of(spells.longer, spells.as_old))


def _yesterday(ctx: TickContext) -> Yesterday | None:
    """Return how yesterday's ranges did, at the market's time; None where there were none."""
    day = ctx.arena.day_of_ranges
    if day is None:
        return None

    # Of a replay, hours are named at the market's time, not at that of the machine.
    due_ms = day.due_ms
    if due_ms is not None and ctx.freshness.offset_ms:
        due_ms = ctx.freshness.priced_ms(due_ms)

    return Yesterday(
        due_ms=due_ms,
        low=day.low,
        high=day.high,
        price=day.price,
        hours=day.hours,
        held=day.held,
        in_backtest=day.warm_up,
    )
