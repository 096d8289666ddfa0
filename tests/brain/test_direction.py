"""Up, small move, down: chances from the law and the record of what came, which is counted a second time here."""

import math

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.forecast import Forecast
from generator.brain.outcomes import HORIZON_QUARTERS, Outcomes, base_rates, split
from generator.brain.outlook import EDGES
from generator.brain.weights import Weights
from generator.catalog.words import Bias, Call
from tests.support.learning import ends_of
from tests.support.markets import ASSETS, market

QUARTER = 900_000
LEARNED = 800  # bars


def test_the_chances_are_the_laws_and_up_and_down_share_what_is_left(engine: Engine) -> None:
    sigma, laws, _ = engine.now()
    for column, asset in enumerate(ASSETS):
        forecast = engine.forecast(asset, 60)
        assert forecast is not None
        said, usual = forecast.probabilities, forecast.base_rate

        within = np.interp(forecast.band_bps / 1e4 / sigma[1, column], EDGES, laws[1, 0])

        assert said.neutral == pytest.approx(within)
        assert said.up / (said.up + said.down) == pytest.approx(usual.up / (usual.up + usual.down))


def test_an_unknown_chance_is_the_base_rate_and_none_is_certain() -> None:
    base = np.array([[0.3, 0.3, 0.3], [0.4, 0.4, 0.4], [0.3, 0.3, 0.3]])

    chances = split(np.array([np.nan, 0.0, 1.0]), base)

    assert chances[1].tolist() == [0.4, 0.01, 0.99]
    assert chances.sum(axis=0).tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_the_base_rate_counts_what_came_of_each_horizon() -> None:
    close = np.cumsum(np.random.default_rng(4).normal(size=(200, 2)), axis=0)
    bands = np.abs(np.random.default_rng(5).normal(2.0, 0.3, size=(3, 200, 2)))
    bands[:, :20, 1] = np.nan
    record = Outcomes(2)

    record.update(ends_of(1, 200), close, bands, np.ones_like(close, dtype=bool))
    record.settle()

    resolved = 0
    for horizon, quarters in enumerate(HORIZON_QUARTERS):
        counts = np.zeros((3, 2))
        for quarter in range(quarters, 200):
            move = close[quarter] - close[quarter - quarters]
            width = bands[horizon, quarter - quarters]
            counts *= 0.5 ** (1.0 / (30 * 96))
            for asset in range(2):
                if math.isfinite(width[asset]):
                    came = 1 + int(move[asset] > width[asset]) - int(move[asset] < -width[asset])
                    counts[came, asset] += 1.0 / quarters
                    resolved += 1
        assert record.rates(horizon).ravel().tolist() == pytest.approx(base_rates(counts).ravel().tolist())
    assert record.resolved[0, 0] == resolved


def test_nothing_is_learned_before_the_horizon_has_passed() -> None:
    frame = market(144 + 40)
    engine = Engine(Weights.load(), ASSETS)
    start = next(i for i in range(146, 150) if (int(frame.t[i]) + 300_000) % QUARTER == 0)
    engine.advance(frame.rows(0, start + 1))
    before = engine.outcomes.resolved.copy()

    engine.advance(frame.rows(start + 1, start + 3))
    assert np.array_equal(engine.outcomes.resolved, before)

    engine.advance(frame.rows(start + 3, start + 4))
    assert engine.outcomes.resolved[0, 0] == before[0, 0] + 3


def test_a_horizon_that_ends_in_a_gap_is_not_learned_from() -> None:
    frame = market(400)
    engine = Engine(Weights.load(), ASSETS)
    engine.advance(frame.rows(0, 201))
    before = engine.outcomes.resolved.copy()

    engine.advance(frame.rows(240, 241))

    assert np.array_equal(engine.outcomes.resolved, before)


@pytest.fixture(scope="module")
def engine() -> Engine:
    read = Engine(Weights.load(), ASSETS)
    read.advance(market(LEARNED, seed=9))
    return read


def forecast_of_eth(engine: Engine, minutes: int) -> Forecast:
    forecast = engine.forecast("ETH", minutes)
    assert forecast is not None
    return forecast


@pytest.mark.parametrize("minutes", [15, 20, 30, 45, 60, 75, 90])
def test_every_horizon_sums_to_one(engine: Engine, minutes: int) -> None:
    forecast = forecast_of_eth(engine, minutes)

    chance = forecast.probabilities
    assert chance.down + chance.neutral + chance.up == pytest.approx(1.0)
    assert forecast.move.chance == pytest.approx(chance.up + chance.down)


def test_horizons_between_lie_between_and_bands_grow(engine: Engine) -> None:
    near, middle, far = (forecast_of_eth(engine, minutes) for minutes in (15, 30, 60))

    low, high = sorted((near.probabilities.up, far.probabilities.up))
    assert low - 1e-12 <= middle.probabilities.up <= high + 1e-12
    assert near.band_bps < middle.band_bps < far.band_bps < forecast_of_eth(engine, 90).band_bps


@pytest.mark.parametrize(("minutes", "steps"), [(15, 1), (60, 4), (90, 6)])
def test_the_band_is_from_the_median_move_of_the_week(engine: Engine, minutes: int, steps: int) -> None:
    close = np.log(market(LEARNED, seed=9).fields["close"][2::3, 1])  # at each full quarter hour
    median = np.median(np.abs(close[steps:] - close[:-steps])[-672 + steps :])

    assert forecast_of_eth(engine, minutes).band_bps == pytest.approx(0.4307 * 1.4826 * median * 1e4, rel=0.01)
    assert math.erf(0.4307 / math.sqrt(2.0)) == pytest.approx(1 / 3, abs=1e-4)


def test_the_bias_follows_the_call_of_the_hourly_forecast(engine: Engine) -> None:
    words = {Call.UP: Bias.UP, Call.DOWN: Bias.DOWN, Call.SMALL_MOVE: Bias.FLAT, Call.NONE: Bias.FLAT}
    reading = engine.reading()

    assert reading is not None
    for name, asset in reading.assets.items():
        forecast = engine.forecast(name, 60)
        assert asset.forecast == forecast
        assert forecast is not None
        assert asset.bias is words[forecast.call]
