"""Bad bars: they hardly move the volatility of the next hours, and a real crash moves it whole."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest

from generator.brain.bars import clean_fields
from generator.brain.engine import Engine
from generator.brain.outlook import Outlook
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.volatility import Volatility, bar_variance
from generator.brain.weights import Weights
from generator.catalog.text import readings
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


def printed(size: float, columns: slice, bars: int) -> BarFrame:
    """Return a market in which some bars in a row are printed at a wrong price."""
    frame = usual_market()
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW : ROW + bars, columns] *= 1.0 + size
    return frame


def printed_often(size: float) -> BarFrame:
    """Return a market in which each tenth close of an hour and a half is wrong."""
    frame = usual_market()
    for name in ("high", "close"):
        frame.fields[name][ROW : ROW + 20 : 10, 0] *= 1.0 + size
    return frame


def fall(size: float, columns: slice) -> BarFrame:
    """Return a market that falls by `size` within one bar and stays there."""
    frame = usual_market()
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW + 1 :, columns] *= 1.0 - size
    for name in ("low", "close"):
        frame.fields[name][ROW, columns] *= 1.0 - size
    return frame


FAULTS: dict[str, Callable[[], BarFrame]] = {
    **{f"one close off by {size}": partial(false_close, size) for size in SIZES},
    **{f"one wick of {size}": partial(false_wick, size) for size in SIZES},
    "a split 1:10": partial(fall, 0.9, slice(0, 1)),
    "another unit, x1000": partial(printed, 999.0, slice(0, 1), DAY_BARS),
    "a print of ten times the price": partial(printed, 9.0, slice(0, 1), 1),
    "a bad print of two assets": partial(printed, 0.1, slice(0, 2), 1),
    "half the price of two assets": partial(printed, -0.5, slice(0, 2), 1),
    "two bad prints in a row": partial(printed, 0.1, slice(0, 1), 2),
    "two in a row of two assets": partial(printed, 0.1, slice(0, 2), 2),
    "two in a row of ten times": partial(printed, 9.0, slice(0, 1), 2),
    "prints of 3 % each ten bars": partial(printed_often, 0.03),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_small_after_an_hour_nearly_gone_after_four_and_named(fault: str) -> None:
    frame = FAULTS[fault]()

    ratio = {hours: hour_sigma(frame, hours * HOUR_BARS) / usual_hour_sigma(hours * HOUR_BARS) for hours in (1, 4)}

    assert 0.85 <= ratio[1][0] <= 2.0
    assert 0.95 <= ratio[4][0] <= 1.2
    assert ratio[1][2] == 1.0
    assert (read(frame, 2).capped[0] > 0.0) == ("wick" not in fault)


def test_a_real_fall_of_one_asset_counts_whole_two_bars_late() -> None:
    frame = fall(0.04, slice(0, 1))
    calm = read(usual_market(), 0).variance[:, 0]

    held, waiting, later = (read(frame, bars) for bars in (0, 1, 2))

    alpha = 1.0 - 0.5 ** (1.0 / 24.0)
    log_range = np.log(frame.fields["high"][ROW, 0] / frame.fields["low"][ROW, 0])
    log_fall = np.log(frame.fields["close"][ROW, 0] / frame.fields["close"][ROW - 1, 0])
    whole = 0.5 * log_fall**2 + 0.5 * log_range**2 / (4.0 * np.log(2.0))
    assert held.variance[1, 0] < 1.5 * calm[1]
    assert held.held[0] == waiting.held[0] == pytest.approx(whole, rel=0.05)
    assert later.variance[1, 0] == pytest.approx(alpha * whole, rel=0.25)
    assert later.held[0] == 0.0


def test_the_others_that_follow_confirm_a_jump_at_once() -> None:
    frame = fall(0.04, slice(0, 1))
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW + 2 :] *= 0.96
    for name in ("low", "close"):
        frame.fields[name][ROW + 1] *= 0.96

    assert read(frame, 0).held[0] > 0.0
    assert read(frame, 1).held.tolist() == [0.0, 0.0, 0.0]
    assert read(frame, 1).variance[1, 0] > 1.8 * read(frame, 1).variance[1, 1]


def test_a_price_that_returns_less_than_half_way_confirms_the_jump() -> None:
    frame = fall(0.04, slice(0, 1))
    for name in ("open", "high", "low", "close"):
        frame.fields[name][ROW + 1 :, 0] *= 1.016
    back = fall(0.04, slice(0, 1))
    for name in ("open", "high", "low", "close"):
        back.fields[name][ROW + 1 :, 0] *= 1.024

    assert read(frame, 2).variance[1, 0] > 2.0 * read(back, 2).variance[1, 0]
    assert read(frame, 2).capped[0] == 0.0
    assert read(back, 2).capped[0] >= DAY_BARS - 2.0


def test_a_fall_of_two_assets_waits_and_one_of_all_counts_whole_at_once() -> None:
    two, every = (read(fall(0.04, columns), 0) for columns in (slice(0, 2), slice(0, 3)))

    usual = read(usual_market(), 0).variance[1]
    assert (two.variance[1, :2] < 1.5 * usual[:2]).all()
    assert (two.held > 0.0).tolist() == [True, True, False]
    assert every.held.tolist() == every.capped.tolist() == [0.0, 0.0, 0.0]
    assert (every.variance[1] > 10.0 * usual).all()


def test_no_one_is_alone_among_two_assets_however_far_it_falls() -> None:
    frame = usual_market()
    bars = clean_fields({name: values[:, :2] for name, values in fall(0.9, slice(0, 1)).fields.items()})
    returns = np.diff(bars.log_close, axis=0, prepend=np.nan)[: ROW + 3]
    volatility = Volatility((2,))

    volatility.update(returns, bars.range_variance[: ROW + 3], returns * 0.0, np.ones(ROW + 3))

    assert not volatility.jumps.any()
    volatility.settle()
    assert volatility.variance[1, 0] > 100.0 * read(frame, 2).variance[1, 0]


def test_three_bad_bars_in_a_row_pass_as_real() -> None:
    frame = printed(0.04, slice(0, 1), 3)

    assert hour_sigma(frame, HOUR_BARS)[0] > 2.0 * usual_hour_sigma(HOUR_BARS)[0]


def test_a_jump_is_in_doubt_until_it_is_confirmed_or_for_a_day_if_it_comes_back() -> None:
    real = fall(0.04, slice(0, 1))
    bad = false_close(0.04)

    assert [read(frame, 0).capped[0] for frame in (real, bad)] == [DAY_BARS, DAY_BARS]
    assert [read(frame, 2).capped[0] for frame in (real, bad)] == [0.0, DAY_BARS - 2.0]
    assert read(bad, DAY_BARS - 1).capped[0] == 1.0


def test_a_jump_over_a_halt_is_found_too_and_does_not_measure_volatility() -> None:
    frame = fall(0.9, slice(0, 1))
    frame.fields["close"][ROW - 6 : ROW, 0] = np.nan
    engine = Engine(WEIGHTS, frame.assets)

    engine.advance(frame.rows(0, ROW + 3))

    calm = read(usual_market(), 2)
    assert engine.returns.shift.tolist() == pytest.approx([np.log(0.1), 0.0, 0.0], abs=0.03)
    assert engine.volatility.variance[1, 0] < 1.5 * calm.variance[1, 0]
    assert engine.doubts()[0].reasons == (readings.CAPPED,)


def test_what_is_measured_over_a_split_joins_on() -> None:
    frame, plain = fall(0.9, slice(0, 1)), usual_market()
    split, same = Engine(WEIGHTS, frame.assets), Engine(WEIGHTS, frame.assets)

    said, usual = split.update(frame.rows(0, ROW + 40)), same.update(plain.rows(0, ROW + 40))

    assert said is not None
    assert usual is not None
    assert said.assets["BTC"].change == pytest.approx(usual.assets["BTC"].change, abs=0.005)
    assert split.ranges.counts.sum() == pytest.approx(same.ranges.counts.sum(), rel=0.01)
    assert split.ranges.counts[:, -1].tolist() == same.ranges.counts[:, -1].tolist()


def test_a_jump_before_a_long_gap_is_dropped() -> None:
    frame = fall(0.04, slice(0, 1))
    frame.fields["close"][ROW + 1 : ROW + 6, 0] = np.nan

    volatility = read(frame, 8)

    assert volatility.held[0] == 0.0
    assert volatility.variance[1, 0] < 5.0 * read(usual_market(), 0).variance[1, 0]


def test_the_way_back_counts_by_what_is_left_of_the_move() -> None:
    frame = false_close(0.04)
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
