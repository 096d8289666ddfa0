"""One bad bar: it hardly moves the volatility of the next hours, and a real crash moves it whole."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from generator.brain.bars import clean_fields
from generator.brain.outlook import Outlook
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.weights import Weights
from generator.market.bars import BarFrame, FloatArray
from tests.support.markets import market

WEIGHTS = Weights.load()
ROW = 4 * DAY_BARS
HOUR = 1  # place of the horizon
SIZES = (0.1, 0.5, -0.1, -0.5)


def read(frame: BarFrame, bars_after: int) -> Volatility:
    """Return the volatility so many bars after `ROW`."""
    volatility = followed(frame, bars_after)
    volatility.settle()
    return volatility


def followed(frame: BarFrame, bars_after: int) -> Volatility:
    """Return the volatility at every bar up to so many after `ROW`."""
    bars = clean_fields(frame.fields)
    returns = np.diff(bars.log_close, axis=0, prepend=np.nan)
    volatility = Volatility((len(frame.assets),))
    read_now = slice(ROW + bars_after + 1)
    volatility.update(
        returns[read_now], bars.range_variance[read_now], bars.extra["volume"][read_now], np.ones(ROW + bars_after + 1)
    )
    return volatility


def hour_sigma(frame: BarFrame, bars_after: int) -> FloatArray:
    outlook = Outlook(len(frame.assets), WEIGHTS.outlook)
    outlook.update(frame.t[: ROW + bars_after + 1], followed(frame, bars_after))
    outlook.settle()
    sigma: FloatArray = outlook.sigma[HOUR]
    return sigma


@cache
def usual_hour_sigma(bars_after: int) -> FloatArray:
    return hour_sigma(usual_market(), bars_after)


def usual_market() -> BarFrame:
    return market(ROW + DAY_BARS)


def false_close(size: float, column: int = 0) -> BarFrame:
    """Return a market in which one close is wrong, and the next bar opens and ends at the right price."""
    frame = usual_market()
    frame.fields["close"][ROW, column] *= 1.0 + size
    frame.fields["high"][ROW] = np.maximum(frame.fields["high"][ROW], frame.fields["close"][ROW])
    frame.fields["low"][ROW] = np.minimum(frame.fields["low"][ROW], frame.fields["close"][ROW])
    return frame


def false_wick(size: float) -> BarFrame:
    frame = usual_market()
    edge = "high" if size > 0.0 else "low"
    frame.fields[edge][ROW, 0] *= 1.0 + size
    return frame


def fall(size: float, columns: slice) -> BarFrame:
    """Return a market that falls by `size` within one bar and stays there."""
    frame = usual_market()
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW + 1 :, columns] *= 1.0 - size
    for name in ("low", "close"):
        frame.fields[name][ROW, columns] *= 1.0 - size
    return frame


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("spoilt", [false_close, false_wick])
def test_a_bad_bar_that_comes_back_is_small_after_an_hour_and_nearly_gone_after_four(
    spoilt: Callable[[float], BarFrame], size: float
) -> None:
    ratio = {
        hours: hour_sigma(spoilt(size), hours * HOUR_BARS) / usual_hour_sigma(hours * HOUR_BARS) for hours in (1, 4)
    }

    assert 1.0 <= ratio[1][0] <= 2.0
    assert 1.0 <= ratio[4][0] <= 1.2
    assert ratio[1][1:].tolist() == [1.0, 1.0]


def test_a_real_fall_of_one_asset_counts_whole_one_bar_late() -> None:
    frame = fall(0.1, slice(0, 1))
    calm = read(usual_market(), 0).variance[:, 0]

    held = read(frame, 0)
    later = read(frame, 1)

    alpha = 1.0 - 0.5 ** (1.0 / 24.0)
    log_range = np.log(frame.fields["high"][ROW, 0] / frame.fields["low"][ROW, 0])
    log_fall = np.log(frame.fields["close"][ROW, 0] / frame.fields["close"][ROW - 1, 0])
    whole = 0.5 * log_fall**2 + 0.5 * log_range**2 / (4.0 * np.log(2.0))
    assert held.variance[1, 0] < 5.0 * calm[1]
    assert held.held[0] == pytest.approx(whole, rel=0.05)
    assert later.variance[1, 0] == pytest.approx(alpha * whole, rel=0.2)
    assert later.held[0] == 0.0


def test_a_bar_that_returns_less_than_half_way_confirms_the_jump() -> None:
    frame = fall(0.1, slice(0, 1))
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW + 1 :, 0] *= 1.04
    back = fall(0.1, slice(0, 1))
    for name in ("open", "high", "low", "close"):
        back.fields[name][ROW + 1 :, 0] *= 1.06

    assert read(frame, 1).variance[1, 0] > 10.0 * read(back, 1).variance[1, 0]


def test_a_fall_of_two_assets_at_once_counts_whole_at_once() -> None:
    volatility = read(fall(0.1, slice(0, 2)), 0)

    assert volatility.held.tolist() == [0.0, 0.0, 0.0]
    assert volatility.capped.tolist() == [0.0, 0.0, 0.0]
    assert (volatility.variance[1, :2] > 50.0 * read(usual_market(), 0).variance[1, :2]).all()


def test_two_bad_bars_in_a_row_pass_as_real() -> None:
    frame = usual_market()
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW : ROW + 2, 0] *= 1.1

    assert hour_sigma(frame, HOUR_BARS)[0] > 3.0 * usual_hour_sigma(HOUR_BARS)[0]


def test_a_jump_is_in_doubt_until_it_is_confirmed_or_for_a_day_if_it_comes_back() -> None:
    real = fall(0.1, slice(0, 1))
    bad = false_close(0.1)

    assert [read(frame, 0).capped[0] for frame in (real, bad)] == [DAY_BARS, DAY_BARS]
    assert [read(frame, 1).capped[0] for frame in (real, bad)] == [0.0, DAY_BARS - 1.0]
    assert read(bad, DAY_BARS - 1).capped[0] == 1.0


def test_a_jump_before_a_long_gap_is_dropped() -> None:
    frame = fall(0.1, slice(0, 1))
    frame.fields["close"][ROW + 1 : ROW + 6, 0] = np.nan

    volatility = read(frame, 8)

    assert volatility.held[0] == 0.0
    assert volatility.variance[1, 0] < 5.0 * read(usual_market(), 0).variance[1, 0]


def test_the_way_back_counts_by_what_is_left_of_the_move() -> None:
    frame = false_close(0.5)
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW + 1 :, 0] *= 1.005
    true_return = np.log(frame.fields["close"][ROW + 1, 0] / frame.fields["close"][ROW - 1, 0])

    before = read(frame, 0).variance[:, 0]
    after = read(frame, 1).variance[:, 0]

    alpha = 1.0 - 0.5 ** (1.0 / 24.0)
    expected = before[1] + alpha * (true_return**2 - before[1])
    assert after[1] == pytest.approx(expected)


def test_bars_within_ten_usual_sigmas_count_as_they_are() -> None:
    frame = usual_market()
    bars = clean_fields(frame.fields)
    returns = np.diff(bars.log_close, axis=0, prepend=np.nan)
    variance = bar_variance(np.nan_to_num(returns), bars.range_variance)

    mean = np.zeros(3)
    for count, value in enumerate(variance[1 : ROW + 1], start=1):
        mean += (value - mean) * max(1.0 - 0.5 ** (1.0 / 24.0), 1.0 / count)

    assert read(frame, 0).variance[1] == pytest.approx(mean)


@pytest.mark.parametrize("size", SIZES)
def test_a_lone_wick_counts_for_three_bodies_and_a_usual_bar(size: float) -> None:
    frame = false_wick(size)
    before = read(frame, -1)
    body = abs(np.log(frame.fields["close"][ROW, 0] / frame.fields["close"][ROW - 1, 0]))

    after = read(frame, 0)

    usual = max(np.exp(before.slow[0, 0]), before.variance[1, 0])
    widest = 3.0 * body / (2.0 * np.log(2.0) ** 0.5) + usual**0.5
    alpha = 1.0 - 0.5 ** (1.0 / 24.0)
    value = 0.5 * body**2 + 0.5 * widest**2
    assert after.variance[1, 0] == pytest.approx(before.variance[1, 0] + alpha * (value - before.variance[1, 0]))
    assert after.held[0] == 0.0
