"""Chances of the outcomes of a forecast, 0..1."""

from dataclasses import dataclass
from typing import NamedTuple

from generator.catalog.words import Prediction


@dataclass(frozen=True, slots=True)
class OutcomeChances:
    """Chances of the three outcomes over a horizon; they sum to 1.

    >>> OutcomeChances(down=0.30, neutral=0.45, up=0.25).of(Prediction.BEARISH)
    0.3
    """

    down: float
    neutral: float
    up: float

    def of(self, word: Prediction) -> float:
        """Return the chance of one outcome."""
        if word is Prediction.BULLISH:
            return self.up
        if word is Prediction.BEARISH:
            return self.down
        return self.neutral


class MoveChance(NamedTuple):
    """The chance that the price at the end lies outside the band round the price at the start, and its base rate."""

    chance: float
    base_rate: float
