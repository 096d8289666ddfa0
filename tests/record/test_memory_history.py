"""Ticks and regimes by time, and noted values."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator.record.memory.store import Memory
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import url_in

DAY = 24 * HOUR


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    yield made
    made.close()


def play_regime(memory: Memory, at_ms: int, label: str, confidence: float | None = 60.0) -> None:
    play_tick(memory, replace(inputs_at(at_ms), regime=(label, "NEUTRAL", confidence, 12.5)))


def test_ticks_of_a_day_are_counted(memory: Memory) -> None:
    memory.tick_done("old", "1", NOON - DAY, ok=True, reason=None)
    memory.tick_done("a", "2", NOON - HOUR, ok=True, reason=None)
    memory.tick_done("b", None, NOON - MINUTE, ok=False, reason="disk full")

    counts = memory.ticks(NOON)

    assert (counts.published_24h, counts.failed_24h, counts.last_tick_id) == (1, 1, "a")


def test_a_tick_that_is_made_again_counts_once(memory: Memory) -> None:
    memory.tick_done("a", None, NOON, ok=False, reason="first try")
    memory.tick_done("a", "1", NOON, ok=True, reason=None)

    counts = memory.ticks(NOON)

    assert (counts.published_24h, counts.failed_24h, counts.last_tick_id) == (1, 0, "a")


def test_a_memory_with_a_round_or_a_tick_is_not_empty(memory: Memory) -> None:
    memory.set_meta("replay.offset_ms", "5")
    assert memory.is_empty()

    memory.tick_done("a", "1", NOON, ok=True, reason=None)
    assert not memory.is_empty()


def test_a_day_ago_is_the_nearest_tick_within_half_an_hour(memory: Memory) -> None:
    play_regime(memory, NOON - DAY - 40 * MINUTE, "risk_on")
    assert memory.day_before(NOON) == (None, None, None)

    play_regime(memory, NOON - DAY - 20 * MINUTE, "risk_off")
    play_regime(memory, NOON - DAY + 5 * MINUTE, "range", 55.5)
    play_regime(memory, NOON, "range")

    assert memory.day_before(NOON) == ("range", 55.5, 12.5)


def test_changes_of_the_regime_are_kept_and_become_events(memory: Memory) -> None:
    for minute, label in enumerate(["range", "range", "risk_off", "risk_off", "range"]):
        play_regime(memory, NOON + minute * MINUTE, label)

    changes = memory.regime_changes(10)

    assert [(change.at_ms - NOON, change.label) for change in changes] == [
        (4 * MINUTE, "range"),
        (2 * MINUTE, "risk_off"),
        (0, "range"),
    ]
    found = [event for event in memory.view(NOON).events if event.kind == "regime_changed"]
    assert found[0].text == "The market regime changed from risk off to range."
    assert len(found) == 2
    assert memory.regime_changes(1) == changes[:1]


def test_minutes_in_which_no_tick_began_are_counted_since_the_first(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    assert memory.ticks(NOON).missed_24h == 0
    for minute, second in ((0, 0), (1, 0), (1, 40), (2, 0), (5, 1)):
        at_ms = NOON + minute * 60_000 + second * 1_000
        memory.tick_done(f"{minute}.{second}", None, at_ms, minute != 2, None)

    counts = [memory.ticks(NOON + 6 * 60_000 + 59_000), memory.ticks(NOON + 24 * 3_600_000 + 60_000)]
    memory.close()

    assert [count.missed_24h for count in counts] == [2, 1_440 - 3]


def test_a_clock_set_back_before_the_first_tick_misses_nothing(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    memory.tick_done("a", None, NOON, True, None)

    counts = memory.ticks(NOON - 3_600_000)
    memory.close()

    assert counts.missed_24h == 0
