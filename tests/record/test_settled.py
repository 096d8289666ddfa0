"""The hourly predictions that pages show: those that ended, newest first, read again only when one more did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.catalog.assets import ASSETS
from generator.record.memory.store import Memory
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import url_in


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    for minute in range(0, 181, 5):
        play_tick(made, inputs_at(NOON + minute * MINUTE))
    yield made
    made.close()


def test_what_ended_comes_newest_first_and_what_runs_does_not_come(memory: Memory) -> None:
    due = memory.settled_predictions(100)

    assert len(due) == 2 * len(ASSETS)
    assert [made.start_ms for made in due] == sorted((made.start_ms for made in due), reverse=True)
    assert all(made.outcome is not None or made.void_reason is not None for made in due)


def test_a_limit_keeps_the_newest(memory: Memory) -> None:
    assert memory.settled_predictions(5) == memory.settled_predictions(100)[:5]


def test_the_same_rows_are_given_again_until_one_more_ended(memory: Memory) -> None:
    before = memory.settled_predictions(100)
    play_tick(memory, inputs_at(NOON + 3 * HOUR + MINUTE))
    same = memory.settled_predictions(100)
    play_tick(memory, inputs_at(NOON + 4 * HOUR))

    assert same is before
    assert len(memory.settled_predictions(100)) == len(before) + len(ASSETS)
