"""Ticks and regimes by time, and noted values."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, insert, select

from generator.arena.holds import KIND
from generator.arena.state import RegimeRow
from generator.catalog.words import MarketSide, VolatilityWord
from generator.record.memory import tables as t
from generator.record.memory.rows import insert_all, row_of
from generator.record.memory.store import Memory
from generator.values.rounds import Event
from tests.support import builders
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import url_in

DAY = 24 * HOUR


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    yield made
    made.close()


def play_regime(memory: Memory, at_ms: int, label: str, confidence: float | None = 60.0, **axes: Any) -> None:
    regime = RegimeRow(label, "NEUTRAL", confidence, 12.5, **{"confidence_kind": KIND, **axes})
    play_tick(memory, replace(inputs_at(at_ms), regime=regime))


def test_ticks_of_a_day_are_counted(memory: Memory) -> None:
    assert memory.last_published_ms() == -1
    memory.tick_done("old", "1", NOON - DAY, ok=True, reason=None)
    memory.tick_done("early", "1", NOON - DAY + 1, ok=False, reason="no room")
    memory.tick_done("ahead", "9", NOON + 1, ok=True, reason=None)
    memory.tick_done("a", "2", NOON - HOUR, ok=True, reason=None)
    memory.tick_done("b", None, NOON - MINUTE, ok=False, reason="disk full")

    memory.tick_done("c", None, NOON, ok=False, reason="disk full")

    counts = memory.ticks(NOON)

    assert (counts.published_24h, counts.failed_24h, memory.last_tick()) == (1, 3, "a")
    assert memory.last_published_ms() == NOON - HOUR


def numbered(memory: Memory, table: Table, number: int, **values: object) -> None:
    """Put a row under a number, as if so many had been before it."""
    with memory.writing() as connection:
        connection.execute(insert(table).values(id=number, **values))


def numbers(memory: Memory, table: Table) -> list[int]:
    with memory.reading() as connection:
        return list(connection.execute(select(table.c.id).order_by(table.c.id)).scalars())


def test_the_last_130_000_ticks_are_kept(memory: Memory) -> None:
    for number in (1, 2, 130_000):
        numbered(memory, t.ticks, number, tick_id=str(number), at_ms=number, ok=True, warm_up=False)

    memory.tick_done("newest", "1", NOON, ok=True, reason=None)

    assert numbers(memory, t.ticks) == [2, 130_000, 130_001]


def test_of_the_regime_the_last_20_000_rows_are_kept_and_every_change(memory: Memory) -> None:
    row = {"label": "range", "mode": "NEUTRAL", "warm_up": False}
    for number, changed in ((1, True), (2, False), (3, False), (4, False), (20_002, False)):
        numbered(memory, t.regime_history, number, at_ms=number, changed=changed, **row)

    play_regime(memory, NOON, "range")

    assert numbers(memory, t.regime_history) == [1, 4, 20_002, 20_003]


def test_a_tick_that_is_made_again_counts_once(memory: Memory) -> None:
    memory.tick_done("a", None, NOON, ok=False, reason="first try")
    memory.tick_done("a", "1", NOON, ok=True, reason=None)

    counts = memory.ticks(NOON)

    assert (counts.published_24h, counts.failed_24h, memory.last_tick()) == (1, 0, "a")


def test_the_newest_twenty_lessons_and_ten_events_are_shown(memory: Memory) -> None:
    with memory.writing() as connection:
        insert_all(connection, t.lessons, [row_of(builders.lesson(number)) for number in range(25)])
        events = [Event(NOON, "round_live", f"Round {number} is live.") for number in range(12)]
        insert_all(connection, t.events, [row_of(event) for event in events])

    shown = memory.view(NOON)

    assert shown.lessons == tuple(builders.lesson(number) for number in reversed(range(5, 25)))
    assert shown.events == tuple(events[:1:-1])


def test_a_memory_with_a_round_or_a_tick_is_not_empty(memory: Memory) -> None:
    memory.set_meta("replay.offset_ms", "5")
    assert memory.is_empty()

    memory.tick_done("a", "1", NOON, ok=True, reason=None)
    assert not memory.is_empty()


def test_a_day_ago_is_the_nearest_tick_within_half_an_hour(memory: Memory) -> None:
    play_regime(memory, NOON - DAY - 30 * MINUTE - 1, "risk_on")
    assert memory.day_before(NOON) == (None, None, None)
    play_regime(memory, NOON - DAY + 30 * MINUTE, "risk_on", 44.0)
    assert memory.day_before(NOON) == ("risk_on", 44.0, 12.5)
    assert memory.day_before(NOON + HOUR) == ("risk_on", 44.0, 12.5)

    play_regime(memory, NOON - DAY - 20 * MINUTE, "risk_off")
    play_regime(memory, NOON - DAY + 5 * MINUTE, "range", 55.5)
    play_regime(memory, NOON, "range")

    assert memory.day_before(NOON) == ("range", 55.5, 12.5)


def test_a_confidence_of_an_earlier_kind_is_not_compared_with_todays(memory: Memory) -> None:
    play_regime(memory, NOON - DAY, "range", 55.5, confidence_kind=None)

    assert memory.day_before(NOON) == ("range", None, 12.5)
    [change] = memory.regime_changes(10)
    assert (change.confidence, change.confidence_kind) == (55.5, None)


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
    assert found[0].text == "The label of the market regime changed from risk-off to range."
    assert len(found) == 2
    assert memory.regime_changes(1) == changes[:1]


STATES = (
    (VolatilityWord.UNKNOWN, MarketSide.UNKNOWN),
    (VolatilityWord.NORMAL, MarketSide.UNKNOWN),
    (VolatilityWord.CALM, MarketSide.FLAT),
    (VolatilityWord.NORMAL, MarketSide.FLAT),
    (VolatilityWord.UNKNOWN, MarketSide.UNKNOWN),
    (VolatilityWord.CALM, MarketSide.UNKNOWN),
    (VolatilityWord.EXTREME, MarketSide.FLAT),
    (VolatilityWord.ELEVATED, MarketSide.FALLING),
)


def test_changes_of_the_state_are_kept_and_what_is_unknown_for_a_while_is_none(memory: Memory) -> None:
    for minute, (volatility, side) in enumerate(STATES):
        play_regime(memory, NOON + minute * MINUTE, "range", volatility=volatility, side=side)

    changes = memory.regime_changes(10)

    assert [(change.at_ms - NOON) // MINUTE for change in changes] == [7, 6, 2, 1, 0]
    assert [(change.volatility, change.side) for change in changes[:2]] == [STATES[7], STATES[6]]
    found = [event.text for event in memory.view(NOON).events if event.kind == "state_changed"]
    assert found == [
        "The market changed from a flat day, rough or wild volatility to a falling day, rough or wild volatility.",
        "The market changed from a flat day, calm or normal volatility to a flat day, rough or wild volatility.",
        "The market changed from side unknown, calm or normal volatility to a flat day, calm or normal volatility.",
    ]


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


def test_a_side_of_an_earlier_version_is_read_as_it_was_kept(memory: Memory) -> None:
    play_regime(memory, NOON, "range", volatility=VolatilityWord.NORMAL, side=MarketSide.NONE)
    play_regime(memory, NOON + MINUTE, "range", volatility=VolatilityWord.NORMAL, side=MarketSide.FLAT)

    assert [change.side for change in memory.regime_changes(10)] == [MarketSide.FLAT, MarketSide.NONE]
