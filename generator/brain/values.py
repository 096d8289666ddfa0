"""What the brain says. Probabilities are 0..1; times are market UTC ms; unknown is None."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from generator.catalog.words import (
    Bias,
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    MarketStructure,
    Prediction,
    RegimeLabel,
    Trend,
    VolatilityWord,
)


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


class Side(StrEnum):
    """How one family of evidence bears on the shown direction."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One family of evidence in plain words (no weights, thresholds or raw features)."""

    family: str  # trend, momentum, volatility, breadth, liquidity, derivatives
    side: Side
    text: str


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


@dataclass(frozen=True, slots=True)
class VolatilityOutlook:
    """Expected sigma of log returns over the horizon, as a fraction (0.004 = 0.4 %)."""

    m15: float
    h1: float
    h4: float


@dataclass(frozen=True, slots=True)
class RegimeReading:
    """The market regime now, by the forward filter."""

    label: RegimeLabel
    posterior: dict[RegimeLabel, float]  # over risk_on, risk_off, range, high_volatility; sums to 1
    confidence: float  # posterior of the shown label
    since_ms: int  # close of the first bar with the label
    dwell_minutes: int
    previous: RegimeLabel | None
    trend: Trend
    volatility: VolatilityWord
    breadth: float | None  # share of assets that rose over the last day
    risk_score: float | None  # 0..100, from the volatility outlook against the last week
    drivers: tuple[str, ...]  # risk drivers in words

    @property
    def likelier(self) -> RegimeLabel | None:
        """The regime that has a higher chance than the shown one, None where the shown one leads or none is shown.

        A label moves only when another leads clearly, so this is what a fading one looks like.
        """
        best = max(self.posterior, key=lambda label: self.posterior[label])
        shown = self.posterior.get(self.label)
        return None if shown is None or self.posterior[best] <= shown else best


@dataclass(frozen=True, slots=True)
class AssetReading:
    """One asset now."""

    asset: str
    bias: Bias
    forecast: Forecast | None  # 60 minutes; None while there is too little history
    regime: RegimeLabel
    regime_confidence: float | None
    trend: Trend
    structure: MarketStructure
    liquidity: LiquidityContext
    derivatives: DerivativesState
    vote: DerivativesVote
    derivatives_confidence: float | None  # 0..1
    volatility: VolatilityWord
    outlook: VolatilityOutlook | None
    agreement: float | None  # between families of evidence, 0..1
    coverage: float  # families present, 0..1
    evidence: tuple[Evidence, ...]
    summary: str
    limitations: tuple[str, ...] = ()
    book_lean: int | None = None  # of the order book lately: 1 to bids, 0 even, -1 to asks


@dataclass(frozen=True, slots=True)
class FuturesReading:
    """The derivatives words of one asset where nothing else can be read (60-minute bars)."""

    state: DerivativesState
    vote: DerivativesVote
    confidence: float | None  # 0..1
    text: str


@dataclass(frozen=True, slots=True)
class LearningReading:
    """What the online part has learned from resolved outcomes; counts and scores only."""

    resolved: int
    status: str  # learning | idle


@dataclass(frozen=True, slots=True)
class BrainReading:
    """Everything the brain says after one closed bar.

    Args:
        t_ms: open time of the last closed bar.
        regime: the market's regime.
        outlook: market volatility, geometric mean over assets.
        direction: the word of most assets; FLAT on a tie.
        confidence: mean chance of the shown class over the assets with a forecast.
        assets: every asset, also those without data.
        summary: one or two plain sentences.
        limitations: what is missing.
    """

    t_ms: int
    bars_seen: int
    regime: RegimeReading
    outlook: VolatilityOutlook | None
    direction: Bias
    confidence: float | None
    agreement: float | None
    coverage: float
    assets: dict[str, AssetReading]
    learning: LearningReading
    summary: str
    limitations: tuple[str, ...] = ()
