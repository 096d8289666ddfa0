"""Helpers that walk published trees."""

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

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
def model_paths(model: type[BaseModel], path: Path = ()) -> set[Path]:
    """Return every key path that a model allows; `*` for the keys of a map."""
    found: set[Path] = set()
    for name, field in model.model_fields.items():
        found.add((*path, name))
        found |= _inner(field.annotation, (*path, name))
    return found


def _inner(annotation: Any, path: Path) -> set[Path]:
    if isinstance(annotation, type) and issubclass(annotation, Body):
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
