"""The lease in PostgreSQL: one row."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from generator.errors import LeadershipLost, LeaseUnreachable
from generator.record.memory.store import Memory
from generator.runtime.postgres_lease import PostgresLease
from tests.support.arena_inputs import NOON, inputs_at, play_tick
from tests.support.leases import Make, epochs_only_rise, one_at_a_time, one_of_many_wins
from tests.support.servers import make_database, postgres

pytestmark = pytest.mark.outside


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as running:
        yield running.url


@pytest.fixture
def database(server: str, request: pytest.FixtureRequest) -> str:
    return make_database(server, f"t{abs(hash(request.node.name))}")


@pytest.fixture
def row(database: str) -> Iterator[Callable[..., PostgresLease]]:
    made: list[PostgresLease] = []

    def make(ttl_s: float = 3.0) -> PostgresLease:
        made.append(PostgresLease(database, ttl_s))
        return made[-1]

    yield make
    for lease in made:
        lease.close()


@pytest.mark.parametrize("rule", [one_at_a_time, epochs_only_rise, one_of_many_wins])
def test_the_row_of_a_new_database_is_a_lease(row: Callable[..., PostgresLease], rule: Callable[[Make], None]) -> None:
    rule(lambda: row(10))


def test_a_row_that_is_not_renewed_is_taken_by_the_databases_clock(row: Callable[..., PostgresLease]) -> None:
    leader, standby = row(4.0), row(4.0)
    leader.acquire(0)
    assert standby.acquire(0) is None

    taken = None
    while taken is None:  # until this test's own end
        time.sleep(0.1)
        taken = standby.acquire(0)

    assert taken.epoch == 2
    with pytest.raises(LeadershipLost):
        leader.renew()
    leader.release()  # another's by now: unchanged
    standby.renew()


def test_a_row_that_expired_and_that_no_one_took_is_renewed(row: Callable[..., PostgresLease]) -> None:
    leader, standby = row(4.0), row(4.0)
    leader.acquire(0)
    time.sleep(4.1)

    leader.renew()

    assert standby.acquire(0) is None


def test_a_restarted_database_gets_a_new_connection(database: str, row: Callable[..., PostgresLease]) -> None:
    lease = row()
    lease.acquire(0)
    engine = sa.create_engine(database)
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and datname = current_database()"
        )
    engine.dispose()

    with pytest.raises(LeaseUnreachable):
        lease.renew()

    lease.renew()


def test_a_database_that_is_absent_is_reported_without_the_password() -> None:
    lease = PostgresLease("postgresql+psycopg://emi:hidden@127.0.0.1:1/none")

    with pytest.raises(LeaseUnreachable) as caught:
        lease.acquire(0)

    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_generators_that_start_on_a_new_database_at_once_make_its_tables_once(database: str) -> None:
    faults: list[BaseException] = []
    together = threading.Barrier(4)

    def start() -> None:
        together.wait()
        try:
            Memory.open(database).close()
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not faults


def test_a_leader_suspended_in_a_transaction_neither_blocks_nor_writes(database: str) -> None:
    old, new = Memory.open(database, lambda: 1), Memory.open(database, lambda: 2)
    old.claim()

    def suspended_in_between() -> None:
        with old.batch():
            play_tick(old, inputs_at(NOON))
            began = time.monotonic()
            new.claim()  # waits until PostgreSQL ends the idle transaction
            assert time.monotonic() - began < 60
            play_tick(new, inputs_at(NOON))
            play_tick(old, inputs_at(NOON + 60_000))

    with pytest.raises(Exception, match=r"cannot be used|taken over"):
        suspended_in_between()

    assert new.epoch() == 2
    play_tick(new, inputs_at(NOON + 60_000))
    with pytest.raises(LeadershipLost):
        play_tick(old, inputs_at(NOON + 120_000))
    old.close()
    new.close()
