"""A ledger whose file is damaged, or that takes no payment: nothing new is sold, and whoever paid is served."""

import asyncio
import base64
import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from gateway.errors import IdentityTaken
from gateway.ledger.store import DAMAGED, Ledger
from gateway.ledger.thread import NO_INTENT
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.intents import INTENT

NAME = "payments.sqlite3"
ROWS = 3_000
TXID_INDEX = "sqlite_autoindex_payments_1"
REFUSE = "create trigger refuse before insert on payments begin select raise(abort, 'no such page'); end"


def fill(path: Path) -> None:
    """Write many settled payments, their txids spread as real ones are."""
    ledger = Ledger(path)
    digests = [hashlib.sha256(bytes([number >> 8, number & 255])).digest() for number in range(ROWS)]
    txids = [base64.b32encode(digest).decode()[:52] for digest in digests]
    filled = [replace(INTENT, txid=txid, state="settled") for txid in txids]
    with ledger._transaction():
        for record in filled:
            ledger.write_intent(record)
    ledger.close()


def damage(path: Path) -> None:
    """Overwrite every third page of the index of txids, neither its root nor its edges."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("pragma wal_checkpoint(truncate)")
        pages = [row[0] for row in raw.execute("select pageno from dbstat where name = ?", (TXID_INDEX,))]
        size = raw.execute("pragma page_size").fetchone()[0]
    with path.open("r+b") as file:
        for page in pages[2:-1:3]:
            file.seek((page - 1) * size)
            file.write(b"\xaa" * size)


@contextmanager
def corrupt_from_now(ledger: Ledger, beginning: str) -> Iterator[None]:
    """Let statements that begin so meet a corrupt page, as SQLite's driver says it."""

    def execute(*arguments: Any) -> None:
        if arguments[2].startswith(beginning):
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error

    sa.event.listen(ledger._engine, "before_cursor_execute", execute)
    yield
    sa.event.remove(ledger._engine, "before_cursor_execute", execute)


def on_disk(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / NAME)) as raw:
        for statement in statements:
            raw.execute(statement)
        raw.commit()


async def reasons(home: GatewayHarness) -> list[str]:
    """Return why nothing is sold, and check that quotes and metrics say the same."""
    home.state.readiness.measure()
    answer, quote = await home.get("/readyz"), await home.get()
    found: list[str] = [] if answer.status_code == 200 else answer.json()["reasons"]
    closed = home.state.metrics.registry.get_sample_value("emi_ledger_fault")
    assert (quote.status_code, closed) == ((503, 1) if found else (402, 0))
    return found


@in_loop
async def test_the_first_corrupt_page_ends_every_sale(tmp_path: Path) -> None:
    fill(tmp_path / NAME)
    damage(tmp_path / NAME)
    async with gateway_app(tmp_path) as home:
        with capture_logs() as logs:
            statuses = [(await home.send(home.buyer.pay())).status_code for _ in range(40)]
        said, sold = await reasons(home), statuses.index(503)

    assert statuses == [200] * sold + [503] * (40 - sold)
    assert len(home.upstream.transfers) == sold
    assert said == ["the payments ledger is damaged: quoting has stopped; restore its backup and restart the gateway"]
    assert [line["log_level"] for line in logs if line["event"] == DAMAGED] == ["error"]


@in_loop
async def test_damage_is_over_only_after_a_restart_that_finds_the_file_whole(tmp_path: Path) -> None:
    fill(tmp_path / NAME)
    shutil.copy(tmp_path / NAME, tmp_path / "backup")
    damage(tmp_path / NAME)
    async with gateway_app(tmp_path) as home:
        with corrupt_from_now(home.state.ledger.ledger, "SELECT"):
            await home.send(home.buyer.pay())
        seen = await reasons(home)
        for _ in range(5):
            await home.state.ledger.run_maintenance()
        later = await reasons(home)
        await home.restart()
        still = await reasons(home)
        await home.running.stop()
        (tmp_path / "backup").rename(tmp_path / NAME)
        await home.running.start()
        healed = await reasons(home)
        sold = await home.send(home.buyer.pay())

    assert (seen, later, healed, sold.status_code) == ([DAMAGED], [DAMAGED], [], 200)
    assert len(still) == 1
    assert still[0].startswith(DAMAGED)


@pytest.mark.parametrize("statement", ["UPDATE payments", "SELECT"])
@in_loop
async def test_a_payment_that_settled_while_the_ledger_broke_is_delivered(statement: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.1
        buying = asyncio.create_task(home.send(home.buyer.pay()))
        await home.upstream.settling.wait()

        with corrupt_from_now(home.state.ledger.ledger, statement):
            answer = await buying
            await home.state.ledger.flush()

        if statement.startswith("UPDATE"):
            assert await reasons(home) == [DAMAGED]
    assert answer.status_code == 200


@in_loop
async def test_an_intent_that_cannot_be_written_ends_quoting_at_once(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        on_disk(tmp_path, REFUSE)
        with capture_logs() as logs:
            answers = [await home.send(home.buyer.pay()) for _ in range(2)]
        said = await reasons(home)

    assert [answer.status_code for answer in answers] == [503, 503]
    assert home.upstream.transfers == {}
    stopped = "a payment could not be written into the payments ledger: quoting has stopped until it takes writes"
    assert said == [f"{stopped} (no such page)"]
    assert [line["reason"] for line in logs if line["event"] == NO_INTENT] == ["no such page"]


@in_loop
async def test_two_good_probes_in_a_row_end_it_and_one_does_not(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        on_disk(tmp_path, REFUSE)
        await home.send(home.buyer.pay())
        closed = []
        for change in ("drop trigger refuse", REFUSE, "drop trigger refuse", "select 1"):
            on_disk(tmp_path, change)
            await home.state.ledger.run_maintenance()
            closed.append(bool(await reasons(home)))
        sold = await home.send(home.buyer.pay())

    assert closed == [True, True, True, False]
    assert sold.status_code == 200


@in_loop
async def test_a_txid_that_is_taken_stops_no_sale(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await home.state.ledger.write_intent(INTENT)

        with pytest.raises(IdentityTaken):
            await home.state.ledger.write_intent(INTENT)

        assert await reasons(home) == []


def test_a_probe_leaves_nothing_in_the_table_of_payments(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / NAME)

    ledger.probe()

    assert ledger._reader.exec_driver_sql("select count(*) from payments").scalar() == 0
    assert ledger.count_open() == (0, None)
