"""GET /api/liquidity-lite.php."""

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, percent, significant
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.labels import BOOK, BOOKS_UNTESTED
from generator.catalog.words import LiquidityContext, MarketStructure
from generator.compose.coins import bias_of, confidence_percent, forecast_of, quoted
from generator.compose.context import TickContext
from generator.compose.envelope import ENGINE, expanded_access, head, source_name, updated
from generator.compose.inputs import (
    asset_limitations,
    fresh,
    graded,
    market_limitations,
    observed,
    reading_of,
    status_over,
    verified,
)
from generator.contract.liquidity_lite import LiquidityLiteAsset, LiquidityLiteResponse


def liquidity_lite(ctx: TickContext) -> LiquidityLiteResponse:
    """Compose liquidity and structure for every asset."""
    endpoint = ENDPOINT_BY_ID["liquidity-lite"]
    good = verified(ctx)
    assets = {asset: liquidity_asset(ctx, asset) for asset in ASSETS}
    return LiquidityLiteResponse(
        **head(ctx, endpoint),
        product_id=endpoint.product_id,
        ok=True,
        description=endpoint.purpose,
        status=status_over(ctx, (row.status for row in assets.values())),
        source_mode=ctx.observation.mode,
        source=source_name(ctx),
        legacy_endpoint=None,
        engine=ENGINE,
        provider=ctx.site.project,
        generated_at=updated(ctx),
        updated_at=updated(ctx),
        updated_utc=updated(ctx),
        educational_only=True,
        not_financial_advice=True,
        asset_count=len(ASSETS),
        assets_verified=good,
        assets_failed=len(ASSETS) - good,
        assets=assets,
        upsell=expanded_access(ctx, endpoint.next_resource),
        limitations=market_limitations(ctx, BOOKS_UNTESTED),
        truth_statement=endpoint.truth_statement,
        disclaimer=DISCLAIMER,
    )


def liquidity_asset(ctx: TickContext, asset: str) -> LiquidityLiteAsset:
    """Compose liquidity and structure of one asset."""
    seen, read = observed(ctx, asset), reading_of(ctx, asset)
    book = seen.book
    return LiquidityLiteAsset(
        **quoted(ctx, asset),
        status=graded([fresh(ctx, asset), book is not None, read is not None], readable=seen.price is not None),
        liquidity_context=read.liquidity if read else LiquidityContext.UNKNOWN,
        market_structure=read.structure if read else MarketStructure.UNKNOWN,
        bias=bias_of(ctx, asset),
        confidence=confidence_percent(forecast_of(ctx, asset)),
        spread_bps=basis_points(book.spread_bps) if book else None,
        depth_1pct_usd=significant(book.depth_1pct_usd) if book else None,
        imbalance_percent=percent(book.imbalance_percent) if book else None,
        venues=book.venues if book else (),
        notes=notes(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def notes(ctx: TickContext, asset: str) -> tuple[str, ...]:
    """Say the book figures and the structure in words."""
    book, read = observed(ctx, asset).book, reading_of(ctx, asset)
    said = []
    if book:
        depth = significant(book.depth_1pct_usd, 3) or 0.0
        said.append(f"About {depth:,.0f} US dollars rest within 1% of the price.")
        said.append(f"Now {50 + book.imbalance_percent / 2:.0f}% of that is on the bid side.")
    if read and read.book_lean is not None:
        said.append(BOOK[read.book_lean])
    if read and read.structure is not MarketStructure.UNKNOWN:
        said.append(f"The shape of the last day: {read.structure}.")
    return tuple(said)
