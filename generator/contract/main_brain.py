"""GET /api/main-brain.php, and GET /api/x402-main-brain.php once paid."""

from pydantic import Field

from generator.catalog.words import Bias, ConfidenceKind, MarketMode, MarketState, Prediction
from generator.contract.base import Body
from generator.contract.envelope import RichResponse
from generator.contract.forecast import Agreeing, Forecasted, Quoted, Weighed
from generator.contract.paid import EvidenceBlock, PaidResponse
from generator.contract.regime import MarketContext
from generator.contract.scores import KIND, Performance, TrackRecord


class Direction(Agreeing):
    """The word of most assets."""

    direction: Bias | None = Field(description="The word of most assets, FLAT on a tie; null without a reading.")
    confidence: float | None = Field(description="Share of assets with that word, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.SHARE_OF_ASSETS, description=KIND)


class Brain(Direction):
    """The brain's overall state."""

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


class CoinSnapshot(Forecasted, Quoted):
    """One asset in short."""

    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    summary: str | None = Field(description="The asset in words.")
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


class BrainSummary(Direction):
    """The brain's overall state."""

    text: str = Field(description="The reading in words.")
    biases: dict[str, int] = Field(description="Bias word to the number of assets that have it.")


class AssetDirection(Weighed):
    """One asset's direction with its chances and evidence."""

    asset: str = Field(description="Asset symbol.")
    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    prediction: Prediction | None = Field(description="The same as a forecast word; NEUTRAL without a forecast.")
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")
    edge_percent: float | None = Field(description="Chance of the shown class minus its base rate, percentage points.")
    evidence: EvidenceBlock = Field(description="The evidence in words.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class X402MainBrainPaidResponse(PaidResponse):
    """The brain's directions with chances and evidence."""

    summary: BrainSummary = Field(description="The brain's overall state.")
    assets: dict[str, AssetDirection] = Field(description="Asset symbol to its direction.")
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")
