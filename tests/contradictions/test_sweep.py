"""The short form of `python -m tests.contradictions`."""

from datetime import UTC, datetime

import pytest

from generator.lab.candles import read_candles
from generator.market.simulated.market import SimulatedMarket
from tests.contradictions.__main__ import DAY_MS, ROWS, START_MS, table
from tests.contradictions.releases import Played, play
from tests.contradictions.sweep import DAY_BARS, Found, sweep
from tests.snapshot import RECORDING

recorded = pytest.mark.skipif(not RECORDING.is_dir(), reason="the recordings are not next to the project")


def test_a_week_of_a_simulated_market_is_described_without_contradiction() -> None:
    frame = SimulatedMarket(2026).bars(START_MS, START_MS + 7 * DAY_MS)

    found = sweep(frame, bodies=6)

    assert found.rows == {}, found.examples
    assert found.bodies == 6


def test_lessons_bodies_and_pages_of_a_played_market_contradict_nothing() -> None:
    found = Found()

    play(Played("simulated", seed=2026), found, hours=14, live_hours=1, days=2)

    assert found.rows == {}, found.examples
    assert found.lessons > 10
    assert found.releases == 1


@recorded
def test_days_of_a_recording_are_described_without_contradiction() -> None:
    frame = read_candles(RECORDING).rows(0, 4 * DAY_BARS)

    found = sweep(frame, bodies=3)

    assert found.rows == {}, found.examples
    assert found.bodies == 3


@recorded
def test_lessons_bodies_and_pages_of_a_recording_contradict_nothing() -> None:
    found = Found()
    at = datetime(2022, 10, 24, 0, 56, tzinfo=UTC)

    play(Played("recorded", folder=RECORDING, at=at), found, hours=14, live_hours=1, days=2)

    assert found.rows == {}, found.examples
    assert found.lessons > 10


def test_the_table_has_a_row_for_each_contradiction_and_a_column_for_each_market() -> None:
    found = Found(texts=1)
    found.add(ROWS[0], "an example")

    lines = table({"a market": found, "another": Found()}).splitlines()

    assert lines[0] == "| row | a market | another |"
    assert lines[2] == f"| {ROWS[0]} | 1 | 0 |"
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:-5]] == list(ROWS)
