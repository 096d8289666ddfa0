"""`emi verify --practice`."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from generator.arena.practice.record import FORMAT
from generator.cli import application
from generator.errors import GeneratorError
from generator.site.resources import ShippedMonth
from tests.practice.test_record import record_of


def run(file: Path, *more: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(application(), ["verify", "--practice", str(file), *more])
    return result.exit_code, result.output, result.exception


def shipped_record(answers: int) -> dict[str, Any]:
    record = record_of(answers)
    for row in record["answers"]:
        row["month"] = ShippedMonth.load().items_path
    return record


def test_a_record_of_the_shipped_month_is_proved_offline(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps(shipped_record(12)))

    code, output, _ = run(file)

    assert code == 0
    assert "How far?  4 answers" in output
    assert "90% ranges: too early: 56 more answers" in output
    assert "does not prove when the answers were given" in output


def test_a_score_that_was_bettered_is_named(tmp_path: Path) -> None:
    record = shipped_record(12)
    record["answers"][7]["score"] -= 0.001
    file = tmp_path / "record.json"
    file.write_text(json.dumps(record))

    code, output, _ = run(file)

    assert code == 1
    assert "answer 8: the score is" in output


def test_a_month_of_elsewhere_asks_for_its_origin(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps(record_of(1)))

    _, _, error = run(file)

    assert isinstance(error, GeneratorError)
    assert "--url" in str(error)


def test_an_empty_record_says_so(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"format": FORMAT, "answers": []}))

    assert "no answers yet" in run(file)[1]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"answers":[{}]}', '{"answers":[7]}'])
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "record.json"
    file.write_text(content)

    code, output, error = run(file)

    assert code == 1
    assert isinstance(error, GeneratorError) or len(output.strip().splitlines()) == 1
