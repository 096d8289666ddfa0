"""The totals kept with a record in PostgreSQL: equal to a full count at every tick, as in SQLite."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from generator.record.memory import tables as t
from generator.record.memory import totals
from generator.record.memory.store import Memory
from tests.support.arena_inputs import CONFIG, NOON, hours, inputs_at, play_tick
from tests.support.servers import postgres

pytestmark = [pytest.mark.outside, pytest.mark.timeout(300)]
CROWDED = replace(CONFIG, assets=("BTC", "ETH"), simulated_crowd=True)


def test_kept_totals_equal_a_full_count_and_another_rule_is_counted_again() -> None:
    with postgres() as server:
        memory = Memory.open(server.url)
        for now in hours(NOON, 30):
            play_tick(memory, inputs_at(now, config=CROWDED))
            with memory.reading() as connection:
                counted = totals.count_all(connection)
                assert totals.load(connection) == counted
        with memory.writing() as connection:
            connection.execute(update(t.totals).values(rule="0"))
        memory.close()

        again = Memory.open(server.url)
        steps = list(again.count_again())
        with again.reading() as connection:
            assert totals.load(connection) == counted
        again.close()

    assert steps == [(1, 1)]
