"""GET /api/derivatives.php."""

from collections import Counter
from collections.abc import Iterable
from statistics import fmean

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import change, fixed, iso, share, significant
from generator.catalog.links import DOCS, METHODOLOGY
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import DerivativesState, DerivativesVote, OverallState, OverallVote
from generator.compose.context import TickContext
from generator.compose.envelope import (
    ENGINE,
    ENGINE_VERSION,
    expanded_access,
    head,
    related,
    source_name,
    updated,
)
from generator.compose.inputs import asset_limitations, futures_of, graded, market_limitations, observed, status_over
from generator.contract.derivatives import DerivativesAsset, DerivativesResponse, Funding, Liquidations, OpenInterest
from generator.market.observation import AssetObservation

FUNDINGS_A_YEAR = 3 * 365
ENOUGH = 3


def derivatives(ctx: TickContext) -> DerivativesResponse:
    """Compose derivatives pressure for every asset."""
    endpoint = ENDPOINT_BY_ID["derivatives"]
    assets = {asset: derivatives_asset(ctx, asset) for asset in ASSETS}
    state, vote = overall(assets.values())
    few = () if state else (f"fewer than {ENOUGH} assets have a derivatives state: no overall word",)
    return DerivativesResponse(
        **head(ctx, endpoint),
        product_id=endpoint.product_id,
        source_mode=ctx.observation.mode,
        generated_at=updated(ctx),
        updated_utc=updated(ctx),
        status=status_over(ctx, (row.status for row in assets.values())),
        engine=ENGINE,
        engine_version=ENGINE_VERSION,
        source=source_name(ctx),
        summary=sentence(assets, state),
        overall_state=state,
        overall_vote=vote,
        confidence=overall_confidence(assets),
        assets=assets,
        evidence=tuple(f"{word.replace('_', ' ')}: {', '.join(names)}" for word, names in _by_state(assets).items()),
        limitations=market_limitations(ctx, *few),
        related_endpoints=related(endpoint),
        explore={"docs": ctx.site.base_url + DOCS, "methodology": ctx.site.base_url + METHODOLOGY},
        upgrade_path=expanded_access(ctx, endpoint.next_resource),
        truth_statement=endpoint.truth_statement,
        disclaimer=DISCLAIMER,
    )


def derivatives_asset(ctx: TickContext, asset: str) -> DerivativesAsset:
    """Compose derivatives pressure of one asset."""
    seen, read = observed(ctx, asset), futures_of(ctx, asset)
    known = read.state is not DerivativesState.UNAVAILABLE
    return DerivativesAsset(
        asset=asset,
        status=graded(
            [seen.funding is not None, seen.open_interest is not None, known],
            readable=seen.funding is not None or seen.open_interest is not None,
        ),
        state=read.state,
        vote=read.vote,
        confidence=share(read.confidence) if known else None,
        funding=funding(seen),
        open_interest=open_interest(seen),
        liquidations=liquidations(seen),
        evidence=(read.text,) if read.text else (),
        limitations=asset_limitations(ctx, asset),
    )


def funding(seen: AssetObservation) -> Funding | None:
    """Publish funding in percent."""
    value = seen.funding
    rate = fixed(100 * value.rate_8h, 4) if value else None
    if value is None or rate is None:
        return None
    year = fixed(100 * value.rate_8h * FUNDINGS_A_YEAR, 2)
    return Funding(rate_8h_percent=rate, annualised_percent=year or 0.0, venues=value.venues, as_of=iso(value.as_of_ms))


def open_interest(seen: AssetObservation) -> OpenInterest | None:
    """Publish open interest, in contracts and in US dollars."""
    value = seen.open_interest
    if value is None:
        return None
    return OpenInterest(
        contracts=significant(value.contracts),
        contracts_change_24h_percent=change(value.contracts_change_24h_percent),
        usd=significant(value.usd),
        change_24h_percent=change(value.change_24h_percent),
        venues=value.venues,
        as_of=iso(value.as_of_ms),
    )


def liquidations(seen: AssetObservation) -> Liquidations | None:
    """Publish liquidations in US dollars."""
    value = seen.liquidations
    longs, shorts = (significant(value.long_usd_24h), significant(value.short_usd_24h)) if value else (None, None)
    if value is None or longs is None or shorts is None:
        return None
    return Liquidations(long_usd_24h=longs, short_usd_24h=shorts, venues=value.venues)


def overall(assets: Iterable[DerivativesAsset]) -> tuple[OverallState | None, OverallVote | None]:
    """Return the words of most assets with data: mixed on a tie, null with fewer than three."""
    rows = list(assets)
    states = [row.state.value for row in rows if row.state and row.state is not DerivativesState.UNAVAILABLE]
    votes = [row.vote.value for row in rows if row.vote and row.vote is not DerivativesVote.NO_VOTE]
    state, vote = most(states), most(votes)
    return OverallState(state) if state else None, OverallVote(vote) if vote else None


def most(words: list[str]) -> str | None:
    """Return the commonest word, `mixed` on a tie, None with fewer than three."""
    if len(words) < ENOUGH:
        return None
    (first, count), *others = Counter(words).most_common(2)
    return "mixed" if others and others[0][1] == count else first


def overall_confidence(assets: dict[str, DerivativesAsset]) -> float | None:
    """Return the mean confidence of the assets with data; None with fewer than three."""
    known = [row.confidence for row in assets.values() if row.confidence is not None]
    return fixed(fmean(known), 1) if len(known) >= ENOUGH else None


def _by_state(assets: dict[str, DerivativesAsset]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for asset, row in assets.items():
        if row.state and row.state is not DerivativesState.UNAVAILABLE:
            grouped.setdefault(row.state.value, []).append(asset)
    return grouped


def sentence(assets: dict[str, DerivativesAsset], state: OverallState | None) -> str:
    """Say the overall state in words."""
    known = sum(len(names) for names in _by_state(assets).values())
    if state is None:
        return f"Too little derivatives data for an overall word: {known} of {len(assets)} assets have a state."
    if state is OverallState.MIXED:
        return f"No single state leads among the {known} assets with data."
    return f"Most of the {known} assets with data read as {state.replace('_', ' ')}."
