"""Payments of long ago leave the ledger for a small table; their txid stays spent, their whole rows are in files."""

import base64
import csv
import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.errors import IdentityTaken, LedgerUnavailable
from gateway.ledger.audit import audit_ledger
from gateway.ledger.record import KEEP_ROUNDS, Change, Record, Refuse, Settle
from gateway.ledger.retired import OLD_ROUNDS
from gateway.ledger.store import Ledger
from gateway.ledger.view import LedgerView
from tests.support.intents import INTENT

BODY = hashlib.sha256(b"{}").hexdigest()
CLOSED = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
OVER = INTENT.last_valid + KEEP_ROUNDS + OLD_ROUNDS + 1


def txid(number: int) -> str:
    return base64.b32encode(number.to_bytes(32, "big")).decode().rstrip("=")


def intent(number: int, **values: object) -> Record:
    return replace(INTENT, txid=txid(number), **{"sha256": BODY, **values})  # type: ignore[arg-type]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """One payment of each kind: settled, refused, unproven, refused before a broadcast, unknown, adopted."""
    made = Ledger(tmp_path / "payments.sqlite3")
    changes: dict[int, Change] = {
        1: Settle("chain"),
        2: Refuse("expired", "absent"),
        3: Settle("facilitator"),
        4: Refuse("x", "before_broadcast"),
    }
    for number in range(1, 6):
        made.write_intent(intent(number, identifier=f"identifier-of-{number:04}"))
        if number in changes:
            made.apply(txid(number), changes[number], CLOSED)
    made.adopt(intent(6, state="settled", evidence="adopted", sha256="", content=None, keep_round=0))
    made.purge(OVER)
    return made


def test_only_what_is_decided_for_good_leaves(ledger: Ledger, tmp_path: Path) -> None:
    assert ledger.retire(OVER - 1, tmp_path) == 0

    assert ledger.retire(OVER, tmp_path) == 2

    with LedgerView(tmp_path / "payments.sqlite3") as view:
        assert {row["txid"] for row in view.all_rows()} == {txid(number) for number in (3, 4, 5, 6)}
    assert ledger.retire(OVER, tmp_path) == 0
    assert ledger.find(txid(2)) is None


def test_a_retired_payment_is_known_by_its_txid_and_cannot_be_taken_in_again(ledger: Ledger, tmp_path: Path) -> None:
    ledger.retire(OVER, tmp_path)

    found = ledger.find(txid(1))

    assert found is not None
    assert (found.state, found.product, found.price_atomic) == ("settled", INTENT.product, INTENT.price_atomic)
    assert (found.is_retired, found.content, found.identifier) == (True, None, None)
    assert found.closed_at == CLOSED.timestamp()
    with pytest.raises(IdentityTaken):
        ledger.adopt(intent(1, sha256="", content=None))
    with LedgerView(tmp_path / "payments.sqlite3") as view:
        assert view.row(txid(1)) is not None
        assert view.row(txid(7)) is None
    assert "1 settled long ago" in str(audit_ledger(tmp_path / "payments.sqlite3"))


def test_an_identifier_of_long_ago_is_free_for_a_payment_that_is_signed_today(ledger: Ledger, tmp_path: Path) -> None:
    old = "identifier-of-0001"
    assert ledger.find_identifier(old) == txid(1)

    ledger.retire(OVER, tmp_path)
    ledger.write_intent(intent(8, identifier=old))
    ledger.apply(txid(8), Settle("chain"), CLOSED)

    assert ledger.find_identifier(old) == txid(8)
    assert [record.is_retired for number in (1, 8) if (record := ledger.find(txid(number)))] == [True, False]


def test_the_view_has_what_is_kept_of_payments_of_long_ago(ledger: Ledger, tmp_path: Path) -> None:
    with LedgerView(tmp_path / "payments.sqlite3") as view:
        assert (view.has_moved_rows, list(view.moved_rows())) == (False, [])
    ledger.retire(OVER, tmp_path)

    with LedgerView(tmp_path / "payments.sqlite3") as view:
        (moved,) = view.moved_rows()
        assert view.has_moved_rows
    assert (moved["txid"], moved["state"], moved["price_atomic"]) == (txid(1), "settled", INTENT.price_atomic)
    assert (moved["closed_at"], moved["created_at"], moved["payer"]) == (CLOSED.timestamp(), None, None)


def test_whole_rows_are_in_the_file_of_their_month(ledger: Ledger, tmp_path: Path) -> None:
    ledger.retire(OVER, tmp_path)

    with (tmp_path / "settled-2026-11.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["txid"], row["state"], row["payer"]) for row in rows] == [
        (txid(1), "settled", INTENT.payer),
        (txid(2), "refused", INTENT.payer),
    ]
    assert (tmp_path / "settled-2026-11.csv").stat().st_mode & 0o777 == 0o600


def test_nothing_leaves_that_could_not_be_exported(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be exported to"):
        ledger.retire(OVER, tmp_path / "missing")

    found = ledger.find(txid(1))
    assert found is not None
    assert not found.is_retired
