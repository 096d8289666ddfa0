"""The fields of every answer, from the published schemas, and where the pages explain them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, Endpoint
from generator.catalog.links import METHODOLOGY, doc_address
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS, Product

Schema = Mapping[str, Any]
Schemas = Mapping[str, Schema]
_LONGEST: Final = 160  # characters of a text in an example
_DEEPEST: Final = 4  # objects inside each other, of which the fields are explained where they occur
_MANY: Final = 3  # answers from which on an object is explained among the shared ones
_SHARED: Final = ""  # in place of an answer's id


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of an object; `link` leads to what explains its own fields, where it has some."""

    name: str
    type: str
    link: str | None
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class ObjectFields:
    """One object inside an answer, named by the fields that lead to it."""

    anchor: str
    title: str
    description: str
    fields: tuple[FieldRow, ...]


class Reference:
    """The fields of every answer: an object is explained with the smallest answer that has it, or as shared.

    Args:
        schemas: of the published OpenAPI; empty before it was made.
    """

    def __init__(self, schemas: Schemas) -> None:
        self.schemas: Final = schemas
        self._common: dict[str, list[str]] = {}  # model of an answer -> the fields that all answers of its kind have
        self._home: dict[str, str] = {}  # object -> id of the answer that it is explained with

        # Objects in what every answer has are shared.
        for group in (ENDPOINTS, PRODUCTS):
            in_every = set.intersection(*(set(self._fields(row.model)) for row in group))
            for row in group:
                self._common[row.model] = [name for name in self._fields(row.model) if name in in_every]
            first = group[0].model
            for name in self._below(first, self._common[first]):
                self._home[name] = _SHARED

        # So are those that many answers have, such as the scores.
        rows: tuple[Endpoint | Product, ...] = (*ENDPOINTS, *PRODUCTS)
        answers = Counter(name for row in rows for name in self._below(row.model, self._fields(row.model)))
        for name, number in answers.items():
            if number >= _MANY:
                self._home[name] = _SHARED

        # Every other is explained with the smallest answer that has it; a free one, where one has it.
        for group in (ENDPOINTS, PRODUCTS):
            objects_of = {row.id: self._below(row.model, self._fields(row.model)) for row in group}
            for answer in sorted(objects_of, key=lambda answer: len(objects_of[answer])):
                for name in objects_of[answer]:
                    self._home.setdefault(name, answer)

    def of(self, row: Endpoint | Product) -> tuple[ObjectFields, ...]:
        """Return an answer's own fields, then the objects in it that are explained nowhere else."""
        own = [name for name in self._fields(row.model) if name not in self._common[row.model]]
        objects = self._below(row.model, own).items()

        answer = ObjectFields(row.id, "", "", self._rows(row.model, own, row.id))
        return (answer, *(self._part(name, path) for name, path in objects if self._home[name] == row.id))

    def addresses(self, row: Endpoint | Product) -> dict[str, str]:
        """Return where each field of an answer is explained, by the fields that lead to it, such as `coins.price`."""
        every = f"{METHODOLOGY}#every-{'free' if row in ENDPOINTS else 'paid'}"
        found: dict[str, str] = {}
        waiting = [("", row.model, f"#{row.id}")]
        for path, model, address in waiting:  # grows while it is walked
            for name, schema in self._fields(model).items():
                inner_path = f"{path}.{name}".removeprefix(".")
                where = every if not path and name in self._common[model] else address
                found[inner_path] = f"{where}.{name}"
                if inner_path.count(".") < _DEEPEST:
                    waiting += [
                        (inner_path, inner, self._address(inner, row.id))
                        for inner in _refs(schema)
                        if inner in self._home
                    ]
        return found

    def shared(self) -> tuple[ObjectFields, ...]:
        """Return what every free answer has, what every paid one has, and the objects in them."""
        common = []
        for kind, model in (("free", ENDPOINTS[0].model), ("paid", PRODUCTS[0].model)):
            rows = self._rows(model, self._common[model], _SHARED)
            common.append(ObjectFields(f"every-{kind}", f"Every {kind} answer", "", rows))

        objects = sorted(name for name, home in self._home.items() if home == _SHARED)
        return (*common, *(self._part(name, _spaced(name)) for name in objects))

    def _fields(self, name: str) -> Schema:
        fields: Schema = self.schemas.get(name, {}).get("properties", {})
        return fields

    def _below(self, model: str, names: Iterable[str]) -> dict[str, str]:
        """Return every object that these fields hold, with the fields that lead to it."""
        paths: dict[str, str] = {}
        waiting = [(name, self._fields(model)[name]) for name in names]
        for path, schema in waiting:  # grows while it is walked
            for name in _refs(schema):
                if name in paths or not self._fields(name):
                    continue
                paths[name] = path
                waiting += [(f"{path}.{field}", inner) for field, inner in self._fields(name).items()]
        return paths

    def _part(self, name: str, title: str) -> ObjectFields:
        rows = self._rows(name, self._fields(name), self._home[name])
        return ObjectFields(_anchor(name), title, _text(self.schemas[name]), rows)

    def _rows(self, model: str, names: Iterable[str], answer: str) -> tuple[FieldRow, ...]:
        required = self.schemas.get(model, {}).get("required", ())
        rows = []
        for name in names:
            schema = self._fields(model)[name]
            rows.append(
                FieldRow(
                    name=name,
                    type=type_name(schema, self.schemas),
                    link=self._link(schema, answer),
                    required=name in required,
                    description=self._meaning(schema),
                )
            )
        return tuple(rows)

    def _link(self, schema: Schema, answer: str) -> str | None:
        """Return the address of the object in a field, relative to the page of the answer that has the field."""
        for name in _refs(schema):
            if name in self._home:
                return self._address(name, answer)
        return None

    def _address(self, name: str, answer: str) -> str:
        """Return where an object is explained, relative to the page of an answer."""
        page = _page_of(self._home[name])
        return f"{'' if page == _page_of(answer) else page}#{_anchor(name)}"

    def _meaning(self, schema: Schema) -> str:
        words = _words(schema, self.schemas)
        if not words:
            return (_text(schema) or _text(_target(schema, self.schemas))).strip()
        return f"{_text(schema)} One of: {', '.join(map(str, words))}.".strip()


def shortened(body: Any) -> Any:
    """Return an answer with the first of each list and map of like objects, such as the assets; long texts are cut."""
    if isinstance(body, Mapping):
        return {name: shortened(value) for name, value in _first_of_alike(body)}
    if isinstance(body, str) and len(body) > _LONGEST:
        return f"{body[:_LONGEST]}…"
    if isinstance(body, list | tuple):
        return [shortened(value) for value in body[:1]]
    return body


def _first_of_alike(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the items of an object, only the first where all values are objects with the same fields."""
    items = list(body.items())
    if not items or not all(isinstance(value, Mapping) for value in body.values()):
        return items
    alike = all(value.keys() == items[0][1].keys() for value in body.values())
    return items[:1] if alike else items


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

    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        return " or ".join(dict.fromkeys(type_name(option, schemas) for option in options))

    kind: str = schema.get("type", "any value")
    if kind == "array":
        return f"list{_of_what(schema.get('items'), schemas)}"
    if kind == "object":
        within = _of_what(schema.get("additionalProperties"), schemas)
        return f"map{within}" if within else "object"
    return kind


def _of_what(schema: object, schemas: Schemas) -> str:
    """Write what a list or map holds, as ` of numbers`; empty where its schema does not say."""
    if not isinstance(schema, Mapping) or not schema:
        return ""
    name = type_name(schema, schemas)
    return f" of {name}s" if name.isalpha() else f" of ({name})"


def _words(schema: Schema, schemas: Schemas) -> Sequence[Any]:
    """Return the closed set of words that a value is, or holds, one of."""
    target = _target(schema, schemas)
    words: Sequence[Any] = target.get("enum", ())
    if words:
        return words

    inside = (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties"))
    for part in inside:
        if isinstance(part, Mapping) and (words := _words(part, schemas)):
            return words
    return ()


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


def _page_of(answer: str) -> str:
    """Return the page that explains an answer, or what is shared."""
    return METHODOLOGY if answer == _SHARED else doc_address(answer).partition("#")[0]


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).capitalize()


def _anchor(name: str) -> str:
    return f"object-{_spaced(name).lower().replace(' ', '-')}"
