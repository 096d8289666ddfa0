"""Closed 5-minute bars of the live source: paging one venue, choosing the venue of each asset, backfilling days."""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.live.client import VenueClient
from generator.market.live.readings import CandleReading, Collector, Job, LiquidationReading
from generator.market.live.venues import CANDLE_ORDER
from generator.market.observation import AssetObservation
from generator.market.source import Progress

Row = tuple[int, float, float, float, float, float]
Extras = Mapping[str, float]  # bar field -> value
MOST_PAGES: Final = 12  # of one tick; a longer gap is a backfill's work
_FIELDS: Final = ("open", "high", "low", "close", "volume")
# A bar that some asset still lacks waits this long after its close: venues publish bars seconds late.
HOLD_MS: Final = 60_000
_KEPT_BARS: Final = 24
TRIES: Final = 3
_DAY_BARS: Final = 288


def last_closed(now_ms: int) -> int:
    """Return the open time of the last bar that closed at or before `now_ms`."""
    return now_ms // BAR_MS * BAR_MS - BAR_MS


def candle_job(client: VenueClient, asset: str, now_ms: int, since_ms: int) -> Job:
    """Return the request for the bars of `asset` that opened after `since_ms` and have closed by `now_ms`."""

    async def run() -> list[CandleReading]:
        first = max(
            since_ms // BAR_MS * BAR_MS + BAR_MS, last_closed(now_ms) - MOST_PAGES * client.spec.candle_page * BAR_MS
        )
        pages = []
        while first <= last_closed(now_ms):
            pages.append(await fetch_page(client, asset, first, now_ms))
            first = next_page(pages[-1], first, client.spec.candle_page)
        reading = joined(client, asset, pages, now_ms)
        return [reading] if reading.rows or reading.dropped else []

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
    return CandleReading(client.spec.name, asset, now_ms, tuple(rows[t] for t in sorted(rows)), len(due) - len(rows))


def next_page(page: CandleReading, first_ms: int, size: int) -> int:
    """Return where the page after `page` begins: after its last bar, or a page further when it is empty."""
    if page.rows:
        return page.rows[-1][0] + BAR_MS
    return first_ms + size * BAR_MS


def joined(client: VenueClient, asset: str, pages: Sequence[CandleReading], now_ms: int) -> CandleReading:
    """Make one reading of the pages of an asset, as old as its last bar; ascending, the later of two with one time."""
    rows = {row[0]: row for page in pages for row in page.rows}
    ordered = tuple(rows[t] for t in sorted(rows))
    as_of_ms = ordered[-1][0] + BAR_MS if ordered else now_ms
    return CandleReading(client.spec.name, asset, as_of_ms, ordered, sum(page.dropped for page in pages))


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


class BarKeeper:
    """Choose the venue of each asset's bars and keep to it.

    Volume is comparable only within one venue: the first that gives an asset's bars is its reference, and bars
    of a stand-in have no volume.
    """

    def __init__(self, assets: tuple[str, ...]) -> None:
        """Start without references."""
        self.assets = assets
        self._reference: dict[str, str] = {}
        self._known: dict[int, dict[str, dict[str, float]]] = {}  # bar open -> asset -> field -> value
        self.dropped = 0  # impossible bars since last reported

    def order(self, clients: Iterable[VenueClient], asset: str) -> list[VenueClient]:
        """Return the venues that may give an asset's bars, best first; those whose markets are unknown count."""
        able = [client for client in clients if client.spec.candle_page and (asset in client.spot or not client.spot)]
        rank = {name: number for number, name in enumerate(CANDLE_ORDER)}
        reference = self._reference.get(asset)
        return sorted(able, key=lambda client: (client.spec.name != reference, rank.get(client.spec.name, len(rank))))

    def first_choice(self, clients: Sequence[VenueClient]) -> dict[str, set[str]]:
        """Return venue -> the assets whose bars it is asked for first."""
        chosen: dict[str, set[str]] = {}
        for asset in self.assets:
            for client in self.order(clients, asset)[:1]:
                chosen.setdefault(client.spec.name, set()).add(asset)
        return chosen

    def stand_ins(
        self, clients: Sequence[VenueClient], collector: Collector, tried: set[tuple[str, str]], now_ms: int
    ) -> dict[str, set[str]]:
        """Return venue -> assets to ask it for, because those asked so far did not give the last bar."""
        chosen: dict[str, set[str]] = {}
        for asset in self._lacking(collector, now_ms):
            able = [client for client in self.order(clients, asset) if asset in client.spot]
            fresh = [client for client in able if (client.spec.name, asset) not in tried]
            for client in fresh[:1]:
                chosen.setdefault(client.spec.name, set()).add(asset)
        return chosen

    def _lacking(self, collector: Collector, now_ms: int) -> list[str]:
        last = last_closed(now_ms)
        have = {one.asset for one in collector.of(CandleReading) if one.rows and one.rows[-1][0] == last}
        return [asset for asset in self.assets if asset not in have]

    def note(
        self, now_ms: int, assets: Mapping[str, AssetObservation], liquidated: Sequence[LiquidationReading]
    ) -> None:
        """Remember what is known now: it belongs to the bar that is open now. Liquidations name their bar."""
        now_open = now_ms // BAR_MS * BAR_MS
        for asset, seen in assets.items():
            self._slot(now_open, asset).update(_extras(seen))
        for one in liquidated:
            for t, longs, shorts in one.bars:
                self._slot(t, one.asset).update(liq_long_usd=longs, liq_short_usd=shorts)
        for t in [t for t in self._known if t < now_open - _KEPT_BARS * BAR_MS]:
            del self._known[t]

    def _slot(self, t: int, asset: str) -> dict[str, float]:
        return self._known.setdefault(t, {}).setdefault(asset, {})

    def take(self, readings: Sequence[CandleReading], now_ms: int, since_ms: int, listed: set[str]) -> BarFrame:
        """Return the bars that opened after `since_ms`; the newest waits while a listed asset lacks it.

        Args:
            readings: earlier ones are preferred.
            now_ms: the tick.
            since_ms: open time of the last bar that the caller has.
            listed: assets whose bars some venue sells.
        """
        bars = self.merge(readings)
        last = last_closed(now_ms)
        whole = all(last in bars.get(asset, {}) for asset in listed)
        newest = last if whole or now_ms - (last + BAR_MS) >= HOLD_MS else last - BAR_MS
        due = {a: {t: row for t, row in rows.items() if since_ms < t <= newest} for a, rows in bars.items()}
        return frame_of(self.assets, due, lambda t, asset: self._known.get(t, {}).get(asset, {}))

    def merge(self, readings: Sequence[CandleReading]) -> dict[str, dict[int, Row]]:
        """Merge readings, the earlier first; bars of a venue that is not the asset's reference lose their volume."""
        bars: dict[str, dict[int, Row]] = {}
        for one in readings:
            self.dropped += one.dropped
            if not one.rows:
                continue
            theirs = self._reference.setdefault(one.asset, one.venue) == one.venue
            rows = {row[0]: row if theirs else (*row[:5], math.nan) for row in one.rows}
            bars[one.asset] = rows | bars.get(one.asset, {})
        return bars


def _extras(seen: AssetObservation) -> dict[str, float]:
    known: dict[str, float] = {}
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
        now_ms: bars that close later are left out.
        days: how far back.
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
        found = await asyncio.gather(*(self._asset(keeper.order(ready, asset), asset) for asset in keeper.assets))
        return frame_of(keeper.assets, keeper.merge([one for one in found if one is not None]))

    async def _asset(self, clients: Sequence[VenueClient], asset: str) -> CandleReading | None:
        """Return the history of the first venue that sends all its pages, else the longest that was begun."""
        best: CandleReading | None = None
        for client in clients:
            whole, got = await self._history(client, asset)
            if best is None or len(got.rows) > len(best.rows):
                best = got
            if whole and got.rows:
                break
        self._report(asset, self._days, asset)
        return best

    async def _history(self, client: VenueClient, asset: str) -> tuple[bool, CandleReading]:
        reach = min(self._days * _DAY_BARS, client.spec.candle_reach or self._days * _DAY_BARS)
        last = last_closed(self._now_ms)
        start = first = last - (reach - 1) * BAR_MS
        pages: list[CandleReading] = []
        while first <= last:
            page = await self._page(client, asset, first)
            if page is None:
                break
            pages.append(page)
            first = next_page(page, first, client.spec.candle_page)
            self._report(asset, (first - start) // (BAR_MS * _DAY_BARS), f"{asset} from {client.spec.name}")
        return first > last, joined(client, asset, pages, self._now_ms)

    async def _page(self, client: VenueClient, asset: str, first_ms: int) -> CandleReading | None:
        async def run() -> list[CandleReading]:
            return [await fetch_page(client, asset, first_ms, self._now_ms)]

        for attempt in range(1, TRIES + 1):
            outcome = await client.attempt(Job(("candles",), run), self._now_ms)
            if not isinstance(outcome, str):
                return next(one for one in outcome if isinstance(one, CandleReading))
            if attempt < TRIES:
                await asyncio.sleep(self._pause_s * attempt)
        return None

    def _report(self, asset: str, days: int, what: str) -> None:
        """Report asset-days done, never going back when a stand-in starts an asset again."""
        self._done[asset] = max(self._done[asset], min(days, self._days))
        self._progress(sum(self._done.values()), self._days * len(self._done), f"history: {what}")
