import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from gateway.errors import IdentityTaken, LedgerUnreadable
from gateway.ledger.record import NoteRefusal, Record, Refuse, Review, Settle
from gateway.ledger.store import Ledger
from tests.support.intents import INTENT
from tests.support.vaults import START


def ledger_with(path: Path, *intents: Record) -> Ledger:
    ledger = Ledger(path / "payments.sqlite3")
    for intent in intents:
        ledger.write_intent(intent)
    return ledger


def test_the_ledger_is_write_ahead_and_fully_synchronous(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path)

    modes = [ledger._writer.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]

    assert modes == ["wal", 2]


def test_no_one_else_may_read_the_ledger_wherever_it_is(tmp_path: Path) -> None:
    ledger_with(tmp_path, INTENT)

    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}

    assert modes == {f"payments.sqlite3{end}": 0o600 for end in ("", "-wal", "-shm")}


def test_writes_behind_a_held_lock_fail_together_and_not_one_after_the_other(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, *(replace(INTENT, txid=letter * 52) for letter in "ABC"))
    ledger._writer.exec_driver_sql("PRAGMA busy_timeout=1")
    ledger._writer.rollback()
    begun: list[str] = []
    holder = sqlite3.connect(tmp_path / "payments.sqlite3", isolation_level=None)
    holder.execute("begin immediate")
    sa.event.listen(ledger._engine, "begin", lambda _connection: begun.append("begin"))

    results = ledger.write_all([lambda: ledger.apply("A" * 52, Settle("chain"), START)] * 3)

    assert [type(result) for result in results] == [sa.exc.OperationalError] * 3
    assert len(begun) == 1
    holder.execute("rollback")
    assert ledger.apply("A" * 52, Settle("chain"), START)
    holder.close()


def test_a_txid_is_the_lock_between_processes(tmp_path: Path) -> None:
    ledger_with(tmp_path, INTENT)
    other = Ledger(tmp_path / "payments.sqlite3")

    with pytest.raises(IdentityTaken):
        other.write_intent(replace(INTENT, owner="other"))


def test_an_identifier_is_unique_and_its_absence_is_not(tmp_path: Path) -> None:
    first = replace(INTENT, identifier="x" * 16)
    ledger = ledger_with(tmp_path, first, replace(INTENT, txid="B" * 52), replace(INTENT, txid="C" * 52))

    with pytest.raises(IdentityTaken):
        ledger.write_intent(replace(first, txid="D" * 52))
    assert ledger.find("D" * 52) is None
    assert ledger.find_identifier("x" * 16) == first.txid
    assert ledger.find_identifier("y" * 16) is None


def test_one_question_separates_a_new_payment_from_a_known_one(tmp_path: Path) -> None:
    first = replace(INTENT, identifier="x" * 16)
    ledger = ledger_with(tmp_path, first)

    assert ledger.look_up("B" * 52, "y" * 16) == (None, None)
    assert ledger.look_up("B" * 52, None) == (None, None)
    assert ledger.look_up("B" * 52, "x" * 16) == (None, first.txid)
    assert ledger.look_up(first.txid, None) == (ledger.find(first.txid), None)
    assert ledger.look_up(first.txid, "x" * 16) == (ledger.find(first.txid), first.txid)


def test_a_body_is_stored_once_for_all_that_bought_it(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT, replace(INTENT, txid="B" * 52))

    with sqlite3.connect(tmp_path / "payments.sqlite3") as raw:
        count = raw.execute("select count(*) from bodies").fetchone()
    raw.close()

    assert count == (1,)
    ledger.close()


def test_a_body_that_is_dropped_within_a_batch_is_stored_again_for_who_buys_it_there(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    known_already = replace(INTENT, sha256="1" * 64)
    bought = replace(known_already, txid="B" * 52)

    results = ledger.write_all(
        [lambda: ledger.write_intent(known_already), lambda: ledger.purge(0), lambda: ledger.write_intent(bought)]
    )
    record = ledger.find(bought.txid)

    assert [type(result) for result in results] == [IdentityTaken, int, type(None)]
    assert record is not None
    assert record.content == bought.content
    ledger.close()


def test_a_settled_payment_is_never_refused_and_a_refused_one_may_be_found(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)

    steps = [
        ledger.apply(INTENT.txid, Refuse("reason", "before_broadcast"), START),
        ledger.apply(INTENT.txid, Settle("chain"), START),
        ledger.apply(INTENT.txid, Refuse("reason", "absent"), START),
        ledger.apply(INTENT.txid, Settle("chain"), START),
    ]

    assert steps == [True, True, False, False]


def test_an_attempt_is_not_taken_over_once_its_holder_began_the_next_one(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    assert ledger.begin_settle(INTENT.txid, "me", 1, "me")

    taken = ledger.begin_settle(INTENT.txid, "me", 1, "other")

    record = ledger.find(INTENT.txid)
    assert record is not None
    assert (taken, record.owner, record.settles) == (False, "me", 2)


def test_the_first_body_that_an_adopted_payment_gets_is_the_one_it_bought(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path)
    ledger.adopt(replace(INTENT, state="settled", evidence="adopted", sha256="", snapshot_id="", content=None))

    chosen = [
        ledger.attach_body(replace(INTENT, snapshot_id=snapshot, sha256=digest * 64, content=content, keep_round=keep))
        for snapshot, digest, content, keep in (
            ("000000000001", "1", b"{1}", 50_000),
            ("000000000002", "2", b"{2}", 60_000),
        )
    ]

    record = ledger.find(INTENT.txid)
    assert record is not None
    assert chosen == [True, False]
    assert (record.content, record.snapshot_id, record.sha256, record.keep_round) == (
        b"{1}", "000000000001", "1" * 64, 50_000,
    )  # fmt: skip


def test_of_two_processes_that_take_an_attempt_over_one_does(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)

    taken = [ledger.begin_settle(INTENT.txid, "me", 1, owner) for owner in ("other", "third")]

    assert taken == [True, False]
    assert ledger.begin_settle(INTENT.txid, "other", 2, "third")


@pytest.mark.parametrize(("rounds", "gone"), [(35_000, 0), (35_001, 1)])
def test_a_body_is_kept_35_000_rounds_past_last_valid(rounds: int, gone: int, tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    ledger.apply(INTENT.txid, Settle("facilitator"), START)

    dropped = ledger.purge(INTENT.last_valid + rounds)

    record = ledger.find(INTENT.txid)
    assert dropped == gone
    assert record is not None
    assert (record.content is None) == bool(gone)


def test_a_receipt_is_kept_as_long_as_its_body_and_no_longer(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    longer = replace(INTENT, txid="B" * 52, keep_round=INTENT.keep_round + 10)
    ledger.write_intent(longer)
    for record in (INTENT, longer):
        ledger.apply(record.txid, Settle("chain", record.txid), START)

    kept = []
    for passed in (INTENT.keep_round + 5, INTENT.keep_round + 15):
        ledger.purge(passed)
        kept.append(
            [(found.content, found.receipt) for txid in (INTENT.txid, "B" * 52) if (found := ledger.find(txid))]
        )

    assert kept == [[(b"{}", INTENT.txid), (b"{}", longer.txid)], [(None, None)] * 2]


def test_a_body_of_an_unknown_payment_is_never_dropped(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)

    assert ledger.purge(1 << 62) == 0


def test_a_payment_awaits_its_body_only_while_none_was_chosen() -> None:
    assert replace(INTENT, sha256="").awaits_body
    assert not INTENT.awaits_body


def test_deliveries_add_up(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)

    ledger.count_deliveries({INTENT.txid: 2})
    ledger.count_deliveries({INTENT.txid: 3})

    record = ledger.find(INTENT.txid)
    assert record is not None
    assert record.deliveries == 5


@pytest.mark.parametrize(
    "content", [b"this is not a database at all, only text" * 50, b"SQLite format 3\x00" + b"\xff" * 5_000]
)
def test_a_corrupt_ledger_is_one_clear_line_and_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "payments.sqlite3"
    path.write_bytes(content)

    with pytest.raises(LedgerUnreadable) as caught:
        Ledger(path)

    assert path.read_bytes() == content
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def wait_for_no_lock(connection: Any, _record: object) -> None:
    connection.execute("pragma busy_timeout=1")


def test_a_ledger_that_is_only_locked_is_not_to_be_replaced(tmp_path: Path) -> None:
    ledger_with(tmp_path).close()
    sa.event.listen(sa.Engine, "connect", wait_for_no_lock)
    with closing(sqlite3.connect(tmp_path / "payments.sqlite3")) as holder:
        holder.execute("begin immediate")

        with pytest.raises(LedgerUnreadable, match="locked") as caught:
            Ledger(tmp_path / "payments.sqlite3")
    sa.event.remove(sa.Engine, "connect", wait_for_no_lock)

    assert "restore" not in str(caught.value)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite3"
    with closing(sqlite3.connect(foreign)) as raw:
        raw.executescript("create table recipes (id)")

    with pytest.raises(LedgerUnreadable, match="another program's"):
        Ledger(foreign)


def test_a_folder_that_cannot_be_used_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(LedgerUnreadable, match="cannot be opened"):
        Ledger(tmp_path / "file" / "payments.sqlite3")


def test_a_refusal_is_noted_once_and_counts_no_more_after_a_second_settle(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    noted = [
        ledger.apply(INTENT.txid, NoteRefusal("insufficient_funds", at_round), START) for at_round in (1_000, 1_007)
    ]
    first = ledger.find(INTENT.txid)
    ledger.begin_settle(INTENT.txid, "me", 1, "me")

    closed = ledger.apply(INTENT.txid, Refuse("insufficient_funds", "before_broadcast"), START)

    second = ledger.find(INTENT.txid)
    assert (noted, closed) == ([True, False], False)
    assert first is not None
    assert second is not None
    assert (first.refused_since, second.refused_since, second.state) == (1_000, None, "intent")
    assert ledger.apply(INTENT.txid, Refuse("payment_expired", "absent"), START)


def test_what_is_closed_on_the_facilitators_word_is_listed_until_the_chain_says_it(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, *(replace(INTENT, txid=letter * 52) for letter in "ABCD"))
    ledger.apply("A" * 52, Settle("facilitator"), START)
    ledger.apply("B" * 52, Refuse("insufficient_funds", "before_broadcast"), START - timedelta(seconds=1))
    ledger.apply("C" * 52, Settle("chain"), START)
    before = [record.txid[0] for record in ledger.unproven()]

    reviewed = [
        ledger.apply("A" * 52, Review("facilitator", "chain"), START),
        ledger.apply("A" * 52, Review("facilitator", "chain"), START),
    ]
    landed = ledger.apply("B" * 52, Settle("chain"), START)

    assert (before, reviewed, landed) == (["B", "A"], [True, False], True)
    assert ledger.unproven() == []
    assert ledger.find("B" * 52).reason == "landed_after_refusal"  # type: ignore[union-attr]


def test_looks_read_their_own_index_and_not_every_payment(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    executed: list[tuple[str, Any]] = []

    def note(*args: Any) -> None:
        executed.append((args[2], args[3]))

    sa.event.listen(ledger._engine, "before_cursor_execute", note)
    ledger.unproven()
    ledger.open_payments()
    ledger.count_open()
    ledger.purge(0)
    sa.event.remove(ledger._engine, "before_cursor_execute", note)

    queries = [(text, values) for text, values in executed if not text.startswith("BEGIN")]
    plans = [
        str(ledger._reader.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all()) for text, values in queries
    ]
    unproven, unknown, count, purge = plans
    assert "USING INDEX payments_unproven" in unproven
    assert "USING INDEX payments_unknown" in unknown
    assert "payments_unknown" in count
    assert "payments_unknown" in purge
    assert "payments_kept" in purge
    assert "SCAN payments" not in purge.replace("SCAN payments USING INDEX", "")


def test_a_number_that_no_column_holds_fails_alone_in_its_batch(tmp_path: Path) -> None:
    ledger = ledger_with(tmp_path, INTENT)
    other = replace(INTENT, txid="B" * 52, last_valid=2**64 - 1)

    results = ledger.write_all(
        [lambda: ledger.apply(INTENT.txid, Settle("chain"), START), lambda: ledger.write_intent(other)]
    )

    assert results[0] is True
    assert isinstance(results[1], sa.exc.DataError)
    assert ledger.find(INTENT.txid).state == "settled"  # type: ignore[union-attr]
    assert ledger.find(other.txid) is None
