"""The program of the docs that practises, and months and records that were changed."""

import json
import random
import runpy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from generator.catalog.links import PRACTICE_MONTHS
from generator.cli import application
from generator.compose.body import encode
from generator.site.files.record import practice_file
from generator.site.resources import ShippedMonth
from tests.practice.forged import KINDS, passes_changed, unchanged
from tests.support.builders import files_of_tick

PROGRAM = Path(__file__).parents[2] / "docs" / "howto" / "practise.py"
ORIGIN = "https://example.org"


def published(path: str) -> Any:
    month = ShippedMonth.load()
    files = {**month.files, PRACTICE_MONTHS: encode(practice_file(files_of_tick()))}
    return json.loads(files[path.removeprefix(ORIGIN)])


def test_the_program_of_the_docs_practises_and_its_record_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.json"
    asked: list[str] = []

    def fetch(address: str) -> Any:
        asked.append(address.removeprefix(ORIGIN))
        return published(address)

    runpy.run_path(str(PROGRAM))["main"](ORIGIN, record, fetch)
    checked = CliRunner().invoke(application(), ["verify", "--practice", str(record)])

    month = ShippedMonth.load()
    assert asked == ["/learn/practice/months.json", month.items_path, month.truths_path]
    assert checked.exit_code == 0, checked.output
    means = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert f"300 answers, mean score {means['score']}, the brain's {means['brain_score']}" in checked.output


def test_a_month_or_record_that_was_changed_in_one_place_is_refused() -> None:
    chance = random.Random(7)

    assert unchanged()
    assert [what for what in KINDS if passes_changed(what, chance)] == []
