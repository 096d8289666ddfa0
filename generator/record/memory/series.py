"""What was published over the last month, by hour, and over the last day, every five minutes: read for ATLAS.

A span is the first tick in it, as `memory.venues` keeps it. One without a tick has nothing: what was said before is
never carried over a time in which the service stood still.
"""

from typing import Any, Final

from sqlalchemy import Connection, select

from gateway.wire.foreign import read_json
from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.catalog.horizons import HOUR
from generator.catalog.words import MarketSide, VolatilityWord
from generator.record.memory import tables as t
from generator.values.series import KeptRange, KeptSeries, KeptSpans, KeptWords

MONTH_MS: Final = 30 * DAY_MS
_R = t.regime_history.c


def kept_series(connection: Connection, now_ms: int, since_ms: int) -> KeptSeries:
    """Return what was published within a month, but nothing from before `since_ms`: then another market was replayed.

    Args:
        now_ms: wall time.
        since_ms: wall time.
    """
    month_ms = max(now_ms - MONTH_MS, since_ms)
    return KeptSeries(
        hours=_spans(connection, 60, month_ms, now_ms),
        bars=_spans(connection, 5, max(now_ms - DAY_MS, since_ms), now_ms),
        ranges=_ranges(connection, month_ms, now_ms),
    )


def _spans(connection: Connection, minutes: int, since_ms: int, now_ms: int) -> KeptSpans:
    """Return the spans of one length that had a tick, with the words of that tick."""
    c = t.venues.c
    query = (
        select(c.at_ms, c.assets, _R.volatility, _R.side)
        .join_from(t.venues, t.regime_history, _R.at_ms == c.at_ms, isouter=True)
        .where(c.minutes == minutes, c.at_ms >= since_ms, c.at_ms <= now_ms)
        .order_by(c.at_ms)
    )
    step_ms = minutes * MINUTE_MS
    rows = [(int(row.at_ms) // step_ms * step_ms, row) for row in connection.execute(query)]
    return KeptSpans(
        step_ms,
        venues={at_ms: read_json(row.assets) for at_ms, row in rows},
        words={at_ms: KeptWords(_known_side(row.side), _known_volatility(row.volatility)) for at_ms, row in rows},
    )


def _known_side(word: str | None) -> MarketSide | None:
    return None if word in {None, MarketSide.UNKNOWN} else MarketSide(word)


def _known_volatility(word: str | None) -> VolatilityWord | None:
    return None if word in {None, VolatilityWord.UNKNOWN} else VolatilityWord(word)


def _ranges(connection: Connection, since_ms: int, now_ms: int) -> dict[str, dict[int, KeptRange]]:
    """Return the live ranges over one hour, with whether they held."""
    c = t.predictions.c
    query = (
        select(c.asset, c.start_ms, c.ranges, c.moves)
        .where(c.start_ms >= since_ms, c.start_ms <= now_ms, c.warm_up.is_(False), c.ranges.is_not(None))
        .order_by(c.start_ms)
    )

    found: dict[str, dict[int, KeptRange]] = {}
    for asset, start_ms, ranges, moves in connection.execute(query):
        said: dict[str, Any] | None = read_json(ranges).get(HOUR)
        if said is None:
            continue
        came = (read_json(moves) if moves else {}).get(HOUR)
        move = None if came is None else came["move"]
        held = None if move is None else said["low_90"] <= move <= said["high_90"]
        found.setdefault(asset, {})[start_ms] = KeptRange(said["low_90"], said["high_90"], held)
    return found
