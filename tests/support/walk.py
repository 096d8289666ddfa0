"""Helpers that walk published trees."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from generator.compose.body import Body

Path = tuple[str, ...]


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every key path with its value; list places are `[]`."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key), value
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, (*path, "[]"))


def strings(node: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every text with its key path."""
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from strings(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, (*path, "[]"))


@cache
def model_paths(model: type[Any], path: Path = ()) -> set[Path]:
    """Return every key path that a body, or a value that is published as it is, allows; `*` for the keys of a map."""
    found: set[Path] = set()
    for name, annotation in _fields(model).items():
        found.add((*path, name))
        found |= _inner(annotation, (*path, name))
    return found


def _fields(model: type[Any]) -> dict[str, Any]:
    if issubclass(model, BaseModel):
        return {name: field.annotation for name, field in model.model_fields.items()}
    return get_type_hints(model)


def _inner(annotation: Any, path: Path) -> set[Path]:
    if isinstance(annotation, type) and (issubclass(annotation, Body) or is_dataclass(annotation)):
        return model_paths(annotation, path)
    origin = getattr(annotation, "__origin__", None)
    step = {tuple: (*path, "[]"), dict: (*path, "*")}.get(origin, path)  # type: ignore[arg-type]
    found = {step} if origin is dict else set()
    return found.union(*(_inner(argument, step) for argument in get_args(annotation)))


def allowed(path: Path, paths: set[Path]) -> bool:
    """Return whether a published path is one of a model's, map keys standing for `*`."""
    return path in paths or any(
        len(path) == len(known) and all(own in ("*", part) for part, own in zip(path, known, strict=True))
        for known in paths
    )
