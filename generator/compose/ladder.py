"""The ladder, the partition, and what the kept month says of hours and pairs: parts of the paid answers."""

from collections.abc import Callable, Sequence
from typing import Final

from pydantic import Field

from generator.brain import ladder as brain_ladder
from generator.brain.usual_hours import UsualHour, pairs, usual_hours
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import fixed, iso, percent
from generator.catalog.horizons import HORIZONS, HOUR
from generator.catalog.text import ladder as texts
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.inputs import has_a_month, reading_of
from generator.market.bars import BarFrame
from generator.values.chances import Probabilities
from generator.values.ranges import RangesOfWeek

_HOURS: Final = 24
DAY_AHEAD: Final = "What the next 24 hours usually do, by hour of the day; null without a month of 5-minute bars."
PAIRS: Final = "How each two assets moved together over the kept month; empty without a month of 5-minute bars."
LAST_WEEK: Final = "Asset symbol to how its ranges of the last seven days held, by horizon; only where one was judged."


class LadderChances(Body):
    """How likely one asset moves beyond each level of a horizon, in the order of its levels.

    0.001 stands for that or less, 0.999 for that or more.
    """

    end_above: tuple[float, ...] = Field(description="That the price ends above the level, 0..1.")
    end_below: tuple[float, ...] = Field(description="That it ends below it, on the other side, 0..1.")
    end_either: tuple[float, ...] = Field(description="One or the other, 0..1.")
    touch_above: tuple[float, ...] = Field(description="That the high of a 5-minute bar lies above it before, 0..1.")
    touch_below: tuple[float, ...] = Field(description="That a low lies below it, on the other side, 0..1.")
    touch_either: tuple[float, ...] = Field(description="One or the other, 0..1.")


class LadderLevels(LadderChances):
    """One horizon of one asset, with its levels."""

    levels_percent: tuple[float, ...] = Field(description="Moves from the price now, either way, percent.")


class LadderBlock(Body):
    """How likely moves beyond a few levels are."""

    text: str = Field(description="How to read it.")
    record: str = Field(description="How long its record is, and whether that is live or a backtest.")
    levels_percent: dict[str, tuple[float, ...]] = Field(
        description="Horizon (15m, 1h, 4h, 24h) to its moves from the price now, either way, percent, ascending."
    )
    rare_percent: dict[str, tuple[float, ...]] = Field(
        description="Horizon to its rare levels: on fewer than 30 days of the kept record a move went beyond one, so "
        "its record is pooled with the next lower level's."
    )
    assets: dict[str, dict[str, LadderChances] | None] = Field(
        description="Asset symbol to its chances by horizon, in the order of levels_percent; null without a reading. "
        "A longer horizon's is at least a shorter one's, a farther level's at most a nearer one's."
    )


class PartitionShares(Body):
    """The three parts, in percent; they sum to 100."""

    rise_percent: float = Field(description="The price ends above the middle third, percent 0..100.")
    within_percent: float = Field(description="It ends within the middle third, percent 0..100.")
    fall_percent: float = Field(description="It ends below the middle third, percent 0..100.")


class AssetPartition(Body):
    """The next four hours of one asset in three parts of which one happens."""

    middle_third_percent: float = Field(
        description="Half-width of the middle third of moves over four hours, either way, percent: 0.6386 of the "
        "median size of the last week's moves, within which about one move in three ends."
    )
    chances: PartitionShares = Field(description="How likely each part is.")
    base_rates: PartitionShares = Field(description="How often each part happened before: the comparison.")


class PartitionBlock(Body):
    """The next four hours in three parts."""

    text: str = Field(description="How to read it.")
    record: str = Field(description="How its chances scored against their base rates, live or in a backtest.")
    assets: dict[str, AssetPartition | None] = Field(description="Asset symbol to its parts; null without a reading.")
    furthest: str | None = Field(description="The asset whose chances are furthest from its base rates.")


class UsualHours(Body):
    """How far one asset's price usually moves in each of the next 24 hours."""

    usual_percent: tuple[float | None, ...] = Field(description="Median move, either way, percent; null of few days.")
    low_percent: tuple[float | None, ...] = Field(description="Lower end of the 95% interval of the median.")
    high_percent: tuple[float | None, ...] = Field(description="Upper end.")
    days: tuple[int, ...] = Field(description="Days that each median is of.")


class DayAhead(Body):
    """What the next 24 hours usually do, by hour of the day, over the kept month."""

    text: str = Field(description="How to read it.")
    starts: tuple[str, ...] = Field(description="Start of each hour, ISO 8601 UTC.")
    assets: dict[str, UsualHours] = Field(description="Asset symbol to its hours.")


class PairRow(Body):
    """How two assets moved together over the kept month."""

    pair: str = Field(description="The two symbols, e.g. BTC/ETH.")
    correlation: float | None = Field(description="Of hourly moves, -1..1; null of fewer than ten days.")
    correlation_low: float | None = Field(description="Lower end of its 95% interval, by leaving days out.")
    correlation_high: float | None = Field(description="Upper end.")
    days: int = Field(description="Days that it is of.")
    leads: str | None = Field(
        description="The asset whose 5-minute moves come first; null where neither does by three standard errors."
    )
    ahead_correlation: float | None = Field(
        description="Correlation of its move with the other's next one; null without one that leads."
    )


def ladder(ctx: TickContext) -> LadderBlock:
    """Compose the ladder of every asset."""
    rare = ctx.arena.rare_levels
    return LadderBlock(
        text=texts.HOW_TO_READ,
        record=ladder_record(ctx),
        levels_percent={name: horizon.levels for name, horizon in HORIZONS.items()},
        rare_percent={
            name: tuple(level for level in horizon.levels if (name, level) in rare)
            for name, horizon in HORIZONS.items()
        },
        assets={asset: asset_ladder(ctx, asset) for asset in ASSETS},
    )


def ladder_record(ctx: TickContext) -> str:
    """Say how long the ladder's record is: live, else of the backtest."""
    records = ((texts.LIVE, ctx.arena.ladder_record), (texts.BACKTEST, ctx.arena.ladder_backtest))
    for sentence, record in records:
        cases = sum(score.n for score in record.levels if (score.horizon, score.kind) == (HOUR, "end"))
        if cases:
            return sentence.format(n=f"{cases:,}")
    return texts.NO_RECORD


def partition_record(ctx: TickContext) -> str:
    """Say how the partition scored: live, else in the backtest."""
    records = (
        (texts.PARTITION_LIVE, ctx.arena.ladder_record.partition),
        (texts.PARTITION_BACKTEST, ctx.arena.ladder_backtest.partition),
    )
    for sentence, score in records:
        if score:
            return sentence.format(n=f"{score.n:,}", brier=score.brier, base=score.base_rate_brier)
    return texts.NO_RECORD


def asset_ladder(ctx: TickContext, asset: str) -> dict[str, LadderChances] | None:
    """Compose the ladder of one asset by horizon; None without a reading."""
    read = reading_of(ctx, asset)
    if read is None or read.ladder is None:
        return None
    return {horizon: LadderChances(**_columns(levels)) for horizon, levels in read.ladder.items()}


def asset_levels(ctx: TickContext, asset: str) -> dict[str, LadderLevels] | None:
    """Compose the same with the levels next to their chances."""
    chances = asset_ladder(ctx, asset)
    if chances is None:
        return None
    return {
        horizon: LadderLevels(levels_percent=HORIZONS[horizon].levels, **columns.as_fields())
        for horizon, columns in chances.items()
    }


def _columns(levels: Sequence[brain_ladder.LevelChances]) -> dict[str, tuple[float, ...]]:
    """Return the chances of some levels by what they are of."""
    return {
        f"{kind}_{side}": tuple(getattr(getattr(level, kind), side) for level in levels)
        for kind in ("end", "touch")
        for side in ("above", "below", "either")
    }


def partition(ctx: TickContext) -> PartitionBlock:
    """Compose the next four hours of every asset in three parts."""
    assets = {asset: asset_partition(ctx, asset) for asset in ASSETS}
    known = {asset: part for asset, part in assets.items() if part}
    return PartitionBlock(
        text=texts.PARTITION,
        record=partition_record(ctx),
        assets=assets,
        furthest=max(known, key=lambda asset: distance(known[asset]), default=None),
    )


def asset_partition(ctx: TickContext, asset: str) -> AssetPartition | None:
    """Compose the next four hours of one asset; None without a reading."""
    read = reading_of(ctx, asset)
    if read is None or read.partition is None:
        return None
    part = read.partition
    return AssetPartition(
        middle_third_percent=fixed(100 * part.band, 4) or 0.0,
        chances=_shares(part.chances),
        base_rates=_shares(part.base_rate),
    )


def _shares(chances: Probabilities) -> PartitionShares:
    """Return chances in percent, as many decimals as they have."""
    rise, within, fall = (percent(100 * chance) or 0.0 for chance in (chances.up, chances.neutral, chances.down))
    return PartitionShares(rise_percent=rise, within_percent=within, fall_percent=fall)


def distance(part: AssetPartition) -> float:
    """Return how many of 100 cases go to another part than by the base rates, percentage points."""
    chances = part.chances.as_fields()
    base_rates = part.base_rates.as_fields()
    # What one part gains another loses, so the sum counts every case twice.
    return float(sum(abs(chances[name] - base_rates[name]) for name in chances)) / 2


def day_ahead(ctx: TickContext) -> DayAhead | None:
    """Compose what the next 24 hours usually do; None without a month of 5-minute bars."""
    frame = month_of(ctx)
    if frame is None:
        return None

    market_ms = ctx.observation.market_ms
    # The hour that has begun is left out; part of it is past.
    first = market_ms // HOUR_MS + 1
    assets = {asset: _hours(hours) for asset, hours in usual_hours(frame, market_ms).items()}

    return DayAhead(
        text=texts.DAY_AHEAD,
        starts=tuple(iso((first + place) * HOUR_MS) for place in range(_HOURS)),
        assets={asset: assets[asset] for asset in ASSETS if asset in assets},
    )


def _hours(hours: list[UsualHour]) -> UsualHours:
    def column(read: Callable[[UsualHour], float | None]) -> tuple[float | None, ...]:
        values = (read(hour) for hour in hours)
        return tuple(None if value is None else fixed(100 * value, 3) for value in values)

    return UsualHours(
        usual_percent=column(lambda hour: hour.median),
        low_percent=column(lambda hour: hour.low),
        high_percent=column(lambda hour: hour.high),
        days=tuple(hour.days for hour in hours),
    )


def pair_rows(ctx: TickContext) -> tuple[PairRow, ...]:
    """Compose how every pair of assets moves together; none without a month of 5-minute bars."""
    frame = month_of(ctx)
    if frame is None:
        return ()

    return tuple(
        PairRow(
            pair=f"{pair.first}/{pair.second}",
            correlation=fixed(pair.correlation, 3),
            correlation_low=fixed(pair.low, 3),
            correlation_high=fixed(pair.high, 3),
            days=pair.days,
            leads=pair.leader,
            ahead_correlation=fixed(pair.ahead, 3),
        )
        for pair in pairs(frame)
    )


def month_of(ctx: TickContext) -> BarFrame | None:
    """Return the kept 5-minute bars where they are a month's."""
    return ctx.bars if has_a_month(ctx) else None


def ranges_of_week(ctx: TickContext) -> dict[str, dict[str, RangesOfWeek]]:
    """Compose how the ranges of each asset held over the last week, by horizon; only where a move is known."""
    by_asset: dict[str, dict[str, RangesOfWeek]] = {}
    for asset in ASSETS:
        rows = {horizon: ctx.arena.week_of_ranges.get((asset, horizon)) for horizon in HORIZONS}
        by_asset[asset] = {horizon: row for horizon, row in rows.items() if row}
    return {asset: rows for asset, rows in by_asset.items() if rows}
