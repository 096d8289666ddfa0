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
    """The network's weights for `units` units and `width` inputs; features, hidden states and scores are columns.

    Several moments can be evaluated together, on an axis before: each is a product of its own, as in a stream.
    """

    mean: FloatArray  # of each input in training, (width,)
    std: FloatArray  # likewise
    input_weights: FloatArray  # (3 * units, width): update gate, reset gate, candidate state
    recurrent_weights: FloatArray  # (3 * units, units), in the same order
    bias: FloatArray  # (3 * units,)
    output_weights: FloatArray  # (classes, units)
    skip_weights: FloatArray  # from inputs to scores, (classes, width)
    output_bias: FloatArray  # (classes,)

    @property
    def units(self) -> int:
        """Size of the hidden state of each column."""
        return int(self.recurrent_weights.shape[1])

    def step(self, hidden: FloatArray, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the hidden state after these features, (..., units, columns), and the scores of the classes.

        Args:
            hidden: the state before, (..., units, columns).
            features: raw, (..., width, columns).
        """
        units = self.units
        scaled = clipped((features - self.mean[:, None]) / self.std[:, None], -INPUT_LIMIT, INPUT_LIMIT)
        from_input = self.input_weights @ scaled + self.bias[:, None]
        from_state = self.recurrent_weights @ hidden

        both = from_input[..., : 2 * units, :] + from_state[..., : 2 * units, :]
        gates = 1.0 / (1.0 + np.exp(-both))
        update = gates[..., :units, :]
        reset = gates[..., units:, :]
        candidate = np.tanh(from_input[..., 2 * units :, :] + reset * from_state[..., 2 * units :, :])
        hidden = update * hidden + (1.0 - update) * candidate

        scores: FloatArray = self.output_weights @ hidden + self.skip_weights @ scaled + self.output_bias[:, None]
        return hidden, scores
