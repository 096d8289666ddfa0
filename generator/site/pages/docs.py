"""The docs page: fields from the published schemas, today's answers, statuses."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.catalog import examples
from generator.catalog.discovery import QUERY_NOTES
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, Endpoint
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS, Product

Schema = Mapping[str, Any]
Schemas = Mapping[str, Schema]


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of an answer; `ref` names the shared type to read on, where there is one."""

    name: str
    type: str
    ref: str | None
    required: bool
    description: str


def docs(schemas: Schemas, base_url: str) -> dict[str, list[dict[str, Any]]]:
    """Return what pages/docs.html reads of every answer and shared type: what changes only with the schemas.

    Args:
        base_url: for the programs to copy, every one of which the tests run.
    """
    answers = [*(endpoint.model for endpoint in ENDPOINTS), *(product.model for product in PRODUCTS)]
    shared = [name for name in _reached(answers, schemas) if name not in answers and "properties" in schemas[name]]
    return {
        "endpoints": [_endpoint(endpoint, schemas, base_url) for endpoint in ENDPOINTS],
        "products": [_product(product, schemas, base_url) for product in PRODUCTS],
        "types": [
            {"name": name, "description": _text(schemas[name]), "fields": fields(name, schemas)}
            for name in sorted(shared)
        ],
    }


def fields(model: str, schemas: Schemas) -> tuple[FieldRow, ...]:
    """List a model's fields in their order; empty where the schema is not known."""
    schema = schemas.get(model, {})
    required = schema.get("required", ())
    rows = []
    for name, raw in schema.get("properties", {}).items():
        part = _with_words(raw, schemas)
        rows.append(FieldRow(name, type_name(part), _linked(part, schemas), name in required, _meaning(part, schemas)))
    return tuple(rows)


def answer(body: Mapping[str, Any] | None) -> str | None:
    """Write an answer as indented JSON without tags, for reading; None where there is none."""
    return None if body is None else json.dumps(body, indent=2, ensure_ascii=False).replace("<", "\\u003c")


def type_name(schema: Schema) -> str:
    """Write a schema's type as `string`, `number|null`, `array of TeacherLesson`, `map of CoinSnapshot`."""
    if "$ref" in schema:
        return _ref(schema)
    if "const" in schema:
        return f"“{schema['const']}”"
    parts = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if parts:
        return "|".join(dict.fromkeys(type_name(part) for part in parts))
    kind = schema.get("type", "any")
    return "|".join(kind) if isinstance(kind, list) else _container(kind, schema)


def _container(kind: str, schema: Schema) -> str:
    if kind == "array":
        return f"array of {type_name(schema.get('items', {}))}"
    inner = schema.get("additionalProperties")
    if kind == "object" and isinstance(inner, Mapping) and inner:
        return f"map of {type_name(inner)}"
    return kind


def _endpoint(endpoint: Endpoint, schemas: Schemas, base_url: str) -> dict[str, Any]:
    name, path = next_resource(endpoint)
    return {
        "endpoint": endpoint,
        "fields": fields(endpoint.model, schemas),
        "query": QUERY_NOTES.get(endpoint.id),
        "next_name": name,
        "next_path": path,
        "examples": {name: getattr(examples, name)(base_url, endpoint) for name in ("curl", "python", "javascript")},
    }


def _product(product: Product, schemas: Schemas, base_url: str) -> dict[str, Any]:
    programs = {name: getattr(examples, f"paid_{name}")(base_url, product) for name in ("curl", "python", "javascript")}
    return {"product": product, "fields": fields(product.model, schemas), "examples": programs}


def next_resource(endpoint: Endpoint) -> tuple[str, str]:
    """Return name and path of the richer resource that an endpoint points to."""
    if endpoint.next_resource in PRODUCT_BY_ID:
        product = PRODUCT_BY_ID[endpoint.next_resource]
        return product.title, product.path
    following = ENDPOINT_BY_ID[endpoint.next_resource]
    return following.name, following.path


def _with_words(schema: Any, schemas: Schemas) -> Any:
    # A closed word set is a type of its own in the schemas; here its words are listed where they are used.
    if isinstance(schema, list):
        return [_with_words(part, schemas) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    target = schemas.get(_ref(schema), {}) if "$ref" in schema else {}
    if "enum" in target:
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return {"type": target.get("type", "string"), "enum": target["enum"], **own}
    return {key: _with_words(value, schemas) for key, value in schema.items()}


def _meaning(schema: Schema, schemas: Schemas) -> str:
    text = _text(schema)
    words = next(_enums(schema), None)
    if words:
        return f"{text} One of: {', '.join(map(str, words))}.".strip()
    return text or (_text(schemas.get(_ref(schema), {})) if "$ref" in schema else "")


def _enums(schema: Schema) -> Iterator[Sequence[Any]]:
    if "enum" in schema:
        yield schema["enum"]
    for part in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, Mapping):
            yield from _enums(part)


def _text(schema: Schema) -> str:
    return str(schema.get("description", ""))


def _ref(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def _linked(schema: Schema, schemas: Schemas) -> str | None:
    return next((name for name in _refs(schema) if "properties" in schemas.get(name, {})), None)


def _refs(schema: Any) -> Iterable[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield _ref(schema)
        for part in schema.values():
            yield from _refs(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _refs(part)


def _reached(models: Iterable[str], schemas: Schemas) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    waiting = [name for name in models if name in schemas]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen[name] = None
            waiting.extend(ref for ref in _refs(schemas[name]) if ref in schemas)
    return tuple(seen)
