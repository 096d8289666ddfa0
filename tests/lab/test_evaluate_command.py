"""`emi brain evaluate` from its arguments to the page: every row of the tables, both parts, the plots."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from generator.cli import application
from generator.lab.evaluate import BRAIN
from generator.lab.families import FAMILIES
from generator.lab.peers import installed
from generator.lab.recorded import candle_folders
from tests.lab.evaluated import SEED, SPARE_SEED, candles, evaluated

pytestmark = pytest.mark.timeout(600)  # where the peers' libraries are installed they are run too

MEASURES = (
    "balanced accuracy, mean of four families",
    "... over the best peer",
    "stressed against calm",
    "median detection delay",
    "false switches a day",
    "mean dwell",
    "confidence ECE, worst family",
    "driftless: share of time with a claimed bias",
    "Arena skill, driftless, worse horizon",
    "Arena ECE, worst family and horizon",
    "small-5m: every label's share",
    "small-5m: dwell",
    "small-5m: 4 h volatility, high over range",
    "small-5m: outlook R2 over EWMA, worse of 1 h and 4 h",
    "small-5m: Arena skill, worse horizon",
    "small-5m: Arena ECE, worse horizon",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, str, Path]:
    folder = tmp_path_factory.mktemp("evaluated")
    return *evaluated(folder, "--seeds", str(SPARE_SEED)), folder


def test_every_row_of_the_tables_stands_on_the_page(run: tuple[Result, str, Path]) -> None:
    result, page, _ = run

    assert result.exit_code == 0, result.output
    assert [measure for measure in MEASURES if f"| {measure} | " not in page] == []
    for reader in (BRAIN, *(peer.name for peer in installed()[0])):
        for family in FAMILIES:
            assert page.count(f"| {family} | {reader} | ") == 2  # once for each part
    for family in FAMILIES:
        assert page.count(f"\n| {family} | ") >= 2
    assert "| small-5m, 2 assets | " in page
    assert "small-1h" not in page


def test_a_peer_that_is_not_installed_is_named_and_not_left_out_in_silence(run: tuple[Result, str, Path]) -> None:
    result, page, _ = run

    for peer in installed()[1]:
        assert f"Not run, because the library is not installed: {peer.name}." in page
        assert f"skipped: {peer.name}" in result.stderr


def test_both_parts_stand_between_the_marks_and_the_plots_beside_the_page(run: tuple[Result, str, Path]) -> None:
    result, page, folder = run

    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old figures" not in page
    assert page.index(f"Seeds {SEED}-{SEED}") < page.index(f"Seeds {SPARE_SEED}-{SPARE_SEED}")
    assert page.count("Recorded candles") == 1
    assert {path.name for path in (folder / "brain").iterdir()} == {"accuracy.svg", "reliability.svg", "timeline.svg"}
    assert result.stdout.strip() in page


def test_each_family_that_is_done_is_told(run: tuple[Result, str, Path]) -> None:
    for family in FAMILIES:
        assert f"seeds {SEED}-{SEED}, {family}: 1 of 1" in run[0].stderr
    assert "recorded candles: 1 of 1" in run[0].stderr


def test_training_seeds_and_folders_without_candles_are_refused_before_any_work(tmp_path: Path) -> None:
    seeds = CliRunner().invoke(application(), ["brain", "evaluate", "--seeds", "70001", "--seeds", "1600-1611"])
    empty = CliRunner().invoke(application(), ["brain", "evaluate", "--seeds", "70001", "--candles", str(tmp_path)])

    assert (seeds.exit_code, empty.exit_code) == (1, 1)
    assert "for training" in str(seeds.exception) + seeds.output
    assert "no 5-minute candles" in str(empty.exception) + empty.output


def test_candles_are_found_below_a_folder_and_only_those_of_five_minutes(tmp_path: Path) -> None:
    root = candles(tmp_path, days=1)

    assert candle_folders(root) == candle_folders(root / "candles" / "small-5m") == [root / "candles" / "small-5m"]
