"""The totals kept with the record: equal to a full count at every tick, and counted again where they are not ours."""

import hashlib
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from generator.arena.teacher import COUNTING_RULE, LessonSums, RunningTotals
from generator.catalog.words import PatternType, RoundPhase
from generator.errors import LeadershipLost
from generator.record.memory import tables as t
from generator.record.memory import totals
from generator.record.memory.store import Memory
from tests.record.test_fence import Held
from tests.support import filled_memory
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, Vote, hours, inputs_at, play_tick, store_tick
from tests.support.databases import reopen, url_in

CROWDED = replace(CONFIG, assets=("BTC", "ETH"), simulated_crowd=True)
# Of the play below under each rule: another digest means that what is counted changed, and needs another COUNTING_RULE.
COUNTED = {"4": "504c404ab0a92290", "5": "ca6bcfff5b2fef1e", "6": "23e8b682810c1d20", "7": "3a8905191336f4ce"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    yield made
    made.close()


@pytest.fixture(scope="module")
def ten_hours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory of ten hours, to be copied."""
    folder = tmp_path_factory.mktemp("ten-hours")
    made = Memory.open(url_in(folder))
    with made.batch():
        for now in hours(NOON, 10):
            store_tick(made, inputs_at(now, config=CROWDED))
    made.close()
    return folder


@pytest.fixture
def played(ten_hours: Path, tmp_path: Path) -> Iterator[Memory]:
    """Ten hours."""
    shutil.copytree(ten_hours, tmp_path, dirs_exist_ok=True)
    made = Memory.open(url_in(tmp_path))
    yield made
    made.close()


def kept(memory: Memory) -> RunningTotals | None:
    with memory.reading() as connection:
        return totals.load(connection)


def recounted(memory: Memory) -> RunningTotals:
    with memory.reading() as connection:
        return totals.count_all(connection)


def spoil(memory: Memory, **values: object) -> None:
    with memory.writing() as connection:
        connection.execute(update(t.totals).values(**values))


def times(seed: int) -> Iterator[int]:
    """A day and a half of ticks, over two midnights, with outages, and a clock that jumps both ways."""
    chance, now = random.Random(seed), NOON
    while now < NOON + 37 * HOUR:
        yield now
        jump = chance.choices((0, 95 * MINUTE, 26 * HOUR, -70 * MINUTE), (60, 2, 0.3, 1))[0]
        now = now + 5 * MINUTE + jump


@pytest.mark.parametrize("seed", range(2))
def test_kept_totals_equal_a_full_count_at_every_tick(memory: Memory, seed: int) -> None:
    for number, now in enumerate(times(seed)):
        inputs = inputs_at(now, config=CROWDED, venues=1 if number % 97 == 96 else 3)
        store_tick(memory, replace(inputs, warm_up=number < 40, next_close_ms=now + 5 * MINUTE))

        counted = recounted(memory)
        assert kept(memory) == counted
        assert totals.to_text(memory._totals or RunningTotals()) == totals.to_text(counted)


def test_votes_and_voids_are_in_the_totals_as_in_a_full_count(memory: Memory) -> None:
    vote = Vote("BTC-20261120-140000", at_ms=NOON + HOUR)
    for now in hours(NOON, 4):
        ballots = [vote.file()] if now == NOON + 115 * MINUTE else []
        store_tick(memory, inputs_at(now, ballots=ballots))
    play_tick(memory, replace(inputs_at(NOON + 4 * HOUR + MINUTE), interrupted="the replay was moved"))

    found = kept(memory)

    assert found == recounted(memory)
    assert found is not None
    assert found.live.lessons.total == 3
    assert found.live.lessons.crowds == 1
    assert found.live.lessons.patterns[PatternType.NO_CALL] > 0
    assert found.phases[RoundPhase.VOID] == 2


def test_a_backtest_is_counted_at_its_end_on_top_of_what_was_there(memory: Memory) -> None:
    play_tick(memory, inputs_at(NOON - 3 * HOUR, config=CROWDED))
    with memory.batch():
        for now in hours(NOON, 3):
            store_tick(memory, replace(inputs_at(now, config=CROWDED), warm_up=True))
            assert memory._totals is None

    found = kept(memory)

    assert found == recounted(memory) == memory._totals
    assert found is not None
    assert found.backtest.hourly.resolved > 0


def test_totals_are_written_and_read_equal(played: Memory) -> None:
    counted = recounted(played)

    assert totals.from_text(totals.to_text(counted)) == counted
    assert totals.from_text(totals.to_text(RunningTotals())) == RunningTotals()


def test_a_start_takes_the_totals_that_are_kept_and_counts_nothing(tmp_path: Path, played: Memory) -> None:
    counted = recounted(played)
    other = totals.to_text(replace(counted, backtest=replace(counted.backtest, lessons=LessonSums(total=4711))))
    spoil(played, sums=other)

    again = reopen(played, url_in(tmp_path))

    assert list(again.count_again()) == []
    assert again.view(NOON + 10 * HOUR).teacher.warm_up == 4711


def test_totals_of_another_rule_are_counted_again_week_by_week(tmp_path: Path, memory: Memory) -> None:
    filled_memory.record(memory, "2026-10-01T00:00", "2026-10-20T00:00", every=5)
    before = recounted(memory)
    with memory.writing() as connection:
        totals.store(connection, RunningTotals())
    spoil(memory, rule="0")

    again = reopen(memory, url_in(tmp_path))

    assert list(again.count_again()) == [(1, 3), (2, 3), (3, 3)]
    assert kept(again) == before == again._totals
    assert list(again.count_again()) == []


def test_a_record_that_has_more_than_its_totals_is_counted_again(tmp_path: Path, played: Memory) -> None:
    filled_memory.record(played, "2026-10-01T00:00", "2026-10-02T00:00")

    again = reopen(played, url_in(tmp_path))

    assert kept(again) is None
    assert len(list(again.count_again())) > 1
    assert kept(again) == recounted(again)


def test_a_count_that_ends_half_way_keeps_nothing(tmp_path: Path, memory: Memory) -> None:
    filled_memory.record(memory, "2026-10-01T00:00", "2026-10-20T00:00", every=5)
    next(memory.count_again())

    again = reopen(memory, url_in(tmp_path))

    assert kept(again) is None
    assert list(again.count_again())[-1] == (3, 3)


def test_a_leader_that_is_replaced_while_it_counts_keeps_nothing(tmp_path: Path) -> None:
    old, new = (Memory.open(url_in(tmp_path), Held(epoch)) for epoch in (3, 4))
    old.claim()
    filled_memory.record(old, "2026-10-01T00:00", "2026-10-20T00:00", every=5)
    counting = old.count_again()
    next(counting)
    new.claim()
    play_tick(new, inputs_at(NOON))

    with pytest.raises(LeadershipLost):
        list(counting)

    assert kept(new) == recounted(new)
    for memory in (old, new):
        memory.close()


def test_a_leader_that_comes_back_takes_the_totals_of_the_one_between(tmp_path: Path) -> None:
    fence = Held(3)
    old, new = Memory.open(url_in(tmp_path), fence), Memory.open(url_in(tmp_path), Held(4))
    for memory, moments in ((old, hours(NOON, 3)), (new, hours(NOON + 3 * HOUR, 3))):
        memory.claim()
        for now in moments:
            store_tick(memory, inputs_at(now))

    fence.epoch = 5
    old.claim()
    play_tick(old, inputs_at(NOON + 7 * HOUR))

    assert kept(old) == recounted(old) == old._totals
    for memory in (old, new):
        memory.close()


def test_a_minute_in_which_nothing_ends_writes_no_totals(played: Memory) -> None:
    assert played.view(NOON + 10 * HOUR).rounds  # of the totals that are kept
    spoil(played, sums="{}")

    play_tick(played, inputs_at(NOON + 10 * HOUR + MINUTE, config=CROWDED))

    with played.reading() as connection:
        assert connection.execute(select(t.totals.c.sums)).scalar() == "{}"


def test_what_is_counted_changes_only_together_with_the_name_of_its_rule(played: Memory) -> None:
    text = totals.to_text(recounted(played))

    assert COUNTED[COUNTING_RULE] == hashlib.sha256(text.encode()).hexdigest()[:16]
