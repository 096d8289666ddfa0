"""One answer of the OpenAPI document by itself, for readers who pay for every word they read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.links import DICTIONARY, OPENAPI_JSON, openapi_slice
from generator.catalog.products import PRODUCTS, Product

Document = Mapping[str, Any]
_ROWS: Final[tuple[Endpoint | Product, ...]] = (*ENDPOINTS, *PRODUCTS)
_OK: Final = ("200", "304", "402")


def slices(document: Document) -> dict[str, dict[str, Any]]:
    """Return the operation of each endpoint and product with the schemas that it uses, by the path of its file."""
    return {openapi_slice(row.id): _slice(document, row.path) for row in _ROWS}


def _slice(document: Document, path: str) -> dict[str, Any]:
    """Return a whole OpenAPI document of one operation.

    Its errors are one row, since all of them have one schema; the demand for payment, which clients read from a header,
    is described in the whole document, and what each word means in the dictionary.
    """
    operation = document["paths"][path]["get"]
    answers = {status: answer for status, answer in operation["responses"].items() if status in _OK}
    answers["default"] = {
        "description": f"Any other status is a problem; {OPENAPI_JSON} lists them.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if "402" in answers:
        answers["402"] = _elsewhere(answers["402"], document["servers"][0]["url"])
    item = {"get": {**operation, "responses": answers}}

    components: dict[str, dict[str, Any]] = {}
    for reference in sorted(_used(document, item)):
        kind, name = reference.split("/")[2:]
        components.setdefault(kind, {})[name] = _shortened(_at(document, reference))

    about = document["info"]
    return {
        "openapi": document["openapi"],
        "info": {
            "title": f"{about['title']}: {operation['summary']}",
            "version": about["version"],
            "description": f"One operation of {OPENAPI_JSON}. What each word means: {DICTIONARY}.",
            "license": about["license"],
        },
        "servers": document["servers"],
        "security": [],
        "paths": {path: item},
        "components": components,
    }


def _elsewhere(answer: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """Return an answer whose schema is the one in the whole document."""
    whole = {
        kind: {"schema": {"$ref": base_url + OPENAPI_JSON + content["schema"]["$ref"]}}
        for kind, content in answer["content"].items()
    }
    return {**answer, "content": whole}


def _at(document: Document, reference: str) -> Mapping[str, Any]:
    """Return what a reference within the document names."""
    node: Any = document
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node  # type: ignore[no-any-return]


def _used(document: Document, node: Any) -> set[str]:
    """Return every reference that a part of the document leads to."""
    used: set[str] = set()
    waiting = list(_references(node))
    while waiting:
        reference = waiting.pop()
        if reference not in used:
            used.add(reference)
            waiting += _references(_at(document, reference))
    return used


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#/"):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _shortened(schema: Any) -> Any:
    """Return a schema that says the same in fewer words: what each word of a set means is left to the dictionary.

    >>> _shortened({"anyOf": [{"type": "number"}, {"type": "null"}], "description": "Price."})
    {'type': ['number', 'null'], 'description': 'Price.'}
    """
    if isinstance(schema, list):
        return [_shortened(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema

    short = {key: _shortened(part) for key, part in schema.items()}
    if "enum" in short and "description" in short:
        short["description"] = short["description"].partition("\n")[0]

    options = short.get("anyOf", [])
    if options and all(option.keys() == {"type"} for option in options):
        types = {"type": [option["type"] for option in options]}
        return types | {key: part for key, part in short.items() if key != "anyOf"}
    return short
