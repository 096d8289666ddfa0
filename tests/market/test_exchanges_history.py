"""History through the real ccxt: paged, closed bars only, from the first venue that has them."""

import asyncio
from typing import Any

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.errors import SourceError
from generator.market.bars import BarFrame
from generator.market.live.source import LiveSource
from generator.market.observation import Observation
from tests.market.test_exchanges import EXPECTED_VENUES, NOW, Setup, having, klines_of
from tests.support.exchange_server import Ask, serving
from tests.support.synthetic_bodies import BAR, SyntheticMarket, bar

DAY_BARS = 288
Steps = list[tuple[int, int, str]]


def backfill(
    days: int, setup: Setup | None = None, now_ms: int = NOW, **options: Any
) -> tuple[BarFrame, Steps, Observation]:
    """Backfill, then observe the tick at the same time."""

    async def run() -> tuple[BarFrame, Steps, Observation]:
        async with serving(SyntheticMarket(now_ms)) as venues:
            if setup is not None:
                setup(venues)
            steps: Steps = []
            source = LiveSource(
                exchange_factory=venues.factory, retry_pause_s=0.001, **{"venues": EXPECTED_VENUES, **options}
            )
            try:
                frame = await source.backfill(now_ms, days, lambda *step: steps.append(step))
                return frame, steps, await source.observe(now_ms, int(frame.t[-1]))
            finally:
                await source.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize("venue", ["binance", "okx", "bybit", "coinbase"])
def test_days_of_bars_are_paged_without_gap_or_double(venue: str) -> None:
    frame, _, seen = backfill(4, venues=(venue,))

    assert list(frame.t) == list(range(NOW - 4 * DAY_BARS * BAR, NOW, BAR))
    assert frame.assets == ASSETS
    for name in ("open", "high", "low", "close", "volume"):
        assert np.isfinite(frame.fields[name]).all()
    assert frame.fields["close"][17, 3] == pytest.approx(bar(int(frame.t[17]), 150.0)[4])
    assert len(seen.new_bars) == 0


def test_venue_that_keeps_few_bars_gives_those() -> None:
    frame, _, _ = backfill(4, venues=("kraken",))

    assert list(frame.t) == list(range(NOW - 719 * BAR, NOW, BAR))  # it keeps 720, the open one among them


def test_dead_venue_is_replaced_by_the_next() -> None:
    frame, _, seen = backfill(2, having(dead={"binance"}), venues=("binance", "kraken", "okx"))

    assert len(frame) == 2 * DAY_BARS
    assert np.isfinite(frame.fields["volume"]).all()
    assert {row.name for row in seen.sources if row.kind == "candles"} <= {"okx"}


def test_page_that_fails_once_is_asked_again() -> None:
    failures: list[str] = []

    def once(ask: Ask) -> Any:
        symbol = ask.query.get("symbol", [""])[0]
        if not ask.path.endswith("/klines") or symbol in failures:
            return None
        failures.append(symbol)
        return {"code": -1000, "msg": "An unknown error occurred while processing the request."}

    frame, _, _ = backfill(1, having(override=once), venues=("binance",))

    assert len(failures) == len(ASSETS)
    assert np.isfinite(frame.fields["close"]).all()


def test_asset_that_no_venue_has_is_nan_and_the_others_are_there() -> None:
    frame, _, _ = backfill(1, klines_of("ETHUSDT", []), venues=("binance",))

    for column, asset in enumerate(ASSETS):
        assert bool(np.isnan(frame.fields["close"][:, column]).all()) == (asset == "ETH")


def test_fallback_of_later_ticks_has_no_volume_because_the_backfill_used_another() -> None:
    async def run() -> Observation:
        async with serving(SyntheticMarket(NOW, missing_bars={"binance": {NOW}})) as venues:
            source = LiveSource(exchange_factory=venues.factory, venues=("binance", "okx"))
            await source.backfill(NOW, 1, lambda *_: None)
            venues.market.now_ms = NOW + BAR
            seen = await source.observe(NOW + BAR, NOW - BAR)
            await source.aclose()
            return seen

    seen = asyncio.run(run())

    assert list(seen.new_bars.t) == [NOW]
    assert np.isfinite(seen.new_bars.fields["close"]).all()
    assert np.isnan(seen.new_bars.fields["volume"]).all()


def test_progress_only_rises_and_ends_whole() -> None:
    _, steps, _ = backfill(4, venues=("okx",))

    done = [step[0] for step in steps]
    assert done == sorted(done)
    assert steps[-1][:2] == (4 * len(ASSETS), 4 * len(ASSETS))
    assert len(set(done)) > len(ASSETS)


def test_no_venue_with_history_is_a_failure_of_the_source() -> None:
    dead = having(dead={"kraken", "coinbase", "okx", "binance", "bybit"})

    with pytest.raises(SourceError, match="no venue sent any history"):
        backfill(1, dead)
