"""Joint scenarios: what is kept of the past, and what it says of a portfolio, of pairs and of many at once."""

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.joint import (
    DAYS,
    FEWEST_ROWS,
    LARGE,
    PATHS,
    TOGETHER,
    JointMoves,
    joint,
    pairs_of,
    scenario,
)
from generator.brain.weights import Weights
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray
from tests.support.markets import market

ASSETS = ("A", "B", "C")
WEIGHTS = Weights.load()
SIGMA = np.array([0.004, 0.006, 0.01])


def rows(correlation: float, many: int = 4000) -> FloatArray:
    """Return standard normal rows of three assets, each two with this correlation."""
    rng = np.random.default_rng(2)
    common = rng.standard_normal((many, 1))
    own = rng.standard_normal((many, 3))
    return np.asarray(np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own)


def kept(hours: int, days: int = DAYS) -> JointMoves:
    """Return a record whose last rows are known."""
    moves = JointMoves(3)
    known = rows(0.5, hours).astype(np.float16)
    moves.hours[len(moves.hours) - hours :] = known[:, None]
    moves.hour[0] = 495_000
    assert len(moves.hours) == days * 24
    return moves


def test_the_range_of_a_portfolio_is_that_of_the_normal_distribution() -> None:
    alike = scenario(rows(0.5), SIGMA)

    variance = (SIGMA.sum() ** 2 * 0.5 + (SIGMA**2).sum() * 0.5) / 9
    assert alike.portfolio.high_90 == pytest.approx(100 * 1.6449 * np.sqrt(variance), rel=0.05)
    assert alike.portfolio.high_50 == pytest.approx(100 * 0.6745 * np.sqrt(variance), rel=0.05)


def test_a_pairs_range_is_of_the_difference_and_narrower_the_more_alike_they_move() -> None:
    apart, alike = (scenario(rows(correlation), SIGMA).pairs[0] for correlation in (0.1, 0.9))

    variance = SIGMA[0] ** 2 + SIGMA[1] ** 2 - 2 * 0.9 * SIGMA[0] * SIGMA[1]
    assert alike.high_90 == pytest.approx(100 * 1.6449 * np.sqrt(variance), rel=0.05)
    assert apart.width_90 > 1.5 * alike.width_90
    assert len(scenario(rows(0.5), SIGMA).pairs) == len(pairs_of(ASSETS))


def test_many_move_far_together_more_often_when_they_move_alike() -> None:
    apart, alike = (scenario(rows(correlation), SIGMA) for correlation in (0.0, 0.95))

    assert apart.many == pytest.approx(0.1336**3, abs=0.002)  # each beyond 1.5 sigmas, all three by luck
    assert 0.08 < alike.many < 0.1336
    assert alike.large == pytest.approx(tuple(100 * np.expm1(LARGE * SIGMA)))


def test_best_and_worst_are_of_whichever_asset_it_is() -> None:
    one = scenario(np.array([[1.0, 0.0, -1.0]] * 50), np.full(3, 0.01))

    assert one.best.low_90 == pytest.approx(100 * np.expm1(0.01))
    assert one.worst.high_90 == pytest.approx(100 * np.expm1(-0.01))


def test_every_row_counts_with_both_signs_so_that_no_way_is_named() -> None:
    rising = scenario(np.abs(rows(0.5)), np.full(3, 1e-6))

    assert rising.portfolio.low_90 == pytest.approx(-rising.portfolio.high_90, rel=1e-5)
    assert rising.pairs[0].low_50 == pytest.approx(-rising.pairs[0].high_50, rel=1e-5)


def test_nothing_is_said_of_too_few_hours_or_assets() -> None:
    sigma = np.broadcast_to(SIGMA, (4, 3))
    sure = np.zeros(3)
    every = np.ones(3, dtype=bool)

    assert joint(ASSETS, kept(FEWEST_ROWS - 1), sigma, sure, every) is None
    assert joint(ASSETS, kept(FEWEST_ROWS), sigma, sure, np.array([True, True, False])) is None
    said = joint(ASSETS, kept(FEWEST_ROWS), sigma, sure, every)
    assert said is not None
    assert tuple(said) == TOGETHER


def test_doubt_widens_the_ranges_and_not_what_counts_as_a_large_move() -> None:
    sigma = np.broadcast_to(SIGMA, (4, 3))
    every = np.ones(3, dtype=bool)
    sure, unsure = (joint(ASSETS, kept(800), sigma, np.full(3, doubt), every) for doubt in (0.0, 0.5))

    assert sure is not None
    assert unsure is not None
    assert unsure["1h"].portfolio.width_90 == pytest.approx(1.5 * sure["1h"].portfolio.width_90, 0.02)
    assert unsure["1h"].large == sure["1h"].large


def test_a_longer_horizon_reaches_at_least_as_far_as_a_shorter_one() -> None:
    sigma = np.array([1.0, 2.0, 1.0, 1.5])[:, None] * SIGMA
    said = joint(ASSETS, kept(800), sigma, np.zeros(3), np.ones(3, dtype=bool))

    assert said is not None
    hour, four, day = said.values()
    assert hour.portfolio == four.portfolio == day.portfolio
    assert four.pairs == hour.pairs


def test_what_is_kept_is_each_move_over_the_sigma_that_was_said_for_it() -> None:
    frame = market(6 * 288, assets=ASSETS)
    engine = Engine(WEIGHTS, ASSETS)
    said: dict[int, FloatArray] = {}
    for row in engine.replay(frame, HOUR_MS):
        said[row] = engine.sigma().copy()

    closes = np.log(frame.fields["close"])
    last = max(said)
    for place, name in enumerate(TOGETHER):
        start = last - HORIZONS[name].length_ms // BAR_MS
        expected = (closes[last] - closes[start]) / said[start][list(HORIZONS).index(name)]
        assert engine.joint.hours[-1, place].tolist() == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-3)


def test_bars_that_come_alone_or_after_a_gap_leave_the_same_record() -> None:
    frame = market(3 * 288, assets=ASSETS)
    whole = Engine(WEIGHTS, ASSETS)
    single = Engine(WEIGHTS, ASSETS)
    gap = frame.rows(0, 500)

    whole.advance(gap)
    whole.advance(frame.rows(530, 864))
    single.advance(gap)
    for row in range(530, 864):
        single.advance(frame.rows(row, row + 1))

    np.testing.assert_array_equal(whole.joint.hours, single.joint.hours)
    assert np.isnan(whole.joint.hours[-1 - (864 - 530) // 12 : -1, 0]).any()


def test_forty_paths_are_published_and_half_of_them_are_the_others_turned() -> None:
    said = joint(ASSETS, kept(900), np.broadcast_to(SIGMA, (4, 3)), np.zeros(3), np.ones(3, dtype=bool))

    assert said is not None
    paths = np.log1p(said.paths("4h") / 100)
    assert paths.shape == (PATHS, 3)
    np.testing.assert_allclose(paths[: PATHS // 2], -paths[PATHS // 2 :])
    assert len(np.unique(paths, axis=0)) == PATHS


def test_independent_assets_make_a_calmer_portfolio_of_the_same_moves() -> None:
    said = joint(ASSETS, kept(900), np.broadcast_to(SIGMA, (4, 3)), np.zeros(3), np.ones(3, dtype=bool))

    assert said is not None
    portfolio, many = said.apart("1h")
    assert portfolio.width_90 < 0.85 * said["1h"].portfolio.width_90
    assert many < said["1h"].many
    assert said.apart("1h") == (portfolio, many)
