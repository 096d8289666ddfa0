"""The daily profile: hours that have become rougher than the frozen outlook expects are learned, others are not."""

import numpy as np
import pytest

from generator.brain.outlook import MIDDLES
from generator.brain.profile import REALISED_QUARTERS, DayProfile, surprises
from generator.brain.ranges import RangeModel
from generator.brain.week import DAY, QUARTER_MS, Week
from generator.brain.weights import Weights
from generator.market.bars import BAR_MS, FloatArray
from tests.support.learning import ends_of, teach

WEIGHTS = Weights.load()
ROUGH_HOUR = 14
DAYS = 40


def learned(days: int, surprise: FloatArray) -> DayProfile:
    """Return what is learned of surprises, (days x 96,), at all horizons alike, by when they began."""
    longest = REALISED_QUARTERS[-1]
    unknown = np.full(longest, np.nan)
    begun = np.concatenate((unknown, surprise, unknown))
    ends = ends_of(1, days * DAY + longest - 1)
    starts = ends.numbers[:, None] - REALISED_QUARTERS
    profile = DayProfile()
    profile.update(ends, begun[longest + starts])
    profile.settle()
    return profile


def test_the_profile_is_the_shrunk_mean_of_each_place_one_number_at_a_time() -> None:
    rng = np.random.default_rng(3)
    surprise = rng.normal(0.1, 0.4, 5 * DAY)
    every: list[float] = []
    quarters: list[list[float]] = [[] for _ in range(4)]
    slots: list[list[float]] = [[] for _ in range(DAY)]

    def faded(values: list[float], visits_a_day: int, prior: float) -> float:
        ages = range(len(values) - 1, -1, -1)
        weights = [0.5 ** (age / (60.0 * visits_a_day)) for age in ages]
        total = sum(w * v for w, v in zip(weights, values, strict=True))
        return float(total / (sum(weights) + prior))

    for number, value in enumerate(surprise.tolist()):
        every.append(value)
        beyond = value - faded(every, DAY, 0.0)
        within_hour = faded(quarters[number % 4], 24, 48.0)
        quarters[number % 4].append(beyond)
        slots[number % DAY].append(beyond - within_hour)

    profile = learned(5, surprise)

    for number in (0, 57, 95):
        expected = faded(quarters[number % 4], 24, 48.0) + faded(slots[number], 1, 15.0)
        assert profile.added(number)[:3, 0].tolist() == pytest.approx([expected] * 3)


def test_an_hour_that_comes_rougher_is_learned_and_the_rest_of_the_day_is_not() -> None:
    hour = np.arange(DAYS * DAY) % DAY // 4
    profile = learned(DAYS, np.where(hour == ROUGH_HOUR, 0.4, 0.0))

    shown = np.array([profile.added(number)[1, 0] for number in range(DAY)]).reshape(24, 4).mean(axis=1)

    assert 0.6 * 0.4 < shown[ROUGH_HOUR] < 0.4
    assert np.abs(np.delete(shown, ROUGH_HOUR)).max() < 0.03


def test_volatility_that_is_higher_at_all_hours_is_not_a_profile() -> None:
    profile = learned(DAYS, np.full(DAYS * DAY, 0.5))

    assert np.abs([profile.added(number) for number in range(DAY)]).max() == pytest.approx(0.0, abs=1e-12)


def test_a_day_has_no_profile_and_nothing_is_added_at_the_start() -> None:
    taught = learned(3, np.random.default_rng(1).normal(size=3 * DAY))

    assert DayProfile().added(5).tolist() == [[0.0]] * 4
    assert taught.added(5)[3, 0] == 0.0
    assert (taught.added(5)[:3, 0] != 0.0).all()


def test_one_wild_hour_hardly_moves_its_place() -> None:
    surprise = np.zeros(DAYS * DAY)
    calm = learned(DAYS, surprise)
    surprise[-1] = 6.0
    wild = learned(DAYS, surprise)

    assert abs(wild.added(DAY - 1)[1, 0] - calm.added(DAY - 1)[1, 0]) < 0.04


def test_one_bad_asset_of_three_does_not_surprise() -> None:
    realised = np.array([[0.01], [0.04], [0.16]]) * np.ones((1, 3))
    usual = 0.5 * np.log(realised)
    realised[:, 0] += 100.0

    assert surprises(realised, usual) == pytest.approx([0.0, 0.0, 0.0])
    assert np.isnan(surprises(np.full((3, 3), np.nan), usual)).all()


def market_with_a_rough_hour(rough: float) -> tuple[RangeModel, FloatArray]:
    """Return what is learned of a market whose volatility is `rough` times as high in one hour, and the sigmas."""
    rng = np.random.default_rng(5)
    ranges = RangeModel(2, WEIGHTS.outlook)
    week = Week(2)
    expected = 0.001 * np.sqrt(np.array([3.0, 12.0, 48.0, 288.0]))[:, None] * np.ones((1, 2))

    bars = np.arange(DAYS * 288)
    is_rough = bars // 12 % 24 == ROUGH_HOUR
    returns = 0.001 * np.where(is_rough, rough, 1.0)[:, None] * rng.normal(size=(len(bars), 2))
    close = np.cumsum(returns, axis=0)
    summed_up = np.array((np.ones_like(returns), returns**2, np.ones_like(returns)))
    week.update(bars * BAR_MS, close, close, close, summed_up)
    last_bars = bars[2::3]
    realised = week.realised(last_bars, REALISED_QUARTERS)
    teach(ranges, close[last_bars], expected, realised=realised)
    return ranges, expected


def test_published_sigmas_follow_an_hour_that_has_become_rougher() -> None:
    ranges, expected = market_with_a_rough_hour(1.5)
    day = 100 * DAY

    def hour_sigma(hour: int) -> float:
        before = (day + 4 * hour) * QUARTER_MS - BAR_MS
        return float(ranges.sigma(before, expected)[1, 0])

    assert hour_sigma(ROUGH_HOUR) / hour_sigma(ROUGH_HOUR + 5) == pytest.approx(1.35, abs=0.1)


def test_the_law_begins_with_unit_variance_and_a_day_learns_its_own_faster() -> None:
    law = WEIGHTS.outlook.law
    ranges = RangeModel(2, WEIGHTS.outlook)
    before = np.array([ranges.law(horizon) for horizon in range(4)])
    ranges.counts[:, 0] += 50.0
    moved = np.array([ranges.law(horizon) for horizon in range(4)]) - before

    assert (law @ MIDDLES**2).tolist() == pytest.approx([1.0] * 4, abs=0.035)
    assert moved[3, 1] == pytest.approx((1.0 - law[3, 0]) / 2.0)
    assert moved[0, 1] == pytest.approx((1.0 - law[0, 0]) / 5.0)


def test_moves_are_compared_with_the_sigma_that_the_profile_gave_when_they_began() -> None:
    ranges = RangeModel(2, WEIGHTS.outlook)
    ranges.profile.visits[:] = 1e9
    ranges.profile.surprise[:, 5:] = 1e9 * np.log(2.0)  # at every quarter of a day
    rng = np.random.default_rng(6)
    expected = 0.001 * np.sqrt(np.array([1.0, 4.0, 16.0, 96.0]))[:, None] * np.ones((1, 2))
    close = np.cumsum(2.0 * expected[0] * rng.normal(size=(2000, 2)), axis=0)
    teach(ranges, close, expected)

    assert ranges.correction()[0] == pytest.approx([1.0, 1.0], rel=0.12)
    assert ranges.sigma(QUARTER_MS - BAR_MS, expected)[0] == pytest.approx(2.0 * expected[0], rel=0.12)
