"""Several gateways on one PostgreSQL: a real server on a socket of its own, from Debian's package `postgresql`."""

import asyncio
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from gateway.errors import IdentityTaken, LedgerUnavailable, LedgerUnreadable
from gateway.ledger.record import KEEP_ROUNDS, Refuse, Settle, Watch
from gateway.ledger.retired import OLD_ROUNDS
from gateway.ledger.store import Ledger
from gateway.ledger.thread import LedgerThread
from gateway.ledger.view import LedgerView
from tests.faults.market import Market, gateway, market
from tests.faults.test_kill import at_once
from tests.ledger.test_ledger_schema import make_old
from tests.support.gateway_app import in_loop, until
from tests.support.intents import INTENT
from tests.support.servers import Postgres, make_database, postgres
from tests.support.vaults import START

pytestmark = pytest.mark.outside


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """Run a server for the tests of this file."""
    with postgres() as running:
        yield running


@pytest.fixture
def url(server: Postgres, request: pytest.FixtureRequest) -> str:
    """Make an empty database for one test."""
    return make_database(server.url, f"t{abs(hash(request.node.name))}")


def test_the_txid_and_the_identifier_are_locks_between_gateways(url: str) -> None:
    first, second = Ledger(url), Ledger(url)
    first.write_intent(replace(INTENT, identifier="x" * 16))

    with pytest.raises(IdentityTaken):
        second.write_intent(INTENT)
    with pytest.raises(IdentityTaken):
        second.write_intent(replace(INTENT, txid="B" * 52, identifier="x" * 16))
    record = second.find(INTENT.txid)

    assert record is not None
    assert (record.state, record.content) == ("intent", b"{}")
    first.close()
    second.close()


def test_every_step_of_a_payment_is_kept(url: str) -> None:
    ledger = Ledger(url)
    for txid in "ABC":
        ledger.write_intent(replace(INTENT, txid=txid * 52))

    steps = [
        ledger.begin_settle("A" * 52, "another", 1, "other"),
        ledger.begin_settle("A" * 52, INTENT.owner, 1, "other"),
        ledger.apply("A" * 52, Settle("chain"), START),
        ledger.apply("A" * 52, Settle("chain"), START),
        ledger.apply("B" * 52, Refuse("reason", "absent"), START),
    ]
    ledger.apply("C" * 52, Watch(7), START)
    ledger.count_deliveries({"A" * 52: 2})

    assert steps == [False, True, True, False, True]
    assert [(record.txid[0], record.watched_round) for record in ledger.open_payments()] == [("C", 7)]
    assert ledger.purge(1 << 62) == 0
    with LedgerView(url) as view:
        assert {row["txid"][0]: row["state"] for row in view.all_rows()} == {
            "A": "settled", "B": "refused", "C": "intent",
        }  # fmt: skip
        with pytest.raises(sa.exc.DBAPIError, match="read-only"):
            view._connection.exec_driver_sql("update payments set state = 'settled'")
    ledger.close()


def test_a_view_reads_the_schema_that_the_url_names(url: str) -> None:
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("create schema elsewhere")
    engine.dispose()
    named = f"{url}&options=-csearch_path%3Delsewhere"
    ledger = Ledger(named)
    ledger.write_intent(INTENT)

    with LedgerView(named) as view:
        assert [row["txid"] for row in view.all_rows()] == [INTENT.txid]
    ledger.close()


def test_a_lost_connection_is_replaced(url: str) -> None:
    ledger = Ledger(url)
    ledger.write_intent(INTENT)
    other = sa.create_engine(url)
    with other.connect() as connection:
        connection.exec_driver_sql(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = "
            "current_database()"
        )
    other.dispose()

    with pytest.raises(sa.exc.SQLAlchemyError):
        ledger.find(INTENT.txid)
    with pytest.raises(sa.exc.SQLAlchemyError):
        ledger.apply(INTENT.txid, Settle("chain"), START)

    assert ledger.apply(INTENT.txid, Settle("chain"), START)
    assert ledger.find(INTENT.txid) is not None
    assert states(url) == ["idle", "idle"]
    ledger.close()


def states(url: str) -> list[str]:
    """Return what the connections of others do, as the server sees it."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = connection.exec_driver_sql(
            "select state from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()"
        )
        rows = [str(state) for (state,) in found]
    engine.dispose()
    return rows


def test_a_lock_that_another_holds_ends_in_an_error_and_not_in_a_wait(url: str) -> None:
    ledger = Ledger(url)
    other = sa.create_engine(url)
    with other.connect() as holder:
        holder.exec_driver_sql("lock table payments in access exclusive mode")
        calls = [lambda: ledger.apply(INTENT.txid, Settle("chain"), START)] * 3

        results = ledger.write_all(calls)

    assert ["lock timeout" in str(result) for result in results] == [True] * 3
    other.dispose()
    ledger.close()


def test_a_purge_that_waits_for_a_payment_does_not_make_the_payment_wait(url: str) -> None:
    ledger = Ledger(url)
    other = sa.create_engine(url)
    with other.connect() as buyer, ThreadPoolExecutor(1) as pool:
        buyer.exec_driver_sql("insert into bodies values ('bought', '')")
        purging = pool.submit(ledger.purge, 1 << 62)
        while not buyer.exec_driver_sql("select from pg_locks where not granted").all():
            time.sleep(0.01)
        buyer.exec_driver_sql("lock table payments in row exclusive mode nowait")
        buyer.rollback()

        assert purging.result() == 0
    other.dispose()
    ledger.close()


def test_an_old_payment_moves_and_its_txid_stays_spent(url: str, tmp_path: Path) -> None:
    ledger = Ledger(url)
    ledger.write_intent(INTENT)
    ledger.apply(INTENT.txid, Settle("chain"), START)

    moved = ledger.retire(INTENT.keep_round + OLD_ROUNDS + 1, tmp_path)
    found = ledger.find(INTENT.txid)
    with LedgerView(url) as view:
        shown = view.row(INTENT.txid)

    assert moved == 1
    assert found is not None
    assert found.is_retired
    assert shown is not None
    with pytest.raises(IdentityTaken):
        ledger.adopt(replace(INTENT, sha256="", content=None))
    ledger.close()


def test_a_probe_is_one_row_for_all_gateways(url: str) -> None:
    first, second = Ledger(url), Ledger(url)

    for _ in range(3):
        first.probe()
        second.probe()

    assert len(first._reader.exec_driver_sql("select id from probe").all()) == 1
    first.close()
    second.close()


@in_loop
async def hang(server: Postgres, url: str) -> None:
    ledger = Ledger(url)
    thread = LedgerThread(ledger)
    thread.set_timeout(0.5)
    await thread.write(ledger.write_intent, INTENT)
    with server.hung():
        calls = [thread.run(ledger.find, INTENT.txid) for _ in range(10)]
        results = await asyncio.gather(
            *calls, thread.write(ledger.apply, INTENT.txid, Watch(7), START), return_exceptions=True
        )
    await until(lambda: not thread._writes._stalled and not thread._reads._stalled)
    thread.set_timeout(60)

    assert {type(result) for result in results} == {LedgerUnavailable}
    assert await thread.run(ledger.find, INTENT.txid) is not None
    assert await thread.write(ledger.apply, INTENT.txid, Settle("chain"), START)
    await thread.close()


def test_a_hung_server_costs_each_caller_a_limited_wait_and_is_used_again(server: Postgres, url: str) -> None:
    hang(server, url)


def test_a_settled_payment_is_delivered_while_the_server_hangs(server: Postgres, url: str, on: Market) -> None:
    with gateway(on, EMI_LEDGER_URL=url) as first:
        on.settle_delay_s = 0.5
        payment, unsettled = on.sign(first.origin), on.sign(first.origin)
        with ThreadPoolExecutor(1) as pool:
            paying = pool.submit(first.present, payment)
            while on.settles == 0:
                time.sleep(0.01)
            with server.hung():
                status = paying.result()[0]
                refused = first.present(unsettled)[0]
                first.process.terminate()
                first.process.join(30)
                code = first.process.exitcode
    with gateway(on, EMI_LEDGER_URL=url) as second:
        again = [second.present(payment)[0], second.present(unsettled)[0]]

    assert (status, refused, code, again) == (200, 503, -signal.SIGTERM, [200, 200])
    assert (on.settles, on.transfers()) == (2, 2)


def test_a_database_of_the_oldest_schema_is_shown_and_opened_with_every_payment(url: str) -> None:
    make_old(url)
    with LedgerView(url) as view:
        shown = {row["txid"] for row in view.all_rows()}

    ledger = Ledger(url)
    paid = ledger.find("PAID")
    ledger.write_intent(INTENT)

    assert shown == {"PAID", "UNKNOWN"}
    assert paid is not None
    assert (paid.state, paid.content, paid.keep_round) == ("settled", b"{}", 9 + KEEP_ROUNDS)
    assert {record.txid for record in ledger.open_payments()} == {"UNKNOWN", INTENT.txid}
    ledger.close()


@pytest.mark.parametrize(
    ("version", "reason"), [("0099", "has schema 0099"), ("0007", "has schema 0007, .*start commit 78f9e24c")]
)
def test_a_database_of_another_schema_is_refused_in_one_line_without_its_password(
    url: str, version: str, reason: str
) -> None:
    Ledger(url).close()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"update alembic_version set version_num = '{version}'")
    engine.dispose()

    with pytest.raises(LedgerUnreadable, match=reason) as caught:
        Ledger(url.replace("emi@", "emi:hidden@"))

    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def on(tmp_path: Path) -> Iterator[Market]:
    with market(tmp_path) as running:
        yield running


@pytest.mark.parametrize("step", ["intent_written", "settle_answered"])
def test_a_gateway_that_dies_between_intent_and_settlement_is_finished_by_another(
    step: str, url: str, on: Market
) -> None:
    with gateway(on, "--at", step, EMI_LEDGER_URL=url) as first, gateway(on, EMI_LEDGER_URL=url) as second:
        payment = on.sign(first.origin)
        on.arm()

        code = first.present_to_death(payment)
        answers = [second.present(payment) for _ in range(2)]

    assert code == -signal.SIGKILL
    assert [status for status, _, _ in answers] == [200, 200]
    assert answers[0][2] == answers[1][2]
    assert on.transfers() == 1
    assert on.settles <= 2


def test_a_payment_at_both_when_one_dies_is_paid_once_and_answered(url: str, on: Market) -> None:
    with gateway(on, "--at", "settle_answered", EMI_LEDGER_URL=url) as first, gateway(on, EMI_LEDGER_URL=url) as second:
        on.settle_delay_s = 0.5
        payment = on.sign(first.origin)
        on.arm()

        with ThreadPoolExecutor(1) as pool:
            dying = pool.submit(first.present_to_death, payment)
            while on.settles == 0:
                time.sleep(0.01)
            meanwhile = second.present(payment)[0]
            code = dying.result()
        after = second.present(payment)[0]

    assert code == -signal.SIGKILL
    assert (meanwhile, after) == (200, 200)
    assert on.transfers() == 1


def test_25_duplicates_at_two_processes_on_one_database_are_one_settle(url: str, on: Market) -> None:
    with gateway(on, EMI_LEDGER_URL=url) as first, gateway(on, EMI_LEDGER_URL=url) as second:
        on.settle_delay_s = 0.3
        payment = on.sign(first.origin)

        answers = at_once([first, second], payment, 25)

    assert {status for status, _, _ in answers} == {200}
    assert len({(headers["payment-response"], body) for _, headers, body in answers}) == 1
    assert (on.settles, on.transfers()) == (1, 1)
