"""The kinds of chances and their sums in PostgreSQL: an older schema keeps its hours, and sums are theirs."""

import pytest
from sqlalchemy import text

from generator.arena.holds import KIND
from generator.record.memory import holds
from generator.record.memory.store import Memory
from tests.arena.test_holds import at
from tests.record.test_schema import UNDONE
from tests.support.servers import postgres

pytestmark = [pytest.mark.outside, pytest.mark.timeout(300)]


def test_an_older_schema_keeps_its_hours_and_new_ones_begin_at_none() -> None:
    with postgres() as server:
        memory = Memory.open(server.url)
        memory.keep_hours([at(number) for number in range(60)])
        with memory.writing() as connection:
            uncounted = "DELETE FROM meta WHERE key LIKE 'regime.%'"
            for statement in (*UNDONE, uncounted):
                connection.execute(text(statement))
        memory.close()

        upgraded = Memory.open(server.url)
        upgraded.keep_hours([at(number) for number in range(60, 80)])
        with upgraded.reading() as connection:
            assert holds.complaint(connection) is None
            record = holds.totals(connection).record()
        kinds = [hour.chances_kind for hour in upgraded.hours(at(80).at_ms)]
        upgraded.close()

    assert kinds == [None] * 60 + [KIND] * 20
    assert (record.live.n, record.earlier) == (12, {None: 60})
