"""The memory's schema in PostgreSQL: made by migrations as at once, refused where it is too old, never the ledger's."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from gateway.errors import LedgerUnreadable
from gateway.ledger.store import Ledger
from generator.errors import MemoryUnreadable
from generator.record.memory import tables as t
from generator.record.memory.schema import OLDEST
from generator.record.memory.store import Memory
from tests.record.test_schema import differences, make_oldest
from tests.support.servers import postgres

pytestmark = [pytest.mark.outside, pytest.mark.timeout(300)]


@pytest.fixture
def engine() -> Iterator[sa.Engine]:
    with postgres() as server:
        engine = sa.create_engine(server.url)
        yield engine
        engine.dispose()


def url_of(engine: sa.Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def stamps(engine: sa.Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.execute(sa.select(t.stamp.c.version_num)).scalars())


def test_the_oldest_memory_is_migrated_by_one_of_two_that_start_at_once(engine: sa.Engine) -> None:
    make_oldest(engine)
    with engine.begin() as connection:
        connection.execute(t.meta.insert().values(key=t.SCHEMA_KEY, value=OLDEST))

    with ThreadPoolExecutor(2) as pool:
        for memory in pool.map(Memory.open, [url_of(engine)] * 2):
            memory.close()

    assert differences(engine) == []
    assert stamps(engine) == [t.SCHEMA_VERSION]


@pytest.mark.parametrize(
    ("version", "reason"), [("99", "newer than"), ("13", "start commit 78f9e24c"), ("15", "start commit 25b828a1")]
)
def test_a_memory_of_another_schema_is_refused(engine: sa.Engine, version: str, reason: str) -> None:
    Memory.open(url_of(engine)).close()
    with engine.begin() as connection:
        connection.execute(sa.update(t.stamp).values(version_num=version))

    with pytest.raises(MemoryUnreadable, match=f"has schema version {version}, .*{reason}"):
        Memory.open(url_of(engine))

    assert stamps(engine) == [version]


def test_a_memory_is_refused_as_a_ledger_of_payments(engine: sa.Engine) -> None:
    Memory.open(url_of(engine)).close()

    with pytest.raises(LedgerUnreadable, match="is another program's database"):
        Ledger(url_of(engine))
