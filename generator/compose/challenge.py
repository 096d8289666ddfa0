"""What the generator knows of the 402 answer: text, quote, a preview of what is free anyway, and the bazaar entry."""

from typing import Any, Final

from gateway.wire.networks import MAINNET
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.formats import iso
from generator.catalog.links import BUYER_PAGES, DOCS, LLMS_TXT, OPENAPI_JSON
from generator.catalog.money import us_cents
from generator.catalog.products import HUMAN_REPORT, QUOTE_GRACE_S, Product
from generator.catalog.text.answers import DISCLAIMER, ECOSYSTEM, NO_VERDICT, PAYMENT_NEEDED, WHAT_THIS_IS_NOT
from generator.catalog.words import RegimeLabel
from generator.compose.coins import ranges
from generator.compose.context import TickContext
from generator.compose.inputs import missing_reason, reading_of, verified
from generator.compose.paid import as_of
from generator.compose.regime import regime
from generator.contract.paid import PaidResponse
from generator.contract.payment_required import Challenge, QuoteDraft, QuotePreview

_SHARED_PARTS: Final = ("limitations", "updated")
# Parts of paid bodies that a free answer has too.
_FREE: Final = frozenset(
    {"market_mode", "market_state", "summary", "confidence", "confidence_kind", "risk_score", "source", "regime",
     "schema_version", "track_record"}
)  # fmt: skip
_SHOWN: Final = ("endpoint", "type", "payment_status", "price_atomic", "snapshotId", "as_of", "status")

# Validates `info`; the shape that the protocol's own declaration helper gives for GET without a query.
BAZAAR_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "input": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "const": "http"},
                "method": {"type": "string", "enum": ["GET", "HEAD"]},
                "queryParams": {"type": "object", "properties": {}},
            },
            "required": ["type", "method"],
            "additionalProperties": False,
        },
        "output": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "example": {"type": "object"}},
            "required": ["type"],
        },
    },
    "required": ["input"],
}


def challenge(ctx: TickContext, product: Product, body: PaidResponse) -> dict[str, Any]:
    """Compose the challenge of one product; `quote.sha256` is added once the body is encoded."""
    return Challenge.of(
        product,
        project=ctx.site.project,
        ecosystem=ECOSYSTEM,
        endpoint=product.id,
        message=PAYMENT_NEEDED,
        what_this_is_not=WHAT_THIS_IS_NOT,
        related_pages=related_pages(ctx, product),
        quote=QuoteDraft(
            snapshotId=ctx.freshness.generation,
            as_of=as_of(ctx),
            valid_until=iso(ctx.freshness.next_update_ms + 1000 * QUOTE_GRACE_S),
            preview=preview(ctx, body),
            price_in_words=price_in_words(product, ctx.site.network),
        ),
        disclaimer=DISCLAIMER,
    ).as_json()


def price_in_words(product: Product, network: str) -> str:
    """Say the price in words, and whether the money is worth anything."""
    worth = f"about {us_cents(product.price_atomic)}" if network == MAINNET.name else "play money, worth nothing"
    return f"{product.price_display}, {worth}, once for this one answer"


def related_pages(ctx: TickContext, product: Product) -> dict[str, str]:
    """List the free counterpart, the documentation and the buyer page."""
    base = ctx.site.base_url
    free = {f"free_{row.id}": base + row.path for row in ENDPOINTS if row.next_resource == product.id}
    return {
        **free,
        "docs": base + DOCS,
        "openapi": base + OPENAPI_JSON,
        "llms": base + LLMS_TXT,
        "buyer": base + BUYER_PAGES[product.id],
    }


def sections(body: PaidResponse) -> tuple[str, ...]:
    """Return the names of a body's own parts."""
    return tuple(name for name in type(body).model_fields if name not in PaidResponse.model_fields)


def unavailable(ctx: TickContext) -> dict[str, str]:
    """Return why products are not for sale now: a report without a verdict is not sold."""
    if ctx.reading is not None and ctx.reading.regime.label is not RegimeLabel.UNKNOWN:
        return {}
    return {HUMAN_REPORT: NO_VERDICT.format(reason=missing_reason(ctx))}


def preview(ctx: TickContext, body: PaidResponse) -> QuotePreview:
    """Describe a body by what is free anyway, without giving away what is sold."""
    parts, now = sections(body), regime(ctx)
    read = reading_of(ctx, DEFAULT_ASSET)
    return QuotePreview.of(
        body,
        regime=now.label,
        probabilities=now.probabilities,
        market_state=now.state,
        volatility=now.volatility,
        counts=now.counts,
        btc_ranges=ranges(read) if read else None,
        assets_total=len(ASSETS),
        assets_verified=verified(ctx),
        limitations=len(body.limitations),
        sections=(*parts, *_SHARED_PARTS),
        redacted=tuple(name for name in parts if name not in _FREE),
    )


def bazaar(body: PaidResponse) -> dict[str, Any]:
    """Declare one product. The example shows the envelope and the names of the parts, not what is sold."""
    data = body.as_json()
    example = {**{key: data[key] for key in _SHOWN}, "sections": list(sections(body))}
    return {
        "info": {
            "input": {"type": "http", "method": "GET", "queryParams": {}},
            "output": {"type": "json", "example": example},
        },
        "schema": BAZAAR_SCHEMA,
    }
