"""What the kept month says of hours and pairs, against a count of each hour and against markets of known make."""

import math
import statistics

import numpy as np
import pytest

from generator.brain.usual_hours import FEWEST_DAYS, pairs, usual_hours
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from tests.support.markets import market, priced

DAYS = 30
PAIR = ("BTC", "ETH")


def test_an_hour_of_the_day_is_the_median_of_the_same_hours_of_the_month() -> None:
    frame = market(DAYS * 288)
    now_ms = int(frame.t[-1]) + BAR_MS + 7 * 60_000
    close = dict(zip((frame.t + BAR_MS).tolist(), frame.fields["close"].tolist(), strict=True))

    found = usual_hours(frame, now_ms)

    for place, hour in enumerate(found["BTC"]):
        start = (now_ms // HOUR_MS + 1 + place) * HOUR_MS
        sizes = [
            abs(close[end][0] / close[end - HOUR_MS][0] - 1.0)
            for end in close
            if (end - HOUR_MS - start) % (24 * HOUR_MS) == 0 and end - HOUR_MS in close
        ]
        assert hour.days == len(sizes)
        assert hour.median == pytest.approx(statistics.median(sizes))
        assert hour.low is not None
        assert hour.high is not None
        assert hour.low < statistics.median(sizes) < hour.high
        inside = sum(hour.low <= size <= hour.high for size in sizes)
        assert 0.3 < inside / len(sizes) < 0.55  # of 30 days about the 10th to the 21st


def test_too_few_days_and_a_missing_close_give_nothing_of_their_hours() -> None:
    frame = market(288 * (FEWEST_DAYS - 1))
    frame.fields["close"][:, 1] = np.nan

    found = usual_hours(frame, int(frame.t[-1]) + BAR_MS)

    assert {hour.median for hours in found.values() for hour in hours} == {None}
    assert {hour.days for hour in found["ETH"]} == {0}


def follower(share: float) -> BarFrame:
    """Return two assets, of which the second does a share of what the first did five minutes before."""
    rng = np.random.default_rng(9)
    first = 0.001 * rng.normal(size=DAYS * 288)
    second = share * np.roll(first, 1) + 0.001 * rng.normal(size=len(first))
    returns: FloatArray = np.column_stack((first, second))
    return priced(100.0 * np.exp(np.cumsum(returns, axis=0)), assets=PAIR)


def test_the_asset_whose_moves_come_first_leads_and_by_how_much_is_said() -> None:
    [pair] = pairs(follower(1.0))

    assert pair.leader == "BTC"
    assert pair.ahead == pytest.approx(1.0 / math.sqrt(2.0), abs=0.03)
    assert pair.days == DAYS
    assert pair.correlation is not None
    assert pair.low is not None
    assert pair.high is not None
    assert pair.low < 11 / 12 / math.sqrt(2.0) < pair.high  # eleven of twelve moves of an hour are shared


def test_no_asset_leads_where_the_moves_come_at_once_or_are_unknown() -> None:
    frame = market(DAYS * 288)
    frame.fields["close"][:, 2] = np.nan

    found = {(pair.first, pair.second): pair for pair in pairs(frame)}

    together = found["BTC", "ETH"]
    assert (together.leader, together.ahead) == (None, None)
    close = np.log(frame.fields["close"][11::12, :2])
    assert together.correlation == pytest.approx(np.corrcoef(np.diff(close, axis=0).T)[0, 1])
    for other in ("BTC", "ETH"):
        unknown = found[other, "XRP"]
        assert (unknown.correlation, unknown.low, unknown.leader, unknown.days) == (None, None, None, 0)
