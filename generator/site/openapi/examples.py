"""A short answer for an OpenAPI slice: real, and still valid by the schema that it is an example of."""

from collections.abc import Mapping
from typing import Any, Final

SHORTENED: Final = "shortened: one element of each list and map, and the beginning of long texts"
_LONGEST: Final = 24  # characters of a text
Schema = Mapping[str, Any]
Schemas = Mapping[str, Schema]


def short_example(value: Any, schema: Schema, schemas: Schemas) -> Any:
    """Return an answer with one element of each list and map, and long texts cut.

    What has its own names or a fixed length stays whole, and so do words of a closed set: the result fits the schema
    wherever the answer did.

    Args:
        schema: of the answer.
        schemas: by name, as in the components of the OpenAPI document.

    >>> parts = {"Coin": {"properties": {"price": {"type": "number"}}}}
    >>> coins = {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Coin"}}
    >>> short_example({"BTC": {"price": 1.0}, "ETH": {"price": 2.0}}, coins, parts)
    {'BTC': {'price': 1.0}}
    """
    schema = _of(value, schema, schemas)

    if isinstance(value, Mapping):
        return _short_object(value, schema, schemas)
    if isinstance(value, list | tuple) and "items" in schema and "minItems" not in schema:
        return [short_example(item, schema["items"], schemas) for item in value[:1]]
    if isinstance(value, str) and len(value) > _LONGEST and not schema.keys() & {"enum", "const", "pattern"}:
        return f"{value[:_LONGEST]}…"
    return value


def _short_object(value: Mapping[str, Any], schema: Schema, schemas: Schemas) -> dict[str, Any]:
    fields = schema.get("properties")
    if fields is None:
        of_each = schema.get("additionalProperties")
        described = of_each if isinstance(of_each, Mapping) else {}
        return {name: short_example(item, described, schemas) for name, item in list(value.items())[:1]}
    return {name: short_example(item, fields.get(name, {}), schemas) for name, item in value.items()}


def _of(value: Any, schema: Schema, schemas: Schemas) -> Schema:
    """Return the schema that a value is of: through references, and the one that is not null of two."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
            continue

        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        # Of several that a value may be, none is known: what is in it is not looked at.
        if value is None or len(options) != 1:
            return {}
        schema = options[0]
    return schema
