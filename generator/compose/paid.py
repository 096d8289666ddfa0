"""The envelope of the paid answers, and the parts they share."""

from typing import Any

from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import Side
from generator.compose.context import TickContext
from generator.compose.envelope import replay, updated
from generator.compose.facts import headline
from generator.compose.inputs import market_limitations, market_status, reading_of
from generator.contract.paid import EvidenceBlock


def as_of(ctx: TickContext) -> str:
    """Return the market time of the snapshot."""
    return iso(ctx.observation.market_ms)


def paid_head(ctx: TickContext, product_id: str, *limits: str) -> dict[str, Any]:
    """Fill the fields of `PaidResponse`."""
    product = PRODUCT_BY_ID[product_id]
    return {
        "success": True,
        "project": ctx.site.project,
        "endpoint": product.id,
        "type": product.type,
        "payment_status": "settled",
        "product": product.title,
        "product_id": product.product_id,
        "price": product.price_display,
        "price_atomic": product.price_atomic,
        "snapshotId": ctx.freshness.generation,
        "as_of": as_of(ctx),
        "valid_until": iso(ctx.freshness.valid_until_ms),
        "status": market_status(ctx),
        "source_mode": ctx.observation.mode,
        "headline": headline(ctx),
        "changed_since_last_tick": ctx.changed,
        "educational_only": True,
        "limitations": market_limitations(ctx, *limits),
        "disclaimer": DISCLAIMER,
        "updated": updated(ctx),
        "replay": replay(ctx),
    }


def evidence_block(ctx: TickContext, asset: str) -> EvidenceBlock:
    """Sort one asset's evidence by how it bears on its bias."""
    read = reading_of(ctx, asset)
    rows = read.evidence if read else ()
    texts = {side: tuple(f"{row.family}: {row.text}" for row in rows if row.side is side) for side in Side}
    return EvidenceBlock(
        supporting=texts[Side.FOR],
        opposing=texts[Side.AGAINST],
        neutral=texts[Side.NEUTRAL],
        missing=texts[Side.MISSING],
    )


def evidence_of(ctx: TickContext, *sides: Side) -> dict[str, list[str]]:
    """Return family of evidence -> assets, over the given sides."""
    found: dict[str, list[str]] = {}
    for asset in ASSETS:
        read = reading_of(ctx, asset)
        for row in read.evidence if read else ():
            if row.side in sides:
                found.setdefault(row.family, []).append(asset)
    return found
