"""The ladder, measured: the figures of forecasters whose quality is known, and outcomes looked up a second time."""

import math

import numpy as np
import pytest

from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.lab.ladder import (
    LadderSample,
    brier_skill,
    edges_after,
    level_scores,
    listen,
    measured_ladder,
    normal_tail,
    reliability,
    t_tail,
)
from generator.lab.outlook import reached_after
from generator.market.bars import FloatArray
from tests.support.markets import market

HOURS = 24 * 80
CELLS = (2, 3, 4, 4)


def hours(wrong_by: float = 0.0) -> LadderSample:
    """Return chances that follow the hour of the day, and events that come as often; stated chances are off."""
    rng = np.random.default_rng(6)
    t = DAY_MS * 20_000 + HOUR_MS * np.arange(HOURS)
    true = np.broadcast_to(0.3 + 0.2 * np.sin(2 * np.pi * np.arange(HOURS) / 24)[:, None], (*CELLS, HOURS, 2))
    came = (rng.random(true.shape) < true).astype(np.float64)
    flat = np.full(true.shape, 0.3)
    triple = np.stack((0.5 * true[0, 0, 0, 0], 1.0 - true[0, 0, 0, 0], 0.5 * true[0, 0, 0, 0]))
    draws = rng.random(triple.shape[1:])
    below, above = draws < triple[0], draws >= triple[0] + triple[1]
    return LadderSample(
        t=t,
        stated=true + wrong_by,
        came=came,
        rivals={"climate": true.copy(), "normal": flat, "t": flat},
        partition=triple,
        base=np.broadcast_to(triple.mean(axis=1, keepdims=True), triple.shape),
        outcome=np.stack((below, ~below & ~above, above)).astype(np.float64),
        first=24 * 7,
    )


def test_true_chances_have_skill_against_a_flat_rival_and_none_against_the_truth() -> None:
    scores = level_scores(hours())

    assert len(scores) == 32
    expected = 100.0 * 0.02 / (0.3 * 0.7)  # the variance of the chances over that of what came
    assert np.mean([score.skills["normal"].value for score in scores]) == pytest.approx(expected, abs=0.7)
    assert {score.skills["climate"].value for score in scores} == {0.0}
    assert not any(score.rare for score in scores)


def test_a_level_that_came_on_few_days_is_rare_and_not_in_the_mean() -> None:
    said = hours()
    said.came[:, :, 3, 3] = 0.0
    said.came[:, :, 3, 3, 24 * 10 : 24 * 38 : 24] = 1.0

    scores = [score for score in level_scores(said) if (score.horizon, score.level) == ("24h", 10.0)]

    assert [(score.days, score.rare) for score in scores] == [(28, True), (28, True)]
    assert "(3 levels)" in measured_ladder("one", said)


def test_bins_of_true_chances_come_true_and_a_bold_forecast_is_named() -> None:
    for said, came, cases in reliability(hours().stated, hours().came):
        assert came == pytest.approx(said, abs=300.0 / math.sqrt(cases) + 0.5)

    assert "| **no** |" not in measured_ladder("true", hours())
    assert "| **no** |" in measured_ladder("bold", hours(0.15))


def test_a_skill_is_that_of_the_squared_errors_added_one_by_one() -> None:
    rng = np.random.default_rng(3)
    said, rival = rng.random((2, 50, 3))
    came: FloatArray = (rng.random((50, 3)) < 0.5).astype(np.float64)
    came[4, 1] = np.nan

    found = brier_skill(said, rival, came, np.arange(50) // 5)

    own = usual = 0.0
    for row in zip(said.ravel().tolist(), rival.ravel().tolist(), came.ravel().tolist(), strict=True):
        if not math.isnan(row[2]):
            own += (row[0] - row[2]) ** 2
            usual += (row[1] - row[2]) ** 2
    assert found.value == pytest.approx(100.0 * (1.0 - own / usual))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_tails_are_those_of_a_walk_reflected_at_a_level() -> None:
    steps = np.random.default_rng(1).normal(size=(4_000, 400)) / 20.0
    path = np.cumsum(steps, axis=1)

    touched = (path.max(axis=1) > 1.0).mean()

    assert 2.0 * float(normal_tail(np.array(1.0 + 0.583 / 20.0))) == pytest.approx(float(touched), abs=0.02)
    assert float(t_tail(np.array(3.0))) > 3.0 * float(normal_tail(np.array(3.0)))


def test_highs_and_lows_bar_by_bar_are_those_that_the_fit_finds() -> None:
    frame = market(700)
    for field in frame.fields.values():
        field[400, 1] = np.nan
    at = np.arange(2, 690, 12)

    highest, lowest = edges_after(frame, at)
    farther, nearer = reached_after(frame, at)

    up, down = np.maximum(highest, 0.0), np.maximum(-lowest, 0.0)
    assert np.isnan(highest[3, :, 1]).sum() > np.isnan(highest[3, :, 0]).sum()
    np.testing.assert_allclose(np.maximum(up, down), farther)
    np.testing.assert_allclose(np.minimum(up, down), nearer)


def test_what_is_said_at_full_hours_is_the_published_ladder_and_what_came() -> None:
    frame = market(1_500)

    said = listen(frame, Weights.load(), warm_up=1_200)

    assert (said.t % HOUR_MS == 0).all()
    assert said.t[said.first] >= frame.t[1_200]
    level = HORIZONS["1h"].levels[0] / 100
    close = np.log(frame.fields["close"])
    hour = said.first + 3
    row = int(np.flatnonzero(frame.t + 300_000 == said.t[hour])[0])
    moved = np.expm1(close[row + 12] - close[row])
    expected = (moved > level, moved < -level, np.abs(moved) > level)
    assert said.came[0, :, 1, 0, hour].tolist() == np.array(expected).astype(float).tolist()
    assert 0.0 < said.rivals["climate"][0, 2, 1, 0, -1, 0] < 1.0
