import asyncio
import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from gateway.errors import IdentityTaken
from gateway.http.metrics import Metrics
from gateway.ledger.store import GONE, Ledger
from gateway.ledger.thread import LedgerThread
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.intents import INTENT


def intents(count: int) -> list[str]:
    return [f"{number:052d}" for number in range(count)]


def commits(ledger: Ledger) -> list[int]:
    counted: list[int] = []
    sa.event.listen(ledger._engine, "commit", lambda _connection: counted.append(1))
    return counted


@in_loop
async def test_writes_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    counted = commits(ledger)

    await asyncio.gather(*(thread.write(ledger.write_intent, replace(INTENT, txid=txid)) for txid in intents(100)))

    assert len(counted) == 1
    assert len(Ledger(tmp_path / "payments.sqlite3").open_payments()) == 100
    await thread.close()


@in_loop
async def test_a_write_is_answered_only_when_another_process_can_read_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    other = Ledger(tmp_path / "payments.sqlite3")

    async def write(txid: str) -> bool:
        await thread.write(ledger.write_intent, replace(INTENT, txid=txid))
        return other.find(txid) is not None

    assert all(await asyncio.gather(*(write(txid) for txid in intents(40))))
    await thread.close()


@in_loop
async def test_a_taken_identity_fails_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    twice = [*intents(5), "0" * 52]

    results = await asyncio.gather(
        *(thread.write(ledger.write_intent, replace(INTENT, txid=txid)) for txid in twice), return_exceptions=True
    )

    assert [type(result) for result in results] == [type(None)] * 5 + [IdentityTaken]
    await thread.close()


@in_loop
async def test_a_write_that_the_database_refuses_spoils_no_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    with sqlite3.connect(tmp_path / "payments.sqlite3") as raw:
        raw.execute(
            "create trigger bad before insert on payments when new.payer = 'bad' "
            "begin select raise(rollback, 'no'); end"
        )
    raw.close()
    payers = ["good", "bad", "good"]

    results = await asyncio.gather(
        *(
            thread.write(ledger.write_intent, replace(INTENT, txid=txid, payer=payer))
            for txid, payer in zip(intents(3), payers, strict=True)
        ),
        return_exceptions=True,
    )

    assert [isinstance(result, sa.exc.SQLAlchemyError) for result in results] == [False, True, False]
    assert [ledger.find(txid) is not None for txid in intents(3)] == [True, False, True]
    await thread.close()


@in_loop
async def test_deliveries_are_written_before_the_end(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    await thread.write(ledger.write_intent, INTENT)
    for _ in range(3):
        thread.delivered(INTENT.txid)

    await thread.close()

    record = Ledger(tmp_path / "payments.sqlite3").find(INTENT.txid)
    assert record is not None
    assert record.deliveries == 3


@in_loop
async def test_a_caller_that_gives_up_does_not_undo_its_write(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    task = asyncio.create_task(thread.write(ledger.write_intent, INTENT))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await thread.close()

    assert Ledger(tmp_path / "payments.sqlite3").find(INTENT.txid) is not None


@in_loop
async def test_a_read_waits_for_no_commit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger)
    await thread.write(ledger.write_intent, INTENT)
    disk = threading.Event()
    writing = asyncio.create_task(thread.write(disk.wait))
    await asyncio.sleep(0)

    record = await thread.run(ledger.find, INTENT.txid)

    assert record is not None
    assert not writing.done()
    disk.set()
    assert await writing
    await thread.close()


@in_loop
async def test_the_end_closes_the_database_and_says_nothing(tmp_path: Path) -> None:
    thread = LedgerThread(Ledger(tmp_path / "payments.sqlite3"))

    with capture_logs() as logs:
        await thread.close()

    assert os.listdir(tmp_path) == ["payments.sqlite3"]  # noqa: PTH208  nothing else runs in this loop
    assert logs == []


@in_loop
async def test_a_file_that_is_gone_is_counted_each_second(tmp_path: Path) -> None:
    metrics = Metrics()
    thread = LedgerThread(Ledger(tmp_path / "payments.sqlite3"), ManualClock(), metrics)
    (tmp_path / "payments.sqlite3").rename(tmp_path / "elsewhere")

    for _ in range(3):
        await thread.run_maintenance()

    assert metrics.registry.get_sample_value("emi_ledger_failures_total", {"kind": "probe"}) == 3
    assert thread.fault() == GONE
    await thread.close()


@in_loop
async def test_deliveries_that_could_not_be_counted_are_counted_with_the_next_ones(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger, round_now=lambda: 1_234)
    await thread.write(ledger.write_intent, INTENT)
    with closing(sqlite3.connect(tmp_path / "payments.sqlite3")) as raw:
        raw.execute("create trigger no before update on payments begin select raise(abort, 'no'); end")
        thread.delivered(INTENT.txid)
        await thread.flush()
        raw.execute("drop trigger no")

    thread.delivered(INTENT.txid)
    await thread.flush()
    await thread.flush()

    record = ledger.find(INTENT.txid)
    assert record is not None
    assert (record.deliveries, record.delivered_round) == (2, 1_234)
    await thread.close()
