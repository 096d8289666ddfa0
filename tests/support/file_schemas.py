"""Hold published JSON files to the schemas that the service publishes: strictly, without a field that none names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from generator.catalog.links import OPENAPI_JSON
from generator.compose.body import encode
from generator.site.files.table import described
from generator.site.openapi.document import openapi
from generator.site.openapi.files import files_document

BASE: Final = "https://api.example.org"
OTHERS: Final = (".gz", ".br", ".jsonl")  # packed, or more than one object
OPENAPI: Final = re.compile(r"/openapi(/[a-z0-9-]+)?\.json")


@cache
def documents() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the OpenAPI documents of the answers and of the files."""
    answers = openapi(base_url=BASE, project="EMI", contact="", network="devnet")
    return answers, files_document(answers, described())


def closed(node: Any) -> Any:
    """Return a schema whose objects have no fields but those that they name."""
    if isinstance(node, list):
        return [closed(part) for part in node]
    if not isinstance(node, dict):
        return node

    strict = {name: closed(part) for name, part in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("additionalProperties", True) is True:
        strict["additionalProperties"] = False
    return strict


@cache
def _validators() -> dict[str, Draft202012Validator]:
    """Return a strict validator for each path, as it is in OpenAPI."""
    known: dict[str, Draft202012Validator] = {}
    strict = [closed(json.loads(encode(document))) for document in documents()]
    whole = DRAFT202012.create_resource(strict[0])
    registry: Registry[Any] = Registry().with_resource(BASE + OPENAPI_JSON, whole)
    for document in strict:
        for path, item in document["paths"].items():
            ((_, content),) = item["get"]["responses"]["200"]["content"].items()
            schema = {**content["schema"], "components": document["components"]}
            known[path] = Draft202012Validator(schema, registry=registry)
    return known


def schema_path(path: str) -> str | None:
    """Return the path in OpenAPI that describes a file; None where none does."""
    known = _validators()
    if path in known:
        return path
    # The longest of several that fit says most of it.
    fitting = [name for name in known if re.fullmatch(re.sub(r"\\{[a-z]+\\}", "[^/]+", re.escape(name)), path)]
    return max(fitting, key=lambda name: len(re.sub(r"\{[a-z]+\}", "", name)), default=None)


def faults(path: str, content: bytes) -> list[str]:
    """Return what of a published JSON file does not fit its schema."""
    named = schema_path(path)
    if named is None:
        return [f"{path}: no schema"]
    errors = _validators()[named].iter_errors(json.loads(content))
    return [f"{path}: {error.json_path}: {error.message[:200]}" for error in errors]


def json_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files whose content is a JSON object, OpenAPI documents apart: these have a schema of their own."""
    return {
        path: content
        for path, content in files.items()
        if content.startswith(b"{")
        and not path.endswith(OTHERS)
        and "/log/" not in path
        and not OPENAPI.fullmatch(path)
    }
