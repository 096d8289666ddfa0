"""Chances of the outcomes of a forecast, 0..1."""

from dataclasses import dataclass
from typing import NamedTuple

from generator.catalog.words import Prediction
from generator.values.published import PUBLISHED


@dataclass(frozen=True, slots=True)
class Probabilities:
    """Chances of the three outcomes of a forecast."""

    __pydantic_config__ = PUBLISHED

    # They sum to 1; published with four decimals.
    down: float
    """Chance of a fall of more than a small move, 0..1."""
    neutral: float
    """Chance of a small move, 0..1."""
    up: float
    """Chance of a rise of more than a small move, 0..1."""

    def of(self, word: Prediction) -> float:
        """Return the chance of one outcome.

        >>> Probabilities(down=0.30, neutral=0.45, up=0.25).of(Prediction.BEARISH)
        0.3
        """
        if word is Prediction.BULLISH:
            return self.up
        if word is Prediction.BEARISH:
            return self.down
        return self.neutral


class MoveChance(NamedTuple):
    """The chance that the price at the end lies outside the band round the price at the start, and its base rate."""

    chance: float
    base_rate: float


class SideChances(NamedTuple):
    """Chances of a move beyond a level, each rounded by itself; 0.001 is that or less, 0.999 that or more."""

    above: float  # of a rise beyond it, 0..1
    below: float  # of a fall beyond it, 0..1
    either: float  # of one or the other, 0..1

    @property
    def three(self) -> tuple[float, float, float]:
        """The chances of a rise, of a fall, and of one or the other."""
        return (self.above, self.below, self.either)
