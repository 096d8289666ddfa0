"""Joint scenarios, measured: the figures of a market whose truth is known, and the energy score worked out by hand."""

import numpy as np
import pytest

from generator.brain.joint import TOGETHER, paths_of
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.lab.joint import (
    WAYS,
    JointHours,
    copula,
    energy_score,
    independent,
    lines_of,
    listen,
    measured_joint,
    scored,
)
from generator.market.bars import FloatArray
from tests.support.markets import market

SIGMA = np.full(4, 0.01)
LARGE = np.full(4, 1.5)


def moves(rng: np.random.Generator, many: int) -> FloatArray:
    """Return moves over their sigma of four assets that move alike (correlation .7)."""
    return np.asarray(np.sqrt(0.7) * rng.standard_normal((many, 1)) + np.sqrt(0.3) * rng.standard_normal((many, 4)))


def correlation(paths: FloatArray) -> float:
    """Return the correlation of the first two assets."""
    first, second = paths.T[:2]
    return float(np.mean((first - first.mean()) * (second - second.mean())) / (first.std() * second.std()))


def known_truth(hours: int = 1200) -> JointHours:
    """Return the scores of scenarios that have the true law."""
    rng = np.random.default_rng(5)
    scores = np.empty((len(TOGETHER), len(WAYS), 5, hours))
    many = np.empty((len(TOGETHER), hours))
    rows = moves(rng, 700)
    paths = paths_of(rows, SIGMA)
    for hour in range(hours):
        outcome = 100 * np.expm1(moves(rng, 1)[0] * SIGMA)
        many[:, hour] = (np.abs(outcome) >= LARGE).sum() >= 3
        for way, drawn in enumerate((paths, independent(paths, rng), copula(paths, rows, rng))):
            scores[:, way, :, hour] = np.array(scored(drawn, outcome, LARGE))
    t = DAY_MS * 20_000 + HOUR_MS * np.arange(hours)
    return JointHours(t, scores, many, 4, np.full((len(TOGETHER), hours), 700.0))


def test_the_true_law_holds_and_independence_does_not() -> None:
    own, apart, normal = lines_of(known_truth())[:3]

    assert abs(own.held[0][0] - 50) < 3
    assert abs(own.held[1][0] - 90) < 2
    assert apart.held[1][0] < 70
    assert apart.interval > 1.2
    assert apart.energy[1] > 0
    assert normal.interval == pytest.approx(1.0, abs=0.02)
    assert own.chance == pytest.approx(own.share, abs=3)
    assert apart.chance < 0.5 * own.chance


def test_rivals_have_the_same_moves_of_each_asset() -> None:
    rng = np.random.default_rng(1)
    rows = moves(rng, 300)
    paths = paths_of(rows, SIGMA)

    for rival in (independent(paths, rng), copula(paths, rows, rng)):
        np.testing.assert_array_equal(np.sort(rival, axis=0), np.sort(paths, axis=0))
    assert correlation(copula(paths, rows, rng)) == pytest.approx(0.7, abs=0.07)
    assert correlation(independent(paths, rng)) == pytest.approx(0.0, abs=0.1)


def test_the_energy_score_in_one_dimension_is_twice_the_ranked_probability_score() -> None:
    paths = np.random.default_rng(3).standard_normal((4000, 1))
    outcome = 0.4

    # CRPS of the standard normal distribution (Gneiting and Raftery, 2007, equation 21).
    density = np.exp(-0.5 * outcome**2) / np.sqrt(2 * np.pi)
    below = 0.6554217416
    expected = outcome * (2 * below - 1) + 2 * density - 1 / np.sqrt(np.pi)
    assert energy_score(paths, np.array([outcome])) == pytest.approx(expected, abs=0.03)


def test_a_table_is_printed_and_what_is_not_known_is_not_scored() -> None:
    frame = market(17 * 288, assets=("A", "B", "C"))

    hours = listen(frame, Weights.load(), warm_up=15 * 288)
    text = measured_joint("market", hours)

    assert text.startswith("market: 3 assets, ")
    assert text.count("\n| 1h |") == len(WAYS)
    assert np.isnan(hours.scores[2, 0, 0, -23:]).all()  # a day that is not over
    assert np.isfinite(hours.scores[0, :, :, 0]).all()
