"""The fields of every answer, from the published schemas, and which page of the documentation explains them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, Endpoint
from generator.catalog.links import DOCS
from generator.catalog.pages import TYPES, SitePage
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS, Product

Schema = Mapping[str, Any]
Schemas = Mapping[str, Schema]
_LONGEST: Final = 160  # characters of a text in an example


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of an object; `link` leads to what explains its own fields, where it has some."""

    name: str
    type: str
    link: str | None
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Part:
    """One object inside an answer, named by the fields that lead to it."""

    anchor: str
    title: str
    description: str
    fields: tuple[FieldRow, ...]


class Reference:
    """The fields of every answer: an object is explained on the page of the smallest answer that has it.

    What every answer has is on a page of its own, so that no page is longer than an agent likes to read.

    Args:
        schemas: of the published OpenAPI; empty before it was made.
    """

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._common: dict[str, list[str]] = {}
        self._home: dict[str, str] = {}  # object -> path of the page that explains it
        for group in (ENDPOINTS, PRODUCTS):
            every = set.intersection(*(set(self._fields(row.model)) for row in group))
            self._common |= {row.model: [name for name in self._fields(row.model) if name in every] for row in group}
            for name in self._below(group[0].model, self._common[group[0].model]):
                self._home[name] = TYPES
        for group in (ENDPOINTS, PRODUCTS):
            inside = {f"{DOCS}{row.id}/": self._below(row.model, self._fields(row.model)) for row in group}
            for page in sorted(inside, key=lambda page: len(inside[page])):
                self._home = dict.fromkeys(inside[page], page) | self._home

    def of(self, row: Endpoint | Product) -> tuple[Part, ...]:
        """Return an answer's own fields, then the objects in it that no other page explains."""
        own = [name for name in self._fields(row.model) if name not in self._common[row.model]]
        page, inside = f"{DOCS}{row.id}/", self._below(row.model, own).items()
        parts = (self._part(name, path) for name, path in inside if self._home[name] == page)
        return (Part("fields", "", "", self._rows(row.model, own, page)), *parts)

    def shared(self) -> tuple[Part, ...]:
        """Return what every free answer has, what every paid one has, and the objects in them."""
        common = [
            Part(f"every-{name}", f"Every {name} answer", "", self._rows(model, self._common[model], TYPES))
            for name, model in (("free", ENDPOINTS[0].model), ("paid", PRODUCTS[0].model))
        ]
        objects = sorted(name for name, page in self._home.items() if page == TYPES)
        return (*common, *(self._part(name, _spaced(name)) for name in objects))

    def _fields(self, name: str) -> Schema:
        fields: Schema = self._schemas.get(name, {}).get("properties", {})
        return fields

    def _below(self, model: str, names: Iterable[str]) -> dict[str, str]:
        """Return every object that these fields hold, with the fields that lead to it."""
        found: dict[str, str] = {}
        waiting = [(name, self._fields(model)[name]) for name in names]
        for path, schema in waiting:
            for name in _refs(schema):
                if name not in found and self._fields(name):
                    found[name] = path
                    waiting += [(f"{path}.{field}", inner) for field, inner in self._fields(name).items()]
        return found

    def _part(self, name: str, title: str) -> Part:
        return Part(
            _anchor(name), title, _text(self._schemas[name]), self._rows(name, self._fields(name), self._home[name])
        )

    def _rows(self, model: str, names: Iterable[str], page: str) -> tuple[FieldRow, ...]:
        required = self._schemas.get(model, {}).get("required", ())
        fields = [(name, self._fields(model)[name]) for name in names]
        return tuple(
            FieldRow(name, type_name(one, self._schemas), self._link(one, page), name in required, self._meaning(one))
            for name, one in fields
        )

    def _link(self, schema: Schema, page: str) -> str | None:
        name = next((name for name in _refs(schema) if name in self._home), None)
        return name and f"{self._home[name].removeprefix(page)}#{_anchor(name)}"

    def _meaning(self, schema: Schema) -> str:
        words = _words(schema, self._schemas)
        listed = f"One of: {', '.join(map(str, words))}." if words else ""
        said = _text(schema) or ("" if words else _text(_target(schema, self._schemas)))
        return f"{said} {listed}".strip()


def shortened(body: Any) -> Any:
    """Return an answer with the first of every list and of every map of like objects, such as the assets; long texts are cut."""
    if isinstance(body, Mapping):
        rows = [set(value) for value in body.values() if isinstance(value, Mapping)]
        alike = len(rows) == len(body) and all(row == rows[0] for row in rows)
        return {name: shortened(value) for name, value in list(body.items())[: 1 if alike else None]}
    if isinstance(body, str) and len(body) > _LONGEST:
        return f"{body[:_LONGEST]}…"
    return [shortened(value) for value in body[:1]] if isinstance(body, list | tuple) else body


def answer_of(page: SitePage) -> Endpoint | Product | None:
    """Return the endpoint or product that a page of the documentation is about."""
    name = page.path.split("/")[2]
    return ENDPOINT_BY_ID.get(name) or PRODUCT_BY_ID.get(name)


def next_resource(endpoint: Endpoint) -> tuple[str, str]:
    """Return name and path of the richer resource that an endpoint points to."""
    if endpoint.next_resource in PRODUCT_BY_ID:
        product = PRODUCT_BY_ID[endpoint.next_resource]
        return product.title, product.path
    following = ENDPOINT_BY_ID[endpoint.next_resource]
    return following.name, following.path


def type_name(schema: Schema, schemas: Schemas) -> str:
    """Write a schema's type as `string`, `number or null`, `list of objects`, `map of objects`."""
    if "$ref" in schema:
        target = _target(schema, schemas)
        return str(target.get("type", "string")) if "enum" in target else "object"
    if "const" in schema:
        return f"“{schema['const']}”"
    parts = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if parts:
        return " or ".join(dict.fromkeys(type_name(part, schemas) for part in parts))
    kind = schema.get("type", "any value")
    inner = schema.get("items" if kind == "array" else "additionalProperties")
    holder = {"array": "list", "object": "map"}.get(kind)
    if holder and isinstance(inner, Mapping) and inner:
        name = type_name(inner, schemas)
        return f"{holder} of {name}s" if name.isalpha() else f"{holder} of ({name})"
    return "list" if kind == "array" else kind


def _words(schema: Schema, schemas: Schemas) -> Sequence[Any]:
    """Return the closed set of words that a value is, or holds, one of."""
    found = _target(schema, schemas)
    inner = (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties"))
    sets = (_words(part, schemas) for part in inner if isinstance(part, Mapping))
    return found.get("enum") or next(filter(None, sets), ())


def _text(schema: Schema) -> str:
    return str(schema.get("description", ""))


def _target(schema: Schema, schemas: Schemas) -> Schema:
    """Return what a reference leads to, or the schema itself."""
    return schemas.get(next(_refs(schema)), {}) if "$ref" in schema else schema


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield str(schema["$ref"]).rsplit("/", 1)[-1]
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from _refs(part)


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).capitalize()


def _anchor(name: str) -> str:
    return f"object-{_spaced(name).lower().replace(' ', '-')}"
