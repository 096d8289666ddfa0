"""Fit the recurrent network by Adam on random windows of the training markets; back-propagation in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.brain.recurrent import REACH, Recurrent

Numbers = npt.NDArray[np.floating[Any]]  # single precision while it learns
Progress = Callable[[int, int], None]
_BETA1, _BETA2 = 0.9, 0.998
_NORM: Final = 0.5  # a longer gradient is shortened to this


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to fit.

    Args:
        units: of the network.
        updates: Adam steps; batch: windows in each; window: half hours of each; burn_in: those without a lesson.
        rate: the highest learning rate; it rises over 50 updates and falls as a cosine.
        seed: of the first guess and of the windows.
    """

    units: int = 32
    updates: int = 4000
    batch: int = 64
    window: int = 160
    burn_in: int = 48
    rate: float = 0.006
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Lessons:
    """Sequences to learn from: n half hours of g markets.

    Args:
        inputs: raw features, (n, width, g).
        label: class of each, (n, g); weight: 0 where it teaches nothing, (n, g).
        first: half hours at the start that are not used.
    """

    inputs: Numbers
    label: npt.NDArray[np.int64]
    weight: Numbers
    first: int


def fit_recurrent(lessons: Lessons, recipe: Recipe, progress: Progress | None = None) -> Recurrent:
    """Fit the network to name the class of every half hour from all before it."""
    rng = np.random.default_rng(recipe.seed)
    used = lessons.inputs[lessons.first :]
    centre, spread = used.mean(axis=(0, 2)), np.maximum(used.std(axis=(0, 2)), 1e-6)
    scaled = np.clip((lessons.inputs - centre[:, None]) / spread[:, None], -REACH, REACH)
    x = np.ascontiguousarray(scaled.transpose(0, 2, 1), dtype=np.float32)
    parts = _first_guess(x.shape[2], recipe.units, rng)
    moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in parts.items()}
    steps = np.arange(recipe.window)[:, None]
    for number in range(1, recipe.updates + 1):
        market = rng.integers(0, x.shape[1], recipe.batch)
        start = rng.integers(lessons.first - recipe.burn_in, len(x) - recipe.window, recipe.batch)
        at = (start + steps, market)
        weight = lessons.weight[at].astype(np.float32)
        weight[: recipe.burn_in] = 0.0
        gradient = _gradient(parts, x[at], lessons.label[at], weight)
        rate = recipe.rate * 0.5 * (1.0 + np.cos(np.pi * number / recipe.updates)) * min(1.0, number / 50)
        _adam(parts, gradient, moments, rate, number)
        if progress and (number % 50 == 0 or number == recipe.updates):
            progress(number, recipe.updates)
    return _network(parts, centre, spread)


def _first_guess(width: int, units: int, rng: np.random.Generator) -> dict[str, Numbers]:
    """Draw small weights; the keep gate starts open, so that memory is long."""
    drawn = {
        "inputs": rng.normal(0.0, 1.0 / np.sqrt(width), (width, 3 * units)),
        "carry": rng.normal(0.0, 0.5 / np.sqrt(units), (units, 3 * units)),
        "bias": np.concatenate((np.full(units, 2.0), np.zeros(2 * units))),
        "outputs": rng.normal(0.0, 0.1 / np.sqrt(units), (units, 4)),
        "direct": np.zeros((width, 4)),
        "rest": np.zeros(4),
    }
    return {name: value.astype(np.float32) for name, value in drawn.items()}


def _forward(
    parts: Mapping[str, Numbers], x: Numbers
) -> tuple[Numbers, list[tuple[Numbers, Numbers, Numbers, Numbers]]]:
    """Return the remembered values, (window + 1, batch, units), and what the way back needs of each step."""
    units = parts["carry"].shape[0]
    given = x @ parts["inputs"] + parts["bias"]
    hidden = np.zeros((len(x) + 1, x.shape[1], units), dtype=np.float32)
    kept = []
    for i in range(len(x)):
        carried = hidden[i] @ parts["carry"]
        gates = 1.0 / (1.0 + np.exp(-(given[i, :, : 2 * units] + carried[:, : 2 * units])))
        keep, reset, last = gates[:, :units], gates[:, units:], carried[:, 2 * units :]
        proposal = np.tanh(given[i, :, 2 * units :] + reset * last)
        hidden[i + 1] = keep * hidden[i] + (1.0 - keep) * proposal
        kept.append((keep, reset, proposal, last))
    return hidden, kept


def _gradient(
    parts: Mapping[str, Numbers], x: Numbers, label: npt.NDArray[np.int64], weight: Numbers
) -> dict[str, Numbers]:
    """Return the gradient of the mean weighted log loss."""
    hidden, kept = _forward(parts, x)
    scores = hidden[1:] @ parts["outputs"] + x @ parts["direct"] + parts["rest"]
    error = np.exp(scores - scores.max(axis=2, keepdims=True))
    error /= error.sum(axis=2, keepdims=True)
    error[np.arange(len(x))[:, None], np.arange(x.shape[1]), label] -= 1.0
    error *= (weight / max(float(weight.sum()), 1e-6))[..., None]
    given, carried = _backward(parts, hidden, kept, error @ parts["outputs"].T)
    both = ((0, 1), (0, 1))
    return {
        "inputs": np.tensordot(x, given, both),
        "carry": np.tensordot(hidden[:-1], carried, both),
        "bias": given.sum(axis=(0, 1)),
        "outputs": np.tensordot(hidden[1:], error, both),
        "direct": np.tensordot(x, error, both),
        "rest": error.sum(axis=(0, 1)),
    }


def _backward(
    parts: Mapping[str, Numbers],
    hidden: Numbers,
    kept: list[tuple[Numbers, Numbers, Numbers, Numbers]],
    blame: Numbers,
) -> tuple[Numbers, Numbers]:
    """Return the gradient at the gates as the inputs see it and as the memory sees it, (window, batch, 3 * units)."""
    steps, batch, units = blame.shape
    given = np.empty((steps, batch, 3 * units), dtype=np.float32)
    carried = np.empty_like(given)
    back = np.zeros((batch, units), dtype=np.float32)
    for i in range(steps - 1, -1, -1):
        keep, reset, proposal, last = kept[i]
        back = back + blame[i]
        inner = back * (1.0 - keep) * (1.0 - proposal * proposal)
        given[i, :, :units] = back * (hidden[i] - proposal) * keep * (1.0 - keep)
        given[i, :, units : 2 * units] = inner * last * reset * (1.0 - reset)
        given[i, :, 2 * units :] = inner
        carried[i, :, : 2 * units] = given[i, :, : 2 * units]
        carried[i, :, 2 * units :] = inner * reset
        back = back * keep + carried[i] @ parts["carry"].T
    return given, carried


def _adam(
    parts: Mapping[str, Numbers],
    gradient: Mapping[str, Numbers],
    moments: dict[str, tuple[Numbers, Numbers]],
    rate: float,
    number: int,
) -> None:
    """Take one step (Kingma and Ba 2015) along the shortened gradient."""
    length = float(np.sqrt(sum(float((g * g).sum()) for g in gradient.values())))
    shorten = min(1.0, _NORM / max(length, 1e-9))
    for name, value in parts.items():
        first, second = moments[name]
        slope = shorten * gradient[name] + 1e-5 * value
        first += (1.0 - _BETA1) * (slope - first)
        second += (1.0 - _BETA2) * (slope * slope - second)
        size = np.sqrt(second / (1.0 - _BETA2**number)) + 1e-8
        np.subtract(value, (rate * (first / (1.0 - _BETA1**number)) / size).astype(value.dtype), out=value)


def _network(parts: Mapping[str, Numbers], centre: Numbers, spread: Numbers) -> Recurrent:
    """Return the network in the shapes that the brain uses."""
    turned = {name: value.astype(np.float64).T for name, value in parts.items()}
    return Recurrent(centre.astype(np.float64), spread.astype(np.float64), **turned)
