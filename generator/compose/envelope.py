"""The envelope of the free answers, and GET /status.json."""

from typing import Any

from gateway.wire.networks import NETWORKS
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, RECOMMENDED_ORDER, Endpoint
from generator.catalog.formats import iso, iso_or_none
from generator.catalog.links import BUYER_PAGES, DOCS, LLMS_TXT, OPENAPI_JSON, OPENAPI_YAML
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.answers import DISCLAIMER, USAGE_CHARACTERISTICS
from generator.catalog.words import SourceMode
from generator.compose.context import TickContext
from generator.compose.facts import headline
from generator.compose.inputs import market_limitations, market_status, verified
from generator.contract import envelope as contract
from generator.contract.envelope import SourceBlock, StatusResponse, TicksBlock

ENGINE = "emi-brain"
ENGINE_VERSION = "v1"


def updated(ctx: TickContext) -> str:
    """Return the wall time of the tick."""
    return iso(ctx.freshness.generated_ms)


def source_rows(ctx: TickContext) -> tuple[contract.SourceRow, ...]:
    """List how every source answered."""
    now_ms = ctx.observation.market_ms
    return tuple(
        contract.SourceRow.of(
            source,
            as_of=iso_or_none(source.as_of_ms),
            age_seconds=None if source.as_of_ms is None else max(0, (now_ms - source.as_of_ms) // 1000),
        )
        for source in ctx.observation.sources
    )


def freshness(ctx: TickContext) -> contract.Freshness:
    """Say when the answer was made and until when it may be used."""
    tick = ctx.freshness
    return contract.Freshness.of(
        tick,
        generated_at=iso(tick.generated_ms),
        next_update_at=iso(tick.next_update_ms),
        valid_until=iso(tick.valid_until_ms),
        source_mode=ctx.observation.mode,
        sources=source_rows(ctx),
    )


def replay(ctx: TickContext) -> contract.Replay | None:
    """Return the position in a recorded market; None for the others."""
    if ctx.observation.mode is not SourceMode.RECORDED:
        return None
    offset_ms = ctx.observation.offset_ms if ctx.freshness.offset_ms is None else ctx.freshness.offset_ms
    return contract.Replay(offset_seconds=offset_ms // 1000, market_time=iso(ctx.observation.market_ms))


def next_resource(endpoint: Endpoint) -> contract.NextResource:
    """Name the richer resource of an endpoint."""
    name = endpoint.next_resource
    if name in PRODUCT_BY_ID:
        product = PRODUCT_BY_ID[name]
        return contract.NextResource.of(product, endpoint=name, access="paid")
    return contract.NextResource(endpoint=name, path=ENDPOINT_BY_ID[name].path, access="public", price_display=None)


def head(ctx: TickContext, endpoint: Endpoint) -> dict[str, Any]:
    """Fill the fields of `FreeResponse`."""
    return {
        "success": True,
        "project": ctx.site.project,
        "endpoint": endpoint.id,
        "name": endpoint.name,
        "version": endpoint.version,
        "access": "public",
        "headline": headline(ctx),
        "changed_since_last_tick": ctx.changed,
        "capability_boundary": contract.CapabilityBoundary.of(endpoint),
        "next_resource": next_resource(endpoint),
        "freshness": freshness(ctx),
        "replay": replay(ctx),
    }


def notice(ctx: TickContext, endpoint: Endpoint, *limits: str) -> dict[str, Any]:
    """Fill the fields of `NoticeResponse`."""
    return {
        **head(ctx, endpoint),
        "type": endpoint.type,
        "mode": ctx.observation.mode,
        "status": market_status(ctx),
        "limitations": market_limitations(ctx, *limits),
        "truth_statement": endpoint.truth_statement,
        "educational_notice": DISCLAIMER,
        "updated_utc": updated(ctx),
    }


def rich(ctx: TickContext, endpoint: Endpoint, *limits: str) -> dict[str, Any]:
    """Fill the fields of `RichResponse` but for `summary`."""
    return {
        **head(ctx, endpoint),
        "product_id": endpoint.product_id,
        "schema_version": endpoint.schema_version,
        "status": market_status(ctx),
        "purpose": endpoint.purpose,
        "endpoint_role": contract.EndpointRole(
            role="context", tier="free", position=RECOMMENDED_ORDER.index(endpoint.id) + 1
        ),
        "agent_guidance": guidance(endpoint),
        "usage_characteristics": contract.UsageCharacteristics(**USAGE_CHARACTERISTICS),
        "source": source_block(ctx),
        "limitations": market_limitations(ctx, *limits),
        "developer_resources": developer_resources(ctx),
        "expanded_access": expanded_access(ctx, endpoint.next_resource),
        "related_resources": related(endpoint),
        "truth_statement": endpoint.truth_statement,
        "disclaimer": DISCLAIMER,
        "updated": updated(ctx),
        "updated_utc": updated(ctx),
    }


def guidance(endpoint: Endpoint) -> contract.AgentGuidance:
    """Say when an agent should read an endpoint."""
    follow = next_resource(endpoint)
    return contract.AgentGuidance.of(
        endpoint,
        recommended_for=endpoint.provides,
        next_step=f"{follow.endpoint} at {follow.path} ({follow.price_display or 'free'})",
    )


def expanded_access(ctx: TickContext, product_id: str) -> contract.ExpandedAccess:
    """Describe a paid resource and its price."""
    product = PRODUCT_BY_ID[product_id]
    return contract.ExpandedAccess.of(
        product,
        network=NETWORKS[ctx.site.network].caip2,
        asset_id=ctx.site.asset_id,
        buyer_page=ctx.site.base_url + BUYER_PAGES[product.id],
    )


def developer_resources(ctx: TickContext) -> contract.DeveloperResources:
    """List the machine-readable descriptions."""
    base = ctx.site.base_url
    return contract.DeveloperResources(
        openapi_json=base + OPENAPI_JSON, openapi_yaml=base + OPENAPI_YAML, llms_txt=base + LLMS_TXT, docs=base + DOCS
    )


def related(endpoint: Endpoint) -> dict[str, str]:
    """List the other free resources."""
    return {other.id: other.path for other in ENDPOINTS if other.id != endpoint.id}


def source_block(ctx: TickContext) -> SourceBlock:
    """Say where the market data come from."""
    return SourceBlock(
        name=source_name(ctx),
        kind=ctx.observation.price_basis,
        mode=ctx.observation.mode,
        as_of=iso_or_none(max((row.as_of_ms for row in ctx.observation.sources if row.as_of_ms), default=None)),
        assets_verified=verified(ctx),
        assets_total=len(ASSETS),
    )


def source_name(ctx: TickContext) -> str:
    """Name the market in words."""
    names = ", ".join(dict.fromkeys(source.name for source in ctx.observation.sources))
    return f"{ctx.observation.mode} market: {names}" if names else f"{ctx.observation.mode} market: no source answered"


def status(ctx: TickContext) -> StatusResponse:
    """Compose the state of the tick."""
    return StatusResponse.of(
        freshness(ctx),
        success=True,
        project=ctx.site.project,
        status=market_status(ctx),
        ticks=TicksBlock.of(ctx.ticks),
        disclaimer=DISCLAIMER,
        replay=replay(ctx),
    )
