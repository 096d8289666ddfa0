"""The ladder of now is sold and lies in no free file; its record is free."""

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.links import LADDER_JSON
from generator.compose.plots import LADDER_HOURS
from generator.runtime.tick import tick
from tests.support.clock import ManualClock
from tests.support.services import opened

AT = datetime(2026, 11, 20, 20, 53, tzinfo=UTC)
_NUMBER = re.compile(rb"(?<![\d.])\d+(?:\.\d+)?")
Triples = set[tuple[float, float, float]]


def triples(data: bytes) -> Triples:
    """Return every three numbers that follow one another."""
    numbers = [float(one) for one in _NUMBER.findall(data)]
    return set(zip(numbers, numbers[1:], numbers[2:], strict=False))


def columns(node: Any) -> Iterator[list[float]]:
    """Give every column of chances below a node."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name.startswith(("end_", "touch_")):
                yield value
            else:
                yield from columns(value)


def test_no_chance_of_now_is_in_a_free_file_and_the_record_is(tmp_path: Path) -> None:
    parts: Triples = set()

    async def publish() -> None:
        async with opened(tmp_path, ManualClock(AT), hours=3, every_page=True) as app:
            await tick(app, AT)
            for part in app.market.engine.partitions():
                assert part is not None
                parts.add((part.chances.down, part.chances.neutral, part.chances.up))

    asyncio.run(publish())

    free = {path: triples(path.read_bytes()) for path in (tmp_path / "site").rglob("*") if path.is_file()}
    [atlas] = (tmp_path / "vault").rglob("x402-atlas.json")
    ladders = json.loads(atlas.read_bytes())["intelligence_layer"]["ladder"]["assets"]
    del ladders[DEFAULT_ASSET][LADDER_HOURS]  # free in /now.json
    sold = {
        row
        for ladder in ladders.values()
        for column in columns(ladder)
        for row in zip(column, column[1:], column[2:], strict=False)
        if len({*row}) == 3 and min(row) > 0.01
    }
    percent = {tuple(round(100 * chance, 1) for chance in part) for part in parts}
    assert len(free) > 100
    assert len(sold) > 30
    assert {path: found & (sold | parts | percent) for path, found in free.items() if found & (sold | parts)} == {}
    record = json.loads((next((tmp_path / "site").rglob(LADDER_JSON.lstrip("/")))).read_bytes())
    assert record["live"]["levels"] == []
    assert {row["horizon"] for row in record["backtest"]["levels"]} >= {"15m", "1h"}
