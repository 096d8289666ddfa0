"""A clock of ours that is wrong: the venue's own time says which bar has closed."""

from __future__ import annotations

import pytest

from generator.catalog.words import SourceStatus
from tests.market.test_exchanges import MINUTE, NOW, watch
from tests.market.test_exchanges_faults import row
from tests.support.exchange_server import Venues
from tests.support.synthetic_bodies import BAR

DAY = 288 * BAR


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

    assert row(ahead, "okx", "candles").as_of_ms == NOW + DAY
    assert all(one.as_of_ms is None or one.as_of_ms <= NOW for one in back.sources)
