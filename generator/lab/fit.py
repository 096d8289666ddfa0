"""Fit the frozen logits of direction, and the temperature of the regime's chances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import KEEP, USUAL, Calibration, temperature, tempered
from generator.brain.direction import INPUTS, ODD, tilted
from generator.lab.network import Numbers
from generator.market.bars import FloatArray

_STEPS: Final = (0.2, 2.0)  # first steps of level and slope
_HALVINGS: Final = 10
_TINY: Final = 1e-9


def fit_direction(
    inputs: FloatArray, outcome: npt.NDArray[np.int64], used: npt.NDArray[np.bool_], rounds: int = 300
) -> FloatArray:
    """Fit lean and stillness over the base rate by gradient ascent; inputs not `used` keep weight 0.

    Args:
        inputs: (n, 11).
        outcome: 0 down, 1 neutral, 2 up.
        used: which inputs the simulator is realistic for.
        rounds: gradient steps.
    """
    hit = np.eye(3)[outcome].T
    base = np.repeat(hit.mean(axis=1, keepdims=True), len(inputs), axis=1)
    base[[0, 2]] = base[[0, 2]].mean(axis=0)  # up and down are alike before the evidence
    weights = np.zeros(INPUTS)
    for _ in range(rounds):
        error = hit - tilted(base, inputs[:, :ODD] @ weights[:ODD], inputs[:, ODD:] @ weights[ODD:])
        odd = (error[2] - error[0]) @ inputs[:, :ODD]
        gradient = np.concatenate((odd, error[1] @ inputs[:, ODD:])) / len(inputs)
        weights += np.where(used, gradient - 1e-3 * weights, 0.0)
    return weights


@dataclass(frozen=True, slots=True)
class Posteriors:
    """What a network gave for the markets of one family; n half hours, g markets.

    Args:
        chances: (4, n, g); clarity: (n, g), as the filter would know it then.
        truth: (n, g); counted: where the truth is scored, (n, g).
    """

    chances: npt.NDArray[np.float64]
    clarity: npt.NDArray[np.float64]
    truth: npt.NDArray[np.int64]
    counted: npt.NDArray[np.bool_]


def after_warm_up(
    posterior: Numbers, truth: npt.NDArray[np.int64], counted: npt.NDArray[np.bool_], first: int
) -> Posteriors:
    """Follow the clarity from the start and leave out the first half hours.

    Args:
        posterior: (n, 4, g).
        first: how many half hours are left out.
    """
    level = np.full(posterior.shape[2], USUAL)
    clarity = np.empty(truth.shape)
    for i, best in enumerate(posterior.max(axis=1).astype(np.float64)):
        level = level + (best - level) * (1.0 - KEEP)
        clarity[i] = level
    chances = posterior[first:].astype(np.float64).swapaxes(0, 1)
    return Posteriors(chances, clarity[first:], truth[first:], counted[first:])


def loss(parts: list[Posteriors], calibration: Calibration) -> float:
    """Return the log loss of the true regime, the mean over families."""
    total = 0.0
    for one in parts:
        chances = tempered(one.chances, temperature(calibration.level, calibration.slope, one.clarity))
        true_chance = np.take_along_axis(chances, one.truth[None], axis=0)[0]
        total -= float(np.log(np.maximum(true_chance[one.counted], _TINY)).mean())
    return total / len(parts)


def calibrate(parts: list[Posteriors], progress: Callable[[int, int], None] | None = None) -> Calibration:
    """Search level and slope step by step, halving the steps where none of them helps."""
    best, at = loss(parts, Calibration()), Calibration()
    for number in range(_HALVINGS):
        up, along = (step / 2**number for step in _STEPS)
        moved = True
        while moved:
            moved = False
            for level, slope in ((up, 0.0), (-up, 0.0), (0.0, along), (0.0, -along)):
                tried = Calibration(at.level + level, at.slope + slope)
                found = loss(parts, tried)
                if found < best:
                    best, at, moved = found, tried, True
        if progress:
            progress(number + 1, _HALVINGS)
    return at
