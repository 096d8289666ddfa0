"""A small gated recurrent unit, GRU (Cho et al. 2014): a forward filter that was learned instead of assumed.

Its hidden state passes from half hour to half hour, so it can only know the past.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.smoothing import clipped
from generator.market.bars import FloatArray

INPUT_LIMIT: Final = 3.0  # standard deviations; inputs beyond it, unlike any in training, are clipped


class Gated:
    """The arithmetic of one network or of two side by side; features, hidden states and scores are columns."""

    def each(self, name: str, values: FloatArray) -> FloatArray:
        """Return a matrix of weights applied to every column."""
        raise NotImplementedError

    def wide(self, name: str) -> FloatArray:
        """Return a vector of weights, to be broadcast over the columns."""
        raise NotImplementedError

    def scaled(self, features: FloatArray) -> FloatArray:
        """Return the features (width, columns) standardised and clipped."""
        return clipped((features - self.wide("mean")) / self.wide("std"), -INPUT_LIMIT, INPUT_LIMIT)

    def step(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the hidden state after this input; both (units, columns)."""
        units = len(hidden)
        from_input = self.each("input_weights", scaled) + self.wide("bias")
        from_state = self.each("recurrent_weights", hidden)
        gates = 1.0 / (1.0 + np.exp(-(from_input[: 2 * units] + from_state[: 2 * units])))
        update, reset = gates[:units], gates[units:]
        candidate = np.tanh(from_input[2 * units :] + reset * from_state[2 * units :])
        out: FloatArray = update * hidden + (1.0 - update) * candidate
        return out

    def scores(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the scores of the classes, (classes, columns)."""
        return self.each("output_weights", hidden) + self.each("skip_weights", scaled) + self.wide("output_bias")


@dataclass(frozen=True, slots=True)
class Recurrent(Gated):
    """The network's weights for `units` units and `width` inputs.

    Args:
        mean, std: of each input in training, (width,).
        input_weights: (3 * units, width): update gate, reset gate, candidate state.
        recurrent_weights: (3 * units, units), in the same order.
        bias: (3 * units,).
        output_weights: (classes, units); skip_weights: from inputs to scores, (classes, width).
        output_bias: (classes,).
    """

    mean: FloatArray
    std: FloatArray
    input_weights: FloatArray
    recurrent_weights: FloatArray
    bias: FloatArray
    output_weights: FloatArray
    skip_weights: FloatArray
    output_bias: FloatArray

    @property
    def units(self) -> int:
        """Size of the hidden state of each column."""
        return int(self.recurrent_weights.shape[1])

    def each(self, name: str, values: FloatArray) -> FloatArray:
        """Return a matrix of weights applied to every column."""
        out: FloatArray = getattr(self, name) @ values
        return out

    def wide(self, name: str) -> FloatArray:
        """Return a vector of weights, to be broadcast over the columns."""
        out: FloatArray = getattr(self, name)[:, None]
        return out


class Pair(Gated):
    """Two networks of one size in one pass: the second reads the last column, the first all others."""

    def __init__(self, first: Recurrent, last: Recurrent, columns: int) -> None:
        """Lay both out over `columns` columns."""
        self._first, self._last = first, last
        self._wide = {
            name: np.concatenate([first.wide(name)] * (columns - 1) + [last.wide(name)], axis=1)
            for name in ("mean", "std", "bias", "output_bias")
        }

    def each(self, name: str, values: FloatArray) -> FloatArray:
        """Return the matrix of each network applied to its columns."""
        out = self._first.each(name, values)
        out[:, -1] = getattr(self._last, name) @ values[:, -1]
        return out

    def wide(self, name: str) -> FloatArray:
        """Return the vectors of both networks, (n, columns)."""
        return self._wide[name]
