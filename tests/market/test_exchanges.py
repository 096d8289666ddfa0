"""The live source over the real ccxt; every venue is a loopback server with synthetic bodies."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode, SourceStatus
from generator.market.bars import BAR_MS
from generator.market.live.source import LiveSource
from generator.market.live.venues import VENUES
from generator.market.observation import Observation
from tests.support.exchange_server import Ask, Venues, serving
from tests.support.synthetic_bodies import BAR, HOSTS, PRICES, SyntheticMarket, bar

NOW = 1_763_640_000_000  # on a bar boundary
MINUTE = 60_000
ROOT = Path(__file__).parents[2]
SINCE = NOW - 3 * BAR  # two bars have closed since
# The venues whose figures the tests expect; a later venue of the table has the tests of every venue.
EXPECTED_VENUES = ("kraken", "coinbase", "okx", "binance", "bybit", "gate")

Setup = Callable[[Venues], None]
Before = Callable[[Venues, int], None]


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time can be moved forward, so that no test waits for a timeout."""

    skipped_s = 0.0

    def time(self) -> float:
        return super().time() + self.skipped_s


def watch(
    *ticks: tuple[int, int],
    setup: Setup | None = None,
    before: Before | None = None,
    market: SyntheticMarket | None = None,
    skip_s: float = 0.0,
    **options: Any,
) -> list[Observation]:
    """Observe at each (now, since) with one source; the market's clock follows, `before` receives each tick's number.

    With `skip_s` the time of the event loop moves forward by that much once only held requests are left.
    """
    loop = SkippingLoop()
    if not skip_s:  # on a busy machine an answer may take long
        options = {"timeout_s": 60.0, "deadline_s": 200.0} | options

    async def skip(venues: Venues) -> None:
        await venues.settle()
        loop.skipped_s = skip_s

    async def run() -> list[Observation]:
        async with serving(market or SyntheticMarket(NOW)) as venues:
            if setup is not None:
                setup(venues)
            if "specs" not in options:
                options.setdefault("venues", EXPECTED_VENUES)
            source = LiveSource(exchange_factory=venues.factory, **options)
            seen = []
            skipping = loop.create_task(skip(venues)) if skip_s else None
            try:
                for number, (now_ms, since_ms) in enumerate(ticks):
                    venues.market.now_ms = now_ms
                    if before is not None:
                        before(venues, number)
                    seen.append(await source.observe(now_ms, since_ms))
            finally:
                if skipping is not None:
                    skipping.cancel()
                await source.aclose()
            return seen

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(run())


def having(**attributes: Any) -> Setup:
    """Return a setup that sets attributes of the venues."""

    def setup(venues: Venues) -> None:
        for name, value in attributes.items():
            setattr(venues, name, value)

    return setup


def klines_of(symbol: str, rows: list[Any]) -> Setup:
    """Return a setup in which Binance answers with these candles of one symbol."""
    return having(
        override=lambda ask: rows if ask.path.endswith("/klines") and ask.query["symbol"] == [symbol] else None
    )


@pytest.fixture(scope="module")
def seen() -> Observation:
    """Return what all venues say together."""
    return watch((NOW, SINCE))[0]


@pytest.mark.parametrize("name", VENUES)
def test_every_venue_of_the_table_answers_all_that_it_is_asked(name: str) -> None:
    assert name in {venue for venue, _ in HOSTS.values()}, "tests/support/synthetic_bodies.py: HOSTS"

    (seen,) = watch((NOW, SINCE), venues=(name,))

    mine = {row.kind: row.status for row in seen.sources if row.name == name}
    assert set(VENUES[name].kinds) <= set(mine)
    assert set(mine.values()) == {SourceStatus.OK}


def test_all_venues_together_give_every_asset_everything(seen: Observation) -> None:

    assert (seen.mode, seen.market_ms, seen.offset_ms, seen.venues_needed) == (SourceMode.LIVE, NOW, 0, 2)
    assert seen.price_basis == "venue_mid"
    assert tuple(seen.assets) == ASSETS
    for asset, read in seen.assets.items():
        assert read.price == pytest.approx(PRICES[asset])
        assert read.venues == ("binance", "bybit", "coinbase", "kraken", "okx")
        assert read.limitations == ("liquidations: gate alone publishes them",)
    assert {row.status for row in seen.sources} == {SourceStatus.OK}
    assert {row.kind for row in seen.sources} == {"spot", "book", "candles", "funding", "open_interest", "liquidations"}


def test_same_answers_give_the_same_observation_whoever_answers_first(seen: Observation) -> None:
    (other,) = watch((NOW, SINCE), setup=having(slow_s={"okx": 0.02}))

    assert seen.assets == other.assets
    assert seen.sources == other.sources


def test_day_change_is_the_median_of_venues_that_count_24_hours(seen: Observation) -> None:
    # binance 1.5, coinbase 2.0, bybit 2.5, okx 3.0; Kraken's counts from midnight and is not read
    assert seen.assets["ETH"].change_24h_percent == pytest.approx(2.25)


def test_book_is_of_the_median_venue_within_one_percent(seen: Observation) -> None:
    book = seen.assets["SOL"].book
    assert book is not None
    # 20 levels a side lie within 1%, of 15,000 and 10,000 USD
    assert book.depth_1pct_usd == pytest.approx(20 * 25_000)
    assert book.imbalance_percent == pytest.approx(20)
    assert book.spread_bps == pytest.approx(5)
    assert book.venues == ("binance", "bybit", "coinbase", "kraken", "okx")


def test_funding_is_the_median_of_rates_for_eight_hours_by_each_venues_interval(seen: Observation) -> None:
    # per 8 h: okx 0.005% of 4 h -> 1e-4; bybit 2e-4; gate 3e-4; binance 1e-4, and 2e-4 for ALGO, which pays each 4 h
    btc, algo = seen.assets["BTC"].funding, seen.assets["ALGO"].funding
    assert btc is not None
    assert algo is not None
    assert btc.rate_8h == pytest.approx(1.5e-4)
    assert algo.rate_8h == pytest.approx(2e-4)


def test_rates_wait_for_intervals_that_come_late(seen: Observation) -> None:
    def intervals_last(venues: Venues) -> None:
        venues.slow_paths["fundingInfo"] = 0.3

    (late,) = watch((NOW, SINCE), setup=intervals_last)

    assert late.assets["ALGO"].funding == seen.assets["ALGO"].funding
    assert late.assets["ALGO"].limitations == seen.assets["ALGO"].limitations


def test_rates_come_without_intervals_that_a_venue_does_not_send() -> None:
    def no_intervals(venues: Venues) -> None:
        venues.override = lambda ask: {"code": -1, "msg": "no"} if "fundingInfo" in ask.path else None

    (seen,) = watch((NOW, SINCE), setup=no_intervals, venues=("kraken", "binance"))

    funding = seen.assets["ALGO"].funding
    assert funding is not None
    assert funding.rate_8h == pytest.approx(1e-4)
    assert [text for text in seen.assets["ALGO"].limitations if "8 h between payments is assumed" in text]


def test_open_interest_is_the_median_and_each_venue_is_compared_with_a_day_ago(seen: Observation) -> None:
    (gate,) = watch((NOW, SINCE), venues=("kraken", "gate"))

    agreed, alone = seen.assets["XRP"].open_interest, gate.assets["XRP"].open_interest
    assert agreed is not None
    assert alone is not None
    assert agreed.usd == pytest.approx(2.5e6)  # of okx 2, bybit 1, gate 4, binance 3
    assert agreed.change_24h_percent == round(100 * (3.0 / 3.3 - 1), 2)  # binance; bybit -2%, gate -20%
    assert alone.contracts == pytest.approx(8e6)
    assert alone.usd == pytest.approx(4e6)
    assert alone.change_24h_percent == pytest.approx(-20)
    assert alone.contracts_change_24h_percent == round(100 * (1 / 1.1 - 1), 2)


def test_liquidations_are_the_last_day_of_the_venue_that_publishes_them(seen: Observation) -> None:
    found = seen.assets["HBAR"].liquidations
    assert found is not None
    assert (found.long_usd_24h, found.short_usd_24h, found.venues) == (24_000, 12_000, ("gate",))


def test_dollar_value_of_the_stablecoin_is_taken_from_venues_that_quote_it() -> None:
    (seen,) = watch((NOW, SINCE), market=SyntheticMarket(NOW, usd_per_usdt=0.95))

    assert seen.assets["BTC"].price == pytest.approx(60_000)
    assert len(seen.assets["BTC"].venues) == 5
    assert seen.limitations == ()


def test_without_such_a_venue_the_stablecoin_is_taken_as_a_dollar_and_it_says_so() -> None:
    (seen,) = watch((NOW, SINCE), market=SyntheticMarket(NOW, usd_per_usdt=0.95), venues=("okx", "bybit"))

    assert seen.assets["BTC"].price == pytest.approx(60_000 / 0.95)
    assert seen.limitations == ("no venue quoted USDT in USD: 1 USDT is taken as 1 USD",)


def test_only_closed_bars_are_given_and_none_twice() -> None:
    first, same_bar, next_bar = watch((NOW + 10_000, SINCE), (NOW + MINUTE, NOW - BAR), (NOW + BAR, NOW - BAR))

    assert list(first.new_bars.t) == [NOW - 2 * BAR, NOW - BAR]
    assert len(same_bar.new_bars) == 0
    assert list(next_bar.new_bars.t) == [NOW]
    assert first.new_bars.fields["close"][1, 0] == pytest.approx(bar(NOW - BAR, 60_000)[4])
    assert first.bar_interval_ms == BAR_MS


def test_candles_and_statistics_are_not_asked_again_until_a_bar_has_closed() -> None:
    asked: list[list[tuple[str, str]]] = []

    def before(venues: Venues, _: int) -> None:
        venues.paths = []
        asked.append(venues.paths)

    watch((NOW, SINCE), (NOW + MINUTE, NOW - BAR), (NOW + BAR, NOW - BAR), before=before)

    candles = [sum(path.endswith("/klines") for _, path in tick) for tick in asked]
    statistics = [sum(path.endswith("/contract_stats") for _, path in tick) for tick in asked]
    n = len(ASSETS)
    assert (candles, statistics) == ([n, 0, n], [2 * n, 0, 2 * n])


def test_requests_of_a_quiet_minute_stay_within_the_table_of_the_docs() -> None:
    counters: list[Counter[str]] = []

    def before(venues: Venues, _: int) -> None:
        venues.asked = Counter()
        counters.append(venues.asked)

    watch((NOW, SINCE), (NOW + MINUTE, NOW - BAR), before=before)

    n = len(ASSETS)
    once = {"kraken": n + 1, "coinbase": n + 2, "binance": n + 1, "binanceusdm": n + 1, "gate": n}
    assert counters[1] == {**once, "okx": 2 * n + 2, "bybit": 2 * n + 1}


def test_requests_of_a_minute_with_a_new_bar_stay_within_the_table_of_the_docs() -> None:
    counters: list[Counter[str]] = []

    def before(venues: Venues, _: int) -> None:
        venues.asked = Counter()
        counters.append(venues.asked)

    watch((NOW, SINCE), (NOW + BAR, NOW - BAR), before=before)

    n = len(ASSETS)
    once = {"kraken": n + 1, "coinbase": n + 2, "okx": 2 * n + 2, "binanceusdm": n + 1}
    assert counters[1] == {**once, "binance": 2 * n + 1, "bybit": 3 * n + 1, "gate": 3 * n}


def test_bar_carries_what_was_known_while_it_was_open_and_nothing_later() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.market.prices["BTC"] = 60_000.0 if number < 2 else 90_000.0

    ticks = [(NOW + 10_000, NOW - BAR), (NOW + 4 * MINUTE, NOW - BAR), (NOW + BAR, NOW - BAR)]
    *_, closed = watch(*ticks, before=before)

    fields = closed.new_bars.fields
    assert list(closed.new_bars.t) == [NOW]
    assert fields["depth_usd"][0, 0] == pytest.approx(500_000)
    assert fields["imbalance"][0, 0] == pytest.approx(0.2)
    assert fields["funding"][0, 0] == pytest.approx(1.5e-4)
    assert fields["open_interest"][0, 0] == pytest.approx(2.5e6 / 60_000)  # of okx 2, bybit 1, binance 3, gate 4
    assert (fields["liq_long_usd"][0, 0], fields["liq_short_usd"][0, 0]) == (1000, 500)


def test_bar_that_was_not_watched_has_no_book(seen: Observation) -> None:
    assert np.isnan(seen.new_bars.fields["depth_usd"]).all()


def test_stand_in_gives_a_missing_bar_without_its_volume() -> None:
    market = SyntheticMarket(NOW, missing_bars={"binance": {NOW - BAR}})

    (seen,) = watch((NOW, SINCE), market=market)

    assert list(seen.new_bars.t) == [NOW - 2 * BAR, NOW - BAR]
    assert not np.isnan(seen.new_bars.fields["close"]).any()
    assert not np.isnan(seen.new_bars.fields["volume"][0]).any()
    assert np.isnan(seen.new_bars.fields["volume"][1]).all()


def test_bar_that_no_venue_has_yet_is_waited_for_a_minute_at_most() -> None:
    ticks = (NOW, NOW - 2 * BAR), (NOW + MINUTE, NOW - 2 * BAR)
    at_once, later = watch(*ticks, setup=klines_of("XLMUSDT", []), venues=("binance",))

    assert len(at_once.new_bars) == 0
    assert list(later.new_bars.t) == [NOW - BAR]
    assert list(np.isnan(later.new_bars.fields["close"][0])) == [asset == "XLM" for asset in ASSETS]


def test_impossible_bars_are_dropped_and_counted() -> None:
    upside_down = [NOW - BAR, "100", "90", "110", "100", "1"]
    off_grid = [NOW - BAR - 1, "100", "110", "90", "100", "1"]
    zero = [NOW - 2 * BAR, "0", "0", "0", "0", "1"]
    rows = [[*row, 0, "1", 9, "1", "1", "0"] for row in (zero, off_grid, upside_down)]

    (seen,) = watch((NOW + MINUTE, SINCE), setup=klines_of("BTCUSDT", rows), venues=("binance",))

    assert seen.dropped_bars == 3
    assert np.isnan(seen.new_bars.fields["close"][:, 0]).all()
    assert not np.isnan(seen.new_bars.fields["close"][:, 1]).any()


def test_book_that_ends_before_one_percent_is_a_lower_bound_and_says_so() -> None:
    def short(ask: Ask) -> Any:
        if ask.venue != "binance" or not ask.path.endswith("/depth"):
            return None
        bids, asks = SyntheticMarket(NOW).book("binance", ask.query["symbol"][0][:-4], "USDT", 5)
        return {"lastUpdateId": 1, "bids": bids, "asks": asks}

    (seen,) = watch((NOW, NOW), setup=having(override=short), venues=("binance",))

    book = seen.assets["BTC"].book
    assert book is not None
    assert book.depth_1pct_usd == pytest.approx(5 * 25_000)
    assert (
        "order book: binance sends less than 1% of the book, depth is a lower bound" in seen.assets["BTC"].limitations
    )


def test_requests_are_spaced_and_timed_by_ccxt() -> None:
    configs: list[dict[str, Any]] = []

    def factory(ccxt_id: str, config: dict[str, Any]) -> Any:
        configs.append(config)
        raise RuntimeError(ccxt_id)

    source = LiveSource(("kraken", "okx"), exchange_factory=factory, timeout_s=2.5)
    seen = asyncio.run(source.observe(NOW, NOW))

    assert {(config["enableRateLimit"], config["timeout"]) for config in configs} == {(True, 2500)}
    assert {one.status for one in seen.sources} == {SourceStatus.FAILED}


def test_large_exchange_library_is_not_imported_before_a_venue_is_asked() -> None:
    program = "import sys, generator.market.live.source as it; it.LiveSource(); print('ccxt' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)

    assert ran.stdout == "False\n"
