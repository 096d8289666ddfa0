"""Say the regime's chances as often as they come true: a temperature that follows how clear the market has been.

The network was taught on markets of all kinds. On one whose regimes stand far apart it doubts too much, on one whose
regimes lie close together too little, and it cannot know which it reads. How sure it was over the last week shows which.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.smoothing import clipped
from generator.market.bars import FloatArray

USUAL: Final = 0.7  # mean of the highest chance on the markets that taught
KEEP: Final = 0.5 ** (1.0 / (7 * 48))  # of the clarity each half hour: a half-life of a week
_COLDEST, _HOTTEST = 0.5, 2.0
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature is exp(level + slope x (clarity - usual)), between 0.5 and 2."""

    level: float = 0.0  # of the temperature on a market as clear as usual
    slope: float = 0.0  # how it follows the clarity, the mean of the highest chance over about a week


PLAIN: Final = Calibration()


def temperature(level: FloatArray | float, slope: FloatArray | float, clarity: FloatArray) -> FloatArray:
    """Return the temperature of each column."""
    return clipped(np.exp(level + slope * (clarity - USUAL)), _COLDEST, _HOTTEST)


def tempered(chances: FloatArray, heat: FloatArray) -> FloatArray:
    """Return the chances, (4, ...), made bolder by a temperature below 1 and more doubtful by one above."""
    scores: FloatArray = np.log(np.maximum(chances, _TINY))
    scores /= heat
    return softmax(scores)


def softmax(scores: FloatArray) -> FloatArray:
    """Return chances from scores, (classes, ...); the array itself, changed in place."""
    scores -= np.maximum.reduce(scores)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores)
    return scores
