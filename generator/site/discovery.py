"""The files for crawlers and agents, all from the one catalog."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from gateway.wire.networks import NETWORKS
from generator.catalog.discovery import FEEDS, PAGES, QUERY_NOTES
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import BUYER, DOCS, LLMS_TXT, OPENAPI_JSON, OPENAPI_YAML, STATUS_JSON
from generator.catalog.products import PRODUCTS, X402_VERSION
from generator.catalog.text.answers import DISCLAIMER, PURPOSE_NOTICE
from generator.compose.context import Site
from generator.site.pages.docs import next_resource
from generator.site.pages.render import environment
from generator.site.resources import Resources

_TEMPLATES: Final = ("llms.txt", "llms-full.txt", "robots.txt", "sitemap.xml")
_OPENAPI_JSON_TYPE: Final = "application/vnd.oai.openapi+json;version=3.1"
_OPENAPI_YAML_TYPE: Final = "application/vnd.oai.openapi;version=3.1"


def discovery(site: Site, updated: datetime, resources: Resources | None = None) -> dict[str, bytes]:
    """Make llms.txt, llms-full.txt, robots.txt, sitemap.xml and the two well-known documents.

    Args:
        site: base address, names and network.
        updated: aware time of the last change, for the sitemap.
        resources: where the templates lie; found by itself when not given.

    Raises:
        KeyError: `site.network` is not in the catalog.
    """
    env = environment(resources or Resources.locate())
    values = {**_facts(site), "lastmod": updated.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    files = {f"/{name}": env.get_template(name).render(values).encode() for name in _TEMPLATES}
    files["/.well-known/api-catalog"] = _json(api_catalog(site))
    files["/.well-known/x402"] = _json(x402_resources(site))
    return files


def api_catalog(site: Site) -> dict[str, Any]:
    """Return the linkset of RFC 9727: the endpoints as items, and where they are described."""
    base = site.base_url
    named = [(row.path, row.name) for row in ENDPOINTS] + [(row.path, row.title) for row in PRODUCTS]
    items = [{"href": base + path, "title": name} for path, name in named]
    described = {
        "anchor": f"{base}/",
        "service-desc": [
            {"href": base + OPENAPI_JSON, "type": _OPENAPI_JSON_TYPE},
            {"href": base + OPENAPI_YAML, "type": _OPENAPI_YAML_TYPE},
        ],
        "service-doc": [
            {"href": base + DOCS, "type": "text/html"},
            {"href": base + LLMS_TXT, "type": "text/plain"},
        ],
        "service-meta": [{"href": f"{base}/.well-known/x402", "type": "application/json"}],
        "status": [{"href": base + STATUS_JSON, "type": "application/json"}],
        "alternate": [{"href": base + feed.path, "type": feed.media_type, "title": feed.title} for feed in FEEDS],
    }
    return {"linkset": [{"anchor": f"{base}/.well-known/api-catalog", "item": items}, described]}


def x402_resources(site: Site) -> dict[str, Any]:
    """Return the paid resources with their terms; payee and fee payer stand in each 402."""
    network = NETWORKS[site.network]
    rows = [
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
        "documentation": f"{site.base_url}{DOCS}#paid",
        "disclaimer": DISCLAIMER,
    }


def _facts(site: Site) -> Mapping[str, Any]:
    """Return what these texts say apart from what every template knows."""
    return {
        "site": site,
        "summary": PURPOSE_NOTICE,
        "query_notes": QUERY_NOTES,
        "next_resource": next_resource,
        "paths": [*(page.path for page in PAGES), BUYER, *(endpoint.path for endpoint in ENDPOINTS)],
        "x402_version": X402_VERSION,
        "network_id": NETWORKS[site.network].full,
    }


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
