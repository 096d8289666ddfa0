"""One venue of six lies: no published price or bar moves, what else is published stays between the honest venues'."""

import asyncio
import math
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from generator.market.consensus import Bounds, VenueBar, agree_bar, middle
from tests.support.synthetic_bodies import PRICES
from tests.venues.exchange import BAR, Lie, steady
from tests.venues.poison import poisoned
from tests.venues.table import START, TICKS, WAYS, Case, cases, judge, played

AMOUNTS: Final = Bounds(1e-6, 1e13, times=30.0)
SIGNED: Final = Bounds(-0.03, 0.03, apart=0.001, share=0.5)
# `python -m tests.venues` plays all of them.
SHORT: Final = [case for number, case in enumerate(cases()) if number % 17 == 0]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: f"{case.venue}-{case.quantity}-{case.way}")
def test_a_lie_of_one_venue_moves_nothing(case: Case) -> None:
    assert judge(case).faults == ()


def test_every_way_to_lie_is_in_the_short_form() -> None:
    assert {case.way for case in SHORT} == set(WAYS)


def test_who_lies_about_bars_is_named_until_the_next_bar() -> None:
    _, seen = played((Lie("binance", "bars", 1.5, from_ms=TICKS[1]),))

    assert seen[0].assets["BTC"].limitations == ("liquidations: gate alone publishes them",)
    assert any(text.startswith("binance left out of the bars: ") for text in seen[1].assets["BTC"].limitations)


def test_a_lie_about_history_reaches_no_bar_and_the_volume_is_another_venues() -> None:
    frames, _ = played((Lie("binance", "bars", 1.5),), with_history=True)

    close = frames[0].fields["close"][:, 0]
    assert np.abs(close / [steady("BTC", int(t) + BAR) for t in frames[0].t] - 1).max() < 0.001
    assert np.isfinite(frames[0].fields["volume"]).all()


def test_a_crash_that_every_venue_shows_passes_whole() -> None:
    def crash(asset: str, t_ms: int) -> float:
        return PRICES[asset] * (0.6 if t_ms >= START + BAR // 2 else 1.0)

    frames, seen = played((), price=crash)

    lows = [float(frame.fields["low"][-1, 0]) for frame in frames if len(frame)]
    assert min(lows) < 0.61 * PRICES["BTC"]
    assert all(np.isfinite(frame.fields["close"]).all() for frame in frames)
    assert not [text for one in seen for text in one.assets["BTC"].limitations if "bars" in text]


def test_a_poisoned_venue_costs_no_release(tmp_path: Path) -> None:
    assert asyncio.run(poisoned(tmp_path, ticks=4, seed=7)) == (4, 0)


# The rules by themselves.
def bar(venue: str, close: float, high: float | None = None, volume: float = 1.0) -> VenueBar:
    return VenueBar(venue, (100.0, high or max(100.0, close), min(100.0, close), close), volume)


def test_the_first_bar_is_taken_while_a_second_is_near() -> None:
    agreed = agree_bar([bar("a", 100.0), bar("b", 100.9)], price=50.0)

    assert agreed.prices == bar("a", 100.0).prices
    assert agreed.left_out == {}


def test_the_agreed_price_decides_between_two_bars_that_differ() -> None:
    agreed = agree_bar([bar("a", 150.0), bar("b", 100.0)], price=100.0)

    assert agreed.prices == bar("b", 100.0).prices
    assert agreed.left_out == {"a": "close +50.00% from the agreed price"}


def test_a_third_venue_decides_whatever_the_price_is_meanwhile() -> None:
    agreed = agree_bar([bar("a", 150.0), bar("b", 100.0), bar("c", 100.5)], price=70.0)

    assert agreed.prices == (100.0, 100.5, 100.0, 100.5)
    assert list(agreed.left_out) == ["a"]


def test_of_two_bars_that_differ_the_first_is_kept_and_doubted_where_nothing_decides() -> None:
    agreed = agree_bar([bar("a", 103.0), bar("b", 100.0)], price=None)

    assert agreed.prices == bar("a", 103.0).prices
    assert agreed.doubt == "a and b differ and no third venue decides"


def test_a_bar_of_one_venue_is_dropped_only_where_the_price_contradicts_it() -> None:
    assert agree_bar([bar("a", 100.0)], price=101.9).prices is not None
    assert agree_bar([bar("a", 100.0)], price=None).prices is not None
    assert agree_bar([bar("a", 100.0)], price=103.0).prices is None


def test_a_high_that_one_venue_alone_shows_is_not_taken() -> None:
    agreed = agree_bar([bar("a", 100.0, high=150.0), bar("b", 100.0), bar("c", 100.0)], price=100.0)

    assert agreed.prices == bar("b", 100.0).prices
    assert agreed.left_out == {"a": "high +50.00% from the other venues'"}


@pytest.mark.parametrize("lie", [0.0, -5.0, 1e-9, 50.0, 1e12, 1e300, math.inf, math.nan])
def test_the_median_of_three_amounts_lies_between_the_honest_two(lie: float) -> None:
    agreed = middle({"a": 10.0, "liar": lie, "b": 12.0}, AMOUNTS)

    assert agreed.value is not None
    assert 10.0 <= agreed.value <= 12.0
    assert "a" in agreed.venues


def test_two_amounts_too_far_apart_give_nothing_and_say_so() -> None:
    agreed = middle({"a": 1.0, "b": 100.0}, AMOUNTS)

    assert (agreed.value, agreed.venues) == (None, ())
    assert agreed.reason == "a and b are too far apart and no third venue decides"


def test_a_funding_rate_in_percent_is_left_out_or_two_venues_give_none() -> None:
    assert middle({"a": 1e-4, "b": 2e-4, "c": 0.02}, SIGNED).left_out == {"c": "+0.0198 from the median"}
    assert middle({"a": 1e-4, "c": 0.01}, SIGNED).value is None
    assert middle({"a": 1e-4, "c": 0.031}, SIGNED).value == 1e-4
