"""GET /api/derivatives.php."""

from collections import Counter
from collections.abc import Iterable

from generator.brain.derivatives import Pressure
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import change, fixed, iso, share, significant
from generator.catalog.links import DOCS, METHODOLOGY
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.labels import DERIVATIVES
from generator.catalog.words import DerivativesState, DerivativesVote, OverallState, OverallVote, PriceAndInterest
from generator.compose.context import TickContext
from generator.compose.envelope import ENGINE, ENGINE_VERSION, expanded_access, head, related, source_name, updated
from generator.compose.inputs import asset_limitations, futures_of, graded, market_limitations, observed, status_over
from generator.contract.derivatives import DerivativesAsset, DerivativesResponse, Funding, Liquidations, OpenInterest
from generator.market.observation import AssetObservation

FUNDINGS_A_YEAR = 3 * 365
USUAL_PERCENT = 0.01  # funding per 8 hours of most venues
FLAT_PRICE, FLAT_CONTRACTS = 0.1, 0.5  # percent over 24 hours within which neither rises nor falls
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
        confidence=overall_confidence(assets, state),
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
    paid, held = funding(seen, read), open_interest(seen)
    quadrant = price_and_interest(change(seen.change_24h_percent), held)
    return DerivativesAsset(
        asset=asset,
        status=graded(
            [seen.funding is not None, seen.open_interest is not None, known],
            readable=seen.funding is not None or seen.open_interest is not None,
        ),
        state=read.state if read.steady or not known else None,
        vote=read.vote,
        confidence=share(read.steadiness) if read.steady else None,
        price_and_interest=quadrant,
        funding=paid,
        open_interest=held,
        liquidations=liquidations(seen),
        evidence=(*([who_pays(paid)] if paid else []), *([moved(seen, held, quadrant)] if held and quadrant else [])),
        limitations=asset_limitations(ctx, asset, *read.limitations),
    )


def funding(seen: AssetObservation, read: Pressure) -> Funding | None:
    """Publish funding in percent, with its place in the last 30 days and its cost."""
    value = seen.funding
    rate = fixed(100 * value.rate_8h, 4) if value else None
    if value is None or rate is None:
        return None
    return Funding(
        rate_8h_percent=rate,
        annualised_percent=fixed(100 * value.rate_8h * FUNDINGS_A_YEAR, 2) or 0.0,
        rank_30d_percent=share(read.rank),
        usual_rate_8h_percent=USUAL_PERCENT,
        cost_per_1000_usd_day=fixed(1000 * 3 * value.rate_8h, 2) or 0.0,
        venues=value.venues,
        as_of=iso(value.as_of_ms),
    )


def who_pays(paid: Funding) -> str:
    """Say which side pays, how much against the usual rate, and how often it was less."""
    rate = paid.rate_8h_percent
    if rate < 0:
        read = "almost nothing" if rate > -0.25 * USUAL_PERCENT else "demand to be short exceeds supply"
        said = f"Shorts pay longs {-rate:.4f}% every 8 hours: {read}."
    elif rate > 1.25 * USUAL_PERCENT:
        times = rate / USUAL_PERCENT
        said = (
            f"Longs pay shorts {rate:.4f}% every 8 hours, {times:.1f} times the usual {USUAL_PERCENT}%: "
            "demand to be long exceeds supply."
        )
    else:
        size = "less than" if rate < 0.75 * USUAL_PERCENT else "about"
        payer = "Longs pay shorts" if rate else "Neither side pays the other:"
        said = f"{payer} {rate:.4f}% every 8 hours, {size} the usual {USUAL_PERCENT}%."
    ranked = paid.rank_30d_percent
    return said if ranked is None else f"{said} It was lower {ranked:g}% of the time in the last 30 days."


def price_and_interest(price_change: float | None, held: OpenInterest | None) -> PriceAndInterest | None:
    """Name the quadrant of the changes of price and contracts over 24 hours; None where one is unknown."""
    contracts = held.contracts_change_24h_percent if held else None
    if price_change is None or contracts is None:
        return None
    if abs(price_change) <= FLAT_PRICE or abs(contracts) <= FLAT_CONTRACTS:
        return PriceAndInterest.LITTLE_CHANGE
    price_word, interest_word = ("rising" if moved > 0 else "falling" for moved in (price_change, contracts))
    return PriceAndInterest(f"{price_word}_price_{interest_word}_interest")


def moved(seen: AssetObservation, held: OpenInterest, quadrant: PriceAndInterest) -> str:
    """Say how price and contracts moved over 24 hours, and how that is read."""
    changes = change(seen.change_24h_percent), held.contracts_change_24h_percent
    price_word, interest_word = (f"{'down' if one < 0 else 'up'} {abs(one):.2f}%" for one in changes if one is not None)
    return f"Over 24 hours the price is {price_word} and open contracts are {interest_word}. {quadrant.meaning}"


def open_interest(seen: AssetObservation) -> OpenInterest | None:
    """Publish open interest, in contracts and in US dollars."""
    value = seen.open_interest
    return None if value is None else OpenInterest.of(value, as_of=iso(value.as_of_ms))


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


def overall_confidence(assets: dict[str, DerivativesAsset], state: OverallState | None) -> float | None:
    """Return the share of the assets with a state that have the overall one; None without one and on a tie."""
    groups = _by_state(assets)
    having = len(groups.get(state.value, ())) if state else 0
    return share(having / sum(map(len, groups.values()))) if having else None


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
        return f"No overall state: {known} of {len(assets)} assets have one of their own."
    if state is OverallState.MIXED:
        return f"No single state leads among the {known} assets that have one."
    having = len(_by_state(assets)[state.value])
    return f"{having} of {known} assets: {state.replace('_', ' ')}. {DERIVATIVES[DerivativesState(state)].reading}"
