"""GET /api/market-regime.php."""

from __future__ import annotations

from pydantic import Field

from generator.catalog.words import MarketMode, MarketState, Status
from generator.contract import envelope
from generator.contract.base import Body, absent
from generator.contract.regime import Regime


class SourceBlock(Body):
    """Where the market data of the answer come from."""

    name: str = Field(description="Name of the source.")
    kind: str = Field(description="Kind of price, e.g. venue_mid or recorded_close.")
    mode: str = Field(description=envelope.MODE)
    as_of: str | None = Field(
        description="Market time of the newest datum, ISO 8601 UTC; null when no source answered."
    )
    assets_verified: int = Field(description="Assets with a fresh price.")
    assets_total: int = Field(description="Assets that the service reads.")


class RichResponse(envelope.FreeResponse):
    """The envelope that market-regime and main-brain share."""

    product_id: str = Field(description="Catalogue id of the product.")
    schema_version: str = Field(description="Semantic version of the schema.")
    status: Status = Field(description=envelope.STATUS)
    purpose: str = Field(description="What the resource is for.")
    endpoint_role: envelope.EndpointRole = Field(description="What part the resource plays in the service.")
    agent_guidance: envelope.AgentGuidance = Field(description="When an agent should read it.")
    usage_characteristics: envelope.UsageCharacteristics = Field(description="How the resource behaves for a client.")
    source: SourceBlock = Field(description="Where the market data come from.")
    summary: str = Field(description="The reading in one or two sentences.")
    limitations: tuple[str, ...] = Field(description=envelope.LIMITATIONS)
    developer_resources: envelope.DeveloperResources = Field(description="Machine-readable descriptions and docs.")
    expanded_access: envelope.ExpandedAccess = Field(description="The paid counterpart and its price.")
    related_resources: dict[str, str] = Field(description="Other resources: name to path.")
    truth_statement: str = Field(description=envelope.TRUTH)
    disclaimer: str = Field(description=envelope.EDUCATIONAL)
    updated: str = Field(description=envelope.UPDATED)
    updated_utc: str = Field(description=envelope.UPDATED)


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
