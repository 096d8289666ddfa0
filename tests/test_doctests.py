"""The examples in docstrings give what they say."""

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = (
    "generator/arena",
    "generator/brain",
    "generator/record/log",
    "gateway/ledger",
    "gateway/payments/parse.py",
)
"""Rooms of formulas and formats, where an example says more than a sentence."""


def with_examples(room: str) -> list[ModuleType]:
    """Import the modules of a room, a folder or one file, that have examples."""
    place = ROOT / room
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    chosen = [file for file in files if ">>> " in file.read_text()]
    return [importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts)) for file in chosen]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_examples_and_they_are_true(room: str) -> None:
    results = [doctest.testmod(module) for module in with_examples(room)]

    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) > 0, f"{room} has no example"
