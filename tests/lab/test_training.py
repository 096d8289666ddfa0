"""Offline training: reproducible markets, honest seeds, fits that find what is there."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from generator.brain.calibration import PLAIN
from generator.brain.features import REGIME_INPUTS
from generator.brain.regime import STEP_BARS
from generator.brain.weights import PACKAGED, digest_of
from generator.lab.dataset import Dataset, build
from generator.lab.network import (
    Hyperparameters,
    TrainingSet,
    _forward,
    _gradient,
    _network,
    fit_recurrent,
    initial_weights,
)
from generator.lab.simulator import DAY, FAMILIES, simulate
from generator.lab.train import (
    CALIBRATED_ON,
    SEEDS,
    _plain,
    _rounded,
    after_warm_up,
    calibrate,
    loss,
    posteriors,
    save,
    training_set,
)


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


def test_the_null_family_has_no_drift() -> None:
    closes = np.stack([np.log(simulate("null", 60020 + i, 10).frame.fields["close"]) for i in range(6)])

    daily = np.diff(closes[:, ::DAY], axis=1)
    assert abs(daily.mean()) < 3.0 * daily.std() / np.sqrt(daily.shape[0] * daily.shape[1])


def test_a_dataset_row_is_the_same_whether_its_market_is_alone_or_not() -> None:
    jobs = [("base", 60013), ("wild", 60014)]

    both, alone = build(jobs, days=2), build(jobs[1:], days=2)

    assert both.market.shape == (2 * DAY // STEP_BARS - 2, len(REGIME_INPUTS), 2)
    assert both.market[..., 1:] == pytest.approx(alone.market, abs=1e-4)
    assert np.array_equal(both.truth[:, 1:], alone.truth)


def test_the_gradient_of_the_network_is_the_slope_of_its_loss() -> None:
    rng = np.random.default_rng(1)
    parts = {name: value + rng.normal(0.0, 0.3, value.shape) for name, value in initial_weights(5, 4, rng).items()}
    x, label, weight = rng.normal(size=(7, 3, 5)), rng.integers(0, 4, (7, 3)), rng.random((7, 3))

    def loss() -> float:
        hidden, _ = _forward(parts, x)
        scores = (
            hidden[1:].astype(np.float64) @ parts["output_weights"] + x @ parts["skip_weights"] + parts["output_bias"]
        )
        logs = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
        return -float((np.take_along_axis(logs, label[..., None], 2)[..., 0] * weight).sum() / weight.sum())

    gradient = _gradient(parts, x, label, weight)

    for name, value in parts.items():
        place = (0,) * value.ndim
        was = value[place]
        value[place] = was + 0.01
        above = loss()
        value[place] = was - 0.01
        slope = (above - loss()) / 0.02
        value[place] = was
        assert gradient[name][place] == pytest.approx(slope, rel=1e-3, abs=1e-5), name


def test_the_network_learns_what_depends_on_the_past_alone() -> None:
    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(60, 2, 40))
    shock = np.where(np.abs(inputs[:, 0]) > 1.5, np.sign(inputs[:, 0]), 0.0)
    label = np.zeros(shock.shape, dtype=np.int64)  # the sign of the last rare shock
    for step in range(1, len(label)):
        label[step] = np.where(shock[step] != 0, shock[step] > 0, label[step - 1])
    hyper = Hyperparameters(units=8, updates=150, batch=16, window=30, burn_in=0, rate=0.05)

    network = fit_recurrent(TrainingSet(inputs, label, np.ones(label.shape), 0), hyper)

    named = posteriors(network, inputs).argmax(axis=1)
    quiet = shock == 0.0
    assert (named == label)[quiet].mean() > 0.75  # half, for one who sees only this step


def test_the_brain_steps_as_the_training_did() -> None:
    rng = np.random.default_rng(3)
    parts = initial_weights(6, 5, rng)
    parts["skip_weights"][:] = rng.normal(size=parts["skip_weights"].shape)
    x = rng.normal(0.0, 0.8, (30, 6, 2))
    network = _network(parts, np.zeros(6), np.ones(6))

    hidden, _ = _forward(parts, np.clip(x, -3, 3).transpose(0, 2, 1).astype(np.float32))

    scores = (
        hidden[1:] @ parts["output_weights"]
        + np.clip(x, -3, 3).transpose(0, 2, 1) @ parts["skip_weights"]
        + parts["output_bias"]
    )
    chance = np.exp(scores - scores.max(axis=2, keepdims=True))
    chance /= chance.sum(axis=2, keepdims=True)
    assert posteriors(network, x).transpose(0, 2, 1) == pytest.approx(chance, abs=1e-4)


def test_a_market_without_drift_teaches_what_the_path_did() -> None:
    inputs = np.zeros((1, len(REGIME_INPUTS), 5), dtype=np.float32)
    at = REGIME_INPUTS.index
    inputs[0, at("trend_8h")] = inputs[0, at("trend_20h")] = [2.0, -2.0, 0.0, 2.0, 0.1]
    inputs[0, at("volatility_scaled")] = [0.0, 0.0, -1.0, 3.0, 0.5]
    truth = np.full((1, 5), 3)
    data = Dataset(inputs, inputs, truth, np.ones((1, 5), dtype=bool))

    driftless = training_set(inputs, data, np.ones(5, dtype=bool), 0)
    drifting = training_set(inputs, data, np.zeros(5, dtype=bool), 0)

    assert driftless.label[0, :4].tolist() == [0, 1, 2, 3]
    assert driftless.weight[0].tolist() == [0.25, 0.25, 0.25, 0.25, 0.0]
    assert (drifting.label == 3).all()
    assert (drifting.weight == 1.0).all()


def test_a_small_training_gives_the_same_digest_twice(tmp_path: Path) -> None:
    jobs = [("base", 1000), ("still", 1000)]
    data = build(jobs, days=9)
    hyper = Hyperparameters(units=4, updates=12, batch=8, window=40, burn_in=12)
    parts = [after_warm_up(np.full((96, 4, 2), 0.25), data.truth[-96:], data.scored[-96:], 0)]

    def trained(seed: int) -> str:
        fitted = fit_recurrent(
            training_set(data.market, data, np.array([False, True]), 8 * 48), dataclasses.replace(hyper, seed=seed)
        )
        body = {"market": _plain(_rounded(fitted)), "calibration": dataclasses.asdict(calibrate(parts))}
        saved = save(body, tmp_path / "weights.json")
        assert digest_of(json.loads((tmp_path / "weights.json").read_bytes())) == saved["digest"]
        return str(saved["digest"])

    assert trained(0) == trained(0)
    assert trained(0) != trained(1)


def test_calibration_corrects_an_underconfident_network_and_leaves_a_good_one() -> None:
    rng = np.random.default_rng(8)
    scores = rng.normal(0.0, 1.5, (400, 4, 6))
    chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = (chance.cumsum(axis=1) < rng.random((400, 1, 6))).sum(axis=1)
    timid = np.exp(0.5 * scores) / np.exp(0.5 * scores).sum(axis=1, keepdims=True)
    counted = np.ones(truth.shape, dtype=bool)

    found = calibrate([after_warm_up(timid, truth, counted, 48)])
    honest = calibrate([after_warm_up(chance, truth, counted, 48)])

    assert (
        loss([after_warm_up(timid, truth, counted, 48)], found)
        < loss([after_warm_up(timid, truth, counted, 48)], PLAIN) - 0.05
    )
    assert (
        loss([after_warm_up(chance, truth, counted, 48)], honest)
        > loss([after_warm_up(chance, truth, counted, 48)], PLAIN) - 0.01
    )


def test_calibration_markets_are_not_training_markets_and_are_named_in_the_recipe() -> None:
    families, seeds = CALIBRATED_ON
    recipe = json.loads(PACKAGED.read_bytes())["recipe"]["calibration"]

    assert all(set(seeds).isdisjoint(used) for used in SEEDS.values())
    assert all(1000 <= seed <= 1999 for seed in seeds)
    assert "alt" not in families
    assert recipe["seeds"] == f"{seeds.start}-{seeds.stop - 1}"
    assert recipe["families"] == list(families)
