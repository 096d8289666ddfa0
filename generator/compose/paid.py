"""The envelope of the paid answers, and the parts they share."""

from __future__ import annotations

from typing import Any

from generator.brain.evidence import Evidence, Side
from generator.catalog.assets import ASSETS
from generator.catalog.formats import change, iso, price, share
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import MODE_OF_REGIME, RegimeLabel, VolatilityWord
from generator.compose.coins import expected_move, trend_of
from generator.compose.context import TickContext
from generator.compose.envelope import replay, updated
from generator.compose.inputs import asset_limitations, market_limitations, market_status, observed, reading_of
from generator.contract.paid import AssetRegime, EvidenceBlock


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
        "educational_only": True,
        "limitations": market_limitations(ctx, *limits),
        "disclaimer": DISCLAIMER,
        "updated": updated(ctx),
        "replay": replay(ctx),
    }


def label_of(ctx: TickContext, asset: str) -> RegimeLabel:
    """Return an asset's own regime; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.regime if read else RegimeLabel.UNKNOWN


def same_as_market(ctx: TickContext, asset: str) -> bool | None:
    """Return whether an asset is in the market's regime; None where one of them is unknown."""
    own = label_of(ctx, asset)
    if ctx.reading is None or RegimeLabel.UNKNOWN in {own, ctx.reading.regime.label}:
        return None
    return own is ctx.reading.regime.label


def asset_regime(ctx: TickContext, asset: str) -> AssetRegime:
    """Compose one asset's own regime."""
    seen, read = observed(ctx, asset), reading_of(ctx, asset)
    label = label_of(ctx, asset)
    return AssetRegime(
        asset=asset,
        regime=label,
        mode=MODE_OF_REGIME[label],
        confidence=share(read.regime_confidence) if read else None,
        trend=trend_of(ctx, asset),
        volatility=read.volatility if read else VolatilityWord.UNKNOWN,
        expected_move=expected_move(read.outlook) if read else None,
        price=price(seen.price),
        change_24h=change(seen.change_24h_percent),
        same_as_market=same_as_market(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def asset_regimes(ctx: TickContext) -> dict[str, AssetRegime]:
    """Compose every asset's own regime."""
    return {asset: asset_regime(ctx, asset) for asset in ASSETS}


def evidence_block(ctx: TickContext, asset: str) -> EvidenceBlock:
    """Sort one asset's evidence by how it bears on its bias."""
    read = reading_of(ctx, asset)
    rows = read.evidence if read else ()
    return EvidenceBlock(
        supporting=_texts(rows, Side.FOR),
        opposing=_texts(rows, Side.AGAINST),
        neutral=_texts(rows, Side.NEUTRAL),
        missing=_texts(rows, Side.MISSING),
    )


def _texts(rows: tuple[Evidence, ...], side: Side) -> tuple[str, ...]:
    return tuple(f"{row.family}: {row.text}" for row in rows if row.side is side)


def evidence_of(ctx: TickContext, *sides: Side) -> dict[str, list[str]]:
    """Return family of evidence -> assets, over the given sides."""
    found: dict[str, list[str]] = {}
    for asset in ASSETS:
        read = reading_of(ctx, asset)
        for row in read.evidence if read else ():
            if row.side in sides:
                found.setdefault(row.family, []).append(asset)
    return found


def evidence_lines(ctx: TickContext, *sides: Side) -> tuple[str, ...]:
    """List families of evidence with the assets they were found for."""
    return tuple(f"{family}: {', '.join(dict.fromkeys(names))}" for family, names in evidence_of(ctx, *sides).items())
