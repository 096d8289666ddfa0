"""The memory's fence: what a leader that was replaced still tries to write is not written."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects.postgresql.base import PGDialect

from generator.errors import LeadershipLost
from generator.record.memory.database import pass_fence
from generator.record.memory.store import Memory
from tests.support.arena_inputs import NOON, inputs_at, play_tick
from tests.support.databases import dump, url_in


class Held:
    """A fence that a test moves."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.asked = 0
        self.lost_from: int | None = None  # the how manieth question is refused

    def __call__(self) -> int:
        self.asked += 1
        if self.lost_from is not None and self.asked >= self.lost_from:
            raise LeadershipLost("ran out")
        return self.epoch


def reserve(memory: Memory, at_least: int) -> int:
    with memory.tick() as record:
        return record.reserve_generation(at_least)


WRITES: dict[str, Callable[[Memory], object]] = {
    "play": lambda memory: play_tick(memory, inputs_at(NOON)),
    "tick_done": lambda memory: memory.tick_done("20261120T120000Z", None, 1, True, None),
    "set_meta": lambda memory: memory.set_meta("a", "b"),
    "reserve": lambda memory: reserve(memory, 0),
    "claim": lambda memory: memory.claim(),
}


def batch(memory: Memory) -> None:
    with memory.batch():
        play_tick(memory, inputs_at(NOON))


WRITES["batch"] = batch


@pytest.mark.parametrize("name", WRITES)
def test_no_write_of_a_lower_epoch_is_stored(tmp_path: Path, name: str) -> None:
    old, new = Memory.open(url_in(tmp_path), Held(3)), Memory.open(url_in(tmp_path), Held(4))
    old.claim()
    new.claim()
    before = dump(url_in(tmp_path))

    with pytest.raises(LeadershipLost, match="epoch 4") as caught:
        WRITES[name](old)

    assert caught.value.epoch == 4
    assert dump(url_in(tmp_path)) == before
    WRITES[name](new)
    old.close()
    new.close()


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("question", [1, 2])
def test_a_lease_that_ends_before_or_within_a_write_stores_nothing(tmp_path: Path, name: str, question: int) -> None:
    fence = Held(5)
    memory = Memory.open(url_in(tmp_path), fence)
    memory.claim()
    before = dump(url_in(tmp_path))
    fence.lost_from = fence.asked + question

    with pytest.raises(LeadershipLost):
        WRITES[name](memory)

    assert dump(url_in(tmp_path)) == before
    fence.lost_from = None
    WRITES[name](memory)
    memory.close()


def test_reading_needs_no_lease(tmp_path: Path) -> None:
    fence = Held(1)
    memory = Memory.open(url_in(tmp_path), fence)
    fence.lost_from = 0

    memory.view(NOON)
    memory.ticks(NOON)

    assert memory.brain_state() is None
    memory.close()


class PostgresLike:
    """A connection to PostgreSQL that notes what it is sent; the fence's row holds an epoch."""

    dialect = SimpleNamespace(name="postgresql")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.sent: list[str] = []

    def exec_driver_sql(self, statement: str) -> None:
        self.sent.append(statement)

    def execute(self, query: Select[Any]) -> SimpleNamespace:
        self.sent.append(str(query.compile(dialect=PGDialect())).replace("\n", ""))  # type: ignore[no-untyped-call]
        return SimpleNamespace(scalar=lambda: str(self.epoch))


def test_a_stopped_leader_holds_the_row_of_the_fence_for_three_seconds() -> None:
    connection = PostgresLike(4)

    pass_fence(connection, 4)  # type: ignore[arg-type]

    limit, locked = connection.sent
    assert limit == "set local idle_in_transaction_session_timeout = 3000"
    assert locked.endswith("FOR UPDATE")


def test_the_epoch_that_a_memory_names_is_the_highest_that_wrote(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path), Held(6))
    before = memory.epoch()

    memory.claim()

    assert (before, memory.epoch()) == (0, 6)
    memory.close()


def test_a_process_without_rivals_is_refused_once_a_lease_was_here(tmp_path: Path) -> None:
    led = Memory.open(url_in(tmp_path), Held(2))
    led.claim()
    led.close()
    tool = Memory.open(url_in(tmp_path))

    with pytest.raises(LeadershipLost):
        tool.set_meta("a", "b")

    tool.close()


def test_no_number_of_a_generation_is_given_twice(tmp_path: Path) -> None:
    one, two = Memory.open(url_in(tmp_path), Held(1)), Memory.open(url_in(tmp_path), Held(2))

    numbers = [reserve(one, at_least) for at_least in (0, 0, 7)]
    two.claim()
    numbers += [reserve(two, at_least) for at_least in (0, 3)]

    assert numbers == [1, 2, 8, 9, 10]
    one.close()
    two.close()


def test_a_new_leader_counts_what_the_last_one_played(tmp_path: Path) -> None:
    one, two = Memory.open(url_in(tmp_path), Held(1)), Memory.open(url_in(tmp_path), Held(2))
    two.view(NOON)  # a standby looked, and keeps what it counted
    play_tick(one, inputs_at(NOON))
    expected = one.view(NOON).rounds

    two.claim()

    assert two.view(NOON).rounds == expected != {}
    one.close()
    two.close()
