"""A small gated recurrent unit, GRU (Cho et al. 2014): a forward filter that was learned instead of assumed.

Its hidden state passes from half hour to half hour, so it can only know the past.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.smoothing import clipped
from generator.market.bars import FloatArray

INPUT_LIMIT: Final = 3.0  # standard deviations; inputs beyond it, unlike any in training, are clipped


@dataclass(frozen=True, slots=True)
class Recurrent:
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

    def scaled(self, features: FloatArray) -> FloatArray:
        """Return the features (width, columns) standardised and clipped."""
        out: FloatArray = clipped((features - self.mean[:, None]) / self.std[:, None], -INPUT_LIMIT, INPUT_LIMIT)
        return out

    def step(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the hidden state after this input; both (units, columns)."""
        units = self.units
        from_input, from_state = self.input_weights @ scaled + self.bias[:, None], self.recurrent_weights @ hidden
        gates = 1.0 / (1.0 + np.exp(-(from_input[: 2 * units] + from_state[: 2 * units])))
        update, reset = gates[:units], gates[units:]
        candidate = np.tanh(from_input[2 * units :] + reset * from_state[2 * units :])
        out: FloatArray = update * hidden + (1.0 - update) * candidate
        return out

    def scores(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the scores of the classes, (classes, columns)."""
        out: FloatArray = self.output_weights @ hidden + self.skip_weights @ scaled + self.output_bias[:, None]
        return out


class Pair:
    """Two networks of one size in one pass: the second reads the last column, the first all others.

    Elementwise steps run over all columns at once, which takes little more than half the time.
    """

    def __init__(self, first: Recurrent, last: Recurrent, columns: int) -> None:
        """Lay both out over `columns` columns."""
        self._weights = {
            name: (getattr(first, name), getattr(last, name))
            for name in ("input_weights", "recurrent_weights", "output_weights", "skip_weights")
        }
        self._mean, self._std, self._bias, self._output_bias = (
            np.concatenate((np.repeat(one[:, None], columns - 1, axis=1), other[:, None]), axis=1)
            for one, other in zip(_flat(first), _flat(last), strict=True)
        )

    def scaled(self, features: FloatArray) -> FloatArray:
        """Return the features (width, columns) standardised and clipped."""
        out: FloatArray = features - self._mean
        out /= self._std
        return np.minimum(np.maximum(out, -INPUT_LIMIT, out=out), INPUT_LIMIT, out=out)

    def step(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the hidden state after this input; both (units, columns)."""
        units = len(hidden)
        from_input = self._each("input_weights", scaled) + self._bias
        from_state = self._each("recurrent_weights", hidden)
        gates = from_input[: 2 * units] + from_state[: 2 * units]
        np.exp(np.negative(gates, out=gates), out=gates)
        gates += 1.0
        np.divide(1.0, gates, out=gates)
        update, candidate = gates[:units], gates[units:]  # the reset gate becomes the candidate in place
        candidate *= from_state[2 * units :]
        candidate += from_input[2 * units :]
        np.tanh(candidate, out=candidate)
        out: FloatArray = update * hidden
        np.subtract(1.0, update, out=update)
        update *= candidate
        out += update
        return out

    def scores(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the scores of the classes, (classes, columns)."""
        out = self._each("output_weights", hidden)
        out += self._each("skip_weights", scaled)
        out += self._output_bias
        return out

    def _each(self, name: str, values: FloatArray) -> FloatArray:
        """Return one matrix of each network applied to its columns."""
        first, last = self._weights[name]
        out: FloatArray = first.dot(values)
        out[:, -1] = last.dot(values[:, -1])
        return out


def _flat(network: Recurrent) -> tuple[FloatArray, ...]:
    return network.mean, network.std, network.bias, network.output_bias
