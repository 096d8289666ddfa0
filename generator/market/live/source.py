"""The live market: several venues through ccxt, each of which may fail without stopping a tick."""

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import SourceMode
from generator.errors import SourceError
from generator.market.bars import BarFrame
from generator.market.live.assets import BASIS_DISPUTED, BASIS_KEPT, BASIS_UNKNOWN, LiveSnapshot, basis, observe_asset
from generator.market.live.bars import Backfill, BarKeeper, candle_job, last_closed
from generator.market.live.client import ExchangeFactory, VenueClient, open_exchange
from generator.market.live.derivatives import derivative_jobs
from generator.market.live.readings import (
    MAX_AGES_MS,
    BookReading,
    CandleReading,
    Collector,
    DayReading,
    HealthBook,
    Job,
    LiquidationReading,
    PriceReading,
    Reading,
)
from generator.market.live.spot import spot_jobs
from generator.market.live.venues import VENUES, VenueSpec, choose
from generator.market.observation import AssetObservation, Observation
from generator.market.source import Progress

VENUES_NEEDED: Final = 2
_CARRIED: Final = ("funding", "open_interest", "liquidations", "open_interest_history")


class LiveSource:
    """Observe live venues: spot prices and books, 5-minute bars, and perpetual futures.

    Keeps `generator.market.source.Source`. One venue that fails, lags, answers nonsense or asks to slow down is
    marked and left out. Not safe for two observes at once.
    """

    mode = SourceMode.LIVE

    def __init__(
        self,
        venues: tuple[str, ...] | None = None,
        assets: tuple[str, ...] = ASSETS,
        *,
        timeout_s: float = 8.0,
        deadline_s: float = 20.0,
        retry_pause_s: float = 5.0,
        exchange_factory: ExchangeFactory = open_exchange,
        specs: Mapping[str, VenueSpec] = VENUES,
    ) -> None:
        """Choose the venues; nothing is opened yet.

        Args:
            venues: names from `specs`; None for all. `binance` means its spot and its futures market.
            timeout_s: of one request.
            deadline_s: of a whole `observe`; what has not come by then is a miss.
            retry_pause_s: between tries of one page of history.
            exchange_factory: makes a ccxt exchange from (id, config).
        """
        self._assets = assets
        self._deadline_s = deadline_s
        self._retry_pause_s = retry_pause_s
        self._clients = [VenueClient(spec, assets, exchange_factory, timeout_s) for spec in choose(venues, specs)]
        self._bars = BarKeeper(assets)
        self._health = HealthBook()
        self._carried: dict[tuple[str, str, str], Reading] = {}  # (kind, venue, asset)
        self._last_basis = (0, 1.0)  # when the venues agreed on it, UTC ms, and USD for one unit of the stablecoin
        self._intervals: dict[str, dict[str, float]] = {}  # venue -> asset -> hours between fundings

    async def backfill(self, now_ms: int, days: int, progress: Progress) -> BarFrame:
        """Return up to `days` days of closed bars, each asset from the first venue that has them; see `Source`."""
        frame = await Backfill(self._bars, now_ms, days, progress, self._retry_pause_s).run(self._clients)
        if not len(frame):
            names = ", ".join(client.spec.name for client in self._clients)
            raise SourceError(f"no venue sent any history (asked: {names})")
        return frame

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        """Ask every venue at once and say what they agree on; see `Source.observe`."""
        collector = Collector()
        ends = asyncio.get_running_loop().time() + self._deadline_s
        due = last_closed(now_ms) > since_ms

        tried: set[tuple[str, str]] = set()
        chosen = self._choose_two(tried) if due else {}

        def bar_jobs(client: VenueClient) -> list[Job]:
            assets = chosen.get(client.spec.name, ())
            return [candle_job(client, asset, now_ms, since_ms) for asset in client.spot if asset in assets]

        def plan(client: VenueClient) -> list[Job]:
            perpetual = derivative_jobs(client, now_ms, self._intervals.setdefault(client.spec.name, {}))
            # Bars last: seconds after the full minute the venue has finished them.
            return [*spot_jobs(client, now_ms), *perpetual, *bar_jobs(client)]

        await _until(ends, [client.work(plan, now_ms, collector) for client in self._clients])

        # Bars that two venues did not give, or in which they differ, are asked of the next best, until each was asked.
        while due and (chosen := self._bars.choose(self._clients, self._wanting(collector, now_ms), tried)):
            await _until(ends, [client.run(bar_jobs(client), collector) for client in self._clients])

        collector.give_up(f"no answer within {self._deadline_s:g} s")
        return self._compose(collector, now_ms, since_ms)

    def _choose_two(self, tried: set[tuple[str, str]]) -> dict[str, list[str]]:
        """Return venue -> assets to ask it for, of each asset the two best venues."""
        best = self._bars.choose(self._clients, self._assets, tried)
        next_best = self._bars.choose(self._clients, self._assets, tried)
        return {name: [*best.get(name, ()), *next_best.get(name, ())] for name in {**best, **next_best}}

    def _wanting(self, collector: Collector, now_ms: int) -> list[str]:
        usd_per_coin, _ = self._basis(collector.readings, now_ms)
        return self._bars.wanting(collector.of(CandleReading), now_ms, usd_per_coin)

    def _basis(self, readings: Sequence[Reading], now_ms: int) -> tuple[float, tuple[str, ...]]:
        """Return USD for one unit of the stablecoin, and what limits it; what was agreed last stands for an hour."""
        agreed = basis(readings, now_ms)
        if agreed.price is not None:
            self._last_basis = (now_ms, agreed.price)
            return agreed.price, ()

        at_ms, last = self._last_basis
        if agreed.left_out and 0 <= now_ms - at_ms <= HOUR_MS:
            return last, (BASIS_KEPT,)
        return 1.0, (BASIS_DISPUTED if agreed.left_out else BASIS_UNKNOWN,)

    def _compose(self, collector: Collector, now_ms: int, since_ms: int) -> Observation:
        self._carry(collector, now_ms)
        usd_per_coin, limits = self._basis(collector.readings, now_ms)
        readings: list[Reading] = [*self._current(collector, now_ms), *self._carried.values()]
        readings.sort(key=lambda reading: reading.venue)  # equal answers give equal bytes, whoever answered first
        snapshot = LiveSnapshot(
            tuple(readings),
            now_ms,
            usd_per_coin,
            liquidations_asked=any(client.spec.open_interest == "statistics" for client in self._clients),
        )
        assets = {asset: observe_asset(asset, snapshot) for asset in self._assets}

        self._bars.note(now_ms, assets, collector.of(LiquidationReading))
        listed = {asset for client in self._clients if client.spec.candle_page for asset in client.spot}
        prices = {asset: seen.price for asset, seen in assets.items() if seen.price and len(seen.venues) >= 2}
        candles = collector.of(CandleReading)
        bars = self._bars.take(
            candles, now_ms, since_ms, listed & set(self._assets), prices=prices, usd_per_coin=usd_per_coin
        )
        assets = {asset: _with_doubts(seen, self._bars.doubts(asset)) for asset, seen in assets.items()}
        dropped = self._bars.dropped
        self._bars.dropped = 0

        return Observation(
            self.mode,
            now_ms,
            assets,
            self._health.update(collector, now_ms),
            bars,
            venues_needed=VENUES_NEEDED,
            dropped_bars=dropped,
            limitations=limits,
        )

    def _current(self, collector: Collector, now_ms: int) -> list[Reading]:
        """Return this tick's prices and books; stale quotes too, for the consensus names them."""
        fresh: list[Reading] = [*collector.of(PriceReading), *collector.of(DayReading), *collector.of(BookReading)]
        return [reading for reading in fresh if isinstance(reading, PriceReading) or _counts(reading, now_ms)]

    def _carry(self, collector: Collector, now_ms: int) -> None:
        """Keep the last answers of what is not asked, or not answered, in every tick, until they are too old."""
        for reading in collector.readings:
            if reading.kind in _CARRIED:
                self._carried[reading.kind, reading.venue, reading.asset] = reading
        self._carried = {key: reading for key, reading in self._carried.items() if _counts(reading, now_ms)}

    async def aclose(self) -> None:
        """Close every venue's connections."""
        await asyncio.gather(*(client.aclose() for client in self._clients))


def _with_doubts(seen: AssetObservation, doubts: tuple[str, ...]) -> AssetObservation:
    return replace(seen, limitations=(*seen.limitations, *doubts))


def _counts(reading: Reading, now_ms: int) -> bool:
    """Return whether a reading is young enough to count."""
    return abs(now_ms - reading.as_of_ms) <= MAX_AGES_MS[reading.kind]


async def _until(ends: float, work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run `work` until the loop's time `ends`; what is not done by then is cancelled."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout_at(ends), asyncio.TaskGroup() as group:
            for coroutine in work:
                group.create_task(coroutine)
