"""The facts of the human report's story, as published."""

from typing import Final

from generator.arena.values import HorizonRecord
from generator.brain.forecast import OutcomeChances
from generator.brain.ladder import LevelChances, Partition
from generator.brain.month import Month
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import change, clock, percent
from generator.catalog.horizons import HOUR
from generator.catalog.text import kept
from generator.catalog.text.kept import SpellFacts
from generator.catalog.text.story import ahead, day
from generator.catalog.text.story.facts import (
    LargestHour,
    PartitionFacts,
    StoryFacts,
)
from generator.compose.coins import ranges
from generator.compose.context import TickContext
from generator.compose.facts import facts as market_facts
from generator.compose.inputs import reading_of
from generator.compose.spells import spells

LEVEL_HOURS: Final = "4h"
_IN_REACH: Final = 0.05  # chance of a level that is spoken of


def story_facts(ctx: TickContext) -> StoryFacts:
    """Return what the story is made from."""
    market = market_facts(ctx)
    month = ctx.month
    return StoryFacts(
        turn=ctx.observation.market_ms // HOUR_MS,
        largest=_largest(month, ctx.observation.market_ms),
        last_hour=None if market.hour is None else change(market.hour),
        last_hour_rank=market.move_rank,
        ranges=_ranges(ctx),
        beyond=_beyond(ctx),
        record=_record(ctx.arena.how_far) or _record(ctx.arena.backtest.how_far if ctx.arena.backtest else ()),
        record_is_backtest=_record(ctx.arena.how_far) is None,
        spells=_spells(ctx),
        partition=_partition(ctx),
        furthest=_furthest(ctx),
    )


def regime_headline(ctx: TickContext) -> str:
    """Return the headline of the paid market regime."""
    return ahead.regime_headline(story_facts(ctx))


def brain_headline(ctx: TickContext) -> str:
    """Return the headline of the paid main brain."""
    return ahead.ladder_headline(story_facts(ctx))


def atlas_headline(ctx: TickContext) -> str:
    """Return the headline of the structured ATLAS."""
    return ahead.partition_headline(story_facts(ctx))


def atlas_summary(ctx: TickContext) -> str:
    """Return what the structured ATLAS says in words: the next four hours, and how long the state has held."""
    facts = story_facts(ctx)
    return " ".join([*ahead.partition(facts), *ahead.endings(facts)])


def regime_summary(ctx: TickContext) -> str:
    """Return what the paid market regime says in words: how long the state has held, and what sets the day apart."""
    facts = story_facts(ctx)
    return " ".join([*ahead.endings(facts), *day.hour(facts)])


def brain_summary_text(ctx: TickContext) -> str:
    """Return what the paid main brain says in words: how far Bitcoin may go, and the record of that."""
    return " ".join(ahead.how_far(story_facts(ctx)))


def _largest(month: Month | None, now_ms: int) -> LargestHour | None:
    if month is None or month.largest_hour is None:
        return None
    found = month.largest_hour
    return LargestHour(
        at=clock(found.end_ms, now_ms) or "",
        move=change(100 * found.move) or 0.0,
        share=None if found.share is None else round(100 * found.share),
        in_week=found.place_in_week,
        in_month=found.place_in_month,
        is_last=found.end_ms == month.now_ms,
    )


def _ranges(ctx: TickContext) -> dict[str, tuple[float, float, float, float]]:
    found = ranges(reading_of(ctx, DEFAULT_ASSET)) or {}
    return {name: (each.low_90, each.low_50, each.high_50, each.high_90) for name, each in found.items()}


def _beyond(ctx: TickContext) -> dict[str, tuple[float, float, float]]:
    """Return the chance of a move of Bitcoin beyond a level either way, at the end and on the way, of 100."""
    read = reading_of(ctx, DEFAULT_ASSET)
    if read is None or read.ladder is None:
        return {}
    # The highest level that is neither out of reach nor the lowest there is.
    first, *higher = read.ladder[LEVEL_HOURS]
    level: LevelChances = first
    for each in higher:
        if each.end.either >= _IN_REACH:
            level = each
    return {LEVEL_HOURS: (level.level, 100 * level.end.either, 100 * level.touch.either)}


def _record(records: tuple[HorizonRecord, ...]) -> tuple[int, float, float] | None:
    """Return how many hourly ranges came due, and how many percent of moves each range held."""
    for record in records:
        if record.horizon == HOUR and record.scores:
            brain = record.scores[0]
            half = percent(brain.inside_50.percent)
            most = percent(brain.inside_90.percent)
            if half is not None and most is not None:
                return record.resolved, half, most
    return None


def _spells(ctx: TickContext) -> list[SpellFacts]:
    found = spells(ctx)
    if found is None:
        return []
    rows = ((found.side, kept.SIDE), (found.volatility, kept.STEP))
    return [
        SpellFacts(
            state=words[each.state],
            hours=each.hours,
            n=each.n,
            days=each.days,
            median=each.median_hours,
            lasting={name: lasting.percent if lasting else None for name, lasting in each.survival.items()},
            from_now=each.from_now,
            came_next={words[name]: count for name, count in each.came_next.items()},
            not_over=each.not_over,
        )
        for each, words in rows
        if each is not None
    ]


def _partition(ctx: TickContext) -> PartitionFacts | None:
    read = reading_of(ctx, DEFAULT_ASSET)
    if read is None or read.partition is None:
        return None
    part = read.partition
    down, within, up = of_hundred(_triple(part.chances))
    base_down, base_within, base_up = of_hundred(_triple(part.base_rate))
    return PartitionFacts(
        name=ASSET_NAMES[DEFAULT_ASSET],
        usual=change(100 * part.band) or 0.0,
        up=up,
        within=within,
        down=down,
        base_up=base_up,
        base_within=base_within,
        base_down=base_down,
    )


def _triple(chances: OutcomeChances) -> tuple[float, float, float]:
    """Return the chances of down, within and up."""
    return chances.down, chances.neutral, chances.up


def of_hundred(chances: tuple[float, float, float]) -> tuple[int, int, int]:
    """Return three chances as whole numbers that add to 100.

    >>> of_hundred((0.335, 0.335, 0.33))
    (34, 33, 33)
    """
    scaled = [100 * chance for chance in chances]
    whole = [int(value) for value in scaled]
    by_rest = sorted(range(3), key=lambda place: (whole[place] - scaled[place], place))
    for place in by_rest[: 100 - sum(whole)]:
        whole[place] += 1
    first, second, third = whole
    return first, second, third


def _furthest(ctx: TickContext) -> tuple[str, int] | None:
    """Return the asset whose partition is furthest from its base rates, and how many of 100 cases that is."""
    gaps = {}
    for asset in ASSETS:
        read = reading_of(ctx, asset)
        part: Partition | None = read.partition if read else None
        if part is not None:
            pairs = zip(_triple(part.chances), _triple(part.base_rate), strict=True)
            gaps[asset] = sum(abs(chance - usual) for chance, usual in pairs) / 2
    if not gaps:
        return None
    asset = max(gaps, key=gaps.__getitem__)
    return ASSET_NAMES[asset], round(100 * gaps[asset])
