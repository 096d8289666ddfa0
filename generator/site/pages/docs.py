"""The pages of the documentation: programs to copy, a short answer, the fields of each object."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from gateway.wire import ports
from gateway.wire.networks import TESTNET
from generator.catalog import examples
from generator.catalog.discovery import QUERY_NOTES
from generator.catalog.endpoints import ENDPOINT_BY_ID, Endpoint
from generator.catalog.pages import SitePage
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS, Product
from generator.compose.body import Body
from generator.compose.context import Site
from generator.site.words.reference import (
    Meaning,
    ObjectFields,
    Reference,
    next_resource,
    shortened,
)

LOCAL: Final = f"http://127.0.0.1:{ports.GATEWAY}"  # where `emi up` serves
# What an answer says of itself and not of the market: the example leaves it out, the fields are folded.
ENVELOPE: Final = frozenset(
    {"agent_guidance", "description", "developer_note", "developer_resources", "disclaimer", "educational_notice"}
    | {"educational_only", "endpoint_role", "engine", "engine_version", "expanded_access", "explore", "generated_at"}
    | {"legacy_endpoint", "mode", "not_financial_advice", "ok", "privacy_note", "product_id", "provider", "purpose"}
    | {"related_endpoints", "related_resources", "schema_version", "source", "source_mode", "type", "updated"}
    | {"updated_at", "upgrade_path", "upsell", "usage_characteristics"}
)
_SMALL_OBJECT: Final = re.compile(r"\{[^{}\[\]]{1,60}\}")
_KEY: Final = re.compile(r'^( *)"([^"]+)":', re.MULTILINE)
_LINKED_KEY: Final = Markup('<a href="{}" title="{}">"{}"</a>:')


class EndpointPage(NamedTuple):
    """A free endpoint; `answer` is None before there is one, `query` where it takes none."""

    endpoint: Endpoint
    parts: tuple[ObjectFields, ...]
    envelope: tuple[ObjectFields, ...]
    query: str | None
    next_name: str
    next_path: str
    programs: Mapping[str, str]  # language -> program to copy, every one of which the tests run
    answer: Markup | None


class ProductPage(NamedTuple):
    """A paid endpoint."""

    product: Product
    parts: tuple[ObjectFields, ...]
    envelope: tuple[ObjectFields, ...]
    programs: Mapping[str, str]


class SoldProduct(NamedTuple):
    """A product, and how its programs write the most that they pay."""

    product: Product
    python: str
    javascript: str


class QuickstartPage(NamedTuple):
    """A purchase with play money; `lent` says whether this service can be bought from at once."""

    lent: bool
    start: str
    install: Mapping[str, str]
    programs: Mapping[str, str]
    run: Mapping[str, str]
    sold: tuple[SoldProduct, ...]


class TypesPage(NamedTuple):
    """The objects that many answers share."""

    parts: tuple[ObjectFields, ...]


def product_page(page: SitePage, reference: Reference, site: Site) -> ProductPage:
    """Return what pages/docs_product.html reads."""
    product = PRODUCT_BY_ID[_name_of(page)]
    fields = _fields(reference.of(product))
    return ProductPage(product, fields.own, fields.envelope, _paid_programs(site.base_url, product))


def endpoint_page(page: SitePage, reference: Reference, bodies: Mapping[str, Body], site: Site) -> EndpointPage:
    """Return what pages/docs_endpoint.html reads.

    Args:
        bodies: path -> the free body published there, for the example.
    """
    endpoint = ENDPOINT_BY_ID[_name_of(page)]
    body = bodies.get(endpoint.path)
    next_name, next_path = next_resource(endpoint)
    parts = reference.of(endpoint)
    fields = _fields(parts)

    answer = body.as_json() if body else {}
    own = {row.name for row in parts[0].fields} - ENVELOPE
    shown = {key: value for key, value in answer.items() if key in own}

    return EndpointPage(
        endpoint=endpoint,
        parts=fields.own,
        envelope=fields.envelope,
        query=QUERY_NOTES.get(endpoint.id),
        next_name=next_name,
        next_path=next_path,
        programs={
            "curl": examples.curl(site.base_url, endpoint),
            "python": examples.python(site.base_url, endpoint),
            "javascript": examples.javascript(site.base_url, endpoint),
        },
        answer=_explained(_indented(shown), reference.meanings(endpoint)) if shown else None,
    )


def types_page(reference: Reference) -> TypesPage:
    """Return what pages/docs_types.html reads."""
    return TypesPage(reference.shared())


def _name_of(page: SitePage) -> str:
    """Return the id of the endpoint or product that a page explains."""
    return page.path.split("/")[2]


class _Fields(NamedTuple):
    own: tuple[ObjectFields, ...]
    envelope: tuple[ObjectFields, ...]


def _fields(parts: Sequence[ObjectFields]) -> _Fields:
    """Return the fields that are read for their own sake, and apart those that describe the answer."""
    answer, *objects = parts
    own = tuple(row for row in answer.fields if row.name not in ENVELOPE)
    about = tuple(row for row in answer.fields if row.name in ENVELOPE)
    return _Fields(
        own=(replace(answer, fields=own), *(part for part in objects if not _is_envelope(part))),
        envelope=(replace(answer, fields=about), *filter(_is_envelope, objects)),
    )


def _is_envelope(part: ObjectFields) -> bool:
    return part.title.partition(".")[0] in ENVELOPE


def _explained(text: str, meanings: Mapping[str, Meaning]) -> Markup:
    """Link each key of an indented answer to the row that explains it, with the meaning as its title."""
    paths: dict[int, str] = {}  # the field that is open at each indentation
    linked = Markup("")
    end = 0

    for found in _KEY.finditer(text):
        indent, key = found.groups()
        paths = {depth: path for depth, path in paths.items() if depth < len(indent)}
        parent = paths[max(paths)] if paths else ""
        path = f"{parent}.{key}".removeprefix(".")

        linked += text[end : found.start()] + indent
        if path in meanings:
            paths[len(indent)] = path
            linked += _LINKED_KEY.format(meanings[path].address, meanings[path].description, key)
        else:
            # The key of a map names an asset or the like: what is below it belongs to the field above.
            paths[len(indent)] = parent
            linked += f'"{key}":'
        end = found.end()
    return linked + text[end:]


def quickstart_page(site: Site) -> QuickstartPage:
    """Return what pages/docs_quickstart.html reads."""
    # A devnet that lends the test network's ids can be bought from at once; else the reader starts one.
    lent = site.devnet is not None and site.network == TESTNET.name
    origin = site.base_url if lent else LOCAL
    first = PRODUCTS[0]

    return QuickstartPage(
        lent=lent,
        start=examples.START,
        install=examples.INSTALL,
        programs={
            "python": examples.paid_python(origin, first),
            "javascript": examples.paid_javascript(origin, first),
        },
        run=examples.RUN,
        sold=tuple(SoldProduct(product, **examples.caps(product)) for product in PRODUCTS),
    )


def _paid_programs(base_url: str, product: Product) -> dict[str, str]:
    return {
        "curl": examples.paid_curl(base_url, product),
        "python": examples.paid_python(base_url, product),
        "javascript": examples.paid_javascript(base_url, product),
    }


def _indented(body: Mapping[str, Any]) -> str:
    """Write JSON for reading, with small objects on one line, and no tag in it."""
    text = json.dumps(shortened(body), indent=1, ensure_ascii=False)
    text = text.replace("<", "\\u003c")
    return _SMALL_OBJECT.sub(lambda match: " ".join(match[0].split()), text)
