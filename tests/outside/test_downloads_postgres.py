"""The record read out of PostgreSQL: the same files as out of SQLite, and no lock that a tick would wait for."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from generator.catalog.words import SourceMode
from generator.record.memory.store import Memory
from generator.site.files.downloads import Downloads, downloads
from tests.support.databases import url_in
from tests.support.filled_memory import record
from tests.support.servers import postgres

pytestmark = [pytest.mark.outside, pytest.mark.timeout(120)]
AT = datetime(2026, 12, 2, 12, tzinfo=UTC)
SPAN = "2026-11-30 20:00", "2026-12-01 03:00"


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with postgres() as server:
        made = Memory.open(server.url)
        record(made, *SPAN)
        yield made
        made.close()


def made(memory: Memory) -> Downloads:
    return downloads(memory.exports(), SourceMode.SIMULATED, AT)


def test_both_databases_give_the_same_files(memory: Memory, tmp_path: Path) -> None:
    other = Memory.open(url_in(tmp_path))
    record(other, *SPAN)

    assert made(memory) == made(other)
    other.close()


def test_a_month_is_noted_and_read_back(memory: Memory) -> None:
    first = made(memory)

    memory.note_months(first.notes)

    assert memory.exports().notes() == dict(first.notes)
    assert {row.path for row in made(memory).months} == set(first.once)


def test_reading_the_record_keeps_no_tick_from_writing(memory: Memory) -> None:
    with memory.exports()._engine.connect() as reader, reader.begin():
        reader.exec_driver_sql("select count(*) from predictions").scalar()

        memory.note_months({"2026-10": "[]"})
        with memory.tick() as record:
            record.reserve_generation(1)
