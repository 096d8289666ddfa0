"""Fit the recurrent network by Adam on random windows of training markets; back-propagation through time in numpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.brain.recurrent import INPUT_LIMIT, Recurrent
from generator.lab.progress import tracked

Numbers = npt.NDArray[np.floating[Any]]  # single precision while it learns
_BETA1: Final = 0.9
_BETA2: Final = 0.998
_NORM: Final = 0.5  # a longer gradient is clipped to this norm


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """How to fit."""

    units: int = 32  # of the network
    updates: int = 4000  # Adam steps
    batch: int = 64  # windows in each
    window: int = 160  # half hours of each
    burn_in: int = 48  # its first half hours, not scored
    rate: float = 0.006  # the highest learning rate; it rises over 50 updates and falls as a cosine
    seed: int = 0  # of the initial weights and of the windows


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Sequences of n half hours of g markets, with the class to learn."""

    inputs: Numbers  # raw features, (n, width, g)
    label: npt.NDArray[np.int64]  # class of each, (n, g)
    weight: Numbers  # in the loss, 0 to ignore, (n, g)
    first: int  # half hours at the start that are not used


def fit_recurrent(data: TrainingSet, hyper: Hyperparameters, onward: Recurrent | None = None) -> Recurrent:
    """Fit the network to name the class of every half hour from all before it; `onward` is one to start from."""
    used = data.inputs[data.first :]
    mean: Numbers = onward.mean if onward else used.mean(axis=(0, 2))
    std: Numbers = onward.std if onward else np.maximum(used.std(axis=(0, 2)), 1e-6)
    scaled = np.clip((data.inputs - mean[:, None]) / std[:, None], -INPUT_LIMIT, INPUT_LIMIT)
    x = np.ascontiguousarray(scaled.transpose(0, 2, 1), dtype=np.float32)

    rng = np.random.default_rng(hyper.seed)
    parts = initial_weights(x.shape[2], hyper.units, rng)
    if onward:
        parts = {name: getattr(onward, name).T.astype(np.float32).copy() for name in parts}

    moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in parts.items()}
    steps = np.arange(hyper.window)[:, None]
    for number in tracked(range(1, hyper.updates + 1), "network"):
        # Windows of random markets; what comes before the scored part only fills the memory.
        market = rng.integers(0, x.shape[1], hyper.batch)
        start = rng.integers(data.first - hyper.burn_in, len(x) - hyper.window, hyper.batch)
        at = (start + steps, market)
        weight = data.weight[at].astype(np.float32)
        weight[: hyper.burn_in] = 0.0

        gradient = _gradient(parts, x[at], data.label[at], weight)
        cosine = 0.5 * (1.0 + np.cos(np.pi * number / hyper.updates))
        warm_up = min(1.0, number / 50)
        rate = hyper.rate * cosine * warm_up
        _adam(parts, gradient, moments, rate, number)

    return _network(parts, mean, std)


def initial_weights(width: int, units: int, rng: np.random.Generator) -> dict[str, Numbers]:
    """Draw small weights; the update gate starts near 1, so that memory is long."""
    drawn = {
        "input_weights": rng.normal(0.0, 1.0 / np.sqrt(width), (width, 3 * units)),
        "recurrent_weights": rng.normal(0.0, 0.5 / np.sqrt(units), (units, 3 * units)),
        "bias": np.concatenate((np.full(units, 2.0), np.zeros(2 * units))),
        "output_weights": rng.normal(0.0, 0.1 / np.sqrt(units), (units, 4)),
        "skip_weights": np.zeros((width, 4)),
        "output_bias": np.zeros(4),
    }
    return {name: value.astype(np.float32) for name, value in drawn.items()}


def _forward(
    parts: Mapping[str, Numbers], x: Numbers
) -> tuple[Numbers, list[tuple[Numbers, Numbers, Numbers, Numbers]]]:
    """Return the hidden states, (window + 1, batch, units), and what the backward pass needs of each step."""
    units = parts["recurrent_weights"].shape[0]
    from_input = x @ parts["input_weights"] + parts["bias"]
    hidden = np.zeros((len(x) + 1, x.shape[1], units), dtype=np.float32)
    tape = []
    for i in range(len(x)):
        from_state = hidden[i] @ parts["recurrent_weights"]
        both = from_input[i, :, : 2 * units] + from_state[:, : 2 * units]
        gates = 1.0 / (1.0 + np.exp(-both))
        update = gates[:, :units]
        reset = gates[:, units:]
        last = from_state[:, 2 * units :]
        candidate = np.tanh(from_input[i, :, 2 * units :] + reset * last)
        hidden[i + 1] = update * hidden[i] + (1.0 - update) * candidate
        tape.append((update, reset, candidate, last))
    return hidden, tape


def _gradient(
    parts: Mapping[str, Numbers], x: Numbers, label: npt.NDArray[np.int64], weight: Numbers
) -> dict[str, Numbers]:
    """Return the gradient of the mean weighted log loss."""
    hidden, tape = _forward(parts, x)
    scores = hidden[1:] @ parts["output_weights"] + x @ parts["skip_weights"] + parts["output_bias"]

    # The gradient of the log loss at the scores: softmax less the class that came.
    error = np.exp(scores - scores.max(axis=2, keepdims=True))
    error /= error.sum(axis=2, keepdims=True)
    steps, batch = np.ogrid[: len(x), : x.shape[1]]
    error[steps, batch, label] -= 1.0
    error *= (weight / max(float(weight.sum()), 1e-6))[..., None]

    from_input, from_state = _backward(parts, hidden, tape, error @ parts["output_weights"].T)
    both = ((0, 1), (0, 1))
    return {
        "input_weights": np.tensordot(x, from_input, both),
        "recurrent_weights": np.tensordot(hidden[:-1], from_state, both),
        "bias": from_input.sum(axis=(0, 1)),
        "output_weights": np.tensordot(hidden[1:], error, both),
        "skip_weights": np.tensordot(x, error, both),
        "output_bias": error.sum(axis=(0, 1)),
    }


def _backward(
    parts: Mapping[str, Numbers],
    hidden: Numbers,
    tape: list[tuple[Numbers, Numbers, Numbers, Numbers]],
    upstream: Numbers,
) -> tuple[Numbers, Numbers]:
    """Return the gradients at the gates by the inputs and by the hidden state, (window, batch, 3 * units)."""
    steps, batch, units = upstream.shape
    from_input = np.empty((steps, batch, 3 * units), dtype=np.float32)
    from_state = np.empty_like(from_input)
    back = np.zeros((batch, units), dtype=np.float32)
    for i in range(steps - 1, -1, -1):
        update, reset, candidate, last = tape[i]
        back = back + upstream[i]
        inner = back * (1.0 - update) * (1.0 - candidate * candidate)

        from_input[i, :, :units] = back * (hidden[i] - candidate) * update * (1.0 - update)
        from_input[i, :, units : 2 * units] = inner * last * reset * (1.0 - reset)
        from_input[i, :, 2 * units :] = inner
        from_state[i, :, : 2 * units] = from_input[i, :, : 2 * units]
        from_state[i, :, 2 * units :] = inner * reset

        back = back * update + from_state[i] @ parts["recurrent_weights"].T
    return from_input, from_state


def _adam(
    parts: Mapping[str, Numbers],
    gradient: Mapping[str, Numbers],
    moments: dict[str, tuple[Numbers, Numbers]],
    rate: float,
    number: int,
) -> None:
    """Take one step (Kingma and Ba 2015) along the clipped gradient."""
    length = float(np.sqrt(sum(float((slope * slope).sum()) for slope in gradient.values())))
    clip = min(1.0, _NORM / max(length, 1e-9))

    for name, value in parts.items():
        first, second = moments[name]
        slope = clip * gradient[name] + 1e-5 * value
        first += (1.0 - _BETA1) * (slope - first)
        second += (1.0 - _BETA2) * (slope * slope - second)

        mean = first / (1.0 - _BETA1**number)
        size = np.sqrt(second / (1.0 - _BETA2**number)) + 1e-8
        step = rate * mean / size
        np.subtract(value, step.astype(value.dtype), out=value)


def _network(parts: Mapping[str, Numbers], mean: Numbers, std: Numbers) -> Recurrent:
    turned = {name: value.astype(np.float64).T for name, value in parts.items()}
    return Recurrent(mean.astype(np.float64), std.astype(np.float64), **turned)
