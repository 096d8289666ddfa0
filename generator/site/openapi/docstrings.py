"""What inherited fields of a TypedDict are: pydantic reads the attribute docstrings of the class itself alone."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, get_args, get_type_hints

from typing_extensions import get_original_bases, is_typeddict


def inherited_descriptions(of: Any) -> dict[str, dict[str, str]]:
    """Return field -> description of what each TypedDict that a type holds has from others, by its name."""
    return {typed_dict.__name__: _of_bases(typed_dict) for typed_dict in _typed_dicts(of, set())}


def _typed_dicts(of: Any, seen: set[Any]) -> Iterator[Any]:
    """Give every TypedDict that a type holds, itself included, once."""
    if is_typeddict(of):
        if of in seen:
            return
        seen.add(of)
        yield of
        parts = tuple(get_type_hints(of).values())
    else:
        parts = get_args(of)

    for part in parts:
        yield from _typed_dicts(part, seen)


def _of_bases(of: Any) -> dict[str, str]:
    descriptions: dict[str, str] = {}
    for base in get_original_bases(of):
        if is_typeddict(base):
            descriptions |= {**_of_bases(base), **_own(base)}
    return descriptions


def _own(of: Any) -> dict[str, str]:
    """Return the attribute docstrings of a class; nothing of one that was made by a call."""
    written = _classes(of.__module__).get(of.__name__)
    if written is None:
        return {}

    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(written.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
