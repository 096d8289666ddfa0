"""GET /api/derivatives.php."""

from pydantic import Field

from generator.catalog.words import (
    ConfidenceKind,
    DerivativesState,
    DerivativesVote,
    OverallState,
    OverallVote,
    PriceAndInterest,
    Status,
)
from generator.contract import envelope
from generator.contract.base import Body, Change24h, Significant
from generator.contract.scores import KIND


class Funding(Body):
    """Perpetual funding, mean over venues."""

    rate_8h_percent: float = Field(description="Paid by longs to shorts every 8 hours, percent, four decimals.")
    annualised_percent: float = Field(description="The same over a year without compounding, percent, two decimals.")
    rank_30d_percent: float | None = Field(
        description="Share of the asset's own last 30 days (8-hour values) in which the rate was lower, ties counted half, "
        "percent 0..100; null with less than a week of them."
    )
    usual_rate_8h_percent: float = Field(
        description="The rate of most venues while neither side is in demand, percent; it is 0.01, not zero."
    )
    cost_per_1000_usd_day: float = Field(
        description="US dollars that a long of 1,000 dollars pays shorts in a day at this rate; negative: it is paid."
    )
    venues: tuple[str, ...] = Field(description="Venues behind the mean.")
    as_of: str = Field(description="Market time of the newest rate, ISO 8601 UTC.")


class OpenInterest(Body):
    """Perpetual open interest, summed over venues."""

    contracts: Significant = Field(
        description="Open contracts, counted in coins, 6 significant digits. Each has one long and one short."
    )
    contracts_change_24h_percent: Change24h = Field(
        description="Change of the contracts over 24 hours, percent, two decimals: what positions did, whatever the price."
    )
    usd: Significant = Field(description="Their value in US dollars, 6 significant digits.")
    change_24h_percent: Change24h = Field(
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
    state: DerivativesState | None = Field(
        description="crowded_longs or crowded_shorts: the rate is extreme within the asset's own 30 days and that side pays; "
        "leveraging_up or deleveraging: contracts rose or fell over 24 hours; unavailable without data; null while the "
        "state has held for less than half of the last hours."
    )
    vote: DerivativesVote | None = Field(description="What the state points to on its own; no_vote without a state.")
    confidence: float | None = Field(description="Share of the last hours in which the state held, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.STEADINESS, description=KIND)
    price_and_interest: PriceAndInterest | None = Field(
        description="Price and contracts over the same 24 hours; a price within 0.1% and contracts within 0.5% count as little_change."
    )
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
        description="The commonest state of the assets that have one; mixed on a tie; null with fewer than three."
    )
    overall_vote: OverallVote | None = Field(
        description="The commonest vote of the assets that have one; mixed on a tie; null with fewer than three."
    )
    confidence: float | None = Field(
        description="Share of the assets with a state that have the overall one, percent 0..100; null on a tie and with "
        "fewer than three."
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
