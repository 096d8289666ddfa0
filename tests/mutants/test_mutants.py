"""The tool that changes the source: what it changes, what it leaves alone, and that its table is up to date."""

from pathlib import Path

import pytest

from tests.mutants.__main__ import draw, fixed, holds, table
from tests.mutants.excluded import EXCLUDED, Excluded, is_excluded
from tests.mutants.fixed import FIXED, SURVIVORS, Fixed, find
from tests.mutants.reach import reached, statement_at
from tests.mutants.rooms import ROOMS, ROOT
from tests.mutants.run import Mutant, Outcome
from tests.mutants.sites import Site, compiles, sites

SILENT = '''
"""A docstring with 1 number."""
from typing import TYPE_CHECKING, Final, Literal
import structlog
if TYPE_CHECKING:
    LIMIT = 3
__all__ = ["a", "b"]
log = structlog.get_logger("room")
def f(x: Literal["up", 1]) -> Literal[2]:
    """Return 3."""
    log.info("it is 4", number=5)
    (log.info if x else log.warning)("it is 6")
    assert x == 7, "eight"
    for _ in zip(x, x, strict=True):
        raise ValueError("it is not 9")
    raise KeyError(f"it is {x + 10}")
'''


def changed(text: str) -> set[tuple[str, str]]:
    return {(site.before, site.after) for site in sites(text)}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("a < b", {("<", "<="), ("<", ">=")}),
        ("a is not b", {("is not", "is")}),
        ("a  not   in b", {("not   in", "in")}),
        ("a == b != c", {("==", "!="), ("!=", "==")}),
        ("a and b or c", {("and", "or"), ("or", "and")}),
        ("not (a)", {("not", "")}),
        ("-a + b", {("-", ""), ("+", "-")}),
        ("a += b", {("+=", "-=")}),
        ("a * b / c", {("*", "/"), ("/", "*")}),
        ("x = 12", {("12", "13")}),
        ("x = 180_000", {("180_000", "360000")}),
        ("x = 0.9", {("0.9", "1.8")}),
        ("x = True", {("True", "False")}),
        ("x = 'usd'", {("'usd'", "'usdXX'")}),
        ("x = f'{a:.1f}%'", {("1", "2"), ("'", "XX'")}),
        ("def f(a, b):\n    return b", {("b", "a")}),
        ("def f(a):\n    c = g(a)\n    return a", {("a", "c")}),
        ("def f(self):\n    return self.a", {("self.a", "None")}),
        ("a < b  # < 3", {("<", "<="), ("<", ">=")}),
        ("'a' + b", {("'a'", "'aXX'")}),
    ],
)
def test_every_comparison_constant_boolean_name_and_sign_is_a_place(text: str, changes: set[tuple[str, str]]) -> None:
    assert changed(text) == changes


def test_a_change_that_leaves_a_syntax_error_is_not_drawn() -> None:
    (at_the_begin,), (after_a_name,) = sites("not (a)"), sites("x = not (a)")

    assert not compiles("not (a)", at_the_begin)
    assert compiles("x = not (a)", after_a_name)


def test_what_no_test_can_notice_is_left_alone() -> None:
    assert changed(SILENT) == set()


def test_a_change_is_made_in_its_place_alone_also_after_other_alphabets() -> None:
    text = 'x = "\N{GREEK SMALL LETTER MU}" if a < 1 else b < 1\n'

    made = [site.applied(text.encode()).decode() for site in sites(text) if site.after == "<="]

    assert made == [text.replace("a <", "a <="), text.replace("b <", "b <=")]


@pytest.mark.parametrize("room", ["chain", "log"])
def test_the_same_seed_draws_the_same_places(room: str) -> None:
    drawn, again, other = draw(room, 12, 7), draw(room, 12, 7), draw(room, 12, 8)

    assert drawn == again != other
    assert len(drawn) == 12


def test_every_fixed_mutation_is_still_found_and_changes_something() -> None:
    found, lost = fixed(list(ROOMS))

    assert lost == []
    assert (len(found), len(SURVIVORS)) == (44, 20)
    assert all(mutant.site.before != mutant.site.after for mutant in found)


def test_a_fixed_mutation_is_found_by_its_syntax_and_not_by_its_line_breaks(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text(
        "def g():\n    return max(1, 2)\n\ndef f():\n    return max(\n        1,  # why\n        2,\n    )\n"
    )

    place = find(Fixed("scores", "f", "max(1, 2)", "1", "no maximum"), [source])
    lost = find(Fixed("scores", "f", "max(1, 3)", "1", "no maximum"), [source])

    assert place is not None
    assert place[1].line == 5
    assert place[1].applied(source.read_bytes()).decode().endswith("    return (1)\n")
    assert lost is None


@pytest.mark.parametrize("row", EXCLUDED, ids=lambda row: f"{row.file}: {row.text.strip()[:40]}")
def test_what_is_excluded_is_in_the_source_once_and_has_places_and_a_reason(row: Excluded) -> None:
    source = (ROOT / row.file).read_text(encoding="utf-8")
    start, end = row.span(source)

    inside = [site for site in sites(source) if start <= site.start and site.end <= end]

    assert inside
    assert all(is_excluded(Path(row.file), source, site) for site in inside)
    assert len(row.reason) > 20


def test_less_than_one_place_in_ten_is_excluded() -> None:
    for room in ROOMS.values():
        texts = {file.relative_to(ROOT): file.read_text(encoding="utf-8") for file in room.files()}
        places = [(file, text, site) for file, text in texts.items() for site in sites(text)]

        assert sum(is_excluded(*place) for place in places) < len(places) / 10


@pytest.mark.parametrize(
    ("begin", "lines"),
    [
        ("a < b", range(2, 6)),
        ("c == d", range(6, 7)),
        ("1", range(1, 2)),
        ("KeyError", range(8, 9)),
        ("e == f", range(9, 12)),
    ],
)
def test_a_change_lies_in_the_head_of_its_statement_or_in_all_of_a_simple_one(begin: str, lines: range) -> None:
    text = (
        "def g(x=1):\n    if (\n        a < b\n        or a\n    ):\n        c == d\n        try: x\n"
        "        except KeyError if 2 else 3: pass\n        return [\n            e == f,\n        ]\n"
    )

    assert statement_at(text, text.count("\n", 0, text.index(begin)) + 1).lines == lines


MODULES = {
    "a": """LIMIT = 3
TABLE = {
    "x": LIMIT,
}
def f(a, most=4):
    b = a
    return b
class Row:
    size: int = 5
    def last(self):
        return self.size
""",
    "b": """from a import LIMIT, TABLE, Row, f
def g():
    return TABLE["x"]
def h():
    return f(2)
def row():
    return Row()
""",
}


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (1, {"a": set(), "b": {3}}),  # a constant: by way of the table
        (5, {"a": {6, 7}, "b": {5}}),  # a default: the function, and who calls it
        (6, {"a": {6}}),
        (9, {"a": {11}, "b": {7}}),  # a field: who reads it, and who makes such a row
    ],
)
def test_a_change_shows_where_the_line_runs_or_what_it_makes_at_import_is_used(
    line: int, lines: dict[str, set[int]]
) -> None:
    assert reached(MODULES, "a", line) == lines


def result(noticed_by: str, what: str = "") -> tuple[Mutant, Outcome]:
    site = Site("sign", 3, 0, 1, "+", "-")
    return Mutant("scores", Path("generator/arena/a.py"), site, what), Outcome(noticed_by, 1.0)


def test_one_in_twenty_of_those_drawn_may_survive_and_none_of_the_fixed() -> None:
    caught, alive = result("a test"), result("")

    assert holds([*[caught] * 19, alive])
    assert not holds([*[caught] * 18, alive])
    assert holds([result("a test", "twice the prior")])
    assert not holds([*[caught] * 19, result("", "twice the prior")])


def test_the_table_names_each_survivor_with_its_place_and_its_change() -> None:
    text = table([result("a test"), result(""), result("", "twice the prior")])

    assert "scores                         1     2     50%     9% to 91%" in text
    assert "fixed                          0     1      0%     0% to 79%" in text
    assert "  scores: generator/arena/a.py:3: + -> - twice the prior" in text
    assert "survived: 2" in text


def test_150_places_are_drawn_in_all() -> None:
    assert {row.room for row in FIXED} <= set(ROOMS)
    assert sum(room.drawn for room in ROOMS.values()) == 150
