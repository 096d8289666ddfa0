"""GET /api/liquidity-lite.php."""

from pydantic import Field

from generator.catalog.words import Bias, ConfidenceKind, LiquidityContext, MarketStructure, Status
from generator.contract import envelope
from generator.contract.forecast import Quoted
from generator.contract.scores import KIND


class LiquidityLiteAsset(Quoted):
    """Liquidity and structure of one asset."""

    status: Status | None = Field(description="How complete the inputs for this asset are.")
    liquidity_context: LiquidityContext | None = Field(
        description="How deep the order book is against its own week, cleared of most of volatility; tested on simulated "
        "order books only."
    )
    market_structure: MarketStructure | None = Field(description="Shape of the last days.")
    bias: Bias | None = Field(description="UP, DOWN or FLAT; null without a forecast.")
    confidence: float | None = Field(description="Chance of the bias's class over 60 minutes, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.CLASS_PROBABILITY, description=KIND)
    spread_bps: float | None = Field(description="Gap between best bid and best ask, basis points of the mid.")
    depth_1pct_usd: float | None = Field(description="Resting within 1% of the mid, both sides, US dollars.")
    imbalance_percent: float | None = Field(
        description="At this moment, within 1% of the mid: -100 (asks only) .. 100 (bids only). The note on bids and asks "
        "is about the last half hour."
    )
    venues: tuple[str, ...] = Field(description="Venues behind the book figures.")
    notes: tuple[str, ...] | None = Field(description="The figures in words.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class LiquidityLiteResponse(envelope.FreeResponse):
    """Lightweight liquidity and structure context."""

    product_id: str = Field(description="Catalogue id of the product.")
    ok: bool = Field(description="Same as success.")
    description: str = Field(description="What the resource is for.")
    status: Status = Field(description=envelope.STATUS)
    source_mode: str = Field(description=envelope.MODE)
    source: str = Field(description="Where the market data come from.")
    legacy_endpoint: str | None = Field(description="An older path of this resource; null, there is none.")
    engine: str | None = Field(description="What made the reading.")
    provider: str | None = Field(description="Who publishes it.")
    generated_at: str | None = Field(description=envelope.UPDATED)
    updated_at: str | None = Field(description=envelope.UPDATED)
    updated_utc: str | None = Field(description=envelope.UPDATED)
    educational_only: bool = Field(description="Always true.")
    not_financial_advice: bool = Field(description="Always true.")
    asset_count: int | None = Field(description="Assets that the service reads.")
    assets_verified: int | None = Field(description="Assets with a fresh price.")
    assets_failed: int | None = Field(description="Assets without a fresh price.")
    assets: dict[str, LiquidityLiteAsset] = Field(description="Asset symbol to its liquidity.")
    upsell: envelope.ExpandedAccess | None = Field(description="The richer paid resource and its price.")
    limitations: tuple[str, ...] = Field(description=envelope.LIMITATIONS)
    truth_statement: str | None = Field(description=envelope.TRUTH)
    disclaimer: str = Field(description=envelope.EDUCATIONAL)
