"""The pages of the documentation: programs to copy, a short answer, the fields of each object."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.wire.networks import TESTNET
from generator.catalog import examples
from generator.catalog.discovery import QUERY_NOTES
from generator.catalog.endpoints import ENDPOINT_BY_ID, Endpoint
from generator.catalog.links import QUICKSTART
from generator.catalog.pages import TYPES, SitePage
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS
from generator.compose.body import Body
from generator.compose.context import Site
from generator.site.words.reference import Reference, Schemas, next_resource, shortened

LOCAL: Final = "http://127.0.0.1:8402"  # where `emi up` serves
# What an answer says of itself; the example leaves it out.
_ABOUT: Final = frozenset({"purpose", "endpoint_role", "agent_guidance", "usage_characteristics", "expanded_access"})
_LANGUAGES: Final = ("curl", "python", "javascript")


def values(page: SitePage, schemas: Schemas, bodies: Mapping[str, Body], site: Site) -> dict[str, Any]:
    """Return what the template of a page of the documentation reads.

    Args:
        bodies: path -> the free body published there, for the example.
        site: its address is in the programs to copy, every one of which the tests run.
    """
    reference = Reference(schemas)
    name = page.path.split("/")[2]
    if name in ENDPOINT_BY_ID:
        endpoint = ENDPOINT_BY_ID[name]
        return _endpoint(endpoint, reference, bodies.get(endpoint.path), site.base_url)
    if name in PRODUCT_BY_ID:
        product = PRODUCT_BY_ID[name]
        programs = {name: getattr(examples, f"paid_{name}")(site.base_url, product) for name in _LANGUAGES}
        return {"product": product, "parts": reference.of(product), "programs": programs}
    if page.path == QUICKSTART:
        return _quickstart(site)
    return {"parts": reference.shared() if page.path == TYPES else ()}


def _endpoint(endpoint: Endpoint, reference: Reference, body: Body | None, base_url: str) -> dict[str, Any]:
    name, path = next_resource(endpoint)
    parts = reference.of(endpoint)

    answer = body.as_json() if body else {}
    own = {row.name for row in parts[0].fields} - _ABOUT
    shown = {key: value for key, value in answer.items() if key in own}

    return {
        "endpoint": endpoint,
        "parts": parts,
        "query": QUERY_NOTES.get(endpoint.id),
        "next_name": name,
        "next_path": path,
        "programs": {name: getattr(examples, name)(base_url, endpoint) for name in _LANGUAGES},
        "answer": _written(shown) if shown else None,
    }


def _quickstart(site: Site) -> dict[str, Any]:
    lent = site.devnet is not None and site.network == TESTNET.name
    origin, product = site.base_url if lent else LOCAL, PRODUCTS[0]
    paid = {
        "python": examples.paid_python(origin, product),
        "javascript": examples.paid_javascript(origin, product),
    }
    fixed = {"start": examples.START, "install": examples.INSTALL, "run": examples.RUN, "parts": ()}
    sold = [(product, examples.caps(product)) for product in PRODUCTS]
    return {"lent": lent, "programs": paid, "sold": sold, **fixed}


def _written(body: Any) -> str:
    """Write JSON for reading, with small objects on one line, and no tag in it."""
    text = json.dumps(shortened(body), indent=1, ensure_ascii=False).replace("<", "\\u003c")
    return re.sub(r"\{[^{}\[\]]{1,120}\}", lambda found: " ".join(found[0].split()), text)
