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
from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.products import PRODUCTS, Product
from generator.compose.body import Body
from generator.compose.context import Site
from generator.site.words.reference import ObjectFields, Reference, next_resource, shortened

LOCAL: Final = f"http://127.0.0.1:{ports.GATEWAY}"  # where `emi up` serves
# What an answer says of itself and not of the market: the example leaves it out, the fields come last.
ENVELOPE: Final = frozenset(
    {"agent_guidance", "description", "developer_note", "developer_resources", "disclaimer", "educational_notice"}
    | {"educational_only", "endpoint_role", "engine", "engine_version", "expanded_access", "explore", "generated_at"}
    | {"legacy_endpoint", "mode", "not_financial_advice", "ok", "privacy_note", "product_id", "provider", "purpose"}
    | {"related_endpoints", "related_resources", "schema_version", "source", "source_mode", "type", "updated"}
    | {"updated_at", "upgrade_path", "upsell", "usage_characteristics"}
)
_DEEPEST: Final = 4  # objects inside each other that an example shows
_SMALL_OBJECT: Final = re.compile(r"\{[^{}\[\]]{1,60}\}")
_KEY: Final = re.compile(r'^( *)"([^"]+)":', re.MULTILINE)
_LINKED_KEY: Final = Markup('<a href="{}">"{}"</a>:')


class EndpointPart(NamedTuple):
    """A free endpoint; `answer` is None before there is one, `query` where it takes none."""

    endpoint: Endpoint
    parts: tuple[ObjectFields, ...]
    query: str | None
    next_name: str
    next_path: str
    programs: Mapping[str, str]  # language -> program to copy, every one of which the tests run
    answer: Markup | None


class FreePage(NamedTuple):
    """The free endpoints."""

    parts: tuple[EndpointPart, ...]


class ProductPart(NamedTuple):
    """A paid endpoint, with an answer that was for sale once."""

    product: Product
    parts: tuple[ObjectFields, ...]
    programs: Mapping[str, str]
    answer: Markup | None
    python_cap: str
    javascript_cap: str


class Quickstart(NamedTuple):
    """A purchase with play money; `lent` says whether this service can be bought from at once."""

    lent: bool
    start: str
    install: Mapping[str, str]
    programs: Mapping[str, str]
    run: Mapping[str, str]


class PaidPage(NamedTuple):
    """The paid endpoints, and a first purchase."""

    parts: tuple[ProductPart, ...]
    quickstart: Quickstart


def free_page(reference: Reference, bodies: Mapping[str, Body], site: Site) -> FreePage:
    """Return what pages/docs_free.html reads.

    Args:
        bodies: path -> the free body published there, for the examples.
    """
    return FreePage(tuple(_endpoint(endpoint, reference, bodies, site) for endpoint in ENDPOINTS))


def _endpoint(endpoint: Endpoint, reference: Reference, bodies: Mapping[str, Body], site: Site) -> EndpointPart:
    body = bodies.get(endpoint.path)
    next_name, next_path = next_resource(endpoint)

    return EndpointPart(
        endpoint=endpoint,
        parts=_sorted(reference.of(endpoint)),
        query=QUERY_NOTES.get(endpoint.id),
        next_name=next_name,
        next_path=next_path,
        programs={
            "curl": examples.curl(site.base_url, endpoint),
            "python": examples.python(site.base_url, endpoint),
            "javascript": examples.javascript(site.base_url, endpoint),
        },
        answer=_example(body.as_json(), endpoint, reference) if body else None,
    )


def paid_page(reference: Reference, sold: Mapping[str, Mapping[str, Any]], site: Site) -> PaidPage:
    """Return what pages/docs_paid.html reads.

    Args:
        sold: path -> an answer of a simulated day, for the examples.
    """
    return PaidPage(tuple(_product(product, reference, sold, site) for product in PRODUCTS), _quickstart(site))


def _product(product: Product, reference: Reference, sold: Mapping[str, Mapping[str, Any]], site: Site) -> ProductPart:
    caps = examples.caps(product)
    answer = sold.get(product.path)
    return ProductPart(
        product=product,
        parts=_sorted(reference.of(product)),
        programs={
            "curl": examples.paid_curl(site.base_url, product),
            "python": examples.paid_python(site.base_url, product),
            "javascript": examples.paid_javascript(site.base_url, product),
        },
        answer=_example(answer, product, reference) if answer else None,
        python_cap=caps["python"],
        javascript_cap=caps["javascript"],
    )


def _sorted(parts: Sequence[ObjectFields]) -> tuple[ObjectFields, ...]:
    """Return an answer's fields and objects, those that describe the answer after those read for their own sake."""
    answer, *objects = parts
    fields = sorted(answer.fields, key=lambda row: row.name in ENVELOPE)
    objects.sort(key=lambda part: part.title.partition(".")[0] in ENVELOPE)
    return (replace(answer, fields=tuple(fields)), *objects)


def _example(answer: Mapping[str, Any], row: Endpoint | Product, reference: Reference) -> Markup | None:
    """Return an answer's own fields for reading, each led to its meaning; None before the fields are known."""
    own = {field.name for field in reference.of(row)[0].fields} - ENVELOPE
    shown = {key: value for key, value in answer.items() if key in own}
    return _explained(_indented(_shallow(shown, _DEEPEST)), reference.addresses(row)) if shown else None


def _shallow(part: Any, depth: int) -> Any:
    """Return a part of an answer without the objects that lie more than `depth` below it."""
    if isinstance(part, Mapping):
        return {key: _shallow(value, depth - 1) for key, value in part.items()} if depth else "…"
    if isinstance(part, list | tuple):
        return [_shallow(value, depth) for value in part]
    return part


def _explained(text: str, addresses: Mapping[str, str]) -> Markup:
    """Link each key of an indented answer to the row that explains it."""
    paths: dict[int, str] = {}  # the field that is open at each indentation
    linked = Markup("")
    end = 0

    for found in _KEY.finditer(text):
        indent, key = found.groups()
        paths = {depth: path for depth, path in paths.items() if depth < len(indent)}
        parent = paths[max(paths)] if paths else ""
        path = f"{parent}.{key}".removeprefix(".")

        linked += text[end : found.start()] + indent
        if path in addresses:
            paths[len(indent)] = path
            linked += _LINKED_KEY.format(addresses[path], key)
        else:
            # The key of a map names an asset or the like: what is below it belongs to the field above.
            paths[len(indent)] = parent
            linked += f'"{key}":'
        end = found.end()
    return linked + text[end:]


def _quickstart(site: Site) -> Quickstart:
    # A devnet that lends the test network's ids can be bought from at once; else the reader starts one.
    lent = site.devnet is not None and site.network == TESTNET.name
    origin = site.base_url if lent else LOCAL
    first = PRODUCTS[0]

    return Quickstart(
        lent=lent,
        start=examples.START,
        install=examples.INSTALL,
        programs={
            "python": examples.paid_python(origin, first),
            "javascript": examples.paid_javascript(origin, first),
        },
        run=examples.RUN,
    )


def _indented(body: Mapping[str, Any]) -> str:
    """Write JSON for reading, with small objects on one line, and no tag in it."""
    text = json.dumps(shortened(body), indent=1, ensure_ascii=False)
    text = text.replace("<", "\\u003c")
    return _SMALL_OBJECT.sub(lambda match: " ".join(match[0].split()), text)
