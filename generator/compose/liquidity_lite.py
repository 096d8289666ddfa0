"""GET /api/liquidity-lite.php."""

from pydantic import Field

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, percent, significant
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.labels import BOOK_LEAN, BOOKS_UNTESTED
from generator.catalog.words import Bias, LiquidityContext, MarketStructure, Status
from generator.compose import envelope, inputs
from generator.compose.coins import Called, Quoted, bias_of, called, liquidity_of, structure_of
from generator.compose.tick import Tick


class LiquidityLiteAsset(Called, Quoted):
    """Liquidity and structure of one asset."""

    status: Status | None = Field(description="How complete the inputs for this asset are.")
    liquidity_context: LiquidityContext | None = Field(
        description="How deep the order book is against its own week, cleared of most of volatility; tested on "
        "simulated order books only."
    )
    market_structure: MarketStructure | None = Field(description="Shape of the last days.")
    bias: Bias | None = Field(
        description="The call in three words, FLAT for small_move and none; null without a forecast."
    )
    spread_bps: float | None = Field(description="Gap between best bid and best ask, basis points of the mid.")
    depth_1pct_usd: float | None = Field(
        description="Resting within 1% of the mid at one venue, the median where several report it, both "
        "sides, US dollars."
    )
    imbalance_percent: float | None = Field(
        description="At this moment, within 1% of the mid: -100 (asks only) .. 100 (bids only). The note on bids and "
        "asks is about the last half hour."
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


def liquidity_lite(ctx: Tick) -> LiquidityLiteResponse:
    """Compose liquidity and structure for every asset."""
    endpoint = ENDPOINT_BY_ID["liquidity-lite"]
    assets = {asset: liquidity_asset(ctx, asset) for asset in ASSETS}
    verified = ctx.verified

    return LiquidityLiteResponse(
        **envelope.free_envelope(ctx, endpoint).as_fields(),
        product_id=endpoint.product_id,
        ok=True,
        description=endpoint.purpose,
        status=inputs.status_over(ctx.status, (row.status for row in assets.values())),
        source_mode=ctx.observation.mode,
        source=envelope.source_name(ctx),
        legacy_endpoint=None,
        engine=envelope.ENGINE,
        provider=ctx.site.project,
        generated_at=envelope.updated(ctx),
        updated_at=envelope.updated(ctx),
        updated_utc=envelope.updated(ctx),
        educational_only=True,
        not_financial_advice=True,
        asset_count=len(ASSETS),
        assets_verified=verified,
        assets_failed=len(ASSETS) - verified,
        assets=assets,
        upsell=envelope.expanded_access(ctx, endpoint.next_resource),
        limitations=inputs.unique([*ctx.limitations, BOOKS_UNTESTED]),
        truth_statement=endpoint.truth_statement,
        disclaimer=DISCLAIMER,
    )


def liquidity_asset(ctx: Tick, asset: str) -> LiquidityLiteAsset:
    """Compose liquidity and structure of one asset."""
    seen = ctx.seen[asset]
    book = seen.book
    spread_bps = None
    depth_usd = None
    imbalance_percent = None
    venues: tuple[str, ...] = ()
    if book is not None:
        spread_bps = basis_points(book.spread_bps)
        depth_usd = significant(book.depth_1pct_usd)
        imbalance_percent = percent(book.imbalance_percent)
        venues = book.venues

    has_reading = inputs.reading_of(ctx, asset) is not None
    complete = [inputs.fresh(ctx, asset), book is not None, has_reading]
    return LiquidityLiteAsset(
        **ctx.quotes[asset].as_fields(),
        **called(ctx, asset).as_fields(),
        status=inputs.graded(complete, readable=seen.price is not None),
        liquidity_context=liquidity_of(ctx, asset),
        market_structure=structure_of(ctx, asset),
        bias=bias_of(ctx, asset),
        spread_bps=spread_bps,
        depth_1pct_usd=depth_usd,
        imbalance_percent=imbalance_percent,
        venues=venues,
        notes=notes(ctx, asset),
        limitations=ctx.limitations_of[asset],
    )


def notes(ctx: Tick, asset: str) -> tuple[str, ...]:
    """Say the book figures in words: now, and over the last half hour."""
    sentences = []

    book = ctx.seen[asset].book
    if book:
        depth = significant(book.depth_1pct_usd, 3) or 0.0
        bid_side = 50 + book.imbalance_percent / 2
        sentences.append(f"${depth:,.0f} rest within 1% of the price, {bid_side:.0f}% on the bid side.")

    read = inputs.reading_of(ctx, asset)
    if read and read.book_lean is not None:
        sentences.append(BOOK_LEAN[read.book_lean])
    return tuple(sentences)
