"""A facilitator and nodes that fail in every way; `python -m tests.faults` prints the table."""

import asyncio
from pathlib import Path

import pytest

from tests.faults.modes import LIES, MODES, Lie, Mode
from tests.faults.table import Row, play_all


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    modes = [*MODES, *(lie.mode for lie in LIES)]
    return {row.mode.name: row for row in asyncio.run(play_all(modes, tmp_path_factory.mktemp("modes")))}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_the_buyer_pays_once_gets_it_and_sees_no_challenge_after_money_moved(rows: dict[str, Row], mode: Mode) -> None:
    row = rows[mode.name]

    assert row.counts == (0, 0, 0, 0)
    assert (row.transfers, row.deliveries) == (1, 1)
    assert row.answers == mode.answers
    assert row.wrong == []


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.mode.name)
def test_what_no_rule_guards_against_is_known_and_no_worse(rows: dict[str, Row], lie: Lie) -> None:
    row = rows[lie.mode.name]

    assert row.answers == lie.mode.answers
    assert row.counts == lie.counts
    assert row.wrong == []


def test_the_page_of_the_proof_shows_every_lie_as_it_is_played(rows: dict[str, Row]) -> None:
    proof = (Path(__file__).parents[2] / "docs" / "proof" / "measured.md").read_text()

    for name, row in ((lie.mode.name, rows[lie.mode.name]) for lie in LIES):
        assert f"| {name} | {row.transfers} | {row.deliveries} |" in proof


def test_every_name_is_played_once() -> None:
    names = [mode.name for mode in MODES] + [lie.mode.name for lie in LIES]

    assert len(names) == len(set(names))
