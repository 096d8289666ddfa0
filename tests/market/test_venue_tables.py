"""The venues that a setting may name are those that the live source can ask, and the docs tell the same."""

from __future__ import annotations

import re
from pathlib import Path

from generator.catalog.venues import VENUES
from generator.market.live.venues import _ALSO, CANDLE_ORDER
from generator.market.live.venues import VENUES as SPECS

ROOT = Path(__file__).parents[2]
NAMED_WITH = {also: name for name, many in _ALSO.items() for also in many}  # a setting names both by the first


def test_every_venue_of_the_setting_is_read_and_every_venue_read_can_be_named() -> None:
    assert list(dict.fromkeys(NAMED_WITH.get(name, name) for name in SPECS)) == list(VENUES)


def test_bars_come_from_spot_venues_that_send_them() -> None:
    assert sorted(CANDLE_ORDER) == sorted(name for name, spec in SPECS.items() if spec.candle_page)


def test_the_docs_list_the_venues_that_are_read() -> None:
    tables = (ROOT / "docs" / "venues.md").read_text().split("\n| venue")[1:]
    setting = next(line for line in (ROOT / "README.md").read_text().splitlines() if "`EMI_VENUES`" in line)

    for table in tables:
        assert re.findall(r"^\| ([a-z]+) \|", table, re.MULTILINE) == list(SPECS)
    assert setting.split("comma-separated: ")[1].rstrip(" |").split(", ") == list(VENUES)
