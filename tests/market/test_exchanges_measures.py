"""Small rules of the live source, without a network."""

import math
import re
from pathlib import Path

import pytest

from generator.catalog.venues import VENUES as SETTING
from generator.market.live.derivatives import hours_of
from generator.market.live.readings import Unusable
from generator.market.live.spot import measure
from generator.market.live.venues import _ALSO, VENUES, choose

ROOT = Path(__file__).parents[2]
NAMED_WITH = {also: name for name, many in _ALSO.items() for also in many}  # a setting names both by the first
ORIGIN = ("kraken", "BTC", 0, "USD")


def test_only_levels_within_one_percent_of_the_mid_count() -> None:
    book = measure(*ORIGIN, bids=[[99.9, 2], [99.0, 3], [98.9, 100]], asks=[[100.1, 1], [101.0, 4], [101.1, 100]])

    assert book.mid == pytest.approx(100)
    assert book.bid_depth == pytest.approx(99.9 * 2 + 99.0 * 3)
    assert book.ask_depth == pytest.approx(100.1 + 101.0 * 4)
    assert book.spread_bps == pytest.approx(20)
    assert book.reaches


@pytest.mark.parametrize(
    ("bids", "asks"),
    [
        ([], [[100, 1]]),
        ([[100, 1]], []),
        ([[100, 1]], [[100, 1]]),
        ([[101, 1]], [[100, 1]]),
        ([[math.nan, 1]], [[100, 1]]),
        ([[99, math.inf]], [[100, 1]]),
        ([[-1, 1]], [[100, 1]]),
        ([[99, -1]], [[100, 1]]),
        ([[99, 0]], [[100, 1]]),
    ],
)
def test_book_that_cannot_be_is_not_measured(bids: list[list[float]], asks: list[list[float]]) -> None:
    with pytest.raises(Unusable):
        measure(*ORIGIN, bids=bids, asks=asks)


@pytest.mark.parametrize(
    ("text", "hours"),
    [("8h", 8), ("1h", 1), ("14400000", 4), ("0h", None), ("-8h", None), ("soon", None), ("", None), (None, None)],
)
def test_funding_interval_is_read_in_hours(text: str | None, hours: float | None) -> None:
    assert hours_of(text) == hours


def test_binance_means_both_of_its_markets_and_names_keep_their_order() -> None:
    assert [spec.name for spec in choose(("gate", "binance", "binanceusdm"))] == ["gate", "binance", "binanceusdm"]
    assert [spec.name for spec in choose(None)] == list(VENUES)


def test_every_venue_of_the_setting_is_read_and_every_venue_read_can_be_named() -> None:
    assert list(dict.fromkeys(NAMED_WITH.get(name, name) for name in VENUES)) == list(SETTING), (
        "generator/catalog/venues.py: the names of generator/market/live/venues.py, in its order"
    )


def test_the_docs_list_the_venues_that_are_read() -> None:
    tables = (ROOT / "docs" / "explain" / "venues.md").read_text().split("\n| venue")[1:]

    for table in tables:
        assert re.findall(r"^\| ([a-z]+) \|", table, re.MULTILINE) == list(VENUES), (
            "docs/explain/venues.md: a row for each venue of generator/market/live/venues.py, in its order"
        )
