"""Numbers as they are published. Outcomes and scores are computed from these, so a reader gets the same."""

from typing import Final

from generator.brain.forecast import Probabilities
from generator.catalog import formats
from generator.catalog.words import Prediction

Triple = tuple[float, float, float]
ORDER: Final = (Prediction.BEARISH, Prediction.NEUTRAL, Prediction.BULLISH)  # of every triple: down, neutral, up


def published_triple(chances: Probabilities) -> Triple:
    """Round three chances to 4 decimals that sum to exactly 1 (largest remainder).

    Raises:
        ValueError: they are not chances (negative, not finite, or their sum is not 1 within 0.001).
    """
    return formats.chances(chances.down, chances.neutral, chances.up)


def chance_of(chances: Triple, word: Prediction) -> float:
    """Return the chance that a triple gives to one word."""
    return chances[ORDER.index(word)]


def confidence_percent(chances: Triple, word: Prediction) -> float:
    """Return the chance of the shown word in percent, one decimal."""
    return round(100 * chance_of(chances, word), 1)
