"""The rooms of docs/explain/house.md: each imports and touches what its row says, no less and no more."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import air

ROOT = Path(__file__).parents[1]
PROGRAMS = ("generator", "gateway")
TOUCHES = {
    "clock": {"time", "sched"},
    "disk": {"ctypes", "fcntl", "glob", "os", "pathlib", "shutil", "sqlite3", "stat", "tempfile"},
    "network": {"ftplib", "http", "smtplib", "socket", "socketserver", "ssl"},
    "chance": {"random", "secrets", "uuid"},
    "tasks": {"asyncio", "concurrent", "multiprocessing", "queue", "threading"},
    "processes": {"signal", "subprocess"},
}
ASKS_THE_TIME = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
METHODS = {name.partition(".")[2] for name in ASKS_THE_TIME}
EFFECT = {module: effect for effect, modules in TOUCHES.items() for module in modules}


@dataclass(frozen=True)
class Row:
    """What one room, or modules that stand apart in it, may use."""

    names: tuple[str, ...]
    imports: frozenset[str]
    libraries: frozenset[str]
    touches: frozenset[str]


def rows() -> list[Row]:
    """Read the table."""
    lines = [
        line for line in (ROOT / "docs" / "explain" / "house.md").read_text().splitlines() if line.startswith("| `")
    ]
    cells = [[re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")] for line in lines]
    plain = [[cell.strip() for cell in line.strip("|").split("|")][4] for line in lines]
    return [
        Row(tuple(names), frozenset(ours), frozenset(others), frozenset(touched.replace(",", " ").split()))
        for (names, _, ours, others, _), touched in zip(cells, plain, strict=True)
    ]


TABLE = rows()
PLACES = {name: row for row in TABLE for name in row.names}
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for program in PROGRAMS
    for path in sorted((ROOT / program).rglob("*.py"))
    if path != ROOT / program / "__init__.py"
}


def dotted(name: str) -> str:
    return name if name.startswith("gateway") else f"generator.{name}".removesuffix(".generator")


def place_of(module: str) -> str:
    """Return the name in the table that a module falls under: the longest."""
    fitting = [name for name in PLACES if f"{module}.".startswith(f"{dotted(name)}.")]
    return max(fitting, key=lambda name: len(dotted(name)))


def tree_of(module: str) -> ast.Module:
    return air.tree_of(FILES[module])


@cache
def imported(module: str) -> frozenset[str]:
    """Return what a module imports, inside its functions too: modules of ours whole."""
    return frozenset(_imported(module))


def _imported(module: str) -> Iterator[str]:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, f"{module}: imports are written out"
            assert node.level == 0, f"{module}: imports are written out"
            if node.module in {"http", "urllib"}:
                # Only parts of these touch the network.
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
                continue
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in FILES else node.module


@cache
def effects(module: str) -> frozenset[str]:
    """Return what a module touches outside of itself."""
    return frozenset(_effects(module))


def _effects(module: str) -> Iterator[str]:
    for name in imported(module):
        if name == "urllib.request":
            yield "network"
        elif name == "http.HTTPStatus":
            continue
        elif (first := name.split(".")[0]) in EFFECT:
            yield EFFECT[first]
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS and ast.unparse(node) in ASKS_THE_TIME:
            yield "clock"


def is_folder(name: str) -> bool:
    return (ROOT / Path(*dotted(name).split("."))).is_dir()


def allows(entry: str, target: str) -> bool:
    """Return whether an entry of a row covers a module: a room's name does not cover the rooms inside it."""
    if not f"{target}.".startswith(f"{dotted(entry)}."):
        return False
    place = place_of(target)
    return not is_folder(place) or len(dotted(place)) <= len(dotted(entry))


def same_room(one: str, other: str) -> bool:
    """Return whether two modules lie in one room; modules that stand apart in a room are at home in it."""
    rooms = []
    for module in (one, other):
        place = dotted(place_of(module))
        rooms.append(place if is_folder(place_of(module)) else place.rpartition(".")[0])
    return rooms[0] == rooms[1] != "generator" or place_of(one) == place_of(other)


def of_ours(module: str) -> set[str]:
    return {name for name in imported(module) if name.split(".")[0] in PROGRAMS}


def forbidden(module: str) -> set[str]:
    """Return what a module imports or touches although its row in docs/explain/house.md does not name it."""
    row = PLACES[place_of(module)]
    foreign = {
        name
        for name in of_ours(module)
        if not same_room(module, name) and not any(allows(entry, name) for entry in row.imports)
    }
    libraries = {name.split(".")[0] for name in imported(module)} - set(PROGRAMS) - sys.stdlib_module_names
    return foreign | (libraries - row.libraries) | (effects(module) - row.touches)


def unused(row: Row) -> set[str]:
    """Return what a row names although nothing in its room uses it."""
    modules = [module for module in FILES if place_of(module) in row.names]
    targets = set().union(*(of_ours(module) for module in modules))
    libraries = {name.split(".")[0] for module in modules for name in imported(module)}
    touched = {effect for module in modules for effect in effects(module)}
    imports = {entry for entry in row.imports if not any(allows(entry, target) for target in targets)}
    return imports | (row.libraries - libraries) | (row.touches - touched)


def test_every_module_imports_and_touches_only_what_its_room_may() -> None:
    assert {module: found for module in FILES if (found := forbidden(module))} == {}


def test_no_row_names_what_its_room_does_not_use() -> None:
    assert {row.names: found for row in TABLE if (found := unused(row))} == {}


def test_every_name_in_the_table_is_a_room_or_a_module() -> None:
    named = {dotted(name) for row in TABLE for name in (*row.names, *row.imports)}

    assert {name for name in named if name not in FILES and not (ROOT / Path(*name.split("."))).is_dir()} == set()
    assert len(PLACES) == sum(len(row.names) for row in TABLE)


def test_no_module_imports_itself_through_others() -> None:
    waiting = {module: set(imported(module)) & set(FILES) for module in FILES}

    while free := [module for module, needs in waiting.items() if not needs]:
        for module in free:
            del waiting[module]
        for needs in waiting.values():
            needs.difference_update(free)

    assert waiting == {}


def test_no_arrow_between_rooms_runs_back_up() -> None:
    waiting = {name: set(row.imports) & set(PLACES) for name, row in PLACES.items()}

    while floor := [name for name, needs in waiting.items() if not needs]:
        for name in floor:
            del waiting[name]
        for needs in waiting.values():
            needs.difference_update(floor)

    assert waiting == {}


def test_what_a_reader_runs_knows_no_setting_of_the_service() -> None:
    of_the_service = {"settings", "runtime", "compose", "site", "cli"}
    clients = [module for module in FILES if place_of(module) == "client"]

    assert len(clients) > 10
    assert {m: name for m in clients for name in of_ours(m) if of_the_service & {*name.split(".")}} == {}


def test_no_statement_breaks_a_rule_of_how_code_reads() -> None:
    booleans = air.booleans_of_the_programs()

    assert [str(broken) for path in FILES.values() for broken in air.breaks(path, booleans)] == []


def test_few_lines_are_marked_as_wider_than_120_columns() -> None:
    folders = (ROOT / name for name in (*PROGRAMS, "tests"))
    marked = [
        path for folder in folders for path in folder.rglob("*.py") for _ in re.findall("noqa: E501", path.read_text())
    ]

    assert len(marked) <= 40


def test_the_generator_as_a_package_loads_nothing() -> None:
    assert (ROOT / "generator" / "__init__.py").read_bytes() == b""
