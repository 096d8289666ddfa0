"""A forecast of one asset and the word shown for it."""

from dataclasses import dataclass
from typing import Final

from generator.catalog.words import Prediction

EDGE: Final = 0.02  # how far above its base rate a class must be to be shown


@dataclass(frozen=True, slots=True)
class Probabilities:
    """Chances of the three outcomes over a horizon; they sum to 1."""

    down: float
    neutral: float
    up: float

    def of(self, word: Prediction) -> float:
        """Return the chance of one outcome."""
        if word is Prediction.NEUTRAL:
            return self.neutral
        return self.up if word is Prediction.BULLISH else self.down


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast of one asset over one horizon.

    Args:
        probabilities: chances of down, neutral, up; neutral is |move| <= band.
        base_rate: the causal base rates of the three, which the forecast is judged against.
        prediction: the likeliest class if it is at least 0.02 above its base rate, else NEUTRAL; on data in doubt NEUTRAL.
        band_bps: half-width of the neutral band, 0.4307 x sigma of the horizon, in basis points.
    """

    asset: str
    horizon_minutes: int
    probabilities: Probabilities
    base_rate: Probabilities
    prediction: Prediction
    band_bps: float

    @property
    def confidence(self) -> float:
        """Chance of the shown class, 0..1."""
        return self.probabilities.of(self.prediction)


def forecast_of(asset: str, minutes: int, chance: Probabilities, base: Probabilities, band_bps: float) -> Forecast:
    """Return a forecast with its word: the likeliest class if it is clearly above its base rate, else NEUTRAL."""
    best, usual, word = chance.neutral, base.neutral, Prediction.NEUTRAL
    if chance.up > max(best, chance.down):
        best, usual, word = chance.up, base.up, Prediction.BULLISH
    elif chance.down > best:
        best, usual, word = chance.down, base.down, Prediction.BEARISH
    shown = word if best >= usual + EDGE else Prediction.NEUTRAL
    return Forecast(asset, minutes, chance, base, shown, band_bps)
