"""A database that answers nothing: every caller is answered in time, and what happens late is harmless."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from gateway.errors import LedgerUnavailable
from gateway.http.metrics import Metrics
from gateway.ledger.record import Watch
from gateway.ledger.store import PROBE_BYTES, Ledger
from gateway.ledger.thread import PROBE_S, WAIT_S, LedgerThread
from tests.support.clock import ManualClock
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop, until
from tests.support.intents import INTENT


class Hang:
    """Make statements of a ledger wait, as for a server that is stopped, until `end`."""

    def __init__(self, ledger: Ledger, beginning: str = "") -> None:
        self._over = threading.Event()
        self._beginning = beginning
        sa.event.listen(ledger._engine, "before_cursor_execute", self._wait)

    def _wait(self, *args: Any) -> None:
        if args[2].startswith(self._beginning):
            assert self._over.wait(60)

    def end(self) -> None:
        self._over.set()


@asynccontextmanager
async def hung(home: GatewayHarness, beginning: str = "") -> AsyncIterator[Hang]:
    home.state.ledger.set_timeout(0.05)
    hang = Hang(home.state.ledger.ledger, beginning)
    try:
        yield hang
    finally:
        hang.end()
        home.state.ledger.set_timeout(WAIT_S)


def failures(registry: CollectorRegistry, kind: str) -> float | None:
    return registry.get_sample_value("emi_ledger_failures_total", {"kind": kind})


@in_loop
async def test_an_intent_that_is_written_late_is_never_settled_by_who_got_503(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        async with hung(home, "INSERT INTO payments"):
            refused = await home.send(payment)
        await until(lambda: not home.state.ledger._writes._stalled)
        late = await home.state.ledger.find(payment.txid)
        settles = len(home.upstream.asked("/settle"))

        again = await home.send(payment)

    assert (refused.status_code, late.state if late else None, settles) == (503, "intent", 0)
    assert (again.status_code, home.upstream.transfers[payment.txid]) == (200, 1)


@in_loop
async def test_a_payment_that_settled_is_delivered_when_the_ledger_hangs_meanwhile(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.1
        payment = home.buyer.pay()
        buying = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()

        async with hung(home):
            answer = await buying
            repeated = await home.send(payment)
        again = await home.send(payment)

    assert [one.status_code for one in (answer, repeated, again)] == [200, 200, 200]
    assert answer.content == repeated.content == again.content
    assert home.upstream.transfers[payment.txid] == 1


@in_loop
async def test_the_end_waits_for_no_hung_ledger(tmp_path: Path) -> None:
    thread = LedgerThread(Ledger(tmp_path / "payments.sqlite3"))
    thread.set_timeout(0.01)
    hang = Hang(thread.ledger)
    thread.delivered(INTENT.txid)

    with capture_logs() as logs:
        await thread.close()
    hang.end()

    assert "left as after a kill" in logs[-1]["event"]


@in_loop
async def test_callers_of_a_stuck_thread_fail_at_once_and_are_served_when_it_is_free(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    thread.set_timeout(0.01)
    over = threading.Event()
    with pytest.raises(LedgerUnavailable):
        await thread.write(over.wait, 60)

    with pytest.raises(LedgerUnavailable):
        thread._writes.wait(lambda: None)
    over.set()
    await until(lambda: not thread._writes._stalled)
    thread.set_timeout(WAIT_S)
    await thread.write(ledger.write_intent, INTENT)

    assert ledger.find(INTENT.txid) is not None
    await thread.close()


@in_loop
async def test_what_waits_behind_a_stuck_write_is_dropped_and_not_written_late(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    thread.set_timeout(0.05)
    over = threading.Event()
    first = asyncio.ensure_future(thread.write(over.wait, 60))
    await asyncio.sleep(0.001)
    behind = asyncio.ensure_future(thread.write(ledger.write_intent, INTENT))

    results = await asyncio.gather(first, behind, return_exceptions=True)
    thread.set_timeout(WAIT_S)
    over.set()
    await thread.close()

    assert [type(result) for result in results] == [LedgerUnavailable] * 2
    assert Ledger(tmp_path / "payments.sqlite3").find(INTENT.txid) is None


@in_loop
async def test_2048_calls_wait_and_no_more(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)

    calls = [asyncio.ensure_future(thread.run(ledger.find, "A" * 52)) for _ in range(2_048 + 7)]
    results = await asyncio.gather(*calls, return_exceptions=True)

    refused = [str(result) for result in results if isinstance(result, LedgerUnavailable)]
    assert refused == ["the payments ledger does not answer (reads)"] * 7
    await thread.close()


@in_loop
async def test_a_database_that_never_answers_keeps_no_process_from_ending(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    thread = LedgerThread(Ledger(tmp_path / "payments.sqlite3"))

    started = set(threading.enumerate()) - before

    assert {row.name: row.daemon for row in started} == {"reads": True, "writes": True}
    await thread.close()


@in_loop
async def test_a_probe_proves_every_ten_seconds_that_an_intent_would_fit(tmp_path: Path) -> None:
    clock = ManualClock()
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger, clock)
    stored: list[bytes] = []
    for _ in range(3):
        clock.step(PROBE_S)
        await thread.run_maintenance()
        stored += [row[0] for row in ledger._reader.exec_driver_sql("select content from probe")]
        ledger._reader.rollback()

    assert thread.written.age_s() == 0
    assert [len(content) for content in stored] == [PROBE_BYTES] * 3
    assert len(set(stored)) == 3
    await thread.close()


@in_loop
async def test_a_ledger_that_takes_no_row_shows_though_smaller_writes_succeed(tmp_path: Path) -> None:
    clock, metrics = ManualClock(), Metrics()
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger, clock, metrics)
    await thread.write(ledger.write_intent, INTENT)
    ledger._writer.exec_driver_sql("create trigger full before insert on probe begin select raise(abort, 'full'); end")
    ledger._writer.rollback()

    for _ in range(7):
        clock.step(PROBE_S)
        with capture_logs() as logs:
            await thread.run_maintenance()
        await thread.write(ledger.apply, INTENT.txid, Watch(7), clock.now())

    assert thread.written.age_s() == 7 * PROBE_S
    assert failures(metrics.registry, "probe") == 7
    assert [line["log_level"] for line in logs] == ["error"]
    await thread.close()


@in_loop
async def test_reads_and_writes_that_fail_are_counted(tmp_path: Path) -> None:
    metrics = Metrics()
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger, None, metrics)
    ledger._writer.exec_driver_sql("drop table payments")
    ledger._writer.rollback()

    with pytest.raises(sa.exc.SQLAlchemyError):
        await thread.run(ledger.find, INTENT.txid)
    with pytest.raises(sa.exc.SQLAlchemyError):
        await thread.write(ledger.write_intent, replace(INTENT, txid="B" * 52))

    assert (failures(metrics.registry, "read"), failures(metrics.registry, "write")) == (1, 1)
    await thread.close()
