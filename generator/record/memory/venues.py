"""What venues said of books and futures: funding by venue, open interest, depth, spread, how far prices disagree.

It is kept as it was in the first tick of each 5 minutes, a day of them, and in the first of each hour, a year of them;
nothing is published from it yet. Rows are forgotten by number and never by clock, which may jump.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from sqlalchemy import Connection, func, select

from gateway.wire.foreign import read_json
from generator.catalog.durations import MINUTE_MS
from generator.record.memory import tables as t
from generator.record.memory.rows import forget, insert_all

MINUTES: Final = (5, 60)
_A_DAY: Final = 24 * 60 // 5 + 24  # rows of both lengths that a day adds
KEPT: Final = {5: _A_DAY, 60: 366 * _A_DAY}
"""How many of the newest rows, of both lengths, those of each length are kept among."""
_DIGITS: Final = 6  # significant


@dataclass(frozen=True, slots=True)
class VenueFacts:
    """What venues said in one tick; None where unknown."""

    at_ms: int  # wall time of the tick
    market_ms: int
    assets: Mapping[str, Any]
    """By asset: funding {venue: fraction per 8 hours}, contracts (coins), interest_usd, depth_usd, spread_bps,
    disagreement_bps."""


def store(connection: Connection, facts: VenueFacts) -> None:
    """Keep what a tick saw, where it is the first of its 5 minutes or its hour; the same tick again changes nothing."""
    text = json.dumps(_plain(facts.assets), separators=(",", ":"), sort_keys=True)
    for minutes in MINUTES:
        span_ms = minutes * MINUTE_MS
        newest = select(func.max(t.venues.c.at_ms)).where(t.venues.c.minutes == minutes)
        newest_ms = connection.execute(newest).scalar()

        if newest_ms is not None and newest_ms // span_ms >= facts.at_ms // span_ms:
            continue

        # The first of its span counts, as in the published file.
        row = {"minutes": minutes, "at_ms": facts.at_ms, "market_ms": facts.market_ms, "assets": text}
        insert_all(connection, t.venues, [row])
        forget(connection, t.venues, KEPT[minutes], t.venues.c.minutes == minutes)


def kept(connection: Connection, minutes: int) -> tuple[VenueFacts, ...]:
    """Return what is kept of each 5 or 60 minutes, oldest first."""
    c = t.venues.c
    query = select(c.at_ms, c.market_ms, c.assets).where(c.minutes == minutes).order_by(c.id)
    return tuple(VenueFacts(row.at_ms, row.market_ms, read_json(row.assets)) for row in connection.execute(query))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: numbers with six significant digits, null where one is not finite.

    >>> _plain({"BTC": {"depth_usd": 1234567.8, "spread_bps": float("nan"), "funding": {"okx": 0.0001}}})
    {'BTC': {'depth_usd': 1234570.0, 'spread_bps': None, 'funding': {'okx': 0.0001}}}
    """
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")
