"""`emi verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from generator.cli.verify import verify
from tests.arena.test_published import a_row, a_void_row
from tests.support.arena_inputs import HOUR, NOON


def run(folder: Path, rows: list[dict[str, Any]]) -> Result:
    (folder / "arena").mkdir()
    (folder / "arena" / "rounds.json").write_text(json.dumps({"rounds": rows}))
    app = typer.Typer()
    app.command()(verify)
    return CliRunner().invoke(app, [str(folder)])


def test_an_honest_record_passes_and_says_what_it_does_not_prove(tmp_path: Path) -> None:
    result = run(tmp_path, [a_row(NOON + 2 * HOUR), a_row(NOON + HOUR), a_void_row()])

    assert result.exit_code == 0
    assert "3 rounds checked: 2 resolved, 1 void" in result.output
    assert "n=2" in result.output
    assert "It does not prove" in result.output


def test_a_tampered_record_fails_and_names_the_row(tmp_path: Path) -> None:
    rows = [a_row(NOON + HOUR), a_row(NOON)]
    rows[1]["outcome"] = "NEUTRAL" if rows[1]["outcome"] != "NEUTRAL" else "BULLISH"

    result = run(tmp_path, rows)

    assert result.exit_code == 1
    assert "row 2, round BTC-20261120-130000: outcome is" in result.output
    assert "This proves" not in result.output
