"""Closed 5-minute bars of the live source: paging one venue, choosing the venue of each asset, backfilling days."""

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.consensus import BAR_TOLERANCE, VenueBar, agree_bar, bars_differ, is_other_unit
from generator.market.live.client import VenueClient
from generator.market.live.readings import CandleReading, Job, LiquidationReading
from generator.market.live.venues import CANDLE_ORDER, STABLECOIN
from generator.market.observation import AssetObservation
from generator.market.source import Progress

Row = tuple[int, float, float, float, float, float]
Extras = dict[str, float]  # bar field -> value
_FIELDS: Final = ("open", "high", "low", "close", "volume")
# A bar that some asset still lacks waits this long after its close: venues publish bars seconds late.
HOLD_MS: Final = MINUTE_MS
AT_CLOSE_MS: Final = MINUTE_MS // 2  # after it a price says nothing of the bar's close
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
    currency = client.spot[asset].partition("/")[2]
    return CandleReading(client.spec.name, asset, as_of_ms, ordered, due - len(ordered), currency)


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
    """Choose the venues of each asset's bars, compare what they send, and keep to one for the volume.

    Two venues are asked for each bar, a third where they differ; `agree_bar` says what is taken. Volume is comparable
    only within one venue: the first that gives an asset's bars is its reference, and bars without it have no volume.
    """

    def __init__(self, assets: tuple[str, ...]) -> None:
        self.assets = assets
        self._reference: dict[str, str] = {}
        self._known: dict[int, dict[str, Extras]] = {}  # bar open -> asset
        self._doubts: dict[str, tuple[str, ...]] = {}  # asset -> what is wrong with its last bars, until the next
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

    def wanting(self, candles: Sequence[CandleReading], now_ms: int, usd_per_coin: float) -> list[str]:
        """Return the assets of which a further venue is to be asked: two give no last bar, or do not agree on some."""
        newest = last_closed(now_ms)
        by_asset: dict[str, list[CandleReading]] = {}
        for reading in candles:
            if reading.rows and reading.rows[-1][0] == newest:
                by_asset.setdefault(reading.asset, []).append(reading)

        wanting = []
        for asset in self.assets:
            given = by_asset.get(asset, [])
            bars = _by_time(given, usd_per_coin)
            if len(given) < 2 or (len(given) == 2 and any(bars_differ(same) for same in bars.values())):
                wanting.append(asset)
        return wanting

    def doubts(self, asset: str) -> tuple[str, ...]:
        """Say who was left out of an asset's last bars, and why."""
        return self._doubts.get(asset, ())

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

    def take(
        self,
        readings: Sequence[CandleReading],
        now_ms: int,
        since_ms: int,
        listed: set[str],
        *,
        prices: Mapping[str, float],
        usd_per_coin: float,
    ) -> BarFrame:
        """Return the bars that opened after `since_ms`, as the venues agree on them.

        The newest waits while an asset lacks it that is `listed`, which is: whose bars some venue gives.

        Args:
            prices: asset -> USD at `now_ms`, of those on whose price two venues agree.
            usd_per_coin: USD for one unit of the stablecoin.
        """
        newest = last_closed(now_ms)
        waited_ms = now_ms - (newest + BAR_MS)
        at_close = {newest: prices} if waited_ms <= AT_CLOSE_MS else {}
        bars = self.merge(readings, at_close, usd_per_coin)

        given = {(reading.asset, row[0]) for reading in readings for row in reading.rows}
        whole = all((asset, newest) in given for asset in listed)
        if not whole and waited_ms < HOLD_MS:
            newest -= BAR_MS

        due = {asset: {t: row for t, row in rows.items() if since_ms < t <= newest} for asset, rows in bars.items()}
        return frame_of(self.assets, due, self._known)

    def merge(
        self,
        readings: Sequence[CandleReading],
        at_close: Mapping[int, Mapping[str, float]] = MappingProxyType({}),
        usd_per_coin: float = 1.0,
    ) -> dict[str, dict[int, Row]]:
        """Agree on each bar of each asset; without its reference's part a bar has no volume.

        Args:
            readings: of each venue and asset, in any order.
            at_close: bar open -> asset -> agreed price at its close, USD.
            usd_per_coin: USD for one unit of the stablecoin.
        """
        by_asset: dict[str, list[CandleReading]] = {}
        for reading in readings:
            self.dropped += reading.dropped
            if reading.rows:
                by_asset.setdefault(reading.asset, []).append(reading)

        bars: dict[str, dict[int, Row]] = {}
        for asset, given in by_asset.items():
            given.sort(key=lambda reading: self._rank(asset, reading.venue))
            doubts: list[str] = []
            rows: dict[int, Row] = {}
            rate = _rate(given[0], usd_per_coin)
            for t, same in sorted(_by_time(given, usd_per_coin).items()):
                usd = at_close.get(t, {}).get(asset)
                row = self._agreed(asset, t, same, None if usd is None else usd / rate, doubts)
                if row is not None:
                    rows[t] = row
            bars[asset] = rows
            self._doubts[asset] = tuple(dict.fromkeys(doubts))
        return bars

    def _agreed(
        self, asset: str, t: int, bars: Sequence[VenueBar], price: float | None, doubts: list[str]
    ) -> Row | None:
        """Return the agreed bar of one time, None where there is none; add to the doubts."""
        agreed = agree_bar(bars, price)
        doubts += [f"{venue} left out of the bars: {reason}" for venue, reason in agreed.left_out.items()]
        if agreed.doubt is not None:
            doubts.append(f"bars: {agreed.doubt}")
        if agreed.prices is None:
            return None

        close = agreed.prices[3]
        counted = [bar for bar in bars if abs(bar.prices[3] / close - 1) <= BAR_TOLERANCE]
        reference = self._reference.setdefault(asset, counted[0].venue)  # the median is some venue's close
        volume = next((bar.volume for bar in counted if bar.venue == reference), math.nan)
        if is_other_unit(volume, [bar.volume for bar in bars if bar.venue != reference]):
            doubts.append(f"{reference} left out of the volume: far beyond the other venues'")
            volume = math.nan
        return t, *agreed.prices, volume

    def _rank(self, asset: str, venue: str) -> tuple[bool, int]:
        """Return what sorts the venues of an asset's bars, the best first."""
        order = CANDLE_ORDER.index(venue) if venue in CANDLE_ORDER else len(CANDLE_ORDER)
        return venue != self._reference.get(asset), order


def _rate(reading: CandleReading, usd_per_coin: float) -> float:
    return usd_per_coin if reading.currency == STABLECOIN else 1.0


def _by_time(readings: Sequence[CandleReading], usd_per_coin: float) -> dict[int, list[VenueBar]]:
    """Return open time -> the bars of that time in the first reading's currency, one of each venue in their order."""
    bars: dict[int, list[VenueBar]] = {}
    for reading in readings:
        factor = _rate(reading, usd_per_coin) / _rate(readings[0], usd_per_coin)
        for t, opened, high, low, closed, volume in reading.rows:
            prices = (opened * factor, high * factor, low * factor, closed * factor)
            bars.setdefault(t, []).append(VenueBar(reading.venue, prices, volume))
    return bars


def _differ(histories: Sequence[CandleReading]) -> bool:
    return any(bars_differ(same) for same in _by_time(histories, usd_per_coin=1.0).values())


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
        """Return each asset's bars, as the first two venues that send them all agree; a third decides where not."""
        able = [client for client in clients if client.spec.candle_page]
        refused = await asyncio.gather(*(client.load(self._now_ms) for client in able))
        ready = [client for client, reason in zip(able, refused, strict=True) if reason is None]

        keeper = self._keeper
        histories = await asyncio.gather(*(self._asset(keeper.order(ready, asset), asset) for asset in keeper.assets))
        return frame_of(keeper.assets, keeper.merge([history for found in histories for history in found]))

    async def _asset(self, clients: Sequence[VenueClient], asset: str) -> list[CandleReading]:
        """Return the histories of two venues that send all their pages, of a third too where these differ.

        What a venue began and did not end counts as well.
        """
        begun: list[CandleReading] = []
        whole_ones: list[CandleReading] = []
        for client in clients:
            if len(whole_ones) == 2 and not _differ(whole_ones):
                break
            whole, history = await self._history(client, asset)
            if history.rows:
                begun.append(history)
            if whole and history.rows:
                whole_ones.append(history)
            if len(whole_ones) == 3:
                break

        self._report(asset, self._days, asset)
        return begun

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
