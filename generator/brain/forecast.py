"""A forecast of one asset and the word shown for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from generator.catalog.words import Prediction
from generator.market.bars import FloatArray

WORDS: Final = {1: Prediction.BULLISH, 0: Prediction.NEUTRAL, -1: Prediction.BEARISH}
EDGE: Final = 0.02  # how far above its base rate a direction must be to be shown
KEEP_BARS: Final = 3


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


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast of one asset over one horizon."""

    asset: str
    horizon_minutes: int
    probabilities: OutcomeChances  # chances of down, neutral, up; neutral is |move| <= band
    base_rate: OutcomeChances  # the causal base rates of the three, which the forecast is judged against
    prediction: Prediction  # a direction only as `words` says, else NEUTRAL; on data in doubt NEUTRAL
    band_bps: float  # half-width of the neutral band, from the week's moves over the horizon, in basis points

    @property
    def confidence(self) -> float:
        """Chance of the shown class, 0..1."""
        return self.probabilities.of(self.prediction)


def words(chance: FloatArray, base: FloatArray, balance: Callable[[], FloatArray]) -> FloatArray:
    """Return 1 up, 0 neutral or -1 down for each asset.

    A direction is shown only if its class is the likeliest, clearly above its base rate, and more families of evidence
    point that way than the other.

    Args:
        chance, base: of down, neutral, up, (3, assets).
        balance: gives the families that point up less those that point down, (assets,); asked only where it matters.

    >>> base = np.array([[0.33], [0.34], [0.33]])
    >>> rising = np.array([[0.28], [0.32], [0.40]])
    >>> words(rising, base, balance=lambda: np.array([2.0])).tolist()
    [1.0]
    >>> words(rising, base, balance=lambda: np.array([-1.0])).tolist()
    [0.0]
    """
    best = chance.argmax(axis=0)
    edge = np.take_along_axis(chance - base, best[None], axis=0)[0]
    way = np.where(edge >= EDGE, best - 1.0, 0.0)
    if not np.count_nonzero(way):
        return way
    return np.where(way * balance() > 0.0, way, 0.0)


class Shown:
    """The words shown for the next hour: a direction, once shown, is kept for a quarter of an hour."""

    STATE: ClassVar[tuple[str, ...]] = ("word", "bars")

    def __init__(self, assets: int) -> None:
        """Start with none."""
        self.word = np.zeros(assets)
        self.bars = np.zeros(assets)  # since the word was first shown

    def update(self, chance: FloatArray, fresh: FloatArray) -> None:
        """Take one bar's chances and the words that they would have alone."""
        is_young = (self.word != 0.0) & (self.bars < KEEP_BARS)
        is_likeliest = chance.argmax(axis=0) - 1.0 == self.word
        word = np.where(is_young & is_likeliest, self.word, fresh)
        self.bars = np.where(word == self.word, self.bars + 1.0, 1.0)
        self.word = word
