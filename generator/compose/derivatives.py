"""GET /api/derivatives.php."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import Field

from generator.brain.derivatives import Pressure
from generator.catalog import words
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import change, fixed, iso, share
from generator.catalog.links import DOCS, METHODOLOGY
from generator.catalog.text import figures
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.labels import DERIVATIVES
from generator.catalog.thresholds import CONTRACTS_PERCENT, FLAT_PERCENT
from generator.compose import envelope
from generator.compose.body import Body
from generator.compose.inputs import (
    FEWEST,
    commonest,
    futures_of,
    graded,
    said_once,
    status_over,
    unique,
)
from generator.compose.scores import KIND
from generator.compose.tick import Tick
from generator.market.observation import AssetObservation
from generator.values.market import Liquidations, OpenInterest


class Funding(Body):
    """Perpetual funding, median over venues."""

    rate_8h_percent: float = Field(description="Paid by longs to shorts every 8 hours, percent, four decimals.")
    annualised_percent: float = Field(description="The same over a year without compounding, percent, two decimals.")
    rank_30d_percent: float | None = Field(
        description="Share of the asset's own last 30 days (8-hour values) in which the rate was lower, ties counted "
        "half, percent 0..100; null with less than a week of them."
    )
    usual_rate_8h_percent: float = Field(
        description="The rate of most venues while neither side is in demand, percent; it is 0.01, not zero."
    )
    cost_per_1000_usd_day: float = Field(
        description="US dollars that a long of 1,000 dollars pays shorts in a day at this rate; negative: it is paid."
    )
    venues: tuple[str, ...] = Field(description="Venues behind the rate; one far from the median is left out.")
    as_of: str = Field(description="Market time of the newest rate, ISO 8601 UTC.")


class DerivativesAsset(Body):
    """Derivatives pressure of one asset."""

    asset: str = Field(description="Asset symbol.")
    status: words.Status = Field(description="How complete the inputs for this asset are.")
    state: words.DerivativesState | None = Field(
        description="crowded_longs or crowded_shorts: the rate is extreme within the asset's own 30 days and that side "
        "pays; "
        "leveraging_up or deleveraging: contracts rose or fell over 24 hours; unavailable without data; null while the "
        "state has held for less than half of the last hours."
    )
    vote: words.DerivativesVote | None = Field(
        description="What the state points to on its own; no_vote without a state."
    )
    confidence: float | None = Field(description="Share of the last hours in which the state held, percent 0..100.")
    confidence_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.STEADINESS, description=KIND)
    price_and_interest: words.PriceAndInterest | None = Field(
        description="Price and contracts over the same 24 hours; a price within 0.1% and contracts within 2% count "
        "as little_change."
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
    status: words.Status | None = Field(description=envelope.STATUS)
    engine: str | None = Field(description="What made the reading.")
    engine_version: str | None = Field(description="Version of the engine.")
    source: str | None = Field(description="Where the market data come from.")
    summary: str | None = Field(description="The reading in one or two sentences.")
    overall_state: words.OverallState | None = Field(
        description="The commonest state of the assets that have one; mixed on a tie; null with fewer than three."
    )
    overall_vote: words.OverallVote | None = Field(
        description="The commonest vote of the assets that have one; mixed on a tie; null with fewer than three."
    )
    confidence: float | None = Field(
        description="Share of the assets with a state that have the overall one, percent 0..100; null on a tie and "
        "with fewer than three."
    )
    confidence_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.SHARE_OF_ASSETS, description=KIND)
    assets: dict[str, DerivativesAsset] = Field(description="Asset symbol to its derivatives pressure.")
    evidence: tuple[str, ...] | None = Field(description="What the overall words rest on.")
    limitations: tuple[str, ...] | None = Field(description=envelope.LIMITATIONS)
    related_endpoints: dict[str, str] | None = Field(description="Other free resources: name to path.")
    explore: dict[str, str] | None = Field(description="Documentation: name to address.")
    upgrade_path: envelope.ExpandedAccess | None = Field(description="The richer paid resource and its price.")
    truth_statement: str | None = Field(description=envelope.TRUTH)
    disclaimer: str = Field(description=envelope.EDUCATIONAL)


FUNDINGS_A_YEAR: Final = 3 * 365
USUAL_PERCENT: Final = 0.01  # funding per 8 hours of most venues
LITTLE_PAID: Final = -0.25 * USUAL_PERCENT  # above it shorts pay almost nothing
MUCH_PAID: Final = 1.25 * USUAL_PERCENT  # above it longs pay clearly more than usual
LESS_PAID: Final = 0.75 * USUAL_PERCENT  # below it they pay less than usual


def derivatives(ctx: Tick) -> DerivativesResponse:
    """Compose derivatives pressure for every asset."""
    endpoint = ENDPOINT_BY_ID["derivatives"]
    limits_by_asset = {asset: derivatives_limits(ctx, asset) for asset in ASSETS}
    # What holds for every asset is said once for the whole answer, and left out of each.
    of_all = said_once(limits_by_asset)
    assets = {asset: derivatives_asset(ctx, asset, of_all) for asset in ASSETS}
    state, vote = overall(assets.values())

    groups = by_state(assets)
    with_state = sum(len(names) for names in groups.values())
    agreeing = 0
    limits = [*of_all]
    if state:
        agreeing = len(groups.get(state, ()))
    else:
        limits.append(f"fewer than {FEWEST} assets have a state")

    return DerivativesResponse(
        **envelope.free_envelope(ctx, endpoint).as_fields(),
        product_id=endpoint.product_id,
        source_mode=ctx.observation.mode,
        generated_at=envelope.updated(ctx),
        updated_utc=envelope.updated(ctx),
        status=status_over(ctx.status, (row.status for row in assets.values())),
        engine=envelope.ENGINE,
        engine_version=envelope.ENGINE_VERSION,
        source=envelope.source_name(ctx),
        summary=sentence(state, agreeing, with_state),
        overall_state=state,
        overall_vote=vote,
        confidence=share(agreeing / with_state) if agreeing else None,
        assets=assets,
        evidence=tuple(f"{word.replace('_', ' ')}: {', '.join(names)}" for word, names in groups.items()),
        limitations=unique([*ctx.limitations, *limits]),
        related_endpoints=envelope.related(endpoint),
        explore={"docs": ctx.site.base_url + DOCS, "methodology": ctx.site.base_url + METHODOLOGY},
        upgrade_path=envelope.expanded_access(ctx, endpoint.next_resource),
        truth_statement=endpoint.truth_statement,
        disclaimer=DISCLAIMER,
    )


def derivatives_limits(ctx: Tick, asset: str) -> tuple[str, ...]:
    """Name what is unknown of one asset's futures, and why."""
    return unique([*ctx.limitations_of[asset], *futures_of(ctx, asset).limitations])


def derivatives_asset(ctx: Tick, asset: str, of_all: Sequence[str] = ()) -> DerivativesAsset:
    """Compose derivatives pressure of one asset; `of_all` are the limitations that the whole answer names."""
    seen = ctx.seen[asset]
    pressure = futures_of(ctx, asset)
    has_state = pressure.state is not words.DerivativesState.UNAVAILABLE

    paid = funding(seen, pressure)
    held = seen.open_interest
    evidence = []
    if paid:
        evidence.append(who_pays(paid))

    price_change = change(seen.change_24h_percent)
    contracts_change = held.contracts_change_24h_percent if held else None
    quadrant = None
    if price_change is not None and contracts_change is not None:
        quadrant = price_and_interest(price_change, contracts_change)
        evidence.append(moved(price_change, contracts_change))

    return DerivativesAsset(
        asset=asset,
        status=derivatives_status(seen, has_state=has_state),
        # A state that does not hold steady is not published; that there is no data for one is.
        state=pressure.state if pressure.steady or not has_state else None,
        vote=pressure.vote,
        confidence=share(pressure.steadiness) if pressure.steady else None,
        price_and_interest=quadrant,
        funding=paid,
        open_interest=held,
        liquidations=seen.liquidations,
        evidence=tuple(evidence),
        limitations=tuple(text for text in derivatives_limits(ctx, asset) if text not in of_all),
    )


def derivatives_status(seen: AssetObservation, *, has_state: bool) -> words.Status:
    """Grade the inputs of one asset."""
    has_funding = seen.funding is not None
    has_interest = seen.open_interest is not None
    return graded([has_funding, has_interest, has_state], readable=has_funding or has_interest)


def funding(seen: AssetObservation, pressure: Pressure) -> Funding | None:
    """Publish funding in percent, with its place in the last 30 days and its cost."""
    if seen.funding is None:
        return None
    rate_8h = seen.funding.rate_8h  # a fraction
    rate_percent = fixed(100 * rate_8h, 4)
    if rate_percent is None:
        return None

    return Funding(
        rate_8h_percent=rate_percent,
        annualised_percent=fixed(100 * rate_8h * FUNDINGS_A_YEAR, 2) or 0.0,
        rank_30d_percent=share(pressure.rank),
        usual_rate_8h_percent=USUAL_PERCENT,
        # Funding is paid three times a day.
        cost_per_1000_usd_day=fixed(1000 * 3 * rate_8h, 2) or 0.0,
        venues=seen.funding.venues,
        as_of=iso(seen.funding.as_of_ms),
    )


def who_pays(paid: Funding) -> str:
    """Say which side pays, and how much against the usual rate."""
    rate = paid.rate_8h_percent
    amount = f"{figures.percent(abs(rate), 4)} every 8 hours"
    usual = f"the usual {USUAL_PERCENT}%"

    if rate <= LITTLE_PAID:
        return f"Shorts pay longs {amount}."
    if rate < 0:
        return f"Shorts pay longs {amount}: almost nothing."
    if rate == 0:
        return f"Neither side pays the other: {amount}, less than {usual}."
    if rate < LESS_PAID:
        return f"Longs pay shorts {amount}, less than {usual}."
    if rate <= MUCH_PAID:
        return f"Longs pay shorts {amount}, about {usual}."
    return f"Longs pay shorts {amount}, {rate / USUAL_PERCENT:.1f} times {usual}."


def how_rare(paid: Funding) -> str:
    """Say how often funding was lower in the asset's own month; empty with less than a week of it."""
    if paid.rank_30d_percent is None:
        return ""
    return f"The rate was lower {paid.rank_30d_percent:g}% of the time in the last 30 days."


def price_and_interest(price_change: float, contracts_change: float) -> words.PriceAndInterest:
    """Name the quadrant of the changes of price and contracts over 24 hours, percent."""
    if abs(price_change) <= FLAT_PERCENT or abs(contracts_change) <= CONTRACTS_PERCENT:
        return words.PriceAndInterest.LITTLE_CHANGE

    return words.PriceAndInterest(f"{_rising(price_change)}_price_{_rising(contracts_change)}_interest")


def _rising(change_percent: float) -> str:
    return "rising" if change_percent > 0 else "falling"


def moved(price_change: float, contracts_change: float) -> str:
    """Say how price and contracts moved over 24 hours, percent."""
    return f"In a day: price {_up_or_down(price_change)}, contracts {_up_or_down(contracts_change)}."


def _up_or_down(change_percent: float) -> str:
    return f"{'down' if change_percent < 0 else 'up'} {figures.percent(abs(change_percent), 2)}"


def overall(assets: Iterable[DerivativesAsset]) -> tuple[words.OverallState | None, words.OverallVote | None]:
    """Return the words of most assets with data: mixed on a tie, null with fewer than three."""
    rows = list(assets)
    states = [row.state.value for row in rows if row.state and row.state is not words.DerivativesState.UNAVAILABLE]
    votes = [row.vote.value for row in rows if row.vote and row.vote is not words.DerivativesVote.NO_VOTE]

    state = commonest(states, words.OverallState.MIXED)
    vote = commonest(votes, words.OverallVote.MIXED)
    overall_state = words.OverallState(state) if state else None
    overall_vote = words.OverallVote(vote) if vote else None
    return overall_state, overall_vote


def by_state(assets: Mapping[str, DerivativesAsset]) -> dict[str, list[str]]:
    """Return state -> the assets that have it."""
    groups: dict[str, list[str]] = {}
    for asset, row in assets.items():
        if row.state and row.state is not words.DerivativesState.UNAVAILABLE:
            groups.setdefault(row.state.value, []).append(asset)
    return groups


def sentence(state: words.OverallState | None, having: int, known: int) -> str:
    """Say the overall state, how many assets have it, and how many have any, in words."""
    if state is None:
        return f"No overall state: {known} of {len(ASSETS)} assets have one of their own."
    if state is words.OverallState.MIXED:
        return f"No single state leads among the {known} assets that have one."
    reading = DERIVATIVES[words.DerivativesState(state)].reading
    return f"{having} of the {known} assets that have a state: {state.replace('_', ' ')}. {reading}"
