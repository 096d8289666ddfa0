"""Fit the softmax of the regime and the frozen logits of direction, by Newton's method in numpy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from generator.brain.direction import INPUTS, ODD, tilted
from generator.brain.regime import log_softmax
from generator.market.values import FloatArray


def fit_softmax(x: FloatArray, truth: npt.NDArray[np.int64], ridge: float = 2e-4, rounds: int = 12) -> FloatArray:
    """Fit a multinomial softmax with a ridge by damped Newton steps.

    Args:
        x: (n, features); the first is the constant.
        truth: class of each row, 0..3.
        ridge: penalty per row on standardised weights, the constant excepted.
        rounds: Newton steps at most.

    Returns:
        Weights on the raw features, (4, features).
    """
    n, width = x.shape
    centre, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    centre[0], spread[0] = 0.0, 1.0
    z = (x - centre) / spread
    hit = np.eye(4)[truth]
    share = 0.25 / np.maximum(hit.mean(axis=0), 1e-6)
    weight = (hit @ share)[:, None]
    penalty = np.full((4, width), ridge * n)
    penalty[:, 0] = 1e-6 * n
    model = np.zeros((4, width))
    for _ in range(rounds):
        chance = np.exp(log_softmax((z @ model.T).T)).T
        gradient = ((hit - chance) * weight).T @ z - penalty * model
        step = np.linalg.solve(_hessian(z, chance, weight[:, 0]) + np.diag(penalty.ravel()), gradient.ravel())
        model += step.reshape(model.shape)
        if np.abs(step).max() < 1e-4:
            break
    raw: FloatArray = model / spread
    raw[:, 0] -= raw[:, 1:] @ centre[1:]
    return raw


def _hessian(z: FloatArray, chance: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the negative Hessian of the log likelihood, (4 * features) squared."""
    width = z.shape[1]
    out = np.empty((4 * width, 4 * width))
    for a in range(4):
        for b in range(a, 4):
            curve = weight * chance[:, a] * ((a == b) - chance[:, b])
            block = z.T @ (z * curve[:, None])
            out[a * width : (a + 1) * width, b * width : (b + 1) * width] = block
            out[b * width : (b + 1) * width, a * width : (a + 1) * width] = block.T
    return out


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
