"""The audit of a copy of the ledger: what it counts, and what it finds wrong."""

import hashlib
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import LedgerUnreadable
from gateway.ledger.audit import LedgerFigures, audit_ledger
from gateway.ledger.store import Ledger
from tests.support.intents import INTENT

NAME = "payments.sqlite3"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a ledger of three payments that bought two bodies."""
    ledger = Ledger(tmp_path / NAME)
    for number, (content, state) in enumerate(((b"{1}", "settled"), (b"{2}", "settled"), (b"{2}", "intent"))):
        digest = hashlib.sha256(content).hexdigest()
        bought = replace(INTENT, txid=f"{number:052d}", state=state, sha256=digest, content=content)
        ledger.write_intent(replace(bought, intent_round=1_000 + number))
    ledger.close()
    return tmp_path / NAME


def test_states_and_bodies_are_counted_and_the_newest_round_is_named(path: Path) -> None:
    found = audit_ledger(path)

    assert (dict(found.states), found.bodies, found.newest_round) == ({"settled": 2, "intent": 1}, 2, 1_002)
    assert str(found) == "1 intent, 2 settled; 2 bodies, each of its digest"


def test_a_ledger_without_payments_holds_nothing(tmp_path: Path) -> None:
    Ledger(tmp_path / NAME).close()

    found = audit_ledger(tmp_path / NAME)

    assert LedgerFigures() == LedgerFigures(Counter(), bodies=0, old=0, newest_round=0) == found
    assert (found.newest_round, str(found)) == (0, "no payments; 0 bodies, each of its digest")


def test_a_body_that_is_not_the_one_that_was_sold_is_named_by_its_digest(path: Path) -> None:
    digest = hashlib.sha256(b"{2}").hexdigest()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("update bodies set content = x'00' where sha256 = ?", (digest,))
        raw.commit()

    with pytest.raises(LedgerUnreadable) as caught:
        audit_ledger(path)

    assert str(caught.value) == f"the body {digest} of the payments ledger is not the one that was sold"


def test_a_damaged_ledger_is_named_with_what_is_wrong(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("pragma wal_checkpoint(truncate)")
        (page,) = raw.execute("select rootpage from sqlite_master where name = 'payments_kept'").fetchone()
        (size,) = raw.execute("pragma page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xaa" * size)

    with pytest.raises(LedgerUnreadable, match=r"^the payments ledger .+ is damaged: .+"):
        audit_ledger(path)
