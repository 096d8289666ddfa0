"""What the generator knows of the 402 answer: text, quote, a preview of what is free anyway, and the bazaar entry."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from gateway.wire.networks import DEVNET, MAINNET
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.durations import MINUTE_MS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.formats import iso
from generator.catalog.links import BUYER_PAGES, DOCS, LLMS_TXT, OPENAPI_JSON
from generator.catalog.money import us_cents
from generator.catalog.products import HUMAN_REPORT, OF_A_LABEL, OF_A_MONTH, QUOTE_GRACE_S, Product
from generator.catalog.text.answers import (
    DEVNET_NOTICE,
    DISCLAIMER,
    ECOSYSTEM,
    NO_LABEL,
    PAYMENT_NEEDED,
    WHAT_THIS_IS_NOT,
)
from generator.catalog.text.market import LONGEST_HEADLINE
from generator.catalog.words import MarketState, RegimeLabel, SourceMode, Status, VolatilityWord
from generator.compose import envelope
from generator.compose.body import Body, absent, encode
from generator.compose.coins import RANGES, ranges
from generator.compose.inputs import missing_reason, reading_of, until_a_month_ms, without_a_month
from generator.compose.paid_human_report import X402HumanReportPaidResponse
from generator.compose.regime import RegimeChances
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS
from generator.values.market import BreadthCounts
from generator.values.ranges import MoveRange


class PaymentResource(Body):
    """The resource that is paid for."""

    url: str = Field(description="Its absolute address.")
    description: str = Field(description="What it is.")
    mimeType: str = Field(description="Media type of the paid answer.")  # noqa: N815 -- a name of the protocol
    serviceName: str | None = Field(  # noqa: N815 -- a name of the protocol
        default=None, exclude_if=absent, description="The service, for catalogs; left out where its name is too long."
    )
    tags: tuple[str, ...] = Field(description="What the service is about, for catalogs.")
    iconUrl: str | None = Field(  # noqa: N815 -- a name of the protocol
        default=None, exclude_if=absent, description="Its icon, for catalogs; left out on this machine alone."
    )


class PaymentExtra(Body):
    """What the exact scheme on Algorand needs apart from the price."""

    decimals: int = Field(description="Decimals of the asset.")
    name: str = Field(description="Name of the asset.")
    feePayer: str = Field(description="Address that pays the network fee.")  # noqa: N815 -- a name of the protocol
    snapshotId: str = Field(description="Snapshot that is quoted.")  # noqa: N815 -- a name of the contract


class PaymentOption(Body):
    """One way to pay."""

    scheme: str = Field(description="Payment scheme; exact.")
    network: str = Field(description="Network: the full genesis-hash form or the CAIP-2 form.")
    asset: str = Field(description="Asset id as a decimal string.")
    amount: str = Field(description="Atomic units as a decimal string.")
    payTo: str = Field(description="Address of the payee.")  # noqa: N815 -- a name of the protocol
    maxTimeoutSeconds: int = Field(description="Seconds the payer has.")  # noqa: N815 -- a name of the protocol
    extra: PaymentExtra = Field(description="What the scheme needs apart from the price.")


class Worth(Body):
    """What the quoted answer says that the free ones of the same minute do not."""

    fields: tuple[str, ...] = Field(description="Paths of the parts of the body that no free answer has.")
    sha256: str = Field(
        description="SHA-256 of these parts: of the JSON object of path to part in this order, without spaces, in "
        "UTF-8; lowercase hex."
    )
    paragraph: str | None = Field(description="One finished paragraph of the quoted report; null for other products.")


class QuotePreview(Body):
    """The quoted body by what is free anyway, and the names of what is sold."""

    headline: str = Field(max_length=LONGEST_HEADLINE, description=envelope.HEADLINE)
    regime: RegimeLabel = Field(description="The market's regime.")
    probabilities: RegimeChances | None = Field(description="Chances of the four regimes; null without a reading.")
    market_state: MarketState = Field(description="Conditions in one word. No state predicts a gain.")
    volatility: VolatilityWord = Field(description="How rough the next four hours look against the whole kept record.")
    counts: BreadthCounts | None = Field(description="Assets up, down and flat over the last day; null where unknown.")
    btc_ranges: dict[str, MoveRange] | None = Field(description=RANGES)

    status: Status = Field(description=envelope.STATUS)
    source_mode: SourceMode = Field(description=envelope.MODE)
    assets_total: int = Field(description="Assets in the body.")
    assets_verified: int = Field(description="How many of them have a fresh price.")
    limitations: int = Field(description="How many limitations the body names.")
    sections: tuple[str, ...] = Field(description="Names of its parts.")
    redacted: tuple[str, ...] = Field(description="Which of them are shown only after payment.")


class QuoteDraft(Body):
    """The very bytes that are offered, before they are encoded."""

    snapshotId: str = Field(description="Snapshot that is quoted.")  # noqa: N815 -- a name of the contract
    as_of: str = Field(description="Market time of the snapshot, ISO 8601 UTC.")
    valid_until: str = Field(description="It can be paid at least until this wall time, ISO 8601 UTC.")
    preview: QuotePreview = Field(description="The body by what is free anyway.")
    price_in_words: str = Field(description="The price in words.")


class Quote(QuoteDraft):
    """The very bytes that are offered."""

    sha256: str = Field(description="SHA-256 of the paid body, lowercase hex.")


class ChallengeDraft(Body):
    """The part of the 402 body that the generator knows."""

    project: str = Field(description="Name of the service.")
    ecosystem: str = Field(description="What the service belongs to, one sentence.")
    endpoint: str = Field(description="Identity of the resource, e.g. x402-market-regime.")
    type: str = Field(description="Kind of the paid answer, e.g. paid_educational_market_regime.")
    product_id: str | None = Field(description="Catalogue id; null for the human report.")
    message: str = Field(description="Payment is needed first, and how it is sent.")
    what_this_is: str = Field(description="What is sold.")
    what_this_is_not: str = Field(description="What it is not.")
    related_pages: dict[str, str] = Field(description="Name to address: free counterpart, documentation, buyer page.")
    quote: QuoteDraft = Field(description="The snapshot that is offered.")
    worth: Worth = Field(description="What it says that the free answers of the same minute do not.")
    disclaimer: str = Field(description=envelope.EDUCATIONAL)


class X402PaymentRequiredResponse(ChallengeDraft):
    """Payment is required."""

    quote: Quote = Field(description="The snapshot that is offered, with the digest of its bytes.")
    error: str = Field(description="Short message why payment is required.")
    x402Version: Literal[2] = Field(description="Protocol version; 2.")  # noqa: N815 -- a name of the protocol
    resource: PaymentResource = Field(description="The resource that is paid for.")
    accepts: tuple[PaymentOption, ...] = Field(description="The ways to pay.")
    extensions: dict[str, Any] = Field(default_factory=dict, description="Protocol extensions, e.g. bazaar.")


_SHARED_PARTS: Final = ("limitations", "updated")
# Parts of paid bodies that a free answer has too.
_FREE: Final = frozenset(
    {"market_mode", "market_state", "summary", "confidence", "confidence_kind", "risk_score", "source", "regime",
     "schema_version", "track_record"}
)  # fmt: skip
_KEPT_PARTS: Final = ("ladder", "day_ahead", "pairs", "ranges_last_week")
_REPORT_PARTS: Final = ("happened", "rough", "far", "after", "long", "yesterday", "idea", "levels", "plots")
# What each product says that no free answer does, by path in its body.
WORTH: Final[dict[str, tuple[str, ...]]] = {
    "x402-market-regime": ("spells", "what_changed", "headline"),
    "x402-main-brain": (*_KEPT_PARTS, "headline"),
    "x402-atlas": (
        *(f"intelligence_layer.{part}" for part in (*_KEPT_PARTS, "partition", "spells")),
        "headline",
    ),
    HUMAN_REPORT: tuple(f"report.{part}" for part in _REPORT_PARTS),
}
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


def challenge(ctx: Tick, product: Product, body: envelope.PaidResponse, data: Mapping[str, Any]) -> dict[str, Any]:
    """Compose the challenge of one product; `quote.sha256` is added once the body is encoded.

    Args:
        data: the body as a JSON object.
    """
    draft = ChallengeDraft(
        project=ctx.site.project,
        ecosystem=ECOSYSTEM,
        endpoint=product.id,
        type=product.type,
        product_id=product.product_id,
        message=payment_needed(ctx.site.network),
        what_this_is=product.what_this_is,
        what_this_is_not=WHAT_THIS_IS_NOT,
        related_pages=related_pages(ctx, product),
        quote=QuoteDraft(
            snapshotId=ctx.freshness.generation,
            as_of=envelope.as_of(ctx),
            valid_until=iso(ctx.freshness.next_update_ms + 1000 * QUOTE_GRACE_S),
            preview=preview(ctx, body),
            price_in_words=price_in_words(product, ctx.site.network),
        ),
        worth=worth(body, data),
        disclaimer=DISCLAIMER,
    )
    return draft.as_json()


def worth(body: envelope.PaidResponse, data: Mapping[str, Any]) -> Worth:
    """Name the parts that no free answer has, with their digest, and of the report one paragraph.

    Args:
        data: the body as a JSON object.
    """
    sold = {}
    for path in WORTH[body.endpoint]:
        # A part that the body lacks raises KeyError here: nothing is offered that is not delivered.
        part: Any = data
        for name in path.split("."):
            part = part[name]
        sold[path] = part

    idea = body.report.idea if isinstance(body, X402HumanReportPaidResponse) else None
    paragraph = idea.text if idea else None
    return Worth(fields=tuple(sold), sha256=hashlib.sha256(encode(sold)).hexdigest(), paragraph=paragraph)


def payment_needed(network: str) -> str:
    """Say how to pay, and on a network that no official client knows, how that service is started for them."""
    return f"{PAYMENT_NEEDED} {DEVNET_NOTICE}" if network == DEVNET.name else PAYMENT_NEEDED


def price_in_words(product: Product, network: str) -> str:
    """Say the price in words, and whether the money is worth anything."""
    worth = "play money, worth nothing"
    if network == MAINNET.name:
        worth = f"about {us_cents(product.price_atomic)}"
    return f"{product.price_display}, {worth}, once for this one answer"


def related_pages(ctx: Tick, product: Product) -> dict[str, str]:
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


def sections(body: envelope.PaidResponse) -> tuple[str, ...]:
    """Return the names of a body's own parts."""
    return tuple(name for name in type(body).model_fields if name not in envelope.PaidResponse.model_fields)


class NotForSale(NamedTuple):
    """Why a product is not for sale now, and when it may be at the earliest: None where that cannot be said."""

    reason: str
    until_ms: int | None


def unavailable(ctx: Tick) -> dict[str, NotForSale]:
    """Return why products are not for sale now: one without the month it is made from, or without a label."""
    now_ms = ctx.freshness.generated_ms
    unsold = {}
    if ctx.reading is None or ctx.reading.regime.label is RegimeLabel.UNKNOWN:
        # A recording that is over, or one of other bars, never gets a label, however long one waits.
        lasts = ctx.observation.ended or ctx.observation.bar_interval_ms != BAR_MS
        no_label = NO_LABEL.format(reason=missing_reason(ctx))
        unsold = dict.fromkeys(OF_A_LABEL, NotForSale(no_label, None if lasts else now_ms + MINUTE_MS))

    too_short = without_a_month(ctx)
    if too_short is not None:
        wait_ms = until_a_month_ms(ctx)
        month = NotForSale(too_short, None if wait_ms is None else now_ms + wait_ms)
        unsold |= dict.fromkeys(OF_A_MONTH, month)
    return unsold


def preview(ctx: Tick, body: envelope.PaidResponse) -> QuotePreview:
    """Describe a body by what is free anyway, without giving away what is sold."""
    parts = sections(body)
    now = ctx.regime

    return QuotePreview(
        headline=ctx.headline,
        regime=now.label,
        probabilities=now.probabilities,
        market_state=now.state,
        volatility=now.volatility,
        counts=now.counts,
        btc_ranges=ranges(reading_of(ctx, DEFAULT_ASSET)),
        status=body.status,
        source_mode=body.source_mode,
        assets_total=len(ASSETS),
        assets_verified=ctx.verified,
        limitations=len(body.limitations),
        sections=(*parts, *_SHARED_PARTS),
        # Names alone: what these parts say is what is sold.
        redacted=tuple(name for name in parts if name not in _FREE),
    )


def bazaar(body: envelope.PaidResponse, data: Mapping[str, Any]) -> dict[str, Any]:
    """Declare one product. The example shows the envelope and the names of the parts, not what is sold.

    Args:
        data: the body as a JSON object.
    """
    example = {key: data[key] for key in _SHOWN}
    example["sections"] = list(sections(body))

    return {
        "info": {
            "input": {"type": "http", "method": "GET", "queryParams": {}},
            "output": {"type": "json", "example": example},
        },
        "schema": BAZAAR_SCHEMA,
    }
