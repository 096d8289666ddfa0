"""Offline training: reproducible markets, honest seeds, fits that find what is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from generator.brain.direction import INPUTS
from generator.brain.training import __main__ as program
from generator.brain.training.dataset import EVERY, SKIP_DAYS, build
from generator.brain.training.evaluate import balanced, calibration_error
from generator.brain.training.families import FAMILIES, TRAINING_FAMILIES, parameters
from generator.brain.training.fit import fit_direction, fit_softmax
from generator.brain.training.recorded import read_candles
from generator.brain.training.simulator import DAY, simulate


@pytest.mark.parametrize("family", FAMILIES)
def test_a_market_is_a_pure_function_of_family_and_seed(family: str) -> None:
    one, same, other = simulate(family, 60010, 3), simulate(family, 60010, 3), simulate(family, 60011, 3)

    assert all(np.array_equal(one.frame.fields[n], same.frame.fields[n], equal_nan=True) for n in one.frame.fields)
    assert np.array_equal(one.regime, same.regime)
    assert not np.array_equal(one.frame.fields["close"], other.frame.fields["close"])


@pytest.mark.parametrize("family", FAMILIES)
def test_simulated_bars_are_possible_bars(family: str) -> None:
    fields = simulate(family, 60012, 3).frame.fields

    top, low = np.maximum(fields["open"], fields["close"]), np.minimum(fields["open"], fields["close"])
    assert (fields["high"] >= top * (1.0 - 1e-12)).all()
    assert (fields["low"] <= low * (1.0 + 1e-12)).all()
    assert (fields["low"] > 0.0).all()
    assert (fields["volume"] > 0.0).all()


def test_alt_is_kept_out_and_null_gives_no_regimes_to_learn() -> None:
    assert set(FAMILIES) - set(TRAINING_FAMILIES) == {"alt", "null"}


def test_an_unknown_family_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="unknown market family"):
        parameters("other", np.random.default_rng(1))


def test_the_null_family_has_no_drift() -> None:
    closes = np.stack([np.log(simulate("null", 60020 + i, 10).frame.fields["close"]) for i in range(6)])

    daily = np.diff(closes[:, ::DAY], axis=1)
    assert abs(daily.mean()) < 3.0 * daily.std() / np.sqrt(daily.shape[0] * daily.shape[1])


def test_a_dataset_row_is_the_same_whether_its_market_is_alone_or_not() -> None:
    jobs = [("base", 60013), ("wild", 60014)]

    both, alone = build(jobs, days=SKIP_DAYS + 1), build(jobs[1:], days=SKIP_DAYS + 1)

    assert both.expanded.shape[0] == -(-(DAY - 12) // EVERY)
    assert both.expanded[:, :, 1:] == pytest.approx(alone.expanded, abs=1e-5)
    assert np.array_equal(both.outcome[:, :, 1:], alone.outcome)


def test_the_softmax_finds_classes_that_are_there() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(4, size=4000)
    centres = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    x = np.column_stack([np.ones(4000), 5.0 + 3.0 * (centres[truth] + rng.normal(size=(4000, 2)))])

    model = fit_softmax(x, truth)

    assert (np.argmax(model @ x.T, axis=0) == truth).mean() > 0.8


def test_the_direction_fit_finds_a_lean_and_leaves_the_unused_alone() -> None:
    rng = np.random.default_rng(9)
    inputs = rng.normal(size=(6000, INPUTS))
    moves = 0.5 * inputs[:, 0] + 0.5 * inputs[:, 6] + rng.normal(size=6000)
    used = np.ones(INPUTS, dtype=bool)
    used[6] = False

    weights = fit_direction(inputs, 1 + (moves > 0.43).astype(np.int64) - (moves < -0.43).astype(np.int64), used)

    assert weights[0] > 0.2
    assert weights[6] == 0.0
    assert np.abs(weights[1:6]).max() < 0.1


def test_calibration_error_and_balanced_accuracy_by_hand() -> None:
    assert calibration_error(np.array([0.9, 0.9]), np.array([True, False])) == pytest.approx(0.4)
    assert balanced(np.array([0.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1])) == pytest.approx(0.75)


@pytest.mark.parametrize("seeds", ["1000-1001", "900-1000", "1999-2005"])
def test_training_seeds_are_refused_for_evaluation(seeds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["evaluate", "--seeds", seeds])

    assert "for training" in capsys.readouterr().err


def test_a_folder_without_candles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no .*candles"):
        read_candles(tmp_path)
