"""The README says what is so."""

import re
from pathlib import Path

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
from generator.cli import application
from generator.cli._settings import known_names

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_paths_are_those_of_the_catalog() -> None:
    paths = {*(row.path for row in ENDPOINTS), *(row.path for row in PRODUCTS)}

    assert set(re.findall(r"`(/api/[^`?]+\.php)", README)) <= paths


def test_every_command_is_named() -> None:
    for command in application().registered_commands:
        assert command.callback is not None
        assert f"`emi {command.callback.__name__}" in README


def test_every_setting_is_in_the_table_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(EMI_[A-Z_]+)` \| ([^|]+) \|", README, re.MULTILINE))

    assert set(rows) == set(known_names())
    assert all(default.strip() for default in rows.values())
