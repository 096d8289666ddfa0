"""GET /api/main-brain.php, and GET /api/x402-main-brain.php once paid."""

from pydantic import Field

from generator.catalog.words import Bias, ConfidenceKind, MarketMode, MarketState, Prediction
from generator.contract.base import Body
from generator.contract.envelope import RichResponse
from generator.contract.paid import RANGES, EvidenceBlock, MoveRange, PaidResponse
from generator.contract.regime import MarketContext
from generator.contract.scores import KIND, Performance, Probabilities, TrackRecord


class Brain(Body):
    """The brain's overall state."""

    direction: Bias | None = Field(description="The word of most assets, FLAT on a tie; null without a reading.")
    confidence: float | None = Field(description="Share of assets with that word, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.SHARE_OF_ASSETS, description=KIND)
    agreement_percent: float | None = Field(description="Agreement between families of evidence, percent 0..100.")
    coverage_percent: float | None = Field(description="Families of evidence present, percent 0..100.")
    evidence_for: int | None = Field(
        description="Facts that support the assets' biases; one about the whole market counts once."
    )
    evidence_against: int | None = Field(description="Facts that speak against them, counted likewise.")
    evidence_missing: int | None = Field(description="Facts that could not be read, counted likewise.")


class MarketStateSummary(Body):
    """Mode and state of the market in words."""

    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    summary: str = Field(description="The same in one sentence.")


class CoinSnapshot(Body):
    """One asset in short."""

    asset: str = Field(description="Asset symbol.")
    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    confidence: float | None = Field(description="Chance of the shown class over 60 minutes, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.CLASS_PROBABILITY, description=KIND)
    probabilities: Probabilities | None = Field(description="Chances of the three outcomes; null without a forecast.")
    base_rates: Probabilities | None = Field(
        description="How often each outcome came up in the past, the comparison; null without a forecast."
    )
    ranges: dict[str, MoveRange] | None = Field(description=RANGES)
    summary: str | None = Field(description="The asset in words.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")
    price_source: str | None = Field(description="Venues whose median mid is the price.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class MainBrainResponse(RichResponse):
    """The brain's public state and aggregate performance."""

    brain: Brain = Field(description="The brain's overall state.")
    market_context: MarketContext = Field(description="The regime in short.")
    market_state: MarketStateSummary = Field(description="Mode and state in words.")
    coins: dict[str, CoinSnapshot] = Field(description="Asset symbol to its snapshot.")
    public_performance: Performance = Field(description="How resolved hourly forecasts turned out.")
    educational_only: bool = Field(description="Always true.")


class BrainSummary(Body):
    """The brain's overall state."""

    text: str = Field(description="The reading in words.")
    direction: Bias | None = Field(description="The word of most assets, FLAT on a tie; null without a reading.")
    confidence: float | None = Field(description="Share of assets with that word, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.SHARE_OF_ASSETS, description=KIND)
    agreement_percent: float | None = Field(description="Agreement between families of evidence, percent 0..100.")
    coverage_percent: float | None = Field(description="Families of evidence present, percent 0..100.")
    biases: dict[str, int] = Field(description="Bias word to the number of assets that have it.")


class AssetDirection(Body):
    """One asset's direction with its chances and evidence."""

    asset: str = Field(description="Asset symbol.")
    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    prediction: Prediction | None = Field(description="The same as a forecast word; NEUTRAL without a forecast.")
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    confidence: float | None = Field(description="Chance of the shown class, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.CLASS_PROBABILITY, description=KIND)
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")
    probabilities: Probabilities | None = Field(description="Chances of the three outcomes.")
    base_rates: Probabilities | None = Field(description="How often each outcome came up before; the comparison.")
    edge_percent: float | None = Field(description="Chance of the shown class minus its base rate, percentage points.")
    ranges: dict[str, MoveRange] | None = Field(description=RANGES)
    band_bps: float | None = Field(description="A move within this many basis points counts as neutral.")
    agreement_percent: float | None = Field(description="Agreement between families of evidence, percent 0..100.")
    coverage_percent: float | None = Field(description="Families of evidence present, percent 0..100.")
    evidence: EvidenceBlock = Field(description="The evidence in words.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class X402MainBrainPaidResponse(PaidResponse):
    """The brain's directions with chances and evidence."""

    summary: BrainSummary = Field(description="The brain's overall state.")
    assets: dict[str, AssetDirection] = Field(description="Asset symbol to its direction.")
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")
