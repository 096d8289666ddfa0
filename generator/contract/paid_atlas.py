"""GET /api/x402-atlas.php, once paid."""

from pydantic import Field

from generator.catalog.words import (
    Bias,
    ConfidenceKind,
    MarketStructure,
    OverallState,
    OverallVote,
    RegimeLabel,
    Trend,
    VolatilityWord,
)
from generator.contract.base import Body
from generator.contract.derivatives import DerivativesAsset
from generator.contract.forecast import Agreeing, Quoted, Weighed
from generator.contract.liquidity_lite import LiquidityLiteAsset
from generator.contract.paid import ExpectedMove, PaidResponse, Scenario
from generator.contract.regime import Regime
from generator.contract.scores import KIND, TrackRecord


class AtlasAsset(Weighed, Quoted):
    """Everything read of one asset but for derivatives and liquidity."""

    regime: RegimeLabel = Field(description="Its own regime label.")
    trend: Trend = Field(description="Direction of the last hours.")
    structure: MarketStructure = Field(description="Shape of the last days.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
    expected_move: ExpectedMove | None = Field(description="Expected size of moves; null without a reading.")
    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class AtlasDerivatives(Body):
    """Derivatives over all assets."""

    overall_state: OverallState | None = Field(description="The state of most assets; null with fewer than three.")
    overall_vote: OverallVote | None = Field(description="The vote of most assets; null with fewer than three.")
    open_interest_usd: float | None = Field(description="Sum over the assets that have it, US dollars.")
    open_interest_assets: int = Field(description="Assets in that sum.")
    mean_rate_8h_percent: float | None = Field(description="Mean funding over the assets that have it, percent.")
    funding_assets: int = Field(description="Assets in that mean.")
    crowded: dict[str, str] = Field(description="Assets whose longs or shorts are crowded: symbol to state.")
    assets: dict[str, DerivativesAsset] = Field(description="Asset symbol to its derivatives pressure.")


class AtlasLiquidity(Body):
    """Liquidity over all assets."""

    depth_1pct_usd: float | None = Field(description="Sum over the assets that have it, US dollars.")
    depth_assets: int = Field(description="Assets in that sum.")
    thin: tuple[str, ...] = Field(description="Assets that are thin now.")
    deepest_first: tuple[str, ...] = Field(description="Assets with a known book, deepest first.")
    assets: dict[str, LiquidityLiteAsset] = Field(description="Asset symbol to its liquidity.")


class CrossAsset(Body):
    """How the assets move against each other."""

    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent.")
    assets_compared: int = Field(description="Assets with a known change over 24 hours.")
    mean_change_24h: float | None = Field(description="Mean change over 24 hours, percent.")
    dispersion_24h: float | None = Field(description="Standard deviation of the changes, percentage points.")
    strongest: str | None = Field(description="Asset with the highest change over 24 hours.")
    weakest: str | None = Field(description="Asset with the lowest change over 24 hours.")
    biases: dict[str, int] = Field(description="Bias word to the number of assets that have it.")
    same_regime: int | None = Field(description="Assets in the market's regime; null without a reading.")
    note: str = Field(description="The same in words.")


class IntelligenceLayer(Body):
    """Everything the brain reads, structured."""

    regime: Regime = Field(description="The market's regime.")
    assets: dict[str, AtlasAsset] = Field(description="Asset symbol to what is read of it.")
    derivatives: AtlasDerivatives = Field(description="Derivatives pressure.")
    liquidity: AtlasLiquidity = Field(description="Liquidity.")
    cross_asset: CrossAsset = Field(description="How the assets move against each other.")
    scenarios: tuple[Scenario, ...] = Field(description="Ways in which the next hours may go.")
    track_record: TrackRecord = Field(description="How resolved hourly forecasts turned out.")


class AtlasConfidence(Agreeing):
    """Two confidences of different kinds, never mixed."""

    regime: float | None = Field(description="Posterior of the regime label, percent 0..100.")
    regime_kind: ConfidenceKind = Field(default=ConfidenceKind.POSTERIOR, description=KIND)
    prediction: float | None = Field(description="Share of assets with the brain's overall word, percent 0..100.")
    prediction_kind: ConfidenceKind = Field(default=ConfidenceKind.SHARE_OF_ASSETS, description=KIND)


class UsedEvidence(Body):
    """Which evidence the report rests on, in words."""

    used: tuple[str, ...] = Field(description="What was read.")
    missing: tuple[str, ...] = Field(description="What could not be read.")
    disagreeing: tuple[str, ...] = Field(description="What speaks against the shown direction.")


class FamilyEvidence(Body):
    """One family of evidence and the assets that it was found for."""

    family: str = Field(description="trend, momentum, volatility, breadth, liquidity or derivatives.")
    assets: tuple[str, ...] = Field(description="Asset symbols.")


class AtlasEvidence(Body):
    """Which evidence the reading rests on."""

    used: tuple[FamilyEvidence, ...] = Field(description="What was read.")
    missing: tuple[FamilyEvidence, ...] = Field(description="What could not be read.")
    disagreeing: tuple[FamilyEvidence, ...] = Field(description="What speaks against the shown direction.")


class X402AtlasPaidResponse(PaidResponse):
    """The structured ATLAS."""

    schema_version: str = Field(description="Public schema version; evolving.")
    intelligence_layer: IntelligenceLayer = Field(description="Everything the brain reads, structured.")
    summary: str | None = Field(description="The reading in words.")
    confidence: AtlasConfidence = Field(description="Two confidences of different kinds, never mixed.")
    evidence: AtlasEvidence = Field(description="Which evidence the reading rests on.")
