"""The documentation's pages: fields from the published schemas, programs, a short answer, what the search reads."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.wire.networks import TESTNET
from generator.catalog import examples
from generator.catalog.discovery import QUERY_NOTES, STATUSES
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, Endpoint
from generator.catalog.links import QUICKSTART
from generator.catalog.pages import DOC_PAGES, TYPES, SitePage
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS, Product
from generator.compose.context import Site

Schema = Mapping[str, Any]
Schemas = Mapping[str, Schema]
_FREE: Final = tuple(row.model for row in ENDPOINTS)
_PAID: Final = tuple(row.model for row in PRODUCTS)
LOCAL: Final = "http://127.0.0.1:8402"  # where `emi up` serves
_SHARED_BY: Final = 2  # so many answers have an object that is explained once for all
# What an answer says of itself; the example leaves it out.
_ABOUT: Final = frozenset({"purpose", "endpoint_role", "agent_guidance", "usage_characteristics", "expanded_access"})
_LONGEST: Final = 160  # characters of a text in an example
_LANGUAGES: Final = ("curl", "python", "javascript")


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
    """The fields of every answer, each explained on one page.

    Args:
        schemas: of the published OpenAPI; empty before it was made.
    """

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        uses = Counter(name for model in (*_FREE, *_PAID) for name in self._below(model)[1:])
        self._shared = {name for name, count in uses.items() if count >= _SHARED_BY}
        self._common = {model: names for group in (_FREE, _PAID) for model, names in self._in_all(group).items()}

    def of(self, model: str) -> tuple[Part, ...]:
        """Return an answer's own fields, then the objects in it that no other page explains."""
        own = [name for name in self._properties(model) if name not in self._common[model]]
        parts, seen = [Part("fields", "", "", self._rows(model, own))], set(self._shared)
        waiting = self._inside(model, own)
        for path, name in waiting:
            if name not in seen:
                seen.add(name)
                parts.append(self._part(name, path))
                waiting += self._inside(name, self._properties(name), f"{path}.")
        return tuple(parts)

    def shared(self) -> tuple[Part, ...]:
        """Return what every free answer has, what every paid one has, and the objects that several share."""
        common = [
            Part(f"every-{name}", f"Every {name} answer", "", self._rows(model, self._common[model]))
            for name, model in (("free", _FREE[0]), ("paid", _PAID[0]))
        ]
        return (*common, *(self._part(name, _spaced(name)) for name in sorted(self._shared)))

    def _inside(self, model: str, names: Iterable[str], before: str = "") -> list[tuple[str, str]]:
        """Return the objects that these fields hold, each with the fields that lead to it."""
        return [(before + name, ref) for name in names for ref in self._objects(self._properties(model)[name])]

    def _objects(self, schema: Schema) -> list[str]:
        return [name for name in _refs(schema) if self._properties(name)]

    def _part(self, name: str, title: str) -> Part:
        return Part(_anchor(name), title, _text(self._schemas[name]), self._rows(name, self._properties(name)))

    def _properties(self, name: str) -> Schema:
        properties: Schema = self._schemas.get(name, {}).get("properties", {})
        return properties

    def _in_all(self, models: Sequence[str]) -> dict[str, tuple[str, ...]]:
        names = tuple(
            name for name in self._properties(models[0]) if all(name in self._properties(one) for one in models)
        )
        return dict.fromkeys(models, names)

    def _rows(self, model: str, names: Iterable[str]) -> tuple[FieldRow, ...]:
        required = self._schemas.get(model, {}).get("required", ())
        rows = []
        for name in names:
            part = _with_words(self._properties(model)[name], self._schemas)
            rows.append(FieldRow(name, type_name(part), self._link(part), name in required, self._meaning(part)))
        return tuple(rows)

    def _link(self, schema: Schema) -> str | None:
        name = next(iter(self._objects(schema)), None)
        return name and f"{TYPES if name in self._shared else ''}#{_anchor(name)}"

    def _meaning(self, schema: Schema) -> str:
        text = _text(schema)
        words = next(_enums(schema), None)
        if words:
            return f"{text} One of: {', '.join(map(str, words))}.".strip()
        return text or (_text(self._schemas.get(_ref(schema), {})) if "$ref" in schema else "")

    def _below(self, model: str) -> list[str]:
        """Return a model and every object in it."""
        found = [model]
        for name in found:
            found += [ref for ref in dict.fromkeys(self._objects(self._properties(name))) if ref not in found]
        return found


def values(page: SitePage, schemas: Schemas, bodies: Mapping[str, Mapping[str, Any]], site: Site) -> dict[str, Any]:
    """Return what the template of a page of the documentation reads.

    Args:
        bodies: path -> the free body published there, for the example.
        site: its address is in the programs to copy, every one of which the tests run.
    """
    reference = Reference(schemas)
    name = page.path.split("/")[2]
    if name in ENDPOINT_BY_ID:
        return _endpoint(ENDPOINT_BY_ID[name], reference, bodies, site.base_url)
    if name in PRODUCT_BY_ID:
        return _product(PRODUCT_BY_ID[name], reference, site.base_url)
    if page.path == QUICKSTART:
        return _quickstart(site)
    return {"parts": reference.shared() if page.path == TYPES else ()}


def _endpoint(
    endpoint: Endpoint, reference: Reference, bodies: Mapping[str, Mapping[str, Any]], base_url: str
) -> dict[str, Any]:
    name, path = next_resource(endpoint)
    parts = reference.of(endpoint.model)
    own = {row.name for row in parts[0].fields}
    body = {key: value for key, value in bodies.get(endpoint.path, {}).items() if key in own - _ABOUT}
    return {
        "endpoint": endpoint,
        "parts": parts,
        "query": QUERY_NOTES.get(endpoint.id),
        "next_name": name,
        "next_path": path,
        "programs": {name: getattr(examples, name)(base_url, endpoint) for name in _LANGUAGES},
        "answer": _written(body) if body else None,
    }


def _product(product: Product, reference: Reference, base_url: str) -> dict[str, Any]:
    programs = {name: getattr(examples, f"paid_{name}")(base_url, product) for name in _LANGUAGES}
    return {"product": product, "parts": reference.of(product.model), "programs": programs}


def _quickstart(site: Site) -> dict[str, Any]:
    lent = site.devnet is not None and site.network == TESTNET.name
    origin, product = site.base_url if lent else LOCAL, PRODUCTS[0]
    programs = {
        "python": examples.paid_python(origin, product),
        "javascript": examples.paid_javascript(origin, product),
    }
    fixed = {"start": examples.START, "install": examples.INSTALL, "run": examples.RUN, "parts": ()}
    return {"lent": lent, "programs": programs, **fixed}


def search_index(site: Site, schemas: Schemas) -> dict[str, list[list[str]]]:
    """Return what can be found: title, address and words of each page, and of each object of an answer."""
    rows = []
    for page in DOC_PAGES:
        found = values(page, schemas, {}, site)
        parts = found["parts"]
        first, *others = parts if "answer" in found or "product" in found else (Part("", "", "", ()), *parts)
        words = [page.description, *(row.name for row in first.fields)]
        words += [f"{row.status} {row.condition}" for row in STATUSES] if page.path.endswith("/errors/") else []
        rows.append([page.label, page.path, " ".join(words)])
        rows += [
            [f"{page.label}: {part.title}", f"{page.path}#{part.anchor}", " ".join(row.name for row in part.fields)]
            for part in others
        ]
    return {"rows": rows}


def shortened(body: Any) -> Any:
    """Return an answer with the first of every list and of every map of like objects, such as the assets; long texts are cut."""
    if isinstance(body, Mapping):
        rows = [set(value) for value in body.values() if isinstance(value, Mapping)]
        alike = len(rows) == len(body) and all(row == rows[0] for row in rows)
        return {name: shortened(value) for name, value in list(body.items())[: 1 if alike else None]}
    if isinstance(body, str) and len(body) > _LONGEST:
        return f"{body[:_LONGEST]}…"
    return [shortened(value) for value in body[:1]] if isinstance(body, list | tuple) else body


def _written(body: Any) -> str:
    """Write JSON for reading, with small objects on one line, and no tag in it."""
    text = json.dumps(shortened(body), indent=1, ensure_ascii=False).replace("<", "\\u003c")
    return re.sub(r"\{[^{}\[\]]{1,120}\}", lambda found: " ".join(found[0].split()), text)


def next_resource(endpoint: Endpoint) -> tuple[str, str]:
    """Return name and path of the richer resource that an endpoint points to."""
    if endpoint.next_resource in PRODUCT_BY_ID:
        product = PRODUCT_BY_ID[endpoint.next_resource]
        return product.title, product.path
    following = ENDPOINT_BY_ID[endpoint.next_resource]
    return following.name, following.path


def type_name(schema: Schema) -> str:
    """Write a schema's type as `string`, `number or null`, `list of objects`, `map of objects`."""
    if "$ref" in schema:
        return "object"
    if "const" in schema:
        return f"“{schema['const']}”"
    parts = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if parts:
        return " or ".join(dict.fromkeys(type_name(part) for part in parts))
    kind = schema.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else _container(kind, schema)


def _container(kind: str, schema: Schema) -> str:
    inner = schema.get("items") if kind == "array" else schema.get("additionalProperties")
    holder = "list" if kind == "array" else "map" if kind == "object" else ""
    if holder and isinstance(inner, Mapping) and inner:
        name = type_name(inner)
        return f"{holder} of {name}s" if name.isalpha() else f"{holder} of ({name})"
    return "list" if kind == "array" else kind


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


def _refs(schema: Any) -> Iterable[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield _ref(schema)
        for part in schema.values():
            yield from _refs(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _refs(part)


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).capitalize()


def _anchor(name: str) -> str:
    return f"object-{_spaced(name).lower().replace(' ', '-')}"
