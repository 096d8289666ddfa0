"""One answer of the OpenAPI document by itself, for readers who pay for every word they read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.links import DICTIONARY, OPENAPI_JSON, openapi_slice
from generator.catalog.products import PRODUCTS, Product
from generator.site.openapi.examples import SHORTENED, short_example

Document = Mapping[str, Any]
_ROWS: Final[tuple[Endpoint | Product, ...]] = (*ENDPOINTS, *PRODUCTS)
_OK: Final = ("200", "304", "402")
NO_EXAMPLES: Final[Mapping[str, Document]] = {}


def slices(document: Document, examples: Mapping[str, Document] = NO_EXAMPLES) -> dict[str, dict[str, Any]]:
    """Return the operation of each endpoint and product with the schemas that it uses, by the path of its file.

    Args:
        document: the whole of it.
        examples: an answer of each, by request path; shortened, it is in the slice, for tools that do not fetch the
            example that the whole document leads to. Without one there is none.
    """
    return {openapi_slice(row.id): _slice(document, row.path, examples.get(row.path)) for row in _ROWS}


def _slice(document: Document, path: str, example: Document | None) -> dict[str, Any]:
    """Return a whole OpenAPI document of one operation.

    Its errors are one row, since all of them have one schema. That one, and the demand for payment, which clients read
    from a header, are in the whole document, and what each word means is in the dictionary.
    """
    operation = document["paths"][path]["get"]
    answers = {status: answer for status, answer in operation["responses"].items() if status in _OK}
    base_url = document["servers"][0]["url"]
    answers["default"] = _elsewhere(
        {
            "description": f"Any other status is a problem; {OPENAPI_JSON} lists them.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
        base_url,
    )
    if "402" in answers:
        answers["402"] = _elsewhere(answers["402"], base_url)
    if example is not None:
        answers["200"] = _with_example(answers["200"], example, document["components"]["schemas"])
    item = {"get": {**operation, "responses": answers}}

    components: dict[str, dict[str, Any]] = {}
    for reference in sorted(_used(document, item)):
        kind, name = reference.split("/")[2:]
        part = _shortened(_at(document, reference))
        # A field of that type says what it is for.
        if kind == "schemas":
            part.pop("description", None)
        components.setdefault(kind, {})[name] = part

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


def _with_example(answer: Document, example: Document, schemas: Document) -> dict[str, Any]:
    """Return an answer with a shortened one next to the example that is elsewhere."""
    ((kind, content),) = answer["content"].items()
    short = {"summary": f"An answer, {SHORTENED}", "value": short_example(example, content["schema"], schemas)}
    return {**answer, "content": {kind: {**content, "examples": {**content["examples"], "short": short}}}}


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

    An object may have further fields unless it says that it has none.

    >>> _shortened({"anyOf": [{"type": "number"}, {"type": "null"}], "description": "Price."})
    {'type': ['number', 'null'], 'description': 'Price.'}
    >>> _shortened({"type": "object", "properties": {}, "additionalProperties": True})
    {'type': 'object', 'properties': {}}
    """
    if isinstance(schema, list):
        return [_shortened(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema

    short = {key: _shortened(part) for key, part in schema.items() if (key, part) != ("additionalProperties", True)}
    if "enum" in short and "description" in short:
        short["description"] = short["description"].partition("\n")[0]

    options = short.get("anyOf", [])
    if options and all(option.keys() == {"type"} for option in options):
        types = {"type": [option["type"] for option in options]}
        return types | {key: part for key, part in short.items() if key != "anyOf"}
    return short
