"""Train the weights: simulate, stream, fit, write the JSON. Training seeds are 1000 to 1999 and nothing else."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import KEEP, USUAL, Calibration, softmax, temperature, tempered
from generator.brain.features import REGIME_INPUTS
from generator.brain.recurrent import Recurrent
from generator.brain.regime import REGIMES
from generator.brain.weights import FORMAT, NETWORK_KEYS, VERSION, digest_of
from generator.catalog.words import RegimeLabel
from generator.lab.dataset import SKIP_DAYS, Dataset, build
from generator.lab.network import Hyperparameters, Numbers, TrainingSet, fit_recurrent
from generator.lab.progress import tracked
from generator.lab.scores import balanced
from generator.lab.simulator import DRIFTLESS

SEEDS: Final = {
    "base": range(1000, 1200),
    "hard": range(1000, 1200),
    "wild": range(1000, 1400),
    "broad": range(1000, 1400),
    "null": range(1000, 1200),
    "still": range(1000, 1200),
}
# Then the networks continue to learn on a mix in which every third market is of the family second.
FURTHER_SEEDS: Final = {
    "second": range(1000, 1192),
    "base": range(1000, 1080),
    "hard": range(1000, 1080),
    "wild": range(1000, 1120),
    "broad": range(1000, 1040),
    "null": range(1000, 1060),
    "still": range(1000, 1020),
}
# Families and seeds that are not in the training of either network.
CALIBRATED_ON: Final = (("base", "hard", "wild", "broad", "second"), range(1600, 1616))
_CALIBRATION_DAYS: Final = 30  # of warm-up before a market's chances count
HYPERPARAMETERS: Final = Hyperparameters()
FURTHER: Final = {
    "market": Hyperparameters(updates=2500, rate=0.003, seed=1),
    "asset": Hyperparameters(updates=2000, rate=0.003, seed=1),
}
# A driftless market has no regime with a drift to name. There the label describes the path: high_volatility where it
# is much livelier than its month, else risk_on or risk_off where the realised trend is large, range where it is calm
# and flat. The remaining half hours have no weight, these a quarter.
STILL_WEIGHT: Final = 0.25
_LIVELY, _CALM, _TREND = 1.0, 0.0, 0.8
_AT: Final = {name: place for place, name in enumerate(REGIME_INPUTS)}
_ON, _OFF, _RANGE, _HIGH = (
    REGIMES.index(label)
    for label in (RegimeLabel.RISK_ON, RegimeLabel.RISK_OFF, RegimeLabel.RANGE, RegimeLabel.HIGH_VOLATILITY)
)
_HALF_HOURS_A_DAY: Final = 48
_STEPS: Final = (0.2, 2.0)  # first steps of level and slope
_HALVINGS: Final = 10
_TINY: Final = 1e-9


def train(out: Path) -> dict[str, Any]:
    """Train on the simulated families, write the weights file and return its body."""
    first = SKIP_DAYS * _HALF_HOURS_A_DAY
    networks: dict[str, Recurrent] = {}
    rounds = ((SEEDS, dict.fromkeys(FURTHER, HYPERPARAMETERS)), (FURTHER_SEEDS, FURTHER))
    for seeds, hyper in rounds:
        jobs = [(family, seed) for family, span in seeds.items() for seed in span]
        data = build(jobs)
        still = np.array([family in DRIFTLESS for family, _ in jobs])
        for name, how in hyper.items():
            lessons = training_set(getattr(data, name), data, still, first)
            networks[name] = _rounded(fit_recurrent(lessons, how, networks.get(name)))

    market = networks["market"]
    asset = networks["asset"]
    posterior = posteriors(market, data.market)
    body: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "features": list(REGIME_INPUTS),
        "market": _plain(market),
        "asset": _plain(asset),
        "calibration": _calibrations(market, asset),
        "recipe": _recipe(),
        "figures": _figures(data, posterior, ~still, first),
    }
    return save(body, out)


def _calibrations(market: Recurrent, asset: Recurrent) -> dict[str, Any]:
    """Fit the temperatures of both networks on markets that neither has seen."""
    families, seeds = CALIBRATED_ON
    parts = [build([(family, seed) for seed in seeds]) for family in families]
    first = _CALIBRATION_DAYS * _HALF_HOURS_A_DAY

    calibrations = {}
    for name, network in (("market", market), ("asset", asset)):
        scored = [
            after_warm_up(posteriors(network, getattr(part, name)), part.truth, part.scored, first) for part in parts
        ]
        fitted = calibrate(scored)
        calibrations[name] = {key: np.float32(value).item() for key, value in asdict(fitted).items()}
    return calibrations


def save(body: dict[str, Any], out: Path) -> dict[str, Any]:
    """Write a body with its digest and return it."""
    body["digest"] = digest_of(body)
    text = json.dumps(body, separators=(",", ":")).replace('],"', '],\n"')  # a part a line, for a readable diff
    out.write_text(text + "\n", encoding="utf-8")
    return body


def training_set(inputs: Numbers, data: Dataset, still: npt.NDArray[np.bool_], first: int) -> TrainingSet:
    """Label every half hour: the true regime, or on `still` markets what the path did."""
    lively = inputs[:, _AT["volatility_scaled"]]
    trend = 0.5 * (inputs[:, _AT["trend_8h"]] + inputs[:, _AT["trend_20h"]])
    moved = np.where(trend > _TREND, _ON, np.where(trend < -_TREND, _OFF, _RANGE))
    described = np.where(lively > _LIVELY, _HIGH, moved)
    clear = (described != _RANGE) | (lively < _CALM)

    return TrainingSet(
        inputs=inputs,
        label=np.where(still, described, data.truth),
        weight=np.where(still, STILL_WEIGHT * clear, 1.0 * data.scored),
        first=first,
    )


def posteriors(network: Recurrent, inputs: Numbers) -> Numbers:
    """Return the network's posterior at every half hour, (n, 4, g)."""
    hidden = np.zeros((network.units, inputs.shape[2]))
    out = np.empty((len(inputs), 4, inputs.shape[2]), dtype=np.float32)
    for i, row in enumerate(inputs):
        hidden, scores = network.step(hidden, row.astype(np.float64))
        out[i] = softmax(scores)
    return out


def _recipe() -> dict[str, Any]:
    """Return what the weights were made from; seeds are text, so that no test mistakes them for weights."""
    return {
        "seeds": {family: f"{seeds.start}-{seeds.stop - 1}" for family, seeds in SEEDS.items()},
        "further_seeds": {family: f"{seeds.start}-{seeds.stop - 1}" for family, seeds in FURTHER_SEEDS.items()},
        "further": {name: asdict(hyper) for name, hyper in FURTHER.items()},
        "days": 60,
        "skipped_days": SKIP_DAYS,
        "network": asdict(HYPERPARAMETERS),
        "calibration": {
            "families": list(CALIBRATED_ON[0]),
            "seeds": f"{CALIBRATED_ON[1].start}-{CALIBRATED_ON[1].stop - 1}",
            "skipped_days": _CALIBRATION_DAYS,
        },
        "driftless": {"weight": STILL_WEIGHT, "lively": _LIVELY, "calm": _CALM, "trend": _TREND},
        "regime": "gated recurrent network on half hours, log loss, Adam on random windows",
    }


def _figures(data: Dataset, posterior: Numbers, used: npt.NDArray[np.bool_], first: int) -> dict[str, Any]:
    """Return how well the network names the half hours of its training."""
    counted = data.scored[first:, used]
    likeliest = posterior[first:, :, used].argmax(axis=1)[counted]
    truth = data.truth[first:, used][counted]
    return {
        "rows_thousand": round(len(truth) / 1000),
        "training_balanced_accuracy": round(balanced(likeliest, truth), 3),
    }


def _rounded(network: Recurrent) -> Recurrent:
    """Return the network in single precision, in which it learns.

    Written out such numbers have so many digits that no published one can look like them by chance.
    """
    parts = {field.name: getattr(network, field.name) for field in fields(Recurrent)}
    return Recurrent(**{name: part.astype(np.float32).astype(np.float64) for name, part in parts.items()})


def _plain(network: Recurrent) -> dict[str, Any]:
    return {key: getattr(network, name).tolist() for name, key in NETWORK_KEYS.items()}


@dataclass(frozen=True, slots=True)
class Posteriors:
    """What a network gave for the markets of one family; n half hours, g markets."""

    chances: npt.NDArray[np.float64]  # (4, n, g)
    clarity: npt.NDArray[np.float64]  # (n, g), as the filter would know it then
    truth: npt.NDArray[np.int64]  # (n, g)
    counted: npt.NDArray[np.bool_]  # where the truth is scored, (n, g)


def after_warm_up(
    posterior: Numbers, truth: npt.NDArray[np.int64], counted: npt.NDArray[np.bool_], first: int
) -> Posteriors:
    """Follow the clarity from the start of a posterior, (n, 4, g), and leave out the `first` half hours."""
    level = np.full(posterior.shape[2], USUAL)
    clarity = np.empty(truth.shape)
    for i, best in enumerate(posterior.max(axis=1).astype(np.float64)):
        level = level + (best - level) * (1.0 - KEEP)
        clarity[i] = level

    chances = posterior[first:].astype(np.float64).swapaxes(0, 1)
    return Posteriors(chances=chances, clarity=clarity[first:], truth=truth[first:], counted=counted[first:])


def loss(parts: list[Posteriors], calibration: Calibration) -> float:
    """Return the log loss of the true regime, the mean over families."""
    total = 0.0
    for family in parts:
        heat = temperature(calibration.level, calibration.slope, family.clarity)
        chances = tempered(family.chances, heat)
        true_chance = np.take_along_axis(chances, family.truth[None], axis=0)[0]
        total -= float(np.log(np.maximum(true_chance[family.counted], _TINY)).mean())
    return total / len(parts)


def calibrate(parts: list[Posteriors]) -> Calibration:
    """Search level and slope step by step, halving the steps where none of them helps."""
    best = Calibration()
    best_loss = loss(parts, best)
    for number in tracked(range(_HALVINGS), "calibration"):
        up, along = (step / 2**number for step in _STEPS)
        improved = True
        while improved:
            improved = False
            for level, slope in ((up, 0.0), (-up, 0.0), (0.0, along), (0.0, -along)):
                candidate = Calibration(level=best.level + level, slope=best.slope + slope)
                candidate_loss = loss(parts, candidate)
                if candidate_loss < best_loss:
                    best = candidate
                    best_loss = candidate_loss
                    improved = True
    return best
