"""Where a source can be changed in one place so that it does something else.

Every comparison, number, text, boolean, returned name and sign is such a place. Left out is what no test can notice, as
far as the syntax tree shows: annotations, docstrings, what is only for type checkers, messages of exceptions, log
lines, names of columns, descriptions of published fields, and flags that only hold the program itself to account.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

Function = ast.FunctionDef | ast.AsyncFunctionDef
Positioned = ast.expr | ast.stmt

NEGATED: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
SHIFTED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}  # the edge on the other side
SIGNS: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
DOUBLED_FROM: Final = 100  # a larger number is doubled, a smaller one is one more
LOGGERS: Final = frozenset({"log", "logger", "_log", "structlog"})
CLASS_FLAGS: Final = frozenset({"dataclass", "lru_cache", "total_ordering"})
RAISERS: Final = frozenset({"_refuse"})  # functions that raise what they are given
COLUMNS: Final = frozenset({"Column", "Table", "Index", "ForeignKey", "bindparam", "mapped_column"})
TYPES: Final = frozenset({"Literal", "Annotated", "Final", "ClassVar", "cast", "TypeVar", "NewType", "NamedTuple"})
SILENT_KEYWORDS: Final = frozenset({"strict", "description", "thread_name_prefix", "title", "help"})


@dataclass(frozen=True)
class Site:
    """One place in a source, and what is put there; `start` and `end` are offsets in bytes."""

    kind: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with this one change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


class Source:
    """A module's text with its syntax tree."""

    def __init__(self, text: str) -> None:
        self.raw = text.encode()
        self.tree = ast.parse(text)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.raw.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def silent(self) -> frozenset[int]:
        """The identities of the nodes whose change no test could notice."""
        return frozenset(id(part) for node in ast.walk(self.tree) for part in _silent_parts(node))

    def span(self, node: Positioned) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begins = self._line_starts[node.lineno - 1] + node.col_offset
        return begins, self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, start: int, end: int) -> str:
        """Return a part of the source."""
        return self.raw[start:end].decode()

    def line_at(self, offset: int) -> int:
        """Return the number of the line that an offset lies in."""
        return self.raw.count(b"\n", 0, offset) + 1

    def place(self, kind: str, start: int, end: int, after: str) -> Site:
        """Return the change of one part of the source."""
        return Site(kind, self.line_at(start), start, end, self.text(start, end), after)


def sites(text: str) -> list[Site]:
    """Return every change of a module, in the order of the source."""
    source = Source(text)
    return sorted(set(_places(source, source.tree, ())), key=lambda site: (site.start, site.end, site.after))


def compiles(text: str, site: Site) -> bool:
    """Return whether a module with this change is Python at all; a few are not, as `not` at the begin of a line."""
    try:
        compile(site.applied(text.encode()), "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _places(  # noqa: C901  a table of kinds
    source: Source, node: ast.AST, above: Sequence[ast.AST]
) -> Iterator[Site]:
    if isinstance(node, ast.JoinedStr):
        # Up to Python 3.11 what is inside has no place of its own.
        yield from _of_formatted(source, node)
        return

    match node:
        case ast.Compare():
            yield from _of_comparison(source, node)
        case ast.BoolOp():
            yield from _of_and_or(source, node)
        case ast.UnaryOp(op=ast.Not()):
            start, _ = source.span(node)
            yield source.place("boolean", start, start + len("not"), "")
        case ast.UnaryOp(op=ast.USub()):
            start, _ = source.span(node)
            yield source.place("sign", start, start + 1, "")
        case ast.BinOp() if not _joins_text(node):
            yield from _of_sign(source, node)
        case ast.AugAssign(op=ast.Add() | ast.Sub()):
            yield from _of_augmented(source, node)
        case ast.Constant():
            yield from _of_constant(source, node)
        case ast.Return(value=ast.Name() | ast.Attribute()):
            yield from _of_returned(source, node, above)

    for child in ast.iter_child_nodes(node):
        if id(child) not in source.silent:
            yield from _places(source, child, (*above, node))


# What is left out


def _silent_parts(node: ast.AST) -> Iterator[ast.AST | None]:  # noqa: C901, PLR0912  a table of kinds
    body: Sequence[ast.stmt] = getattr(node, "body", None) or () if not isinstance(node, ast.expr) else ()
    yield from (row for row in body if isinstance(row, ast.Expr) and isinstance(row.value, ast.Constant))

    match node:
        case ast.arg(annotation=annotation):
            yield annotation
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            yield returns
        case ast.AnnAssign(annotation=annotation, target=target, value=value):
            yield annotation
            if _name(annotation) == "TypeAlias" or _is_all(target):
                yield value
        case ast.Assign(targets=[target], value=value) if _is_all(target):
            yield value
        case ast.If(test=test) if _name(test) == "TYPE_CHECKING" or _is_main(test):
            yield from ast.iter_child_nodes(node)
        case ast.ClassDef(decorator_list=decorators):
            yield from (row for row in decorators if _name(row) in CLASS_FLAGS)
        case ast.Assert():
            yield from ast.iter_child_nodes(node)
        case ast.Raise(exc=ast.Call(args=args)):
            yield from (text for text in args if _is_sentence(text))
        case ast.Subscript(value=value, slice=inside) if _name(value) in TYPES:
            yield inside
        case ast.Call():
            yield from _silent_arguments(node)
        case ast.keyword(arg=str(name), value=value) if name in SILENT_KEYWORDS:
            yield value

    if isinstance(node, Function):
        yield from (row for row in node.decorator_list if _name(row) in CLASS_FLAGS)


def _silent_arguments(call: ast.Call) -> Iterator[ast.AST]:
    if _name(call.func) in RAISERS:
        yield from (text for text in call.args if _is_sentence(text))
    if _root(call.func) in LOGGERS or _name(call.func) == "get_logger":
        yield from (*call.args, *call.keywords)
    if _name(call.func) in COLUMNS | TYPES:
        yield from (text for text in call.args if isinstance(text, ast.Constant))


def _name(node: ast.AST) -> str:
    """Return the last part of a name that is used or called."""
    match node:
        case ast.Call(func=func):
            return _name(func)
        case ast.Subscript(value=value):
            return _name(value)
        case ast.Attribute(attr=attr):
            return attr
        case ast.Name(id=name):
            return name
    return ""


def _root(node: ast.AST) -> str:
    """Return the first part of a name: `log` of `log.info`, or of either of two."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    if isinstance(node, ast.IfExp):
        return _root(node.body)
    return node.id if isinstance(node, ast.Name) else ""


def _is_all(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id in {"__all__", "__slots__"}


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and _name(test.left) == "__name__"


def _is_sentence(node: ast.expr) -> bool:
    """Tell the message of an exception from its code."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and " " in node.value
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and _is_sentence(node.left))


def _joins_text(node: ast.BinOp) -> bool:
    """Return whether an operator joins texts or lists, or repeats them: anything else would fail at once."""
    parts = (node.left, node.right)
    texts = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    return any(isinstance(part, texts) or _is_text(part) for part in parts)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _joins_text(node)
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


# The changes


def _of_comparison(source: Source, node: ast.Compare) -> Iterator[Site]:
    parts = [node.left, *node.comparators]
    for left, operator, right in zip(parts, node.ops, parts[1:], strict=False):
        before, negated = NEGATED[type(operator)]
        start, end = _between(source, left, right, before)
        yield source.place("comparison", start, end, negated)
        if before in SHIFTED:
            yield source.place("comparison", start, end, SHIFTED[before])


def _of_and_or(source: Source, node: ast.BoolOp) -> Iterator[Site]:
    before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        start, end = _between(source, left, right, before)
        yield source.place("boolean", start, end, after)


def _of_sign(source: Source, node: ast.BinOp) -> Iterator[Site]:
    signs = SIGNS.get(type(node.op))
    if signs is not None:
        start, end = _between(source, node.left, node.right, signs[0])
        yield source.place("sign", start, end, signs[1])


def _of_augmented(source: Source, node: ast.AugAssign) -> Iterator[Site]:
    if not _is_text(node.value) and not isinstance(node.value, ast.List | ast.ListComp | ast.JoinedStr):
        before, after = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
        start, end = _between(source, node.target, node.value, before)
        yield source.place("sign", start, end, after)


def _between(source: Source, left: ast.expr, right: ast.expr, operator: str) -> tuple[int, int]:
    """Return where the operator between two expressions is."""
    start, end = source.span(left)[1], source.span(right)[0]
    gap = re.sub(r"#.*", lambda comment: " " * len(comment[0].encode()), source.text(start, end))
    found = re.search(r"\s+".join(map(re.escape, operator.split())), gap)
    assert found is not None, gap
    begins = start + len(gap[: found.start()].encode())
    return begins, begins + len(found[0].encode())


def _of_constant(source: Source, node: ast.Constant) -> Iterator[Site]:
    start, end = source.span(node)
    match node.value:
        case bool(value):
            yield source.place("boolean", start, end, str(not value))
        case int(value):
            yield source.place("constant", start, end, str(2 * value if value >= DOUBLED_FROM else value + 1))
        case float(value):
            yield source.place("constant", start, end, repr(2 * value or 1.0))
        case str(value):
            yield source.place("constant", start, end, repr(f"{value}XX"))
        case bytes(value):
            yield source.place("constant", start, end, repr(value + b"XX"))


def _of_formatted(source: Source, node: ast.JoinedStr) -> Iterator[Site]:
    """Change the text of a formatted string, and how many decimals it writes."""
    start, end = source.span(node)
    text = source.text(start, end)
    if "\n" not in text:
        yield source.place("constant", end - 1, end, f"XX{text[-1]}")
        for found in re.finditer(r"(?<=\.)\d(?=[fg]\})", text):
            begins = start + len(text[: found.start()].encode())
            yield source.place("constant", begins, begins + 1, str(int(found[0]) + 1))


def _of_returned(source: Source, node: ast.Return, above: Sequence[ast.AST]) -> Iterator[Site]:
    """Return another name of the function: the one that was bound last before, an argument, or None."""
    assert node.value is not None
    function = next((row for row in reversed(above) if isinstance(row, Function)), None)
    start, end = source.span(node.value)
    returned = source.text(start, end)
    others = [] if function is None else [name for name in _names_before(function, node.lineno) if name != returned]
    yield source.place("returned name", start, end, others[-1] if others else "None")


def _names_before(function: Function, line: int) -> list[str]:
    bound = [
        (name.lineno, name.id)
        for name in ast.walk(function)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.lineno < line
    ]
    arguments = [(0, row.arg) for row in (*function.args.args, *function.args.kwonlyargs)]
    return [name for _, name in sorted([*arguments, *bound]) if name not in {"self", "cls"}]
