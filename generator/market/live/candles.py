"""Closed 5-minute bars of one venue, and bars of all assets as one frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from generator.market.live.client import VenueClient
from generator.market.live.readings import CandleReading, Job
from generator.market.values import BAR_FIELDS, BAR_MS, BarFrame

Row = tuple[int, float, float, float, float, float]
Extras = Mapping[str, float]  # bar field -> value

MOST_PAGES: Final = 12  # of one tick; a longer gap is a backfill's work
_FIELDS: Final = ("open", "high", "low", "close", "volume")


def last_closed(now_ms: int) -> int:
    """Return the open time of the last bar that closed at or before `now_ms`."""
    return now_ms // BAR_MS * BAR_MS - BAR_MS


def candle_job(client: VenueClient, asset: str, now_ms: int, since_ms: int) -> Job:
    """Return the request for the bars of `asset` that opened after `since_ms` and have closed by `now_ms`."""

    async def run() -> list[CandleReading]:
        first = max(
            since_ms // BAR_MS * BAR_MS + BAR_MS, last_closed(now_ms) - MOST_PAGES * client.spec.candle_page * BAR_MS
        )
        rows: dict[int, Row] = {}
        dropped = 0
        while first <= last_closed(now_ms):
            page = await fetch_page(client, asset, first, now_ms)
            rows |= {row[0]: row for row in page.rows}
            dropped += page.dropped
            first = next_page(page, first, client.spec.candle_page)
        return [reading(client, asset, rows, dropped, now_ms)] if rows or dropped else []

    return Job(("candles",), run)


async def fetch_page(client: VenueClient, asset: str, first_ms: int, now_ms: int) -> CandleReading:
    """Fetch one page of bars from `first_ms` on; unclosed bars are not in it, impossible ones are counted.

    The venue says what has closed: a bar that a later one follows, or that its own time is past. Our clock may be ahead,
    and a bar that is taken while it is open would stay as it was then.
    """
    limit = min(client.spec.candle_page, (last_closed(now_ms) - first_ms) // BAR_MS + 1)
    until = {"until": first_ms + client.spec.candle_page * BAR_MS - 1} if client.spec.candle_until else {}
    # One more than is due: the venue counts the bar that is still open.
    size = min(client.spec.candle_page, limit + 1)
    raw = await client.exchange.fetch_ohlcv(client.spot[asset], "5m", first_ms, size, until)
    opens = [row[0] for row in raw if row[0] is not None]
    closed = min(last_closed(now_ms), max([*opens, client.venue_ms() or 0]) // BAR_MS * BAR_MS - BAR_MS)
    due = [row for row in raw if row[0] is not None and first_ms <= row[0] <= closed]
    rows = {int(row[0]): _row(row) for row in due if _possible(row)}
    return reading(client, asset, rows, len(due) - len(rows), now_ms)


def next_page(page: CandleReading, first_ms: int, size: int) -> int:
    """Return where the page after `page` begins: after its last bar, or a page further when it is empty."""
    if page.rows:
        return page.rows[-1][0] + BAR_MS
    return first_ms + size * BAR_MS


def reading(client: VenueClient, asset: str, rows: dict[int, Row], dropped: int, now_ms: int) -> CandleReading:
    """Make a reading of bars keyed by their open time."""
    ordered = tuple(rows[t] for t in sorted(rows))
    as_of_ms = ordered[-1][0] + BAR_MS if ordered else now_ms
    return CandleReading(client.spec.name, asset, as_of_ms, ordered, dropped)


def _row(row: list[Any]) -> Row:
    volume = math.nan if row[5] is None else float(row[5])
    return int(row[0]), float(row[1]), float(row[2]), float(row[3]), float(row[4]), volume


def _possible(row: list[Any]) -> bool:
    if row[0] % BAR_MS or any(value is None for value in row[1:5]):
        return False
    _, opened, high, low, closed, volume = _row(row)
    prices = (opened, high, low, closed)
    if not all(math.isfinite(price) and price > 0 for price in prices) or volume < 0 or math.isinf(volume):
        return False
    return low <= min(opened, closed) and max(opened, closed) <= high


def frame_of(
    assets: tuple[str, ...],
    bars: Mapping[str, Mapping[int, Row]],
    extras: Callable[[int, str], Extras] | None = None,
) -> BarFrame:
    """Lay the bars of all assets on one time grid.

    Args:
        assets: column order.
        bars: asset -> open time -> bar; an asset without a bar is NaN in that row.
        extras: what else is known of (open time, asset).
    """
    times = sorted({t for rows in bars.values() for t in rows})
    fields = {name: np.full((len(times), len(assets)), np.nan) for name in BAR_FIELDS}
    for column, asset in enumerate(assets):
        rows = bars.get(asset, {})
        for line, t in enumerate(times):
            for name, value in zip(_FIELDS, rows[t][1:] if t in rows else (), strict=False):
                fields[name][line, column] = value
            for name, value in (extras(t, asset) if extras is not None else {}).items():
                fields[name][line, column] = value
    return BarFrame(assets, np.array(times, dtype=np.int64), fields)
