"""The OpenAPI document of the files: record, practice, feed, samples, discovery; each is described by its type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from pydantic import ConfigDict, create_model
from pydantic.json_schema import models_json_schema

from generator.catalog.discovery import ONCE_PREFIXES
from generator.catalog.links import OPENAPI_JSON
from generator.site.openapi.docstrings import inherited_descriptions
from generator.site.openapi.paths import REF, described, file_operation

_DOCSTRINGS: Final = ConfigDict(use_attribute_docstrings=True)


@dataclass(frozen=True, slots=True)
class FileKind:
    """One published file, or those whose paths differ in a parameter.

    Args:
        path: as in OpenAPI, such as `/files/ladders/{day}.json`.
        content: the type that the program makes it of, a TypedDict or a model.
        summary: what is in it.
        parameters: of the path, by name: what it is.
        media_type: as it is served.
        is_always_there: whether each service has it, so that its address is an example.
        is_answer: whether it is an answer of the whole document in another form, whose parts are described there.
    """

    path: str
    content: Any
    summary: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    is_always_there: bool = True
    is_answer: bool = False


def files_document(document: Mapping[str, Any], kinds: Sequence[FileKind]) -> dict[str, Any]:
    """Return the OpenAPI document of the files.

    Args:
        document: that of the answers: this one is of the same service.
    """
    base_url = document["servers"][0]["url"]
    about = document["info"]

    return {
        "openapi": document["openapi"],
        "info": {
            "title": f"{about['title']}: files",
            "version": about["version"],
            "description": f"Files next to the answers of {OPENAPI_JSON}: what they hold, and when they change.",
            "license": about["license"],
        },
        "servers": document["servers"],
        "security": [],
        "paths": {kind.path: {"get": _operation(kind, base_url)} for kind in kinds},
        "components": {"schemas": _schemas(kinds, base_url), "headers": document["components"]["headers"]},
    }


def _operation(kind: FileKind, base_url: str) -> dict[str, Any]:
    is_once = kind.path.startswith(ONCE_PREFIXES)
    operation = file_operation(
        kind.path,
        kind.summary,
        kind.content.__name__,
        kind.media_type,
        example=base_url + kind.path if kind.is_always_there and not kind.parameters else "",
        is_once=is_once,
    )

    if kind.parameters:
        operation["parameters"] = [
            {"name": name, "in": "path", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in kind.parameters.items()
        ]
    return operation


def _schemas(kinds: Sequence[FileKind], base_url: str) -> dict[str, Any]:
    local = _of_types(tuple(kind.content for kind in kinds if not kind.is_answer), REF)
    # Of an answer in another form only the outermost object is another.
    elsewhere = base_url + OPENAPI_JSON + REF
    answers = _of_types(tuple(kind.content for kind in kinds if kind.is_answer), elsewhere)
    outermost = {kind.content.__name__ for kind in kinds if kind.is_answer}
    return dict(sorted({**local, **{name: answers[name] for name in outermost}}.items()))


@cache
def _of_types(types: tuple[Any, ...], ref_template: str) -> Mapping[str, Any]:
    """Return the schemas of types and of what they hold, by name; not to be changed."""
    fields: dict[str, Any] = {f"of_{place}": (of, ...) for place, of in enumerate(dict.fromkeys(types))}
    holder = create_model("Holder", __config__=_DOCSTRINGS, **fields)
    _, schemas = models_json_schema([(holder, "validation")], ref_template=ref_template)
    by_name = described({name: schema for name, schema in schemas["$defs"].items() if name != "Holder"})

    for of in types:
        for name, fields_of_bases in inherited_descriptions(of).items():
            for its_field, text in fields_of_bases.items():
                by_name[name]["properties"][its_field].setdefault("description", text)
    return by_name
