"""Restarts, crashes, clocks that jump, outages: no round is lost, doubled or changed afterwards."""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, text

from generator.arena.inputs import PlayInputs
from generator.catalog.words import RoundPhase
from generator.errors import MemoryUnreadable
from generator.record.memory.store import Memory
from generator.values.view import ArenaView
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, Vote, hours, inputs_at, play_tick, store_tick
from tests.support.databases import dump, url_in

CROWDED = replace(CONFIG, assets=("BTC", "ETH"), simulated_crowd=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    yield made
    made.close()


class Dead(BaseException):
    """Stands for a kill: nothing in the program may catch it."""


def dies() -> str:
    raise Dead


TABLES = ["meta", "rounds", "ballots", "rejected_ballots", "crowd_tallies", "predictions", "lessons", "events"]
TABLES += ["regime_history", "brain_state", "running_totals"]


def busy_tick(now_ms: int = NOON + 2 * HOUR) -> PlayInputs:
    """A tick that writes to every table."""
    vote = Vote("BTC-20261120-140000", at_ms=now_ms - MINUTE)
    inputs = inputs_at(now_ms, config=replace(CONFIG, round_minutes=30, simulated_crowd=True))
    return replace(inputs, ballots=(vote.file(), vote.but(round_id="BTC-20261120-090000").file()))


@pytest.fixture(scope="module")
def two_hours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory of nearly two hours, to be copied."""
    folder = tmp_path_factory.mktemp("two-hours")
    memory = Memory.open(url_in(folder))
    run(memory, [*hours(NOON, 1), NOON + 115 * MINUTE], config=replace(CONFIG, simulated_crowd=True))
    memory.close()
    return folder


@pytest.mark.parametrize("table", TABLES)
def test_a_failure_at_any_table_leaves_nothing_of_the_tick(two_hours: Path, tmp_path: Path, table: str) -> None:
    shutil.copytree(two_hours, tmp_path, dirs_exist_ok=True)
    url = url_in(tmp_path)
    memory = Memory.open(url)
    with create_engine(url).begin() as connection:
        for verb in ("INSERT", "UPDATE"):
            connection.execute(
                text(f"CREATE TRIGGER no_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'torn'); END")
            )
    before, seen = dump(url), memory.view(NOON + 119 * MINUTE)

    with pytest.raises(MemoryUnreadable, match="torn"):
        play_tick(memory, busy_tick())

    assert dump(url) == before
    assert memory.view(NOON + 119 * MINUTE) == seen
    with create_engine(url).begin() as connection:
        for verb in ("INSERT", "UPDATE"):
            connection.execute(text(f"DROP TRIGGER no_{verb}"))
    view = play_tick(memory, busy_tick())
    memory.close()
    assert (view.ballots_counted, sum(view.refused.values())) == (1, 1)
    assert dump(url)[table] != before[table]


def test_a_commit_that_fails_leaves_the_counts_as_they_were(tmp_path: Path, memory: Memory) -> None:
    run(memory, [*hours(NOON, 1), NOON + 115 * MINUTE])
    before, seen = dump(url_in(tmp_path)), memory.view(NOON + 119 * MINUTE)

    def fail(_connection: object) -> None:
        raise Dead

    event.listen(memory._engine, "commit", fail)
    with pytest.raises(Dead):
        play_tick(memory, busy_tick())
    event.remove(memory._engine, "commit", fail)

    assert dump(url_in(tmp_path)) == before
    assert memory.view(NOON + 119 * MINUTE) == seen


def test_the_same_tick_again_changes_nothing(tmp_path: Path, memory: Memory) -> None:
    run(memory, [*hours(NOON, 1), NOON + 115 * MINUTE])
    first = play_tick(memory, replace(busy_tick(), ballots=()))
    stored = dump(url_in(tmp_path))

    again = play_tick(memory, replace(busy_tick(), ballots=()))

    assert again == first
    assert dump(url_in(tmp_path)) == stored


def run(memory: Memory, moments: Any, **more: Any) -> ArenaView:
    *before, last = moments
    with memory.batch():
        for now in before:
            store_tick(memory, inputs_at(now, **more))
        return play_tick(memory, inputs_at(last, **more))


def finished(memory: Memory) -> dict[str, Any]:
    rows = memory.resolved_rounds(1_000)
    found = {row["round_id"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_clock_that_goes_back_an_hour_reopens_and_doubles_nothing(memory: Memory) -> None:
    run(memory, [*hours(NOON - 3 * HOUR, 3), NOON + 30 * MINUTE])
    before = finished(memory)
    view_before = memory.view(NOON + 30 * MINUTE)

    view = run(memory, [NOON - 30 * MINUTE, NOON - 5 * MINUTE, *hours(NOON, 3)])

    after = finished(memory)
    assert {name: after[name] for name in before} == before
    assert view_before.live is not None
    assert after[view_before.live.round_id]["start_price"] == view_before.live.start_price
    assert all(row["phase"] == "resolved" for row in after.values())
    assert sorted(after) == [f"BTC-20261120-{hour:02d}0000" for hour in range(10, 15)]
    assert view.live is not None
    assert view.live.round_id == "BTC-20261120-150000"


def test_a_clock_that_jumps_ahead_for_one_tick_voids_but_loses_nothing(memory: Memory) -> None:
    run(memory, [*hours(NOON - 2 * HOUR, 2), NOON + 30 * MINUTE])
    run(memory, [NOON + 8 * HOUR + 7 * MINUTE])
    view = run(
        memory, [NOON + 35 * MINUTE, NOON + 55 * MINUTE, *hours(NOON + HOUR, 11), NOON + 12 * HOUR + 35 * MINUTE]
    )

    rows = finished(memory)
    assert {name: row["void_reason"] for name, row in rows.items() if row["phase"] == "void"} == {
        "BTC-20261120-120000": "no tick in the minute after the end",
        "BTC-20261120-130000": "no tick in the minute after the start",
    }
    assert rows["BTC-20261120-140000"]["phase"] == rows["BTC-20261120-210000"]["phase"] == "resolved"
    assert view.live is not None


def test_rounds_that_ended_in_an_outage_are_void_and_not_forecast_afterwards(memory: Memory) -> None:
    run(memory, [*hours(NOON - 2 * HOUR, 2), NOON + 55 * MINUTE])

    view = run(memory, [NOON + 5 * HOUR + 20 * MINUTE])

    rows = finished(memory)
    assert rows["BTC-20261120-120000"]["void_reason"] == "no tick in the minute after the end"
    assert rows["BTC-20261120-130000"]["void_reason"] == "no tick in the minute after the start"
    assert max(rows) == "BTC-20261120-130000"
    assert view.live is None
    assert view.open is not None
    assert view.open.opens_ms == NOON + 5 * HOUR + 20 * MINUTE
    assert view.hourly_record.void == 14  # seven whose end, seven whose start passed; 14:00 to 17:00 were never made
    assert view.hourly_record.predictions == view.hourly_record.resolved + 14
    assert (view.void.hits, view.void.n) == (2, len(rows))


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_ticks_do_one_round_is_live_and_no_slot_has_two(memory: Memory, seed: int) -> None:
    chance, now = random.Random(seed), NOON
    phases: dict[str, list[RoundPhase]] = {}
    order = list(RoundPhase)
    with memory.batch():
        for _ in range(80):
            now += chance.choice([1, 7_000, MINUTE, MINUTE, 5 * MINUTE, 61 * MINUTE, -9 * MINUTE, -70 * MINUTE])
            view = play_tick(memory, inputs_at(now))
            for item in (view.live, view.open):
                if item is not None:
                    phases.setdefault(item.round_id, []).append(item.phase)
            if view.live and view.open:
                assert view.live.round_id != view.open.round_id
    for seen in phases.values():
        assert [order.index(phase) for phase in seen] == sorted(order.index(phase) for phase in seen)
    starts = Counter(row["start"] for row in memory.resolved_rounds(10_000))
    assert max(starts.values()) == 1
    assert sum(view.rounds.values()) >= len(starts)
