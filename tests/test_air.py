"""The rules of how code reads find what they are for, and leave the rest alone."""

from pathlib import Path
from typing import Final

import pytest

from tests.air import PROGRAMS, ROOT, breaks, figures, modules, total

MOST_IN_TESTS: Final = 412
"""Lines of tests that break a rule: a ratchet, moved down by whoever mends some."""


def rules(folder: Path, source: str) -> list[str]:
    module = folder / "module.py"
    module.write_text(source)
    return [broken.rule for broken in breaks(module, frozenset({"is_late"}))]


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("a = b if c else (d if e else f)", "nested ternary"),
        ("a = [f(b if c else d) if e else g]", "nested ternary"),
        ("a = ['warm-up'] * (b > c)", "list times a condition"),
        ("a = (not b) * 'text'", "list times a condition"),
        ("a = ['warm-up'] * tick.is_late", "list times a condition"),
        ("a = ('down', 'up')[b > c]", "bool as an index"),
        ("a = b[not c]", "bool as an index"),
        ("a, b = f(c), g(d)", "two computed values in one assignment"),
        ("a, b, c = d.e, 1, f[0]", "two computed values in one assignment"),
    ],
)
def test_a_statement_that_breaks_a_rule_is_found(tmp_path: Path, source: str, rule: str) -> None:
    assert rules(tmp_path, source) == [rule]


@pytest.mark.parametrize(
    "source",
    [
        "a = b if c else d",
        "a = [0] * n",
        "a = prices[prices > 0]",
        "a, b = b, a",
        "a[i], a[j] = a[j], a[i]",
        "a, b = pair",
        "a, b = 0, f(c)",
    ],
)
def test_what_no_rule_is_against_is_left_alone(tmp_path: Path, source: str) -> None:
    assert rules(tmp_path, source) == []


def test_the_figures_count_code_and_not_docstrings_comments_or_blank_lines(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    steps = "\n".join(f"    a{number} = {number}" for number in range(9))
    module.write_text(
        f'"""A module."""\n\n\ndef f() -> None:\n    """A function."""\n{steps}\n\n    # Why.\n    return\n'
    )

    found = figures(module)

    assert (found.code_lines, found.long_bodies, found.with_pause) == (11, 1, 1)


def test_the_tests_break_the_rules_no_oftener_than_they_did() -> None:
    broken = [line for path in modules(ROOT / "tests") for line in breaks(path, frozenset())]

    assert len(broken) <= MOST_IN_TESTS


ROOMS = [room for program in PROGRAMS for room in sorted((ROOT / program).iterdir()) if modules(room)]
PAUSED, COMMENTS, IDLE_NAMES = 80, 9.0, 6.0
"""What holds in every room: long bodies with a pause, in percent; comments and idle names, a 1,000."""


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_every_room_has_pauses_comments_and_names_that_say_what_they_hold(room: Path) -> None:
    of_room = total(modules(room))

    assert of_room.paused_percent >= PAUSED
    assert of_room.comments_a_1000 >= COMMENTS
    assert of_room.idle_a_1000 <= IDLE_NAMES


def test_idle_names_count_where_they_are_bound_and_comments_that_say_something(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "# Why.\n# fmt: off\nfor one in rows:\n    found = one  # no line of its own\n    price = found\n"
    )

    of_module = figures(module)

    assert (of_module.comments, of_module.idle, of_module.bindings) == (1, 2, 3)
