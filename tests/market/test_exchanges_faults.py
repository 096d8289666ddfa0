"""A venue that fails is marked and left out; the tick continues, also by a clock of ours that is wrong."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from generator.catalog.formats import iso
from generator.catalog.words import SourceStatus
from generator.market.observation import Observation
from generator.values.market import SourceRow
from tests.market.test_exchanges import MINUTE, NOW, SINCE, having, watch
from tests.support.exchange_server import Ask, Venues
from tests.support.synthetic_bodies import BAR, SyntheticMarket, binance, okx

DAY = 288 * BAR
REST = ("binance", "bybit", "coinbase", "kraken")  # without okx


def row(seen: Observation, venue: str, kind: str) -> SourceRow:
    (found,) = [one for one in seen.sources if (one.name, one.kind) == (venue, kind)]
    return found


def test_dead_venue_is_failed_and_the_others_agree_without_it() -> None:
    (seen,) = watch((NOW, SINCE), setup=having(dead={"okx"}))

    assert seen.assets["BTC"].venues == REST
    assert seen.assets["BTC"].price == pytest.approx(60_000)
    failed = row(seen, "okx", "spot")
    assert (failed.status, failed.as_of, failed.reason) == (SourceStatus.FAILED, None, "markets: not reachable")


def test_slow_venue_is_abandoned_after_the_request_timeout() -> None:
    (seen,) = watch((NOW, SINCE), setup=having(slow_s={"okx": 60}), skip_s=8)

    assert row(seen, "okx", "spot").reason == "markets: no answer in time"
    assert seen.assets["BTC"].venues == REST


def test_deadline_ends_the_whole_observe_and_marks_what_is_missing() -> None:
    slow = having(slow_paths={"/v5/market/orderbook": 60})
    (seen,) = watch((NOW, NOW), setup=slow, timeout_s=60, venues=("kraken", "bybit"), skip_s=20)

    late = row(seen, "bybit", "book")
    assert late.status is SourceStatus.FAILED
    assert late.reason == "no answer within 20 s"
    assert seen.assets["BTC"].venues == ("bybit", "kraken")  # tickers had come by then
    assert seen.assets["BTC"].book is not None
    assert seen.assets["BTC"].book.venues == ("kraken",)


@pytest.mark.parametrize("body", ["<html>sorry</html>", "{", "", '{"nothing": "known"}', "[]", "null", '{"result": 7}'])
def test_garbage_never_escapes(body: str) -> None:
    garbage = having(garbage=dict.fromkeys(("okx", "gate"), body))
    (seen,) = watch((NOW, SINCE), setup=garbage, venues=("kraken", "okx", "gate"))

    assert row(seen, "okx", "spot").status is SourceStatus.FAILED
    assert seen.assets["BTC"].price == pytest.approx(60_000)
    assert seen.assets["BTC"].funding is None


@pytest.mark.parametrize("venue", ["kraken", "coinbase", "okx", "binance", "bybit"])
def test_garbage_after_good_markets_leaves_that_venue_out(venue: str) -> None:
    def scramble(ask: Ask) -> Any:
        markets = ask.path.endswith(("AssetPairs", "products", "instruments", "exchangeInfo", "instruments-info"))
        return {"odd": [None, {"deep": "-"}]} if ask.venue == venue and not markets else None

    (seen,) = watch((NOW, NOW), setup=having(override=scramble))

    assert row(seen, venue, "spot").status is SourceStatus.FAILED
    assert venue not in seen.assets["BTC"].venues
    assert len(seen.assets["BTC"].venues) == 4


def test_reason_never_repeats_what_the_venue_sent() -> None:
    garbage = having(garbage={"okx": "<html>secret http://internal</html>"})
    (seen,) = watch((NOW, SINCE), setup=garbage, venues=("kraken", "okx"))

    published = [*(one.reason or "" for one in seen.sources), *seen.assets["BTC"].limitations]
    assert not [text for text in published if "secret" in text or "http" in text]


@pytest.mark.parametrize("status", [429, 418])
def test_venue_that_asks_to_slow_down_is_left_alone_for_a_while(status: int) -> None:
    counts: list[int] = []

    def before(venues: Venues, number: int) -> None:
        counts.append(venues.asked["okx"])
        venues.status = {"okx": status} if number == 0 else {}

    ticks = [(NOW, SINCE), (NOW + 30_000, NOW - BAR), (NOW + MINUTE + 1, NOW - BAR)]
    first, paused, back = watch(*ticks, before=before, venues=("kraken", "okx"))

    assert row(first, "okx", "spot").reason == "markets: asked to slow down (429)"
    assert row(paused, "okx", "spot").reason == "left alone after asking us to slow down (429)"
    assert counts[1] == counts[2]  # nothing was asked while paused
    assert row(back, "okx", "spot").status is SourceStatus.OK


HOUR = 60 * MINUTE
BLOCKED = "The distribution is configured to block access from your country."


@pytest.mark.parametrize(("venue", "status", "text"), [("binance", 451, "{}"), ("bybit", 403, BLOCKED)])
def test_venue_that_does_not_serve_a_region_is_named_and_left_alone_for_hours(
    venue: str, status: int, text: str
) -> None:
    counts: list[int] = []

    def before(venues: Venues, number: int) -> None:
        counts.append(venues.asked[venue])
        venues.status = {venue: status} if number < 2 else {}
        venues.garbage = {venue: text} if number < 2 else {}

    ticks = [(at_ms, at_ms) for at_ms in (NOW, NOW + MINUTE, NOW + 6 * HOUR - 1, NOW + 6 * HOUR)]
    first, paused, _, back = watch(*ticks, before=before, venues=("kraken", venue))

    assert row(first, venue, "spot").reason == f"markets: does not serve this region ({status})"
    assert row(paused, venue, "spot").reason == f"does not serve this region ({status})"
    assert counts[1] == counts[3]
    assert row(back, venue, "spot").status is SourceStatus.OK


def test_a_403_that_names_no_region_is_one_for_asking_too_often() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.status = {"okx": 403} if number == 0 else {}

    refused, back = watch((NOW, NOW), (NOW + MINUTE, NOW + MINUTE), before=before, venues=("kraken", "okx"))

    assert row(refused, "okx", "spot").reason == "markets: refuses access from here (403)"
    assert row(back, "okx", "spot").status is SourceStatus.OK


def okx_with(change: Callable[[dict[str, Any]], None]) -> Callable[[Ask], Any]:
    """Return an override in which OKX lists its markets with a change of each."""

    def changed(ask: Ask) -> Any:
        if not ask.path.endswith("/instruments"):
            return None
        body = okx(ask.path, ask.query, SyntheticMarket(NOW))
        for market in body["data"]:
            change(market)
        return body

    return changed


def test_markets_are_read_again_after_a_day_with_their_contract_sizes() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.override = okx_with(lambda market: market.update(ctVal="1")) if number else None

    ticks = [(at_ms, at_ms) for at_ms in (NOW, NOW + 23 * HOUR, NOW + 25 * HOUR)]
    first, same, later = watch(*ticks, before=before, venues=("okx",))

    coins = [seen.assets["BTC"].open_interest for seen in (first, same, later)]
    assert [held and held.contracts for held in coins] == pytest.approx(
        [2e6 / 60_000, 2e6 / 60_000, 2e7 / 60_000], rel=1e-5
    )


def test_markets_that_cannot_be_read_again_serve_on() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.override = (lambda ask: {} if ask.path.endswith("/instruments") else None) if number else None

    _, later = watch((NOW, NOW), (NOW + 25 * HOUR, NOW + 25 * HOUR), before=before, venues=("okx",))

    assert row(later, "okx", "spot").status is SourceStatus.OK


def test_a_market_that_went_is_dropped_after_the_first_answer_that_says_so() -> None:
    def gone(ask: Ask) -> Any:
        if ask.venue != "binance":
            return None
        if "HBARUSDT" in str(ask.query):
            return {"code": -1121, "msg": "Invalid symbol."}
        body = SyntheticMarket(NOW)
        body.prices.pop("HBAR")
        return binance(ask.path, {}, body) if ask.path.endswith("/exchangeInfo") else None

    def before(venues: Venues, number: int) -> None:
        venues.override = gone if number else None

    ticks = [(at_ms, at_ms) for at_ms in (NOW, NOW + HOUR, NOW + HOUR + MINUTE)]
    _, refused, back = watch(*ticks, before=before, venues=("kraken", "binance"))

    assert row(refused, "binance", "spot").reason == "unknown market"
    assert row(back, "binance", "spot").status is SourceStatus.OK
    assert back.assets["HBAR"].venues == ("kraken",)


def test_venue_is_left_alone_as_long_as_it_asks_for() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.status = {"okx": 429} if number == 0 else {}
        venues.retry_after = "300"

    ticks = [(NOW, NOW), (NOW + 299_000, NOW + 299_000), (NOW + 300_000, NOW + 300_000)]
    _, paused, back = watch(*ticks, before=before, venues=("kraken", "okx"))

    assert row(paused, "okx", "spot").status is SourceStatus.FAILED
    assert row(back, "okx", "spot").status is SourceStatus.OK


def test_pause_doubles_while_the_venue_keeps_refusing() -> None:
    counts: list[int] = []

    def before(venues: Venues, _: int) -> None:
        venues.status = {"okx": 429}
        counts.append(venues.asked["okx"])

    watch(*((NOW + n * MINUTE, NOW + n * MINUTE) for n in range(9)), before=before, venues=("kraken", "okx"))

    tries = [after > earlier for earlier, after in pairwise(counts)]
    assert tries == [True, True, False, True, False, False, False, True]


def test_venue_that_asks_to_slow_down_in_the_middle_is_not_asked_for_the_rest() -> None:
    servers: list[Venues] = []

    def before(venues: Venues, number: int) -> None:
        servers.append(venues)
        if number == 1:
            venues.status["okx"] = 429
            venues.asked.clear()

    watch((NOW, NOW), (NOW + MINUTE, NOW + MINUTE), before=before, venues=("kraken", "okx"))

    assert 1 <= servers[0].asked["okx"] <= 4  # those in flight, of 16


def test_venue_five_percent_off_is_left_out_of_price_and_book_with_a_reason() -> None:
    (seen,) = watch((NOW, SINCE), market=SyntheticMarket(NOW, scale={"okx": 1.05}))

    read = seen.assets["BTC"]
    assert read.price == pytest.approx(60_000)
    assert read.venues == REST
    assert "okx left out of the price: +5.00% from the median" in read.limitations
    assert read.book is not None
    assert "okx" not in read.book.venues


def test_lagging_venue_is_stale_and_left_out() -> None:
    market = SyntheticMarket(NOW, lag_ms={"okx": 10 * MINUTE}, scale={"okx": 1.005})

    (seen,) = watch((NOW, SINCE), market=market)

    late = row(seen, "okx", "spot")
    assert (late.status, late.age_seconds, late.reason) == (SourceStatus.STALE, 600, "600 s old")
    assert seen.assets["BTC"].venues == REST
    assert "okx left out of the price: stale by 600 s" in seen.assets["BTC"].limitations


def test_price_is_as_old_as_the_oldest_quote_in_it() -> None:
    (seen,) = watch((NOW, NOW), market=SyntheticMarket(NOW, lag_ms={"okx": 30_000, "bybit": -5_000}))

    assert "okx" in seen.assets["BTC"].venues
    assert seen.assets["BTC"].price_as_of_ms == NOW - 30_000


def test_quote_that_arrives_after_the_tick_began_is_not_from_the_future() -> None:
    (seen,) = watch(
        (NOW, NOW), market=SyntheticMarket(NOW, lag_ms={"okx": -5_000, "coinbase": -5_000}), venues=("okx", "coinbase")
    )

    assert seen.assets["BTC"].price_as_of_ms == NOW
    assert all(one.as_of is not None and one.as_of <= iso(NOW) for one in seen.sources)


def test_one_venue_alone_gives_a_price_and_says_so() -> None:
    (seen,) = watch((NOW, SINCE), venues=("kraken",))

    assert seen.assets["BTC"].venues == ("kraken",)
    assert "price: one venue only" in seen.assets["BTC"].limitations
    assert seen.venues_needed == 2


def test_all_venues_dead_still_gives_an_observation_with_reasons() -> None:
    everything = ("kraken", "coinbase", "okx", "binance", "bybit", "binanceusdm", "gate")

    (seen,) = watch((NOW, SINCE), setup=having(dead=set(everything)))

    assert {one.status for one in seen.sources} == {SourceStatus.FAILED}
    assert {one.name for one in seen.sources} == set(everything)
    assert len(seen.new_bars) == 0
    for read in seen.assets.values():
        values = (read.price, read.change_24h_percent, read.book, read.funding, read.open_interest, read.liquidations)
        assert set(values) == {None}
        for subject in ("price", "24 h change", "order book", "funding", "open interest", "liquidations"):
            assert any(text.startswith(f"{subject}:") for text in read.limitations)


def test_funding_is_carried_for_ten_minutes_and_then_gone() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.status = {"gate": 503} if number > 0 else {}

    ticks = [(NOW, NOW), (NOW + 9 * MINUTE, NOW + 9 * MINUTE), (NOW + 11 * MINUTE, NOW + 11 * MINUTE)]
    first, carried, gone = watch(*ticks, before=before, venues=("kraken", "gate"))

    assert first.assets["BTC"].funding == carried.assets["BTC"].funding is not None
    assert row(carried, "gate", "funding").status is SourceStatus.FAILED
    assert gone.assets["BTC"].funding is None


def test_market_that_the_venue_dropped_does_not_cost_the_other_assets() -> None:
    def unlisted(ask: Ask) -> Any:
        if not ask.path.endswith("/exchangeInfo") or ask.venue != "binance":
            return None
        if "symbols" in ask.query:
            return {"code": -1121, "msg": "Invalid symbol."}
        body = SyntheticMarket(NOW)
        body.prices.pop("HBAR")
        return binance(ask.path, {}, body)

    (seen,) = watch((NOW, NOW), setup=having(override=unlisted), venues=("binance",))

    assert seen.assets["BTC"].price is not None
    assert seen.assets["HBAR"].price is None


def test_stand_in_that_failed_once_is_not_held_against_the_source_for_ever() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.market.missing_bars = {"binance": {NOW - BAR}}
        venues.override = (
            (lambda ask: {} if ask.venue == "okx" and "candles" in ask.path else None) if number == 0 else None
        )

    ticks = [(NOW, NOW - 2 * BAR), *((NOW + n * BAR, NOW + (n - 2) * BAR) for n in (1, 2, 3))]
    first, *_, last = watch(*ticks, before=before, venues=("binance", "bybit", "okx"))

    assert row(first, "okx", "candles").status is SourceStatus.FAILED
    assert [one.name for one in last.sources if one.kind == "candles"] == ["binance", "bybit"]
    assert {one.status for one in last.sources} == {SourceStatus.OK}


# A clock of ours that is wrong: the venue's own time says which bar has closed.
@pytest.mark.parametrize("venue", ["binance", "okx", "bybit", "coinbase", "kraken"])
@pytest.mark.parametrize("date", [None, "yesterday"], ids=["a date", "an unreadable date"])
def test_a_bar_that_is_open_at_the_venue_is_not_taken_by_a_clock_that_is_ahead(venue: str, date: str | None) -> None:
    def behind(venues: Venues, _: int) -> None:
        venues.date = date
        venues.market.now_ms -= BAR + MINUTE

    ours = NOW + BAR + 2 * MINUTE
    early, later = watch((ours, NOW - 2 * BAR), (ours + BAR, NOW - BAR), before=behind, venues=(venue,))

    assert list(early.new_bars.t) == [NOW - BAR]
    assert list(later.new_bars.t) == [NOW]


def test_a_closed_bar_is_taken_by_the_venues_date_before_the_next_one_trades() -> None:
    def quiet(venues: Venues, _: int) -> None:
        venues.market.missing_bars["binance"] = {NOW}

    (seen,) = watch((NOW + 1000, NOW - 2 * BAR), before=quiet, venues=("binance",))

    assert list(seen.new_bars.t) == [NOW - BAR]


def test_a_venue_is_asked_again_at_once_after_our_clock_was_set_back() -> None:
    def before(venues: Venues, number: int) -> None:
        venues.status = {"okx": 429} if number == 0 else {}

    _, back = watch((NOW + DAY, NOW + DAY), (NOW, NOW), before=before, venues=("kraken", "okx"))

    assert row(back, "okx", "spot").status is SourceStatus.OK


def test_a_source_is_never_dated_later_than_the_tick_after_our_clock_was_set_back() -> None:
    ahead, back = watch((NOW + DAY, NOW + DAY - 2 * BAR), (NOW, NOW), venues=("kraken", "okx"))

    assert row(ahead, "okx", "candles").as_of == iso(NOW + DAY)
    assert all(one.as_of is None or one.as_of <= iso(NOW) for one in back.sources)
