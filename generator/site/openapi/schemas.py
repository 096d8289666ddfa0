"""Component schemas of OpenAPI, from the contract models."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

from generator.compose.all import MODELS

REF = "#/components/schemas/{model}"


def component_schemas() -> dict[str, Any]:
    """Return a fresh copy of every schema by name; published objects stay open to new fields."""
    return dict(json.loads(_schemas_text()))


@cache
def _schemas_text() -> str:
    models = [(model, "validation") for model in MODELS.values()]
    _, top = models_json_schema(models, ref_template=REF)  # type: ignore[arg-type]
    schemas = {name: _opened(schema) for name, schema in sorted(top["$defs"].items())}
    for schema in schemas.values():
        _describe(schema, schemas)
    return json.dumps(schemas)


def _describe(schema: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Give back the description of a field that pydantic drops where the referenced type says the same."""
    for field in schema.get("properties", {}).values():
        if "$ref" in field:
            field.setdefault("description", schemas[field["$ref"].rsplit("/", 1)[1]]["description"])


def _opened(node: Any) -> Any:
    """Drop generated titles, and turn closed objects into open ones."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    if kept.get("additionalProperties") is False:
        kept["additionalProperties"] = True
    return {key: _opened(value) for key, value in kept.items()}
