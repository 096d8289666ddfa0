"""How the code reads: rules for each line, and figures by room of which tests hold three.

`python -m tests.air [FOLDER ...]` prints the figures of each room and every line that breaks a rule. Blank lines,
comments and docstrings are not code lines.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ("generator", "gateway")
IDLE: Final = frozenset({"one", "found", "said", "came", "made", "each"})
"""Names that say nothing of what they hold."""
DIRECTIVES: Final = ("# noqa", "# type:", "# fmt:", "# ruff:", "# pragma:")
LONG_BODY: Final = 10
"""Lines of a function's body, its docstring not counted, from which on one looks for a pause."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Break:
    """A line that breaks a rule."""

    path: Path
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.rule}"


@dataclass(frozen=True)
class Figures:
    """Counts over some modules; they add up."""

    nodes: int = 0
    code_lines: int = 0
    ternaries: int = 0
    long_bodies: int = 0
    with_pause: int = 0
    comments: int = 0
    """On lines of their own."""
    bindings: int = 0
    """Variables and arguments, each time that one is bound."""
    idle: int = 0
    """Of them, those of a name that says nothing."""

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(
            nodes=self.nodes + other.nodes,
            code_lines=self.code_lines + other.code_lines,
            ternaries=self.ternaries + other.ternaries,
            long_bodies=self.long_bodies + other.long_bodies,
            with_pause=self.with_pause + other.with_pause,
            comments=self.comments + other.comments,
            bindings=self.bindings + other.bindings,
            idle=self.idle + other.idle,
        )

    @property
    def paused_percent(self) -> float:
        """Return the share of long bodies with a pause; 100 where none is long."""
        return 100 * self.with_pause / self.long_bodies if self.long_bodies else 100.0

    @property
    def comments_a_1000(self) -> float:
        """Return comments on lines of their own a 1,000 lines of code."""
        return 1000 * self.comments / max(self.code_lines, 1)

    @property
    def idle_a_1000(self) -> float:
        """Return idle names a 1,000 bindings."""
        return 1000 * self.idle / max(self.bindings, 1)

    def __str__(self) -> str:
        lines = max(self.code_lines, 1)
        return (
            f"{self.code_lines:6} lines  {self.nodes / lines:5.1f} nodes a line  "
            f"{1000 * self.ternaries / lines:5.1f} ternaries, {self.comments_a_1000:4.1f} comments a 1,000  "
            f"{self.idle_a_1000:4.1f} idle names a 1,000  {self.paused_percent:4.0f}% of {self.long_bodies} long bodies"
        )


def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module, each text parsed once a process."""
    return _parsed(path.read_text())


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def breaks(path: Path, booleans: frozenset[str]) -> list[Break]:
    """Return where a module breaks a rule, in the order of its lines; `booleans` are names that hold a bool."""
    tree = tree_of(path)
    expressions = (node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt))
    found = [(node.lineno, rule) for node in expressions if (rule := _rule_broken(node, booleans))]
    return [Break(path, line, rule) for line, rule in sorted(found)]


def _rule_broken(node: ast.AST, booleans: frozenset[str]) -> str | None:
    if isinstance(node, ast.IfExp) and any(isinstance(inner, ast.IfExp) for inner in _inside(node)):
        return "nested ternary"
    if isinstance(node, ast.BinOp) and _is_list_times_condition(node, booleans):
        return "list times a condition"
    if isinstance(node, ast.Subscript) and _is_bool_as_index(node, booleans):
        return "bool as an index"
    if isinstance(node, ast.Assign) and _assigns_two_computed_values(node):
        return "two computed values in one assignment"
    return None


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    return (inner for inner in ast.walk(node) if inner is not node)


def booleans_of_the_programs() -> frozenset[str]:
    """Return the names that the programs annotate as bool: arguments, variables, fields and what a function returns."""
    names = set()
    for path in (path for program in PROGRAMS for path in modules(ROOT / program)):
        for node in ast.walk(tree_of(path)):
            match node:
                case ast.arg(arg=name, annotation=ast.Name(id="bool")):
                    names.add(name)
                case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="bool")):
                    names.add(name)
                case ast.FunctionDef(name=name, returns=ast.Name(id="bool")):
                    names.add(name)
    return frozenset(names)


def _is_condition(node: ast.expr, booleans: frozenset[str]) -> bool:
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=ast.Name(id="bool" | "any" | "all" | "isinstance")):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in booleans
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in booleans
    return False


def _is_list_times_condition(node: ast.BinOp, booleans: frozenset[str]) -> bool:
    if not isinstance(node.op, ast.Mult):
        return False
    pairs = ((node.left, node.right), (node.right, node.left))
    return any(_is_sequence(values) and _is_condition(other, booleans) for values, other in pairs)


def _is_sequence(node: ast.expr) -> bool:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_text or isinstance(node, ast.List | ast.Tuple | ast.JoinedStr | ast.ListComp)


def _is_bool_as_index(node: ast.Subscript, booleans: frozenset[str]) -> bool:
    match node.slice:
        case ast.Compare():
            # An array may be indexed by a comparison of arrays: that is a mask.
            return isinstance(node.value, ast.List | ast.Tuple | ast.Dict | ast.Constant)
        case ast.BoolOp(op=ast.Or()) | ast.Name() | ast.Call(func=ast.Attribute()):
            return False
    return _is_condition(node.slice, booleans)


def _assigns_two_computed_values(node: ast.Assign) -> bool:
    if not isinstance(node.value, ast.Tuple):
        return False
    values = node.value.elts
    targets = [target.elts for target in node.targets if isinstance(target, ast.Tuple)]
    is_swap = any({*map(ast.unparse, names)} == {*map(ast.unparse, values)} for names in targets)
    return bool(targets) and not is_swap and sum(map(_is_computed, values)) >= 2


def _is_computed(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Constant():
            return False
        case ast.Starred(value=value) | ast.UnaryOp(operand=value):
            return _is_computed(value)
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return False
    return True


def figures(path: Path) -> Figures:
    """Count one module."""
    source = path.read_text()
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    bodies = [body for node in nodes if isinstance(node, Function) and (body := _body_lines(node))]
    lines = source.splitlines()
    long_bodies = [body for body in bodies if len(body) >= LONG_BODY]
    names = [name for node in nodes if (name := _bound(node)) is not None]

    return Figures(
        nodes=len(nodes),
        code_lines=len(_code_lines(source, tree)),
        ternaries=sum(isinstance(node, ast.IfExp) for node in nodes),
        long_bodies=len(long_bodies),
        with_pause=sum(any(_is_pause(lines[line - 1]) for line in body) for body in long_bodies),
        comments=sum(_is_comment(line) for line in lines),
        bindings=len(names),
        idle=sum(name in IDLE for name in names),
    )


def _is_comment(line: str) -> bool:
    text = line.lstrip()
    return text.startswith("#") and not text.startswith(DIRECTIVES)


def _bound(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
    return None


def _is_pause(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _body_lines(node: Function) -> range:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return range(body[0].lineno, (node.end_lineno or 0) + 1) if body else range(0)


def _code_lines(source: str, tree: ast.Module) -> set[int]:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - {line for node in ast.walk(tree) for line in _docstring_lines(node)}


def _docstring_lines(node: ast.AST) -> range:
    if not isinstance(node, ast.Module | ast.ClassDef | Function) or not node.body:
        return range(0)
    first = node.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return range(first.lineno, (first.end_lineno or 0) + 1) if is_text else range(0)


def modules(folder: Path) -> list[Path]:
    """Return the modules below a folder."""
    return sorted(folder.rglob("*.py"))


def total(paths: Iterable[Path]) -> Figures:
    """Add the figures of some modules up."""
    return sum(map(figures, paths), Figures())


def unpaused(paths: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    """Give where a long body without a pause begins."""
    for path in paths:
        lines = path.read_text().splitlines()
        for node in ast.walk(tree_of(path)):
            body = _body_lines(node) if isinstance(node, Function) else range(0)
            if len(body) >= LONG_BODY and not any(_is_pause(lines[line - 1]) for line in body):
                yield path, body.start


def main() -> None:
    """Print the figures of the rooms named, or of all, and what breaks a rule in them."""
    named = [Path(argument).resolve() for argument in sys.argv[1:]]
    programs = [ROOT / program for program in PROGRAMS]
    rooms = named or [room for program in programs for room in sorted(program.iterdir()) if modules(room)]

    for room in rooms:
        print(f"{room.relative_to(ROOT)!s:22}{total(modules(room))}")
        if named:
            for path, line in unpaused(modules(room)):
                print(f"  no pause: {path.relative_to(ROOT)}:{line}")
    for program in programs:
        print(f"{program.name:22}{total(modules(program))}")

    booleans = booleans_of_the_programs()
    for room in rooms:
        for broken in (broken for path in modules(room) for broken in breaks(path, booleans)):
            print(broken)


if __name__ == "__main__":
    main()
