"""GET /api/x402-market-regime.php, once paid."""

from __future__ import annotations

from pydantic import Field

from generator.catalog.words import MarketMode, MarketState
from generator.contract.paid import AssetRegime, Change, PaidResponse
from generator.contract.regime import Regime


class X402PaidResponse(PaidResponse):
    """The market regime in full."""

    market_mode: MarketMode | None = Field(description="The regime in one word.")
    market_state: MarketState | None = Field(description="How calm conditions are. No state predicts a gain.")
    summary: str | None = Field(description="The reading in words.")
    confidence: float | None = Field(description="Posterior of the shown label, percent 0..100.")
    risk_score: float | None = Field(description="Expected volatility against the last week, 0..100.")
    source: str = Field(description="Where the market data come from.")
    regime: Regime = Field(description="The market's regime.")
    assets: dict[str, AssetRegime] = Field(description="Asset symbol to its own regime.")
    what_changed: tuple[Change, ...] = Field(description="What changed over the last 24 hours.")
    risk_drivers: tuple[str, ...] = Field(description="What drives risk now, in words.")
