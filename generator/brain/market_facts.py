"""The market after the last bar, in percent and times: the values that sentences are made of."""

import math
from typing import Final, NamedTuple

import numpy as np

from generator.brain import highlights as records
from generator.brain.highlights import Highlights
from generator.brain.moves import DAY, HOUR, THREE_HOURS, WEEK, Moves, market_line, with_market
from generator.brain.record import HOUR_MOVE, Record
from generator.brain.situation import LEG_DAYS, Situations, legs_of
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.happened import (
    Coin,
    LargestHour,
    Legs,
    MarketFacts,
    Moment,
    Records,
    Row,
    Situation,
)
from generator.catalog.words import MarketSide, VolatilityWord
from generator.market.bars import BAR_MS, FloatArray

_RARE_DAYS: Final = 180.0  # on record, from which on an hour may be one of the largest
_RARE: Final = 0.0004  # share of the record's hours that may be as large


class Followed(NamedTuple):
    """The parts that have followed the market up to some bar."""

    moves: Moves
    record: Record
    highlights: Highlights
    situations: Situations


def market_facts(
    assets: tuple[str, ...],
    now_ms: int,
    followed: Followed,
    side: MarketSide,
    word: VolatilityWord,
    *,
    doubt: float = 0.0,
) -> MarketFacts:
    """Return the facts after the last bar that all parts have taken, which closed at `now_ms`.

    Args:
        assets: the columns.
        side, word: what is shown of the market.
        doubt: share of it in the first asset's data, by which its ranges are wider.
    """
    moves, record, highlights, situations = followed
    closes = moves.day_closes()
    line = market_line(closes)
    bar_ms = moves.bar_ms
    hour, three_hours, week = (_percent(moves.moves[span, -1]) for span in (HOUR, THREE_HOURS, WEEK))
    alone = int(situations.alone[0])

    return MarketFacts(
        now_ms=now_ms,
        situation=Situation(int(situations.shown[0])),
        coins=_coins(assets, now_ms, closes[-1], followed),
        hour=hour,
        three_hours=three_hours,
        week=week,
        usual_hour=_percent(record.usual[0, -1]),
        usual_day=_percent(record.usual[1, -1]),
        usual_week=_percent(record.usual[2, -1]),
        record_days=float(record.count[HOUR_MOVE, -1]) / 24.0,
        line_high=_extreme(line, now_ms, bar_ms, top=True),
        line_low=_extreme(line, now_ms, bar_ms, top=False),
        largest=_largest(closes, now_ms, bar_ms, highlights),
        legs=_legs(line, now_ms, bar_ms, float(record.usual[1, -1])),
        row=_row(situations),
        alone=assets[alone] if alone >= 0 else None,
        records=_records(highlights),
        rare_hour=_is_rare(record, moves),
        day_rank=_percent(record.rank[1, -1]) if bar_ms == BAR_MS else None,  # hours are too coarse for it
        outlook_rank=_percent(record.rank[0, -1]),
        side=side,
        volatility=word,
        width=highlights.width(doubt),
    )


def _percent(fraction: float) -> float | None:
    return None if not math.isfinite(fraction) else 100.0 * float(fraction)


def _coins(assets: tuple[str, ...], now_ms: int, prices: FloatArray, followed: Followed) -> dict[str, Coin]:
    moves, _, highlights, _ = followed
    high, high_ago = highlights.edge(top=True)
    low, low_ago = highlights.edge(top=False)
    day = 100.0 * moves.moves[DAY, :-1]
    hour = 100.0 * moves.moves[HOUR, :-1]
    has_edges = np.isfinite(day + high + low)
    edges = np.where(has_edges, (high, low, high_ago, low_ago), np.nan)

    rows = zip(assets, *(_listed(values) for values in (prices, day, hour, *edges)), strict=True)
    return {
        asset: Coin(
            price=price,
            day=moved,
            hour=lately,
            high=top,
            low=bottom,
            high_ms=None if top_ago is None else now_ms - int(top_ago) * moves.bar_ms,
            low_ms=None if bottom_ago is None else now_ms - int(bottom_ago) * moves.bar_ms,
        )
        for asset, price, moved, lately, top, bottom, top_ago, bottom_ago in rows
        if price is not None
    }


def _listed(values: FloatArray) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _extreme(line: FloatArray, now_ms: int, bar_ms: int, *, top: bool) -> Moment | None:
    """Return the highest or lowest point of the day's line, and when it was."""
    if not np.isfinite(line).all():
        return None
    at = int(line.argmax() if top else line.argmin())
    return Moment(100.0 * float(line[at]), now_ms - (len(line) - 1 - at) * bar_ms)


def _largest(closes: FloatArray, now_ms: int, bar_ms: int, highlights: Highlights) -> LargestHour | None:
    """Return the largest hour of the day with what came after it."""
    moved = _percent(highlights.largest[0])
    if moved is None or not moved:
        return None
    bars_ago = int(highlights.largest_ago[0])
    end = len(closes) - 1 - bars_ago
    start = end - HOUR_MS // bar_ms
    since = with_market(closes[-1:] / closes[end : end + 1] - 1.0)[0, -1]
    with_since = with_market(closes[-1:] / closes[start : start + 1] - 1.0)[0, -1]
    return LargestHour(moved, now_ms - bars_ago * bar_ms, _percent(since), _percent(with_since))


def _legs(line: FloatArray, now_ms: int, bar_ms: int, usual_day: float) -> Legs | None:
    legs = legs_of(line, LEG_DAYS[1] * usual_day) if math.isfinite(usual_day) else None
    if legs is None:
        return None
    return Legs(100.0 * legs.first, 100.0 * legs.second, now_ms - legs.turned_ago * bar_ms, legs.is_over)


def _row(situations: Situations) -> Row | None:
    moved = _percent(situations.row_moved[0])
    return None if moved is None else Row(int(situations.in_a_row[0]), moved)


def _records(highlights: Highlights) -> Records:
    return Records(
        fall_of_hour=highlights.is_record(records.FALL_OF_HOUR),
        rise_of_hour=highlights.is_record(records.RISE_OF_HOUR),
        fall_of_day=highlights.is_record(records.FALL_OF_DAY),
        rise_of_day=highlights.is_record(records.RISE_OF_DAY),
        narrowest_day=highlights.is_record(records.NARROWEST_DAY),
    )


def _is_rare(record: Record, moves: Moves) -> bool:
    """Say whether the last hour is one of the largest of half a year or more, to either side."""
    if record.count[HOUR_MOVE, -1] < 24 * _RARE_DAYS:
        return False
    sizes = record.hours[:, HOUR_MOVE, -1]
    known = sizes[np.isfinite(sizes)].astype(np.float64)
    return bool(np.count_nonzero(known >= abs(moves.moves[HOUR, -1])) <= _RARE * len(known))
