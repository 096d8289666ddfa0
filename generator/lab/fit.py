"""Fit the frozen logits of direction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from generator.brain.direction import INPUTS, ODD, tilted
from generator.market.values import FloatArray


def fit_direction(
    inputs: FloatArray, outcome: npt.NDArray[np.int64], used: npt.NDArray[np.bool_], rounds: int = 300
) -> FloatArray:
    """Fit lean and stillness over the base rate by gradient ascent; inputs not `used` keep weight 0.

    Args:
        inputs: (n, 11).
        outcome: 0 down, 1 neutral, 2 up.
        used: which inputs the simulator can teach.
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
