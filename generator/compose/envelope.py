"""The envelopes of the free and the paid answers, and GET /status.json."""

from typing import Literal

from pydantic import Field

from gateway.wire.networks import NETWORKS
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, RECOMMENDED_ORDER, Endpoint
from generator.catalog.formats import iso
from generator.catalog.links import BUYER_PAGES, DOCS, LLMS_TXT, OPENAPI_JSON, OPENAPI_YAML
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.answers import DISCLAIMER, USAGE_CHARACTERISTICS
from generator.catalog.text.market import LONGEST_HEADLINE
from generator.catalog.words import SourceMode, Status
from generator.compose.body import Body, absent
from generator.compose.context import Change
from generator.compose.inputs import unique
from generator.compose.tick import Tick
from generator.values.market import SourceRow
from generator.values.ticks import TicksBlock

UPDATED = "Wall time of the tick that made this answer, ISO 8601 UTC."
LIMITATIONS = "What is unknown or restricted in this answer, and why."
STATUS = "available: every input is fresh; degraded: some are stale or missing; unavailable: no asset can be read."
EDUCATIONAL = "Educational notice: what this answer is not."
MODE = "Where the market data come from: live, recorded or simulated."
TRUTH = "What a reader must not conclude from this answer."
HEADLINE = (
    "The news of the market in one sentence, the same in all free answers of a tick; a paid one says what it sold."
)
CHANGED = "Worded facts that changed since the tick published before; null on the first tick after a start."


class Freshness(Body):
    """When this answer was made and until when it may be used."""

    tick_id: str = Field(description="Minute of the tick, e.g. 20261120T095300Z.")
    generation: str = Field(description="12-digit release counter, never reused.")
    generated_at: str = Field(description="Wall time of the tick, ISO 8601 UTC.")
    next_update_at: str = Field(description="When the next tick is due, ISO 8601 UTC.")
    valid_until: str = Field(description="Past this time (180 s after generated_at) the answer is stale.")
    source_mode: SourceMode = Field(description="live, recorded or simulated.")
    sources: tuple[SourceRow, ...] = Field(description="Every market source that was asked.")


class Replay(Body):
    """Position in a recorded market; only while one is replayed."""

    offset_seconds: int = Field(
        description="Wall time minus market time, seconds: rounds, votes, forecasts and lessons are dated so "
        "much later than their prices."
    )
    market_time: str = Field(description="Market time of this tick, ISO 8601 UTC.")


class CapabilityBoundary(Body):
    """What the answer carries and what it does not."""

    provides: tuple[str, ...] = Field(description="What it carries.")
    does_not_provide: tuple[str, ...] = Field(description="What it does not carry.")


class NextResource(Body):
    """The suggested next, richer resource."""

    endpoint: str = Field(description="Its endpoint identity.")
    path: str = Field(description="Its path at this origin.")
    access: str = Field(description="public or paid.")
    price_display: str | None = Field(description="Its price for people; null when free.")


class ExpandedAccess(Body):
    """The paid counterpart and its price."""

    path: str = Field(description="Path of the paid resource.")
    price_display: str = Field(description="Price for people, in USDC.")
    price_atomic: int = Field(description="Price in atomic units of USDC (6 decimals).")
    network: str = Field(description="Payment network, CAIP-2.")
    asset_id: int = Field(description="Asset id of USDC on that network.")
    buyer_page: str = Field(description="The page on which a person can buy it.")


class DeveloperResources(Body):
    """Machine-readable descriptions and documentation, absolute addresses."""

    openapi_json: str = Field(description="OpenAPI 3.1 as JSON.")
    openapi_yaml: str = Field(description="The same as YAML.")
    llms_txt: str = Field(description="Guide for language models.")
    docs: str = Field(description="Documentation for people.")


class EndpointRole(Body):
    """What part the resource plays in the service."""

    role: str = Field(description="Its part in one or two words.")
    tier: str = Field(description="free or paid.")
    position: int | None = Field(description="Place in the recommended reading order, from 1; null when not in it.")


class AgentGuidance(Body):
    """When an agent should read the resource."""

    recommended_for: tuple[str, ...] = Field(description="What it is good for.")
    when_to_use: str = Field(description="When to read it.")
    when_not_to_use: str = Field(description="When not to rely on it.")
    next_step: str = Field(description="Path of what to read next; next_resource says more.")


class UsageCharacteristics(Body):
    """How the resource behaves for a client."""

    machine_readable: bool = Field(description="Always true.")
    stable_schema: bool = Field(description="True when fields are not renamed or dropped within a major version.")
    cache_seconds: int = Field(description="Cache window, seconds.")
    authentication: str = Field(description="Credential needed; none.")
    payment_required: bool = Field(description="Whether a payment is needed.")
    response_format: str = Field(description="Media type.")


class BaseResponse(Body):
    """What every answer of a tick begins with."""

    success: bool = Field(description="True on every 200.")
    project: str = Field(description="Name of the service.")
    replay: Replay | None = Field(
        default=None, exclude_if=absent, description="Only while a recorded market is replayed: its position."
    )


class TickResponse(BaseResponse):
    """What every free and paid answer carries."""

    headline: str = Field(max_length=LONGEST_HEADLINE, description=HEADLINE)
    endpoint: str = Field(description="Identity of the resource, e.g. market-regime.")
    changed_since_last_tick: tuple[Change, ...] | None = Field(description=CHANGED)


class FreeResponse(TickResponse):
    """The envelope of the free answers."""

    name: str = Field(description="Name of the resource for people.")
    version: str = Field(description="Version of the answer, v<major> or v<major>.<minor>.")
    access: str = Field(description="Access tier: public.")
    capability_boundary: CapabilityBoundary = Field(description="What the answer carries and what it does not.")
    next_resource: NextResource = Field(description="The suggested next, richer resource.")
    freshness: Freshness = Field(description="When it was made, from what, and until when it may be used.")


class SourceBlock(Body):
    """Where the market data of the answer come from."""

    name: str = Field(description="Name of the source.")
    kind: str = Field(description="Kind of price, e.g. venue_mid or recorded_close.")
    mode: str = Field(description=MODE)
    as_of: str | None = Field(
        description="Market time of the newest datum, ISO 8601 UTC; null when no source answered."
    )
    assets_verified: int = Field(description="Assets with a fresh price.")
    assets_total: int = Field(description="Assets that the service reads.")


class RichResponse(FreeResponse):
    """The envelope that market-regime and main-brain share."""

    product_id: str = Field(description="Catalogue id of the product.")
    schema_version: str = Field(description="Semantic version of the schema.")
    status: Status = Field(description=STATUS)
    purpose: str = Field(description="What the resource is for.")
    endpoint_role: EndpointRole = Field(description="What part the resource plays in the service.")
    agent_guidance: AgentGuidance = Field(description="When an agent should read it.")
    usage_characteristics: UsageCharacteristics = Field(description="How the resource behaves for a client.")
    source: SourceBlock = Field(description="Where the market data come from.")
    summary: str = Field(description="The reading in one or two sentences.")
    limitations: tuple[str, ...] = Field(description=LIMITATIONS)
    developer_resources: DeveloperResources = Field(description="Machine-readable descriptions and docs.")
    expanded_access: ExpandedAccess = Field(description="The paid counterpart and its price.")
    related_resources: dict[str, str] = Field(description="Other resources: name to path.")
    truth_statement: str = Field(description=TRUTH)
    disclaimer: str = Field(description=EDUCATIONAL)
    updated: str = Field(description=UPDATED)
    updated_utc: str = Field(description=UPDATED)


class NoticeResponse(FreeResponse):
    """The envelope of the answers that carry `type` and an educational notice."""

    type: str = Field(description="Kind of the answer.")
    mode: str = Field(description=MODE)
    status: Status = Field(description=STATUS)
    limitations: tuple[str, ...] = Field(description=LIMITATIONS)
    truth_statement: str = Field(description=TRUTH)
    educational_notice: str = Field(description=EDUCATIONAL)
    updated_utc: str = Field(description=UPDATED)


class ProgramBlock(Body):
    """The program that made the answer."""

    version: str = Field(description="Its version.")
    commit: str | None = Field(description="Beginning of the commit of its source; null when not known.")


class StatusResponse(Freshness, BaseResponse):
    """Whether the service is up to date."""

    program: ProgramBlock = Field(description="What runs.")
    status: Status = Field(description=STATUS)
    ticks: TicksBlock = Field(description="Ticks of the last 24 hours.")
    disclaimer: str = Field(description=EDUCATIONAL)


class PaidResponse(TickResponse):
    """What every paid answer carries; nothing of the payer."""

    type: str = Field(description="Kind of the paid answer.")
    payment_status: Literal["settled"] = Field(description="settled.")
    product: str = Field(description="Name of the product.")
    product_id: str | None = Field(description="Catalogue id; null for the human report.")
    price: str = Field(description="What was paid, for people.")
    price_atomic: int = Field(description="What was paid, atomic units of USDC (6 decimals).")
    snapshotId: str = Field(description="The snapshot that was quoted.")  # noqa: N815 -- a name of the contract
    as_of: str = Field(description="Market time of the snapshot, ISO 8601 UTC.")
    valid_until: str = Field(description="Past this wall time the reading is stale, ISO 8601 UTC.")
    status: Status = Field(description=STATUS)
    source_mode: SourceMode = Field(description=MODE)
    educational_only: bool = Field(description="Always true.")
    limitations: tuple[str, ...] = Field(description=LIMITATIONS)
    disclaimer: str = Field(description=EDUCATIONAL)
    updated: str = Field(description=UPDATED)


ENGINE = "emi-brain"
ENGINE_VERSION = "v1"


def updated(ctx: Tick) -> str:
    """Return the wall time of the tick."""
    return iso(ctx.freshness.generated_ms)


def as_of(ctx: Tick) -> str:
    """Return the market time of the snapshot."""
    return iso(ctx.observation.market_ms)


def source_name(ctx: Tick) -> str:
    """Name the market and its sources in words, e.g. `live market: kraken, okx`."""
    names = ", ".join(dict.fromkeys(source.name for source in ctx.observation.sources))
    return f"{ctx.observation.mode} market: {names or 'no source answered'}"


def source_block(ctx: Tick) -> SourceBlock:
    """Say where the market data come from."""
    times = [source.as_of for source in ctx.observation.sources if source.as_of]

    return SourceBlock(
        name=source_name(ctx),
        kind=ctx.observation.price_basis,
        mode=ctx.observation.mode,
        as_of=max(times, default=None),
        assets_verified=ctx.verified,
        assets_total=len(ASSETS),
    )


def freshness(ctx: Tick) -> Freshness:
    """Say when the answer was made and until when it may be used."""
    tick = ctx.freshness

    return Freshness(
        tick_id=tick.tick_id,
        generation=tick.generation,
        generated_at=iso(tick.generated_ms),
        next_update_at=iso(tick.next_update_ms),
        valid_until=iso(tick.valid_until_ms),
        source_mode=ctx.observation.mode,
        sources=ctx.observation.sources,
    )


def replay(ctx: Tick) -> Replay | None:
    """Return the position in a recorded market; None for the others."""
    if ctx.observation.mode is not SourceMode.RECORDED:
        return None

    offset_ms = ctx.freshness.offset_ms
    if offset_ms is None:
        offset_ms = ctx.observation.offset_ms
    return Replay(offset_seconds=offset_ms // 1000, market_time=as_of(ctx))


def next_resource(endpoint: Endpoint) -> NextResource:
    """Name the richer resource of an endpoint."""
    name = endpoint.next_resource
    if name in PRODUCT_BY_ID:
        product = PRODUCT_BY_ID[name]
        return NextResource(endpoint=name, path=product.path, access="paid", price_display=product.price_display)
    return NextResource(endpoint=name, path=ENDPOINT_BY_ID[name].path, access="public", price_display=None)


def guidance(endpoint: Endpoint) -> AgentGuidance:
    """Say when an agent should read an endpoint."""
    return AgentGuidance(
        recommended_for=endpoint.recommended_for,
        when_to_use=endpoint.when_to_use,
        when_not_to_use=endpoint.when_not_to_use,
        next_step=next_resource(endpoint).path,
    )


def expanded_access(ctx: Tick, product_id: str) -> ExpandedAccess:
    """Describe a paid resource and its price."""
    product = PRODUCT_BY_ID[product_id]

    return ExpandedAccess(
        path=product.path,
        price_display=product.price_display,
        price_atomic=product.price_atomic,
        network=NETWORKS[ctx.site.network].caip2,
        asset_id=ctx.site.asset_id,
        buyer_page=ctx.site.base_url + BUYER_PAGES[product.id],
    )


def related(endpoint: Endpoint) -> dict[str, str]:
    """List the other free resources: id to path."""
    return {other.id: other.path for other in ENDPOINTS if other.id != endpoint.id}


def free_envelope(ctx: Tick, endpoint: Endpoint) -> FreeResponse:
    """Fill what every free answer carries."""
    return FreeResponse(
        success=True,
        project=ctx.site.project,
        endpoint=endpoint.id,
        name=endpoint.name,
        version=endpoint.version,
        access="public",
        headline=ctx.headline,
        changed_since_last_tick=ctx.changed,
        capability_boundary=CapabilityBoundary(provides=endpoint.provides, does_not_provide=endpoint.does_not_provide),
        next_resource=next_resource(endpoint),
        freshness=freshness(ctx),
        replay=replay(ctx),
    )


def notice_envelope(ctx: Tick, endpoint: Endpoint, *limits: str) -> NoticeResponse:
    """Fill the envelope with an educational notice; `limits` are the answer's own limitations."""
    return NoticeResponse(
        **free_envelope(ctx, endpoint).as_fields(),
        type=endpoint.type,
        mode=ctx.observation.mode,
        status=ctx.status,
        limitations=unique([*ctx.limitations, *limits]),
        truth_statement=endpoint.truth_statement,
        educational_notice=DISCLAIMER,
        updated_utc=updated(ctx),
    )


def rich_envelope(ctx: Tick, endpoint: Endpoint, *limits: str, summary: str) -> RichResponse:
    """Fill the envelope of market-regime and main-brain; `limits` are the answer's own limitations."""
    base = ctx.site.base_url
    position = RECOMMENDED_ORDER.index(endpoint.id) + 1

    return RichResponse(
        **free_envelope(ctx, endpoint).as_fields(),
        product_id=endpoint.product_id,
        schema_version=endpoint.schema_version,
        status=ctx.status,
        purpose=endpoint.purpose,
        endpoint_role=EndpointRole(role="context", tier="free", position=position),
        agent_guidance=guidance(endpoint),
        usage_characteristics=UsageCharacteristics(**USAGE_CHARACTERISTICS),
        source=source_block(ctx),
        summary=summary,
        limitations=unique([*ctx.limitations, *limits]),
        developer_resources=DeveloperResources(
            openapi_json=base + OPENAPI_JSON,
            openapi_yaml=base + OPENAPI_YAML,
            llms_txt=base + LLMS_TXT,
            docs=base + DOCS,
        ),
        expanded_access=expanded_access(ctx, endpoint.next_resource),
        related_resources=related(endpoint),
        truth_statement=endpoint.truth_statement,
        disclaimer=DISCLAIMER,
        updated=updated(ctx),
        updated_utc=updated(ctx),
    )


def paid_envelope(ctx: Tick, product_id: str, *limits: str, news: str) -> PaidResponse:
    """Fill what every paid answer carries.

    Args:
        limits: the answer's own limitations.
        news: its headline: what it says that no free answer does.
    """
    product = PRODUCT_BY_ID[product_id]

    return PaidResponse(
        success=True,
        project=ctx.site.project,
        endpoint=product.id,
        type=product.type,
        payment_status="settled",
        product=product.title,
        product_id=product.product_id,
        price=product.price_display,
        price_atomic=product.price_atomic,
        snapshotId=ctx.freshness.generation,
        as_of=as_of(ctx),
        valid_until=iso(ctx.freshness.valid_until_ms),
        status=ctx.status,
        source_mode=ctx.observation.mode,
        headline=news,
        changed_since_last_tick=ctx.changed,
        educational_only=True,
        limitations=unique([*ctx.limitations, *limits]),
        disclaimer=DISCLAIMER,
        updated=updated(ctx),
        replay=replay(ctx),
    )


def status(ctx: Tick) -> StatusResponse:
    """Compose the state of the tick."""
    return StatusResponse(
        **freshness(ctx).as_fields(),
        success=True,
        project=ctx.site.project,
        program=ProgramBlock(version=ctx.site.program.version, commit=ctx.site.program.commit),
        status=ctx.status,
        ticks=ctx.ticks,
        disclaimer=DISCLAIMER,
        replay=replay(ctx),
    )
