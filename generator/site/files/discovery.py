"""The files for crawlers and agents, all from the one catalog."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NotRequired
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from gateway.wire.networks import NETWORKS
from generator.catalog.contact import contact_of
from generator.catalog.discovery import FEEDS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import (
    AI_CATALOG,
    ARD,
    BUYER,
    DAILY,
    DICTIONARY,
    DOCS,
    DOCS_PAID,
    LLMS_TXT,
    METHODOLOGY,
    NOW_JSON,
    OPENAPI_FILES,
    OPENAPI_JSON,
    OPENAPI_YAML,
    SECURITY_TXT,
    SKILL,
    STATUS_JSON,
)
from generator.catalog.products import PRODUCTS, X402_VERSION
from generator.catalog.text.answers import DISCLAIMER, PURPOSE_NOTICE
from generator.compose.body import TAIL, encode
from generator.compose.context import Site
from generator.compose.envelope import FreeResponse, RichResponse
from generator.site.openapi.dictionary import dictionary
from generator.site.openapi.paths import component_schemas
from generator.site.resources import Resources
from generator.site.templates import environment
from generator.site.words.reference import next_resource, shortened


class PaidResource(TypedDict):
    """One paid resource with its terms."""

    url: str
    """Where it is."""
    method: str
    """GET."""
    title: str
    """Name of the product."""
    description: str
    """What it is."""
    type: str
    """Kind of the answer."""
    scheme: str
    """exact."""
    price: str
    """For people."""
    amount: str
    """Atomic units."""
    asset: str
    """Id of the asset on the chain."""
    network: str
    """CAIP-2 with the whole genesis hash."""
    networks: list[str]
    """Names of the network."""
    mimeType: str
    """Of the answer."""
    cache_seconds: int
    """How long a quote is good."""
    stability: str
    """stable or evolving."""


class PaidResources(TypedDict):
    """The paid resources of the service."""

    x402Version: int
    """2."""
    project: str
    """Name of the service."""
    resources: list[PaidResource]
    """Each with its terms; payee and fee payer are in its 402."""
    buyer_page: str
    """Where people buy."""
    documentation: str
    """How paying works."""
    disclaimer: str
    """Educational notice."""


class ArdHost(TypedDict):
    """Whose catalog it is."""

    displayName: str
    """Name of the service."""
    documentationUrl: str
    """Its documentation."""


class ArdEntry(TypedDict):
    """One thing that agents may search for."""

    identifier: str
    """URN."""
    displayName: str
    """Name."""
    type: str
    """Media type."""
    url: str
    """Where it is."""
    description: str
    """What it is for."""
    tags: list[str]
    """Subjects."""
    representativeQueries: list[str]
    """What it answers."""


class ArdCatalog(TypedDict):
    """Agentic Resource Discovery, draft 0.9."""

    specVersion: str
    """1.0."""
    host: ArdHost
    """Whose catalog it is."""
    entries: list[ArdEntry]
    """What is here."""


class LinkTarget(TypedDict):
    """One target of a link."""

    href: str
    """URL."""
    type: NotRequired[str]
    """Media type."""
    title: NotRequired[str]
    """Name."""


class Linkset(TypedDict):
    """API catalog of RFC 9727, as a linkset of RFC 9264."""

    linkset: list[dict[str, str | list[LinkTarget]]]
    """An anchor, and the targets of each relation."""


_TEMPLATES: Final = ("llms.txt", "llms-full.txt", "SKILL.md", "robots.txt", "sitemap.xml")
# What an agent is asked, and where the answer is.
_ASKED: Final = (
    ("What kind of market is it now?", "/api/market-regime.php"),
    ("How far may prices move, and will they?", "/api/main-brain.php"),
    ("Why does it say so of one asset?", "/api/reasoning.php?asset=ETH"),
    ("How right were its forecasts?", "/api/statistics.php"),
    ("Who pays whom in futures, and how deep are books?", "/api/derivatives.php, /api/liquidity-lite.php"),
)
# What an agent reads further, as (path, what it is).
_READING: Final = (
    (NOW_JSON, "the market now in under 1,000 tokens; `/now/BTC.json` is of one asset"),
    (SKILL, "how to use this service, as a skill that an agent can load"),
    ("/llms-full.txt", "this guide with every endpoint, page, word and number"),
    ("/openapi/market-regime.json", "one answer's schema; so for each endpoint, and /openapi.json for all"),
    (OPENAPI_FILES, "schemas of the files: record, daily questions, ladder, practice, feed, samples"),
    (DICTIONARY, "what each word and number means, and what not to conclude from it"),
    ("/track-record/index.md", "how forecasts turned out, with n and intervals"),
    (f"{DAILY}index.md", "one question a day, which an agent may answer by two signed ranges"),
    ("/learn/index.md", "how to read a market without being fooled"),
    ("/methodology/index.md", "how it reads, forecasts and scores; every term; fields that answers share"),
    ("/docs/free/index.md", "each free endpoint with an answer and its fields"),
    ("/docs/paid/index.md", "each paid one, a first purchase with play money, and how payment works"),
    (BUYER, "where people buy the report in a browser"),
)
_SKILL_TYPE: Final = 'text/markdown; profile="urn:air:agent-skills"'
# Link relation -> where the service is described by it, as (path, media type).
_DESCRIPTIONS: Final = {
    "service-desc": (
        (OPENAPI_JSON, "application/vnd.oai.openapi+json;version=3.1"),
        (OPENAPI_YAML, "application/vnd.oai.openapi;version=3.1"),
        (OPENAPI_FILES, "application/vnd.oai.openapi+json;version=3.1"),
    ),
    "service-doc": ((DOCS, "text/html"), (LLMS_TXT, "text/plain")),
    "service-meta": (("/.well-known/x402", "application/json"), (DICTIONARY, "application/json")),
    "item": ((NOW_JSON, "application/json"),),
    "status": ((STATUS_JSON, "application/json"),),
}
# What every answer has, and examples leave out.
ENVELOPE: Final = ({*FreeResponse.model_fields, *RichResponse.model_fields, *TAIL}) - {"headline", "summary"}


def discovery(site: Site, updated: datetime, examples: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """Make the files for crawlers and agents; raise KeyError when `site.network` is not in the catalog.

    Args:
        updated: aware time of the last change, for the sitemap and the end of security.txt.
        examples: path -> free body of a real tick; without one, llms-full.txt shows none.
    """
    schemas = component_schemas()
    words = dictionary(site.project, schemas)
    values = {
        "site": site,
        "network_id": NETWORKS[site.network].full,
        "next_resource": next_resource,
        "lastmod": updated.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "word_sets": words.words,
        "scales": words.scales,
        "examples": {path: json.dumps(_short(body), ensure_ascii=False) for path, body in examples.items()},
        "asked": _ASKED,
        "reading": _READING,
    }
    env = environment(Resources.locate())
    files = {f"/{name}": env.get_template(name).render(values).encode() for name in _TEMPLATES}

    files |= {
        DICTIONARY: encode(words),
        "/.well-known/api-catalog": encode(api_catalog(site.base_url)),
        "/.well-known/x402": encode(x402_resources(site)),
        **dict.fromkeys((ARD, AI_CATALOG), encode(ard(site))),
    }
    if site.contact:
        files[SECURITY_TXT] = security_txt(site, updated).encode()
    return files


def security_txt(site: Site, updated: datetime) -> str:
    """Return where to report a security problem (RFC 9116); the same bytes all month, good for 10 to 11 months."""
    url, email = contact_of(site.contact)
    contacts = [url] if url else []
    if email:
        contacts.append(f"mailto:{email}")

    # The first day of the eleventh month from this one.
    this_month = updated.astimezone(UTC).replace(day=1)
    year_later, month_before = divmod(this_month.month + 10, 12)
    expires = this_month.replace(year=this_month.year + year_later, month=month_before + 1)

    lines = []
    if site.source_url:
        lines.append(f"# Source of this service: {site.source_url}")
    lines += [f"Contact: {contact}" for contact in contacts]
    lines += [
        f"Expires: {expires:%Y-%m-%d}T00:00:00Z",
        "Preferred-Languages: en",
        f"Canonical: {site.base_url}{SECURITY_TXT}",
        f"Policy: {site.base_url}{METHODOLOGY}#security",
    ]
    return "\n".join(lines) + "\n"


def api_catalog(base: str) -> Linkset:
    """Return the linkset of RFC 9727: the endpoints as items, and where they are described."""
    items: list[LinkTarget] = [{"href": base + row.path, "title": row.name} for row in ENDPOINTS]
    items += [{"href": base + row.path, "title": row.title} for row in PRODUCTS]

    described: dict[str, str | list[LinkTarget]] = {"anchor": f"{base}/"}
    for relation, links in _DESCRIPTIONS.items():
        described[relation] = [{"href": base + path, "type": media_type} for path, media_type in links]
    described["alternate"] = [
        {"href": base + feed.path, "type": feed.media_type, "title": feed.title} for feed in FEEDS
    ]

    return {"linkset": [{"anchor": f"{base}/.well-known/api-catalog", "item": items}, described]}


def ard(site: Site) -> ArdCatalog:
    """Return what agents may search for here, as Agentic Resource Discovery (draft 0.9) has it: the skill.

    Its types are those of cards, skills, registries and catalogs: an OpenAPI document is none of them, and is found
    through the skill and through the catalog of RFC 9727.
    """
    publisher = f"urn:air:{urlsplit(site.base_url).hostname}"
    skill: ArdEntry = {
        "identifier": f"{publisher}:skills:market-intelligence",
        "displayName": site.project,
        "type": _SKILL_TYPE,
        "url": site.base_url + SKILL,
        "description": PURPOSE_NOTICE,
        "tags": ["crypto", "education", "market-data", "volatility", "openapi", "x402", "algorand"],
        "representativeQueries": [
            "what kind of market is the crypto market in now",
            "how far may Bitcoin move in the next hour",
            "how often were this service's forecasts right",
            "free API for crypto market regime and expected ranges",
            "x402 paid market report in USDC on Algorand",
        ],
    }

    host: ArdHost = {"displayName": site.project, "documentationUrl": site.base_url + DOCS}
    return {"specVersion": "1.0", "host": host, "entries": [skill]}


def x402_resources(site: Site) -> PaidResources:
    """Return the paid resources with their terms; payee and fee payer stand in each 402."""
    network = NETWORKS[site.network]
    rows: list[PaidResource] = [
        {
            "url": site.base_url + product.path,
            "method": "GET",
            "title": product.title,
            "description": product.what_this_is,
            "type": product.type,
            "scheme": "exact",
            "price": product.price_display,
            "amount": str(product.price_atomic),
            "asset": str(site.asset_id),
            "network": network.full,
            "networks": [network.full, network.caip2],
            "mimeType": "application/json",
            "cache_seconds": product.cache_seconds,
            "stability": product.stability,
        }
        for product in PRODUCTS
    ]

    return {
        "x402Version": X402_VERSION,
        "project": site.project,
        "resources": rows,
        "buyer_page": site.base_url + BUYER,
        "documentation": f"{site.base_url}{DOCS_PAID}#flow",
        "disclaimer": DISCLAIMER,
    }


def _short(body: Mapping[str, Any]) -> Any:
    """Return an answer without the envelope that all share, and with one of every list and of every asset's rows."""
    return shortened({name: value for name, value in body.items() if name not in ENVELOPE})


CHANCES: Final = frozenset({"down", "neutral", "up"})


def as_example(body: Any) -> Any:
    """Return a body with its chances in whole percents.

    The tick that examples are taken from may be the one that seals a round's forecast, which is the same view: its
    exact numbers are secret before the votes are locked.
    """
    if isinstance(body, Mapping):
        if body.keys() == CHANCES and all(isinstance(value, float | int) for value in body.values()):
            return _whole_percents(body)
        return {key: as_example(value) for key, value in body.items()}
    if isinstance(body, list | tuple):
        return [as_example(value) for value in body]
    return body


def _whole_percents(chances: Mapping[str, float]) -> dict[str, float]:
    """Round to hundredths that add up to one: what is left over goes to the likeliest."""
    likeliest = max(chances, key=lambda word: chances[word])
    rounded = {word: round(value, 2) for word, value in chances.items()}
    others = sum(value for word, value in rounded.items() if word != likeliest)
    return rounded | {likeliest: round(1 - others, 2)}
