"""A small gated recurrent network (Cho et al. 2014): a forward filter that was learned instead of assumed.

It carries what it remembers of each column from half hour to half hour, so it can only know the past.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.smoothing import clipped
from generator.market.values import FloatArray

REACH: Final = 3.0  # standard deviations; a market unlike any that taught the network must not carry it away


@dataclass(frozen=True, slots=True)
class Recurrent:
    """The network's weights for `units` units and `width` inputs.

    Args:
        centre, spread: of each input in training, (width,).
        inputs: (3 * units, width): keep gate, reset gate, proposal.
        carry: (3 * units, units).
        bias: (3 * units,).
        outputs: (classes, units); direct: (classes, width); rest: (classes,).
    """

    centre: FloatArray
    spread: FloatArray
    inputs: FloatArray
    carry: FloatArray
    bias: FloatArray
    outputs: FloatArray
    direct: FloatArray
    rest: FloatArray

    @property
    def units(self) -> int:
        """How many values it remembers of each column."""
        return int(self.carry.shape[1])

    def scaled(self, features: FloatArray) -> FloatArray:
        """Return the features (width, columns) as the network wants them."""
        out: FloatArray = clipped((features - self.centre[:, None]) / self.spread[:, None], -REACH, REACH)
        return out

    def step(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return what is remembered after this input; both (units, columns)."""
        units = self.units
        given, carried = self.inputs @ scaled + self.bias[:, None], self.carry @ hidden
        gates = 1.0 / (1.0 + np.exp(-(given[: 2 * units] + carried[: 2 * units])))
        keep = gates[:units]
        proposal = np.tanh(given[2 * units :] + gates[units:] * carried[2 * units :])
        out: FloatArray = keep * hidden + (1.0 - keep) * proposal
        return out

    def scores(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the scores of the classes, (classes, columns)."""
        out: FloatArray = self.outputs @ hidden + self.direct @ scaled + self.rest[:, None]
        return out


class Pair:
    """Two networks of one size side by side: the second reads the last column, the first all others.

    What is done number by number is done for all columns at once, which takes little more than half the time.
    """

    def __init__(self, first: Recurrent, last: Recurrent, columns: int) -> None:
        """Lay both out over `columns` columns."""
        self._parts = {
            name: (getattr(first, name), getattr(last, name)) for name in ("inputs", "carry", "outputs", "direct")
        }
        self._centre, self._spread, self._bias, self._rest = (
            np.concatenate((np.repeat(one[:, None], columns - 1, axis=1), other[:, None]), axis=1)
            for one, other in zip(_flat(first), _flat(last), strict=True)
        )

    def scaled(self, features: FloatArray) -> FloatArray:
        """Return the features (width, columns) as the networks want them."""
        out: FloatArray = features - self._centre
        out /= self._spread
        return np.minimum(np.maximum(out, -REACH, out=out), REACH, out=out)

    def step(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return what is remembered after this input; both (units, columns)."""
        units = len(hidden)
        given, carried = self._each("inputs", scaled) + self._bias, self._each("carry", hidden)
        gates = given[: 2 * units] + carried[: 2 * units]
        np.exp(np.negative(gates, out=gates), out=gates)
        gates += 1.0
        np.divide(1.0, gates, out=gates)
        keep, proposal = gates[:units], gates[units:]
        proposal *= carried[2 * units :]
        proposal += given[2 * units :]
        np.tanh(proposal, out=proposal)
        out: FloatArray = keep * hidden
        np.subtract(1.0, keep, out=keep)
        keep *= proposal
        out += keep
        return out

    def scores(self, hidden: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return the scores of the classes, (classes, columns)."""
        out = self._each("outputs", hidden)
        out += self._each("direct", scaled)
        out += self._rest
        return out

    def _each(self, part: str, values: FloatArray) -> FloatArray:
        """Return a part of each network applied to its columns."""
        first, last = self._parts[part]
        out: FloatArray = first.dot(values)
        out[:, -1] = last.dot(values[:, -1])
        return out


def _flat(network: Recurrent) -> tuple[FloatArray, ...]:
    """Return what is one number for each input, gate or class."""
    return network.centre, network.spread, network.bias, network.rest
