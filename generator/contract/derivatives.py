"""GET /api/derivatives.php."""

from pydantic import Field

from generator.catalog.words import ConfidenceKind, DerivativesState, DerivativesVote, OverallState, OverallVote, Status
from generator.contract import envelope
from generator.contract.base import Body
from generator.contract.scores import KIND


class Funding(Body):
    """Perpetual funding, mean over venues."""

    rate_8h_percent: float = Field(description="Paid by longs to shorts every 8 hours, percent, four decimals.")
    annualised_percent: float = Field(description="The same over a year without compounding, percent, two decimals.")
    venues: tuple[str, ...] = Field(description="Venues behind the mean.")
    as_of: str = Field(description="Market time of the newest rate, ISO 8601 UTC.")


class OpenInterest(Body):
    """Perpetual open interest, summed over venues."""

    contracts: float | None = Field(
        description="Open contracts, counted in coins, 6 significant digits. Each has one long and one short."
    )
    contracts_change_24h_percent: float | None = Field(
        description="Change of the contracts over 24 hours, percent, two decimals: what positions did, whatever the price."
    )
    usd: float | None = Field(description="Their value in US dollars, 6 significant digits.")
    change_24h_percent: float | None = Field(
        description="Change of the dollar value over 24 hours, percent, two decimals; it moves with the price as well."
    )
    venues: tuple[str, ...] = Field(description="Venues in the sum.")
    as_of: str = Field(description="Market time of the newest datum, ISO 8601 UTC.")


class Liquidations(Body):
    """Positions closed by force in the last 24 hours."""

    long_usd_24h: float = Field(description="Long positions, US dollars.")
    short_usd_24h: float = Field(description="Short positions, US dollars.")
    venues: tuple[str, ...] = Field(description="Venues that publish them.")


class DerivativesAsset(Body):
    """Derivatives pressure of one asset."""

    asset: str = Field(description="Asset symbol.")
    status: Status = Field(description="How complete the inputs for this asset are.")
    state: DerivativesState | None = Field(description="Where the pressure lies; unavailable without funding.")
    vote: DerivativesVote | None = Field(description="What the state leans to on its own; no_vote without data.")
    confidence: float | None = Field(description="How clearly the state stands out, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.STEADINESS, description=KIND)
    funding: Funding | None = Field(description="Funding; null where no source gives it.")
    open_interest: OpenInterest | None = Field(description="Open interest; null where no source gives it.")
    liquidations: Liquidations | None = Field(description="Liquidations; null where no venue publishes them.")
    evidence: tuple[str, ...] | None = Field(description="The figures in words.")
    limitations: tuple[str, ...] | None = Field(description="What is unknown of this asset, and why.")


class DerivativesResponse(envelope.FreeResponse):
    """Aggregate funding, open-interest and liquidation context."""

    product_id: str = Field(description="Catalogue id of the product.")
    source_mode: str = Field(description=envelope.MODE)
    generated_at: str | None = Field(description=envelope.UPDATED)
    updated_utc: str | None = Field(description=envelope.UPDATED)
    status: Status | None = Field(description=envelope.STATUS)
    engine: str | None = Field(description="What made the reading.")
    engine_version: str | None = Field(description="Version of the engine.")
    source: str | None = Field(description="Where the market data come from.")
    summary: str | None = Field(description="The reading in one or two sentences.")
    overall_state: OverallState | None = Field(
        description="The state of most assets with data; mixed on a tie; null with fewer than three."
    )
    overall_vote: OverallVote | None = Field(
        description="The vote of most assets with data; mixed on a tie; null with fewer than three."
    )
    confidence: float | None = Field(
        description="Mean confidence of the assets with data, percent 0..100; null with fewer than three."
    )
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.SHARE_OF_ASSETS, description=KIND)
    assets: dict[str, DerivativesAsset] = Field(description="Asset symbol to its derivatives pressure.")
    evidence: tuple[str, ...] | None = Field(description="What the overall words rest on.")
    limitations: tuple[str, ...] | None = Field(description=envelope.LIMITATIONS)
    related_endpoints: dict[str, str] | None = Field(description="Other free resources: name to path.")
    explore: dict[str, str] | None = Field(description="Documentation: name to address.")
    upgrade_path: envelope.ExpandedAccess | None = Field(description="The richer paid resource and its price.")
    truth_statement: str | None = Field(description=envelope.TRUTH)
    disclaimer: str = Field(description=envelope.EDUCATIONAL)
