"""Say the regime's chances as often as they come true: a temperature that follows how clear the market has been.

The network was taught on markets of all kinds. On one whose regimes are far apart it doubts too much, on one whose
regimes are close together too little, and it cannot know which it reads. How sure it was over the last week shows
which.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.smoothing import clipped
from generator.market.bars import FloatArray

USUAL: Final = 0.7  # mean of the highest chance on the markets that taught
KEEP: Final = 0.5 ** (1.0 / (7 * 48))  # of the clarity each half hour: a half-life of a week
_COLDEST: Final = 0.5
_HOTTEST: Final = 2.0
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature is exp(level + slope x (clarity - usual)), between 0.5 and 2."""

    level: float = 0.0  # of the temperature on a market as clear as usual
    slope: float = 0.0  # how it follows the clarity, the mean of the highest chance over about a week


PLAIN: Final = Calibration()


def temperature(level: FloatArray | float, slope: FloatArray | float, clarity: FloatArray) -> FloatArray:
    """Return the temperature of each column.

    >>> temperature(0.0, -1.0, np.array([0.5, USUAL, 0.9])).round(2).tolist()
    [1.22, 1.0, 0.82]
    """
    return clipped(np.exp(level + slope * (clarity - USUAL)), _COLDEST, _HOTTEST)


def tempered(chances: FloatArray, heat: FloatArray) -> FloatArray:
    """Return the chances, (4, ...), made bolder by a temperature below 1 and more doubtful by one above.

    >>> chances = np.array([0.7, 0.1, 0.1, 0.1])
    >>> [float(tempered(chances, np.array(heat))[0].round(2)) for heat in (0.5, 1.0, 2.0)]
    [0.94, 0.7, 0.47]
    """
    scores: FloatArray = np.log(np.maximum(chances, _TINY))
    scores /= heat
    return softmax(scores)


def softmax(scores: FloatArray) -> FloatArray:
    """Return chances from scores, (classes, ...); the array itself, changed in place.

    >>> softmax(np.log([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    scores -= np.maximum.reduce(scores)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores)
    return scores
