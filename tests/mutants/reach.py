"""Where a change may show: in the statement that it lies in, or in those that use what this one makes at import.

What a function's body does is seen by the tests that run the changed line. A constant of a module, a field of a class
and a default are made at import, which every test does; there it counts who runs a line that names it.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from tests.mutants.sites import Function

PLACED: Final = (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.pattern)
BODIES: Final = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True)
class Statement:
    """One statement; of one with a body its head. `binds` is what it makes at import, `uses` every name in it."""

    lines: range
    binds: frozenset[str]
    uses: frozenset[str]
    is_at_import: bool
    body: range = range(0)  # of a function
    constant: str = ""  # of a module: the one name that it gives a value


@cache
def statements(text: str) -> tuple[Statement, ...]:
    """Return every statement of a module."""
    return tuple(_statements(ast.parse(text), frozenset(), is_at_import=True))


def statement_at(text: str, line: int) -> Statement:
    """Return the innermost statement that a line belongs to; the whole module where there is none."""
    whole = Statement(range(1, text.count("\n") + 2), frozenset(), frozenset(), is_at_import=True)
    around = [statement for statement in statements(text) if line in statement.lines]
    return min(around, key=lambda statement: len(statement.lines), default=whole)


def reached(sources: Mapping[str, str], source: str, line: int) -> dict[str, set[int]]:
    """Return the lines, by source, where a change in one line may show.

    Args:
        sources: the text of each module that may use what the line makes, by name.
    """
    changed = statement_at(sources[source], line)
    lines: dict[str, set[int]] = {source: set(changed.body)}
    if not changed.is_at_import:
        lines[source].update(changed.lines)
        return lines

    seen: set[str] = set()
    names = set(changed.binds)
    while names:
        seen |= names
        further: set[str] = set()
        for other, text in sources.items():
            for statement in statements(text):
                if statement.uses.isdisjoint(names):
                    continue
                if statement.is_at_import:
                    further |= statement.binds
                lines.setdefault(other, set()).update(statement.body if statement.is_at_import else statement.lines)
        names = further - seen
    return lines


def is_used_at_import(name: str, texts: Iterable[str]) -> bool:
    """Return whether any of some modules makes something of a name when it is imported."""
    return any(row.is_at_import and name in row.uses for text in texts for row in statements(text))


def _statements(node: ast.AST, owner: frozenset[str], *, is_at_import: bool) -> Iterator[Statement]:
    for part in _parts(node):
        if isinstance(part, ast.Import | ast.ImportFrom):
            continue
        yield _statement(part, owner, is_at_import=is_at_import)

        if isinstance(part, Function):
            yield from _statements(part, frozenset(), is_at_import=False)
        elif isinstance(part, ast.ClassDef):
            yield from _statements(part, owner | {part.name}, is_at_import=is_at_import)
        else:
            yield from _statements(part, owner, is_at_import=is_at_import)


def _parts(node: ast.AST) -> list[ast.AST]:
    return [part for name in BODIES for part in getattr(node, name, ()) if isinstance(part, ast.AST)]


def _statement(node: ast.AST, owner: frozenset[str], *, is_at_import: bool) -> Statement:
    below = _parts(node)
    head = [part for part in ast.iter_child_nodes(node) if part not in below]
    starts = [first for part in (node, *head) for first, _ in _positions(part)]
    ends = [last for part in head for _, last in _positions(part)]
    first = min(starts, default=1)
    last = getattr(node, "end_lineno", None) or max(ends, default=first)
    if below:
        last = max([first, *ends, _first_line(below[0]) - 1])

    binds = owner | set(_bound(node, head))
    body = range(0)
    if isinstance(node, Function):
        body = range(_first_line(below[0]), (node.end_lineno or node.lineno) + 1)
    uses = frozenset(_used(head))
    constant = "" if owner or not is_at_import else constant_of(node)
    return Statement(range(first, last + 1), binds, uses, is_at_import, body, constant)


def constant_of(node: ast.AST) -> str:
    """Return the one name that a statement gives a value, empty where it does something else."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def _positions(node: ast.AST) -> list[tuple[int, int]]:
    """Return the first and last line of everything in a node that has a place."""
    placed = [row for row in ast.walk(node) if isinstance(row, PLACED)]
    return [(row.lineno, row.end_lineno or row.lineno) for row in placed]


def _first_line(node: ast.AST) -> int:
    return min(first for first, _ in _positions(node))


def _bound(node: ast.AST, head: Iterable[ast.AST]) -> Iterator[str]:
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
        return
    for part in head:
        yield from (row.id for row in ast.walk(part) if isinstance(row, ast.Name) and isinstance(row.ctx, ast.Store))


def _used(head: Iterable[ast.AST]) -> Iterator[str]:
    for part in head:
        for row in ast.walk(part):
            match row:
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                    yield name
