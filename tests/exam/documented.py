"""A body of which only documented members can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from generator.site.openapi.document import openapi

LEAST_WORDS: Final = 3


class Undocumented(LookupError):
    """A member has no description in the published OpenAPI: a hole in the docs."""


@dataclass(frozen=True)
class Documented:
    """A part of a body with its schema; looking up a member that OpenAPI does not describe raises Undocumented."""

    value: Any
    schema: Mapping[str, Any]
    place: str

    def __getitem__(self, name: str) -> Any:
        """Return a member: a plain value as it is, a list or an object as a part again."""
        schema = self._member(name)
        words = str(schema.get("description", "")).split()
        if len(words) < LEAST_WORDS:
            raise Undocumented(f"{self.place}.{name} is not described")
        return _part(self.value[name], schema, f"{self.place}.{name}")

    def __contains__(self, name: object) -> bool:
        """Return whether the body has a member."""
        return name in self.value

    def __iter__(self) -> Iterator[str]:
        """Yield the names of a map, which are values of their own."""
        return iter(self.value)

    def _member(self, name: str) -> Mapping[str, Any]:
        for schema in _alternatives(self.schema):
            found = schema.get("properties", {}).get(name)
            if found is not None:
                return {**_resolved(found), **({"description": found["description"]} if "description" in found else {})}
            entries = schema.get("additionalProperties")
            if isinstance(entries, dict):
                described = {"description": schema.get("description") or self.schema.get("description", "")}
                return {**_resolved(entries), **described}
        raise Undocumented(f"{self.place}.{name} is not in the published schema")


def body(value: Any, path: str) -> Documented:
    """Return a body that was published at a path."""
    answer = document()["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    return Documented(value, _resolved(answer), path)


@cache
def document() -> dict[str, Any]:
    return openapi(base_url="https://api.example.org", project="P", contact="https://example.org", network="mainnet")


def _part(value: Any, schema: Mapping[str, Any], place: str) -> Any:
    if isinstance(value, dict):
        return Documented(value, schema, place)
    if isinstance(value, list | tuple):
        items: Mapping[str, Any] = next((one["items"] for one in _alternatives(schema) if "items" in one), {})
        return [_part(row, _resolved(items), f"{place}[]") for row in value]
    return value


def _alternatives(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    schema = _resolved(schema)
    yield schema
    for other in schema.get("anyOf", ()):
        yield from _alternatives(other)


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    name = reference.rsplit("/", 1)[-1]
    found: Mapping[str, Any] = document()["components"]["schemas"][name]
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
