"""What docs/explain/payments.md says of the ledger's times and sizes."""

from datetime import timedelta
from pathlib import Path

from gateway.ledger.engine import BUSY_TIMEOUT_S, CONNECT_OPTIONS, LOCK_MS, STATEMENT_MS
from gateway.ledger.record import KEEP_ROUNDS
from gateway.ledger.retired import OLD_ROUNDS
from gateway.ledger.store import PROBE_BYTES, Ledger
from gateway.ledger.thread import GOOD_PROBES, LedgerThread
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.payments_page import PAGE, published


def test_a_database_that_does_not_answer_is_left_when_published() -> None:
    milliseconds = {
        "`connect_timeout` # s": 1_000 * CONNECT_OPTIONS["connect_timeout"],
        "`statement_timeout` # s": STATEMENT_MS,
        "`lock_timeout` # s": LOCK_MS,
        "`tcp_user_timeout` # s": CONNECT_OPTIONS["tcp_user_timeout"],
        "503 for all that wait, after # s (SQLite)": 1_000 * BUSY_TIMEOUT_S,
    }

    assert {words: 1_000 * published(words) for words in milliseconds} == milliseconds


def test_a_probe_is_as_large_as_published_and_two_good_ones_end_an_outage() -> None:
    assert published("as much as a payment does (# KiB in SQLite") * 1_024 == PROBE_BYTES
    assert GOOD_PROBES == 2
    assert "after two good probes in a row" in PAGE


@in_loop
async def test_a_ledger_that_no_one_uses_is_probed_as_often_as_published(tmp_path: Path) -> None:
    clock, ledger = ManualClock(), Ledger(tmp_path / "payments.sqlite3")
    thread = LedgerThread(ledger, clock)
    every = timedelta(seconds=published("Every # s a probe writes"))

    ages = []
    for step in (every - timedelta(seconds=1), timedelta(seconds=1)):
        clock.step(step)
        await thread.run_maintenance()
        ages.append(thread.written.age_s())
    await thread.close()

    assert ages == [every.total_seconds() - 1, 0]


def test_bodies_and_rows_are_kept_for_as_many_rounds_as_published() -> None:
    assert published("when the chain's own round is # past the payment's last valid round") == KEEP_ROUNDS
    assert published("about 90 days later (# rounds)") == OLD_ROUNDS
