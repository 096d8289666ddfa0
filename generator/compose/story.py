"""The facts of the human report's story, as published."""

from statistics import pstdev
from typing import Final

from generator.arena.values import ForecastScores, HorizonRecord
from generator.brain.forecast import OutcomeChances
from generator.brain.ladder import LevelChances, Partition
from generator.brain.month import Month
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import change, clock, fixed, percent, share, significant
from generator.catalog.horizons import HOUR
from generator.catalog.text import kept
from generator.catalog.text.forecast import SIDES as SIDES_CALLED
from generator.catalog.text.kept import SpellFacts
from generator.catalog.text.story import ahead, day
from generator.catalog.text.story.facts import (
    GradedDay,
    GradedRecord,
    LargestHour,
    MissFacts,
    PartitionFacts,
    StoryFacts,
)
from generator.compose.coins import ranges
from generator.compose.context import TickContext
from generator.compose.facts import facts as market_facts
from generator.compose.facts import moves
from generator.compose.inputs import is_simulated, observed, reading_of
from generator.compose.rounds import live_tally
from generator.compose.spells import spells

LEVEL_HOURS: Final = "4h"
_IN_REACH: Final = 0.05  # chance of a level that is spoken of


def story_facts(ctx: TickContext) -> StoryFacts:
    """Return what the story is made from."""
    market = market_facts(ctx)
    month = ctx.month
    changes = moves(ctx)
    return StoryFacts(
        turn=ctx.observation.market_ms // HOUR_MS,
        changes=changes,
        usual_days=_usual_days(ctx),
        mean=None if market.mean is None else change(market.mean),
        usual_day=market.usual_day,
        usual_days_kept=market.usual_days_kept,
        day_rank=share(month.day_rank) if month else None,
        largest=_largest(month, ctx.observation.market_ms),
        last_hour=None if market.hour is None else change(market.hour),
        last_hour_rank=market.move_rank,
        correlation=market.correlation,
        ranks={name: share(rank.rank) for name, rank in month.ranks.items()} if month else {},
        dispersion=change(pstdev(changes.values())) if len(changes) > 1 else None,
        funding=_funding(ctx),
        depth=_depth(ctx),
        volume=significant(month.ranks["volume"].now, 4) if month else None,
        interest=_interest(ctx),
        ranges=_ranges(ctx),
        beyond=_beyond(ctx),
        record=_record(ctx.arena.how_far) or _record(ctx.arena.backtest.how_far if ctx.arena.backtest else ()),
        record_is_backtest=_record(ctx.arena.how_far) is None,
        miss=_miss(ctx),
        spells=_spells(ctx),
        partition=_partition(ctx),
        furthest=_furthest(ctx),
        graded_day=_graded_day(ctx),
        graded=_graded(ctx),
        calls=_calls_of_a_side(ctx.arena.hourly_record),
        simulated=is_simulated(ctx),
        votes=_votes(ctx),
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


def _usual_days(ctx: TickContext) -> dict[str, float]:
    usual = {}
    for asset in ASSETS:
        read = reading_of(ctx, asset)
        if read is not None and read.facts.usual_day is not None:
            usual[asset] = fixed(100 * read.facts.usual_day, 2) or 0.0
    return usual


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


def _funding(ctx: TickContext) -> dict[str, float]:
    rates = {}
    for asset in ASSETS:
        funding = observed(ctx, asset).funding
        if funding is not None:
            rates[asset] = fixed(100 * funding.rate_8h, 4) or 0.0
    return rates


def _interest(ctx: TickContext) -> dict[str, float]:
    found = {}
    for asset in ASSETS:
        interest = observed(ctx, asset).open_interest
        moved = None if interest is None else change(interest.contracts_change_24h_percent)
        if moved is not None:
            found[asset] = moved
    return found


def _depth(ctx: TickContext) -> float | None:
    """Return the depth of all order books together; None unless all are known."""
    books = [observed(ctx, asset).book for asset in ASSETS]
    if any(book is None for book in books):
        return None
    return significant(sum(book.depth_1pct_usd for book in books if book is not None), 4)


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


def _miss(ctx: TickContext) -> MissFacts | None:
    """Return the last miss of a range over an hour, at the market's time; None where that is not known."""
    found = ctx.arena.last_miss
    if found is None:
        return None
    at_ms = ctx.freshness.priced_ms(found.start_ms) if ctx.freshness.offset_ms else found.start_ms
    at = clock(at_ms, ctx.observation.market_ms)
    if at is None:
        return None
    return MissFacts(at, found.low, found.high, found.move, found.warm_up)


def _calls_of_a_side(record: ForecastScores) -> tuple[int, int]:
    """Return how many calls of up or down were scored, and how many of them were right."""
    rates = [record.by_call[call] for call in SIDES_CALLED if call in record.by_call]
    return sum(rate.n for rate in rates), sum(rate.hits for rate in rates)


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


def _graded_day(ctx: TickContext) -> GradedDay | None:
    day = ctx.arena.partition_day
    if day is None:
        return None
    fall, within, rise = day.came
    said_fall, said_within, said_rise = (round(share) for share in day.said)
    return GradedDay((rise, within, fall), (said_rise, said_within, said_fall), day.of_backtest)


def _graded(ctx: TickContext) -> GradedRecord | None:
    """Return how the partitions did: live, else in the backtest."""
    for record, is_backtest in ((ctx.arena.ladder_record, False), (ctx.arena.ladder_backtest, True)):
        score = record.partition
        if score is not None:
            return GradedRecord(score.n, score.brier, score.base_rate_brier, is_backtest)
    return None


def _votes(ctx: TickContext) -> tuple[int, int, int] | None:
    tally = live_tally(ctx)
    return (tally.bullish, tally.neutral, tally.bearish) if tally.total else None
