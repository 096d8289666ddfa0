"""Chances of the outcomes of a forecast, 0..1."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import Field

from generator.catalog.words import Prediction
from generator.values.published import PUBLISHED, is_false

Mark = Annotated[bool, Field(exclude_if=is_false)]


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


@dataclass(frozen=True, slots=True)
class SideChances:
    """Chances of a move beyond a level, 0.001 to 0.999, each rounded by itself."""

    __pydantic_config__ = PUBLISHED

    above: float
    """Chance of a rise beyond it, 0..1."""
    below: float
    """Chance of a fall beyond it, 0..1."""
    either: float
    """Chance of one or the other, 0..1."""
    at_most: Mark = False
    """Only where true: a chance that reads 0.001 is less."""
    at_least: Mark = False
    """Only where true: a chance that reads 0.999 is more."""

    @property
    def three(self) -> tuple[float, float, float]:
        """The chances of a rise, of a fall, and of one or the other."""
        return (self.above, self.below, self.either)
