"""The machine-readable description: OpenAPI 3.1 as JSON and as YAML."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.wire.foreign import read_json
from gateway.wire.networks import NETWORKS
from generator.catalog.contact import contact_of
from generator.catalog.counts import ENDPOINTS_IN_WORDS, PRODUCTS_IN_WORDS
from generator.catalog.discovery import CATALOG_VERSION
from generator.catalog.endpoints import CACHE_SECONDS, ENDPOINT_BY_ID, RECOMMENDED_ORDER
from generator.catalog.links import BUYER, BUYER_AGENT, DOCS, LLMS_TXT, OPENAPI_FILES, OPENAPI_JSON, OPENAPI_YAML
from generator.catalog.products import ATLAS_SCHEMA_VERSION, PRODUCTS
from generator.catalog.text.answers import CAPACITY_NOTICE, CLIENT_ADVICE, DISCLAIMER, VERSION_ADVICE
from generator.compose.body import encode
from generator.site.openapi.paths import component_schemas, components, paths

_DESCRIPTION: Final = (
    "Educational market intelligence over HTTPS: market regime, direction with its confidence, liquidity, "
    "derivatives pressure, a live human-against-AI prediction game (the Arena), its lessons, and statistics. "
    f"Every endpoint is GET and returns JSON. {ENDPOINTS_IN_WORDS.capitalize()} endpoints are free; "
    f"{PRODUCTS_IN_WORDS} answers are paid per request by x402 version 2. The service holds no funds or private keys, "
    "connects to no exchange account and executes no trades. Scoring internals are not exposed. Unknown values are "
    "null and named in `limitations`; objects may "
    f"gain fields at any time.\n\n{DISCLAIMER}"
)


def openapi(*, base_url: str, project: str, contact: str, network: str) -> dict[str, Any]:
    """Describe the service; raise KeyError when the network is not in the table.

    Examples are not in it but at their own address: a free answer is its own example, always of the newest tick, and
    a paid one has its sample. A 402 is one request away.
    """
    url, email = contact_of(contact)
    # Without a URL of its own the contact has that of the documentation.
    contact_of_project = {"name": project, "url": url or base_url + DOCS}
    if email:
        contact_of_project["email"] = email

    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{project} API",
            "version": CATALOG_VERSION,
            "summary": "Educational crypto market context as JSON, renewed every minute.",
            "description": _DESCRIPTION,
            "contact": contact_of_project,
            "license": {"name": "MIT License", "url": "https://opensource.org/license/mit"},
            "x-guidance": guidance(base_url),
        },
        "externalDocs": {"description": "Files: record, practice, feed, samples", "url": base_url + OPENAPI_FILES},
        "servers": [{"url": base_url, "description": "This service"}],
        "security": [],
        "tags": [
            {"name": "free", "description": "Public: no account, key or payment."},
            {"name": "paid", "description": "Paid per request by x402; no account."},
        ],
        "paths": paths(NETWORKS[network], base_url),
        "components": {"schemas": component_schemas(), **components()},
    }


def openapi_yaml(document: Mapping[str, Any]) -> bytes:
    """Write a document as YAML in blocks; keys and scalars are JSON, which readers of YAML 1.1 and 1.2 take alike."""
    lines = _block(read_json(encode(document)))
    return "".join(f"{line}\n" for line in lines).encode()


def _block(value: Any) -> Iterator[str]:
    """Give the lines of a value: a scalar or an empty collection is one line, all else an item or a key a line."""
    if not value or not isinstance(value, dict | list):
        # To YAML 1.1 a number with an exponent, but without a point, is a string.
        yield re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value, ensure_ascii=False))
        return

    if isinstance(value, list):
        for item in value:
            first, *others = _block(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
        return

    for name, item in value.items():
        key = f"{json.dumps(name, ensure_ascii=False)}:"
        if item and isinstance(item, dict | list):
            yield key
            yield from (f"  {line}" for line in _block(item))
        else:
            (scalar,) = _block(item)
            yield f"{key} {scalar}"


def guidance(base_url: str) -> str:
    """Return the advice for agents: order, client advice, limits, versions, payment."""
    order = [f"{place}. {name}: {ENDPOINT_BY_ID[name].path}" for place, name in enumerate(RECOMMENDED_ORDER, start=1)]
    order.append(f"{len(order) + 1}. then the paid endpoints, if needed:")
    order += [f"- {row.title}: {row.path}, {row.price_atomic} atomic units ({row.price_display})" for row in PRODUCTS]

    payment = (
        "Payment: request without payment, receive 402 with the terms in the PAYMENT-REQUIRED header, sign the exact "
        "payment, repeat the request with PAYMENT-SIGNATURE, receive 200 with PAYMENT-RESPONSE. After a 503 send the "
        "same signed payment again and never sign a second one. Send a payment-identifier with it: signed payments are "
        "public on the chain, and a settled one that came with an identifier is repeated only to who names it. "
        f"People can pay at {base_url}{BUYER} (report) or "
        f"{base_url}{BUYER_AGENT} (structured)."
    )

    windows = "; ".join(f"{row.id} {row.cache_seconds}" for row in PRODUCTS)
    limits = (
        f"Limits: cache window of free answers {CACHE_SECONDS} s; of paid answers in seconds: {windows}. "
        f"{CAPACITY_NOTICE}"
    )
    versions = (
        f"Versions: this catalogue is {CATALOG_VERSION}; structured ATLAS is schema {ATLAS_SCHEMA_VERSION} and "
        f"evolving, the human report is evolving, all others are stable. {VERSION_ADVICE}"
    )
    paths_of_files = (OPENAPI_JSON, OPENAPI_YAML, LLMS_TXT, "/robots.txt", "/sitemap.xml")
    discovery = f"Discovery: {', '.join(base_url + path for path in paths_of_files)}."

    paragraphs = (
        "\n".join(("Recommended order:", *order)),
        payment,
        f"Client advice: {CLIENT_ADVICE}",
        limits,
        versions,
        discovery,
    )
    return "\n\n".join(paragraphs)
