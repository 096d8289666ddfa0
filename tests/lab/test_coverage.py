"""Coverage at full hours, measured: the figures of forecasters whose quality is known."""

import dataclasses
import math

import numpy as np
import pytest

from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.lab.coverage import FullHours, coverages, held, listen, movement, pooled, was_fitted
from generator.market.bars import FloatArray
from tests.support.markets import START_MS, market

DAYS = 200
HALF, NINE_TENTHS = 0.6745, 1.6449
BAND = 0.006
HORIZONS = 4


def outside(sigma: FloatArray) -> FloatArray:
    """Return the chance that a normal move leaves the band."""
    sizes = math.log1p(BAND) / sigma / math.sqrt(2.0)
    return np.asarray(np.vectorize(math.erfc)(sizes), dtype=np.float64)


def hours(scale: float = 1.0, *, days: int = DAYS) -> FullHours:
    """Return moves whose sigma follows the hour of the day, and ranges `scale` times as wide as they should be."""
    rng = np.random.default_rng(11)
    t = DAY_MS * 20_000 + HOUR_MS * np.arange(24 * days)
    wave = 0.01 + 0.004 * np.sin(2.0 * np.pi * np.arange(24) / 24.0)
    sigma = np.broadcast_to(np.tile(wave, days)[:, None], (HORIZONS, 24 * days, 2)).copy()
    move = sigma * rng.normal(size=sigma.shape)
    reach = scale * sigma * np.array((HALF, NINE_TENTHS))[:, None, None, None]
    chance = outside(sigma[1])
    base = np.full_like(chance, float(chance.mean()))
    return FullHours(t, move, sigma, reach, chance, base, np.full_like(chance, BAND))


def test_true_ranges_hold_as_often_as_stated_at_all_hours_and_in_all_thirds() -> None:
    for found in coverages(hours()):
        assert found.low <= found.stated <= found.high or abs(found.share - found.stated) < 1.5
        assert found.blocks == pytest.approx([found.stated] * 6, abs=4.0)
        assert found.thirds == pytest.approx([found.stated] * 3, abs=3.0)
        assert found.cases == 24 * DAYS * 2


def test_a_share_is_that_of_the_cases_counted_one_by_one() -> None:
    said = hours(days=10)
    said.move[1, 3] = np.nan

    found = coverages(said)[2]

    inside = cases = 0
    for moves, reaches in zip(said.move[1].tolist(), said.reach[0, 1].tolist(), strict=True):
        for move, reach in zip(moves, reaches, strict=True):
            cases += not math.isnan(move)
            inside += abs(move) <= reach
    assert (found.horizon, found.stated, found.cases) == ("1h", 50, cases)
    assert found.share == pytest.approx(100.0 * inside / cases)


def test_ranges_that_are_too_narrow_are_seen() -> None:
    for found in coverages(hours(0.8)):
        assert found.high < found.stated


def test_ranges_that_do_not_follow_the_hour_are_seen_by_hour_and_by_block() -> None:
    said = hours()
    said.reach[:] = 0.01 * np.array((HALF, NINE_TENTHS))[:, None, None, None]

    flat = coverages(said)[2]
    true = coverages(hours())[2]

    assert flat.rms_by_hour > 2.0 * true.rms_by_hour
    assert max(flat.blocks) - min(flat.blocks) > 20.0


def test_a_chance_of_a_move_that_is_true_has_skill_and_its_bins_come_true() -> None:
    moves = movement(hours())

    skill, low, high = moves.skill(moves.base)

    expected = 100.0 * float(np.var(moves.said) / np.mean(moves.base * (1.0 - moves.base)))
    assert skill == pytest.approx(expected, abs=2.0)
    assert low < skill < high
    assert moves.skill(moves.said)[0] == 0.0
    for said, came, cases in moves.bins():
        assert came == pytest.approx(said, abs=300.0 / math.sqrt(cases))


def test_a_base_rate_by_hour_of_day_leaves_no_skill_to_a_forecast_of_the_hour_of_day() -> None:
    moves = movement(hours())

    skill, low, _ = moves.skill(moves.climate)

    assert low <= skill < 1.0
    assert moves.skill(moves.base)[0] > 5.0


def test_the_base_rate_of_an_hour_comes_from_the_days_before_alone() -> None:
    said = hours(days=30)
    changed = dataclasses.replace(said, move=said.move.copy())
    changed.move[:, 24 * 20 :] = 5.0

    before = movement(said)
    after = movement(changed)

    known = 24 * 20 * 2
    assert (before.climate[:known] == after.climate[:known]).all()
    assert (before.climate[known + 48 :] < after.climate[known + 48 :]).mean() > 0.9


def test_a_forecast_that_says_too_much_is_named() -> None:
    said = hours()
    bold = dataclasses.replace(said, chance=np.minimum(said.chance + 0.1, 1.0))

    rows = [line for line in held("bold", bold).splitlines() if line.endswith("| **no** |")]

    assert len(rows) >= 3
    assert "| **no** |" not in held("true", said).split("will it move")[1]


def alike(share: float) -> FullHours:
    """Return fifty days of four assets that move together, of which each chance is exact."""
    rng = np.random.default_rng(5)
    made = hours(days=50)
    size = np.concatenate((made.move, made.move), axis=2)
    common = rng.standard_normal((1200, 1))
    own = rng.standard_normal((1200, 4))
    sigma = np.full_like(size, BAND)
    move = sigma * (math.sqrt(share) * common + math.sqrt(1.0 - share) * own)
    chance = outside(sigma[1])
    band = np.full_like(chance, BAND)
    return FullHours(made.t, move, sigma, np.zeros((2, *size.shape)), chance, chance, band)


def test_bins_of_exact_chances_lie_as_near_as_luck_lets_them() -> None:
    apart, together = movement(alike(0.0)), movement(alike(0.8))

    [(said, came, cases)] = apart.bins()
    error = 100.0 * math.sqrt(0.01 * said * (1.0 - 0.01 * said) / cases)

    assert apart.luck(400)[1] == pytest.approx(1.96 * error, rel=0.12)
    assert abs(apart.together()) < 0.05
    assert together.together() > 0.3
    assert together.luck(400)[1] > 1.3 * apart.luck(400)[1]
    assert together.luck(400)[0] < apart.luck(400)[0]
    assert abs(said - came) < apart.luck(400)[1]


def test_markets_that_are_pooled_keep_their_days_apart() -> None:
    parts = [hours(days=3), hours(days=5)]

    both = pooled(parts)

    assert both.day.tolist() == [day for day in range(8) for _ in range(24)]
    assert (both.hour == np.tile(np.arange(24), 8)).all()
    assert both.reach.shape == (2, HORIZONS, 8 * 24, 2)


def test_what_is_said_at_full_hours_is_what_the_engine_says() -> None:
    frame = market(600)

    said = listen(frame, Weights.load(), warm_up=500)

    assert (said.t % HOUR_MS == 0).all()
    assert said.t[0] > START_MS
    close = np.log(frame.fields["close"])
    row = int(np.flatnonzero(frame.t + 300_000 == said.t[0])[0])
    assert said.move[1, 0] == pytest.approx(close[row + 12] - close[row])
    assert (said.reach[0] < said.reach[1]).all()


def test_candles_that_the_outlook_was_fitted_on_are_named() -> None:
    frame = market(10)
    assert not was_fitted(frame, Weights.load())

    frame.t[:] += int(np.datetime64("2022-10-01", "ms").astype(np.int64)) - frame.t[0]
    assert was_fitted(frame, Weights.load())
