"""Closed 5-minute bars of the live source: paging one venue, choosing the venue of each asset, backfilling days."""

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.live.client import VenueClient
from generator.market.live.readings import CandleReading, Collector, Job, LiquidationReading
from generator.market.live.venues import CANDLE_ORDER
from generator.market.observation import AssetObservation
from generator.market.source import Progress

Row = tuple[int, float, float, float, float, float]
Extras = dict[str, float]  # bar field -> value
_FIELDS: Final = ("open", "high", "low", "close", "volume")
# A bar that some asset still lacks waits this long after its close: venues publish bars seconds late.
HOLD_MS: Final = MINUTE_MS
_KEPT_BARS: Final = 24
TRIES: Final = 3


def last_closed(now_ms: int) -> int:
    """Return the open time of the last bar that closed at or before `now_ms`."""
    return now_ms // BAR_MS * BAR_MS - BAR_MS


def candle_job(client: VenueClient, asset: str, now_ms: int, since_ms: int) -> Job:
    """Return the request for the bars of `asset` that opened after `since_ms` and have closed by `now_ms`.

    One page of the newest: a longer gap (the machine slept for a day) stays until a restart fetches history.
    """

    async def run() -> list[CandleReading]:
        first_ms = max(since_ms // BAR_MS * BAR_MS, last_closed(now_ms) - client.spec.candle_page * BAR_MS) + BAR_MS
        page = await fetch_page(client, asset, first_ms, now_ms)
        return [page] if page.rows or page.dropped else []

    return Job(("candles",), run)


async def fetch_page(client: VenueClient, asset: str, first_ms: int, now_ms: int) -> CandleReading:
    """Fetch one page of bars from `first_ms` on; unclosed bars are not in it, impossible ones are counted.

    The venue says what has closed: a bar that a later one follows, or that its own time is past. Our clock may be
    ahead, and a bar that is taken while it is open would stay as it was then.
    """
    page = client.spec.candle_page
    until = {"until": first_ms + page * BAR_MS - 1} if client.spec.candle_until else {}
    # One more than is due: the venue counts the bar that is still open.
    size = min(page, (last_closed(now_ms) - first_ms) // BAR_MS + 2)
    raw = await client.exchange.fetch_ohlcv(client.spot[asset], "5m", first_ms, size, until)

    timed = [row for row in raw if row[0] is not None]
    venue_ms = max([*(row[0] for row in timed), client.venue_ms() or 0])
    last_ms = min(last_closed(now_ms), last_closed(venue_ms))

    due = [row for row in timed if first_ms <= row[0] <= last_ms]
    return _reading(client, asset, now_ms, [_row(row) for row in due if _possible(row)], len(due))


def _reading(client: VenueClient, asset: str, now_ms: int, rows: Iterable[Row], due: int) -> CandleReading:
    """Make one reading of bars, as old as the last; ascending, the later of two with one time. The rest was dropped."""
    by_time = {row[0]: row for row in rows}
    ordered = tuple(by_time[t] for t in sorted(by_time))
    as_of_ms = ordered[-1][0] + BAR_MS if ordered else now_ms
    return CandleReading(client.spec.name, asset, as_of_ms, ordered, due - len(ordered))


def _row(row: list[Any]) -> Row:
    volume = math.nan if row[5] is None else float(row[5])
    return int(row[0]), float(row[1]), float(row[2]), float(row[3]), float(row[4]), volume


def _possible(row: list[Any]) -> bool:
    if row[0] % BAR_MS or any(value is None for value in row[1:5]):
        return False

    _, opened, high, low, closed, volume = _row(row)
    if not all(0 < price < math.inf for price in (opened, high, low, closed)):
        return False
    if volume < 0 or math.isinf(volume):  # it may be unknown
        return False
    return low <= min(opened, closed) and max(opened, closed) <= high


def frame_of(
    assets: tuple[str, ...],
    bars: Mapping[str, Mapping[int, Row]],
    known: Mapping[int, Mapping[str, Extras]] = MappingProxyType({}),
) -> BarFrame:
    """Lay the bars of all assets on one time grid; NaN where an asset has none.

    Args:
        bars: asset -> open time -> bar.
        known: open time -> asset -> what else is known of it.
    """
    times = sorted({t for rows in bars.values() for t in rows})
    fields = {name: np.full((len(times), len(assets)), np.nan) for name in BAR_FIELDS}

    for column, asset in enumerate(assets):
        rows = bars.get(asset, {})
        for line, t in enumerate(times):
            values: Extras = {}
            if t in rows:
                values.update(zip(_FIELDS, rows[t][1:], strict=True))
            values.update(known.get(t, {}).get(asset, {}))
            for name, value in values.items():
                fields[name][line, column] = value

    return BarFrame(assets, np.array(times, dtype=np.int64), fields)


class BarKeeper:
    """Choose the venue of each asset's bars and keep to it.

    Volume is comparable only within one venue: the first that gives an asset's bars is its reference, and bars
    of a stand-in have no volume.
    """

    def __init__(self, assets: tuple[str, ...]) -> None:
        self.assets = assets
        self._reference: dict[str, str] = {}
        self._known: dict[int, dict[str, Extras]] = {}  # bar open -> asset
        self.dropped = 0  # impossible bars since last reported

    def order(self, clients: Iterable[VenueClient], asset: str) -> list[VenueClient]:
        """Return the venues that may give an asset's bars, best first; those whose markets are unknown count."""
        able = [client for client in clients if client.spec.candle_page and (asset in client.spot or not client.spot)]
        rank = {name: number for number, name in enumerate(CANDLE_ORDER)}
        reference = self._reference.get(asset)

        def place(client: VenueClient) -> tuple[bool, int]:
            return client.spec.name != reference, rank.get(client.spec.name, len(rank))

        return sorted(able, key=place)

    def choose(
        self, clients: Sequence[VenueClient], assets: Iterable[str], tried: set[tuple[str, str]]
    ) -> dict[str, list[str]]:
        """Return venue -> assets to ask it for, of each asset the best venue that was not tried; note it as tried."""
        chosen: dict[str, list[str]] = {}
        for asset in assets:
            names = (client.spec.name for client in self.order(clients, asset))
            name = next((name for name in names if (name, asset) not in tried), None)
            if name is not None:
                tried.add((name, asset))
                chosen.setdefault(name, []).append(asset)
        return chosen

    def lacking(self, collector: Collector, now_ms: int) -> list[str]:
        """Return the assets whose last bar no venue asked so far has given."""
        newest = last_closed(now_ms)
        candles = collector.of(CandleReading)
        have = {reading.asset for reading in candles if reading.rows and reading.rows[-1][0] == newest}
        return [asset for asset in self.assets if asset not in have]

    def note(
        self, now_ms: int, assets: Mapping[str, AssetObservation], liquidated: Sequence[LiquidationReading]
    ) -> None:
        """Remember what is known now: it belongs to the bar that is open now. Liquidations name their bar."""
        now_open = now_ms // BAR_MS * BAR_MS
        for asset, seen in assets.items():
            self._slot(now_open, asset).update(_extras(seen))
        for reading in liquidated:
            for t, longs, shorts in reading.bars:
                self._slot(t, reading.asset).update(liq_long_usd=longs, liq_short_usd=shorts)

        oldest = now_open - _KEPT_BARS * BAR_MS
        for t in [t for t in self._known if t < oldest]:
            del self._known[t]

    def _slot(self, t: int, asset: str) -> Extras:
        return self._known.setdefault(t, {}).setdefault(asset, {})

    def take(self, readings: Sequence[CandleReading], now_ms: int, since_ms: int, listed: set[str]) -> BarFrame:
        """Return the bars that opened after `since_ms`, by the earlier of two readings.

        The newest waits while an asset lacks it that is `listed`, which is: whose bars some venue gives.
        """
        bars = self.merge(readings)

        newest = last_closed(now_ms)
        whole = all(newest in bars.get(asset, {}) for asset in listed)
        waited_ms = now_ms - (newest + BAR_MS)
        if not whole and waited_ms < HOLD_MS:
            newest -= BAR_MS

        due = {asset: {t: row for t, row in rows.items() if since_ms < t <= newest} for asset, rows in bars.items()}
        return frame_of(self.assets, due, self._known)

    def merge(self, readings: Sequence[CandleReading]) -> dict[str, dict[int, Row]]:
        """Merge readings, the earlier first; bars of a venue that is not the asset's reference lose their volume."""
        bars: dict[str, dict[int, Row]] = {}
        for reading in readings:
            self.dropped += reading.dropped
            if not reading.rows:
                continue

            reference = self._reference.setdefault(reading.asset, reading.venue)
            rows = {row[0]: row for row in reading.rows}
            if reading.venue != reference:
                rows = {t: (*row[:5], math.nan) for t, row in rows.items()}
            bars[reading.asset] = rows | bars.get(reading.asset, {})

        return bars


def _extras(seen: AssetObservation) -> Extras:
    known: Extras = {}
    if seen.book is not None:
        known["depth_usd"] = seen.book.depth_1pct_usd
        known["spread_bps"] = seen.book.spread_bps
        known["imbalance"] = seen.book.imbalance_percent / 100

    if seen.funding is not None:
        known["funding"] = seen.funding.rate_8h
    if seen.open_interest is not None and seen.open_interest.contracts is not None:
        known["open_interest"] = seen.open_interest.contracts
    return known


class Backfill:
    """Fetch days of closed bars of every asset.

    Args:
        keeper: gives the order of the venues and remembers whose volume each asset's bars carry.
        progress: called with asset-days done, of how many, and what.
        pause_s: between tries of one page, times the number of the try.
    """

    def __init__(self, keeper: BarKeeper, now_ms: int, days: int, progress: Progress, pause_s: float) -> None:
        self._keeper = keeper
        self._now_ms = now_ms
        self._days = days
        self._progress = progress
        self._pause_s = pause_s
        self._done = dict.fromkeys(keeper.assets, 0)

    async def run(self, clients: Sequence[VenueClient]) -> BarFrame:
        """Return each asset's bars from the first venue that sends them all."""
        able = [client for client in clients if client.spec.candle_page]
        refused = await asyncio.gather(*(client.load(self._now_ms) for client in able))
        ready = [client for client, reason in zip(able, refused, strict=True) if reason is None]

        keeper = self._keeper
        histories = await asyncio.gather(*(self._asset(keeper.order(ready, asset), asset) for asset in keeper.assets))
        readings = [history for history in histories if history is not None]
        return frame_of(keeper.assets, keeper.merge(readings))

    async def _asset(self, clients: Sequence[VenueClient], asset: str) -> CandleReading | None:
        """Return the history of the first venue that sends all its pages, else the longest that was begun."""
        begun: list[CandleReading] = []
        for client in clients:
            whole, history = await self._history(client, asset)
            begun.append(history)
            if whole and history.rows:
                break

        self._report(asset, self._days, asset)
        return max(begun, key=lambda history: len(history.rows), default=None)

    async def _history(self, client: VenueClient, asset: str) -> tuple[bool, CandleReading]:
        """Return whether all pages came, and the bars of those that did."""
        bars = self._days * DAY_MS // BAR_MS
        reach = min(bars, client.spec.candle_reach or bars)
        last = last_closed(self._now_ms)
        start = last - (reach - 1) * BAR_MS

        first = start
        rows: list[Row] = []
        dropped = 0
        while first <= last:
            page = await self._page(client, asset, first)
            if page is None:
                break
            rows += page.rows
            dropped += page.dropped

            if page.rows:
                first = page.rows[-1][0] + BAR_MS
            else:
                first += client.spec.candle_page * BAR_MS
            self._report(asset, (first - start) // DAY_MS, f"{asset} from {client.spec.name}")

        return first > last, _reading(client, asset, self._now_ms, rows, len(rows) + dropped)

    async def _page(self, client: VenueClient, asset: str, first_ms: int) -> CandleReading | None:
        async def run() -> list[CandleReading]:
            return [await fetch_page(client, asset, first_ms, self._now_ms)]

        for attempt in range(1, TRIES + 1):
            outcome = await client.attempt(Job(("candles",), run))
            if not isinstance(outcome, str):
                page: CandleReading = outcome[0]
                return page
            if attempt < TRIES:
                await asyncio.sleep(self._pause_s * attempt)
        return None

    def _report(self, asset: str, days: int, what: str) -> None:
        """Report asset-days done, never going back when a stand-in starts an asset again."""
        self._done[asset] = max(self._done[asset], min(days, self._days))
        self._progress(sum(self._done.values()), self._days * len(self._done), f"history: {what}")
