"""Fields of every free answer, and GET /status.json."""

from pydantic import Field

from generator.catalog.words import SourceMode, SourceStatus, Status
from generator.contract.base import Body, absent

UPDATED = "Wall time of the tick that made this answer, ISO 8601 UTC."
LIMITATIONS = "What is unknown or restricted in this answer, and why."
STATUS = "available: every input is fresh; degraded: some are stale or missing; unavailable: no asset can be read."
EDUCATIONAL = "Educational notice: what this answer is not."
MODE = "Where the market data come from: live, recorded or simulated."
TRUTH = "What a reader must not conclude from this answer."
HEADLINE = "The market in one sentence of at most 140 characters; the same in every answer of a tick."
CHANGED = "Worded facts that changed since the tick published before; null on the first tick after a start."


class SourceRow(Body):
    """How one market source answered in this tick."""

    name: str = Field(description="Name of the source.")
    kind: str = Field(description="What it gives, e.g. spot, candles, funding, open_interest.")
    status: SourceStatus = Field(description="ok, stale or failed.")
    as_of: str | None = Field(description="Market time of its newest datum, ISO 8601 UTC; null when it gave none.")
    age_seconds: int | None = Field(description="Market time now minus as_of, seconds.")
    reason: str | None = Field(description="Why it is stale or failed; null when ok.")


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

    offset_seconds: int = Field(description="Wall time minus market time, seconds.")
    market_time: str = Field(description="Market time of this tick, ISO 8601 UTC.")


class Change(Body):
    """One worded fact that changed."""

    what: str = Field(description="What changed.")
    before: str | float | None = Field(description="What it was; null where not known.")
    now: str | float | None = Field(description="What it is now; null where not known.")
    text: str = Field(description="The change in words.")


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
    next_step: str = Field(description="What to read next.")


class UsageCharacteristics(Body):
    """How the resource behaves for a client."""

    machine_readable: bool = Field(description="Always true.")
    stable_schema: bool = Field(description="True when fields are not renamed or dropped within a major version.")
    cache_seconds: int = Field(description="Cache window, seconds.")
    authentication: str = Field(description="Credential needed; none.")
    payment_required: bool = Field(description="Whether a payment is needed.")
    response_format: str = Field(description="Media type.")


class Answer(Body):
    """What every answer of a tick begins with."""

    success: bool = Field(description="True on every 200.")
    project: str = Field(description="Name of the service.")
    replay: Replay | None = Field(
        default=None, exclude_if=absent, description="Only while a recorded market is replayed: its position."
    )


class TickAnswer(Answer):
    """What every free and paid answer carries."""

    endpoint: str = Field(description="Identity of the resource, e.g. market-regime.")
    headline: str = Field(max_length=140, description=HEADLINE)
    changed_since_last_tick: tuple[Change, ...] | None = Field(description=CHANGED)


class FreeResponse(TickAnswer):
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


class TicksBlock(Body):
    """Ticks of the last 24 hours, this one not counted."""

    published_24h: int = Field(description="Ticks published.")
    failed_24h: int = Field(description="Ticks failed.")
    missed_24h: int = Field(description="Full minutes since the first tick in which none began.")


class StatusResponse(Freshness, Answer):
    """Whether the service is up to date."""

    status: Status = Field(description=STATUS)
    ticks: TicksBlock = Field(description="Ticks of the last 24 hours.")
    disclaimer: str = Field(description=EDUCATIONAL)
