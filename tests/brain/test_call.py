"""The call: what a forecast claims, decided from the chances as published, and kept until they clearly change."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.brain.engine import Engine
from generator.brain.forecast import CALLS, EARNED, Calls, SideRule, follow, in_units
from generator.brain.weights import Weights
from generator.catalog.formats import probabilities
from generator.catalog.words import PREDICTION_OF_CALL, Call
from tests.support.markets import ASSETS, market

CODES = {call: code for code, call in CALLS.items()}
Triple = tuple[float, float, float]


def called(chances: Triple, sides: SideRule | None = None, held: Call = Call.NONE) -> Call:
    units = np.array(chances)[:, None, None] * 10_000
    return CALLS[follow(np.array([CODES[held]]), units.round(), sides).item()]


def calls_in_turn(chances: Sequence[Triple], sides: SideRule | None = None) -> list[Call]:
    calls = Calls(1)
    calls.update(in_units(np.array(chances).T[..., None]), sides)
    return [CALLS[held] for held in calls.held[:, 0].tolist()]


@pytest.mark.parametrize(
    ("neutral", "held", "expected"),
    [
        (0.4999, Call.NONE, Call.NONE),
        (0.5, Call.NONE, Call.SMALL_MOVE),
        (0.45, Call.SMALL_MOVE, Call.SMALL_MOVE),
        (0.4499, Call.SMALL_MOVE, Call.NONE),
    ],
)
def test_a_small_move_is_called_from_one_half_and_kept_to_45_percent(
    neutral: float, held: Call, expected: Call
) -> None:
    rest = (1 - neutral) / 2

    assert called((rest, neutral, rest), held=held) is expected


def test_a_small_move_is_not_kept_where_a_side_is_likelier() -> None:
    assert called((0.05, 0.46, 0.49), held=Call.SMALL_MOVE) is Call.NONE
    assert called((0.05, 0.46, 0.49), EARNED, held=Call.SMALL_MOVE) is Call.UP


@pytest.mark.parametrize(
    ("sides", "chances", "held", "expected"),
    [
        (None, (0.1, 0.2, 0.7), Call.NONE, Call.NONE),
        (EARNED, (0.3, 0.35, 0.35), Call.NONE, Call.NONE),  # no likelier than the band
        (EARNED, (0.3, 0.349, 0.351), Call.NONE, Call.UP),
        (EARNED, (0.351, 0.349, 0.3), Call.NONE, Call.DOWN),
        (EARNED, (0.3251, 0.3, 0.3749), Call.NONE, Call.NONE),  # leads by 0.0498
        (EARNED, (0.3251, 0.3, 0.3749), Call.UP, Call.UP),
        (EARNED, (0.3251, 0.3, 0.3749), Call.DOWN, Call.NONE),
        (EARNED, (0.335, 0.3, 0.365), Call.UP, Call.UP),  # leads by 0.03
        (EARNED, (0.3351, 0.3, 0.3649), Call.UP, Call.NONE),
    ],
)
def test_a_side_must_be_the_likeliest_and_lead_its_opposite(
    sides: SideRule | None, chances: Triple, held: Call, expected: Call
) -> None:
    assert called(chances, sides, held) is expected


def test_a_call_is_kept_from_bar_to_bar_and_ends_with_its_sides() -> None:
    strong, weak = (0.33, 0.28, 0.39), (0.35, 0.26, 0.39)

    assert calls_in_turn([weak, strong, weak], EARNED) == [Call.NONE, Call.UP, Call.UP]
    assert calls_in_turn([strong, weak]) == [Call.NONE, Call.NONE]


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda raw: sum(raw) > 0.01))
def test_the_call_is_decided_from_the_chances_as_they_are_published(raw: list[float]) -> None:
    total = sum(raw)
    chances = [value / total for value in raw]

    units = in_units(np.array(chances)[:, None])[:, 0].tolist()

    assert [unit / 10_000 for unit in units] == probabilities((chances[0], chances[1], chances[2]))


@pytest.mark.parametrize("sides", [None, EARNED, SideRule(0.0, 0.0)])
def test_a_forecast_carries_its_call_its_chance_and_the_chance_of_a_move(sides: SideRule | None) -> None:
    engine = Engine(Weights.load(), ASSETS)
    engine.sides = sides
    engine.advance(market(400, seed=9))

    for asset in ASSETS:
        forecast = engine.forecast(asset, 60)
        assert forecast is not None
        chances = forecast.probabilities

        assert forecast.prediction is PREDICTION_OF_CALL[forecast.call]
        expected = {Call.UP: chances.up, Call.DOWN: chances.down, Call.SMALL_MOVE: chances.neutral, Call.NONE: None}
        assert forecast.confidence == expected[forecast.call]
        assert forecast.move.chance == pytest.approx(chances.up + chances.down)
        assert forecast.move.base_rate == pytest.approx(forecast.base_rate.up + forecast.base_rate.down)


def test_an_engine_calls_no_side_until_it_is_given_a_rule() -> None:
    engine = Engine(Weights.load(), ASSETS)
    engine.advance(market(400, seed=9))
    engine.outlook.sigma = 2.0 * engine.outlook.sigma  # so that either side is likelier than a small move
    closed = [forecast and forecast.call for forecast in engine.forecasts(60)]

    engine.sides = SideRule(0.0, 0.0)
    opened = [forecast and forecast.call for forecast in engine.forecasts(60)]

    assert set(closed) <= {Call.SMALL_MOVE, Call.NONE}
    assert set(opened) & {Call.UP, Call.DOWN}
