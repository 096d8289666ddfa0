"""Direction: it learns only from what has happened, and does no harm where there is nothing to learn."""

import math

import numpy as np
import pytest

from generator.brain.direction import INPUTS, DirectionModel
from generator.brain.engine import Engine
from generator.brain.forecast import Forecast
from generator.brain.weights import Weights
from generator.catalog.words import Bias, Call
from generator.lab.simulator import DAY, simulate
from generator.lab.trace import ours, outcomes, trace
from tests.support.learning import ends_of
from tests.support.markets import ASSETS, market

QUARTER = 900_000
STEPS = 3000
LEARNED = 800  # bars


def test_on_a_driftless_market_the_mixture_is_hardly_worse_than_the_base_rate() -> None:
    frame = simulate("null", 60002, days=4).frame

    seen = trace(ours(Weights.load(), frame, 2 * DAY), 2 * DAY)

    assert outcomes(frame, seen).skill() > -0.5


def test_an_edge_that_exists_is_found() -> None:
    frozen = np.zeros((2, INPUTS))
    frozen[:, 0] = 1.0
    direction = DirectionModel(2, frozen)
    rng = np.random.default_rng(3)
    inputs = np.zeros((INPUTS, STEPS, 2))
    inputs[0] = np.sign(rng.normal(size=(STEPS, 2)))
    moves = 0.01 * (0.5 * inputs[0] + rng.normal(size=(STEPS, 2)))
    close = np.cumsum(moves, axis=0) - moves
    bands = np.full((2, STEPS, 2), 0.0043)
    thirds = np.full((2, STEPS, 2), 1.0 / 3.0)

    direction.update(ends_of(1, STEPS), close, inputs, bands, thirds, np.ones((STEPS, 2), dtype=bool))
    direction.settle()

    up = np.zeros((INPUTS, 1, 2))
    up[0] = 1.0
    chances, bases = direction.mixed(0, up, thirds[0, :1])
    chance = chances[:, 0]
    base = bases[:, 0]

    assert (chance[2] > base[2] + 0.05).all()
    assert np.exp(direction.mixture[0])[0] < 0.1


def test_nothing_is_learned_before_the_horizon_has_passed() -> None:
    frame = market(144 + 40)
    engine = Engine(Weights.load(), ASSETS)
    start = next(i for i in range(146, 150) if (int(frame.t[i]) + 300_000) % QUARTER == 0)
    engine.advance(frame.rows(0, start + 1))
    before = engine.direction.resolved.copy()

    engine.advance(frame.rows(start + 1, start + 3))
    assert np.array_equal(engine.direction.resolved, before)

    engine.advance(frame.rows(start + 3, start + 4))
    assert engine.direction.resolved[0] == before[0] + 3


def test_a_horizon_that_ends_in_a_gap_is_not_learned_from() -> None:
    frame = market(400)
    engine = Engine(Weights.load(), ASSETS)
    engine.advance(frame.rows(0, 201))
    before = engine.direction.resolved.copy()

    engine.advance(frame.rows(240, 241))

    assert np.array_equal(engine.direction.resolved, before)


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
