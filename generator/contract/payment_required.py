"""The body of HTTP 402. The gateway adds error, x402Version, resource, accepts and extensions."""

from typing import Any, Literal

from pydantic import Field

from generator.catalog.words import MarketState, RegimeLabel, SourceMode, Status, VolatilityWord
from generator.contract import envelope
from generator.contract.base import Body
from generator.contract.forecast import RANGES, MoveRange
from generator.contract.regime import BreadthCounts, RegimeChances


class PaymentResource(Body):
    """The resource that is paid for."""

    url: str = Field(description="Its absolute address.")
    description: str = Field(description="What it is.")
    mimeType: str = Field(description="Media type of the paid answer.")  # noqa: N815 -- a name of the protocol


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


class QuotePreview(Body):
    """The quoted body by what is free anyway, and the names of what is sold."""

    headline: str = Field(max_length=140, description=envelope.HEADLINE)
    regime: RegimeLabel = Field(description="The market's regime.")
    probabilities: RegimeChances | None = Field(description="Chances of the four regimes; null without a reading.")
    market_state: MarketState = Field(description="Conditions in one word. No state predicts a gain.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
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


class Challenge(Body):
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
    disclaimer: str = Field(description=envelope.EDUCATIONAL)


class X402PaymentRequiredResponse(Challenge):
    """Payment is required."""

    quote: Quote = Field(description="The snapshot that is offered, with the digest of its bytes.")
    error: str = Field(description="Short message why payment is required.")
    x402Version: Literal[2] = Field(description="Protocol version; 2.")  # noqa: N815 -- a name of the protocol
    resource: PaymentResource = Field(description="The resource that is paid for.")
    accepts: tuple[PaymentOption, ...] = Field(description="The ways to pay.")
    extensions: dict[str, Any] = Field(default_factory=dict, description="Protocol extensions, e.g. bazaar.")
