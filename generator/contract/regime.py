"""GET /api/market-regime.php, GET /api/x402-market-regime.php once paid, and the regime object of other bodies."""

from pydantic import Field

from generator.catalog.words import ConfidenceKind, MarketMode, MarketState, RegimeLabel, Trend, VolatilityWord
from generator.contract.base import Body, absent
from generator.contract.envelope import Change, RichResponse
from generator.contract.forecast import Quoted
from generator.contract.paid import ExpectedMove, PaidResponse
from generator.contract.scores import KIND


class Reliability(Body):
    """How the regime confidence was checked. A label is never resolved, so it has no hit rate."""

    kind: str = Field(description="simulated: checked on simulated markets whose true regime is known.")
    report: str = Field(description="Where the check is described.")


class RegimeChances(Body):
    """Chances of the four regimes; they sum to 1."""

    risk_on: float = Field(description="Chance of risk_on, 0..1.")
    risk_off: float = Field(description="Chance of risk_off, 0..1.")
    range: float = Field(description="Chance of range, 0..1.")
    high_volatility: float = Field(description="Chance of high_volatility, 0..1.")


class BreadthCounts(Body):
    """How many assets rose and fell over the last day."""

    up: int = Field(description="Assets that rose by more than 0.1%.")
    down: int = Field(description="Assets that fell by more than 0.1%.")
    flat: int = Field(description="Assets that moved by 0.1% at most.")


class Regime(Body):
    """The kind of market there is now."""

    label: RegimeLabel = Field(description="The regime; unknown without a reading.")
    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    trend: Trend = Field(description="Direction of the last hours.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent 0..100.")
    counts: BreadthCounts | None = Field(description="Assets up, down and flat over the last day; null where unknown.")
    probabilities: RegimeChances | None = Field(description="Chances of the four regimes; null without a reading.")
    likeliest: RegimeLabel | None = Field(description="The regime with the highest chance; null without a reading.")
    confidence: float | None = Field(description="Posterior of the shown label, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.POSTERIOR, description=KIND)
    risk_score: float | None = Field(
        description="Rank of the volatility expected for the next hours within its last week, 0..100; no direction."
    )
    since: str | None = Field(
        description="Market time from which this label holds: the close of the first bar with it, ISO 8601 UTC."
    )
    dwell_minutes: int | None = Field(description="Minutes for which the label has held.")
    previous_mode: MarketMode | None = Field(description="Mode of the label before.")
    previous_label: RegimeLabel | None = Field(description="The label before; null where there was none.")
    as_of: str | None = Field(description="Market time at which the last bar read had closed; null without a reading.")
    reliability: Reliability = Field(description="How the confidence was checked.")


class MarketContext(Body):
    """The regime in short, next to the brain's state."""

    regime: RegimeLabel = Field(description="Regime label.")
    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent 0..100.")


class AssetRegime(Quoted):
    """One asset's own regime."""

    regime: RegimeLabel = Field(description="Its regime label; unknown without a reading.")
    mode: MarketMode = Field(description="The regime in one word.")
    confidence: float | None = Field(description="Posterior of the shown label, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.POSTERIOR, description=KIND)
    trend: Trend = Field(description="Direction of the last hours.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
    expected_move: ExpectedMove | None = Field(description="Expected size of moves; null without a reading.")
    same_as_market: bool | None = Field(description="Whether it is in the market's regime; null without a reading.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class MarketRegimeResponse(RichResponse):
    """Compact public regime context."""

    regime: Regime = Field(description="The kind of market there is now.")
    market_mode: MarketMode = Field(description="Repeats regime.mode.")
    market_state: MarketState = Field(description="Repeats regime.state.")
    confidence: float | None = Field(
        default=None,
        exclude_if=absent,
        description="Repeats regime.confidence, percent 0..100; left out while that is null.",
    )
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.POSTERIOR, description=KIND)


class X402PaidResponse(PaidResponse):
    """The market regime in full."""

    market_mode: MarketMode | None = Field(description="The regime in one word.")
    market_state: MarketState | None = Field(description="How calm conditions are. No state predicts a gain.")
    summary: str | None = Field(description="The reading in words.")
    confidence: float | None = Field(description="Posterior of the shown label, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.POSTERIOR, description=KIND)
    risk_score: float | None = Field(
        description="Rank of the volatility expected for the next hours within its last week, 0..100; no direction."
    )
    source: str = Field(description="Where the market data come from.")
    regime: Regime = Field(description="The market's regime.")
    assets: dict[str, AssetRegime] = Field(description="Asset symbol to its own regime.")
    what_changed: tuple[Change, ...] = Field(description="What changed over the last 24 hours.")
    risk_drivers: tuple[str, ...] = Field(description="What drives risk now, in words.")
