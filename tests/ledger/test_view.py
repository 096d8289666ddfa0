"""A look into the ledger: what it lists, in which order, and why it cannot be read."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import LedgerUnreadable
from gateway.ledger.schema import OLDEST
from gateway.ledger.store import Ledger
from gateway.ledger.tables import REVISION
from gateway.ledger.view import LedgerView, known_of
from tests.support.intents import INTENT

NAME = "payments.sqlite3"
STAMP = "create table payments (id); create table alembic_version (version_num)"
OF_A_NEWER = "install the version that wrote it, or restore the backup made before that upgrade"
OF_AN_OLDER = "start commit 78f9e24c on it once, or list and export its payments with the version that wrote it"


def txid(number: int) -> str:
    return f"{number:052d}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a ledger of five payments, one a second but for the last two, of which every other is settled."""
    ledger = Ledger(tmp_path / NAME)
    for number, second in enumerate((3, 1, 2, 4, 4)):
        state = "settled" if number % 2 else "intent"
        ledger.write_intent(replace(INTENT, txid=txid(number), state=state, created_at=float(second)))
    ledger.close()
    return tmp_path / NAME


def complaint(path: Path) -> str:
    with pytest.raises(LedgerUnreadable) as caught:
        LedgerView(path)
    return str(caught.value)


def run_sql(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(script)


@pytest.mark.parametrize(
    ("state", "limit", "numbers"),
    [(None, 9, [3, 4, 0, 2, 1]), (None, 2, [3, 4]), ("settled", 9, [3, 1]), ("intent", 2, [4, 0]), ("refused", 9, [])],
)
def test_the_newest_payments_of_a_state_are_listed_first(
    state: str | None, limit: int, numbers: list[int], path: Path
) -> None:
    with LedgerView(path) as view:
        rows = view.rows(state, limit)

    assert [row["txid"] for row in rows] == [txid(number) for number in numbers]


def test_an_export_has_every_payment_the_oldest_first_with_every_column(path: Path) -> None:
    with LedgerView(path) as view:
        rows = list(view.all_rows())
        one = view.row(txid(2))
        unknown = view.row(txid(7))

    assert [row["txid"] for row in rows] == [txid(number) for number in (1, 2, 0, 3, 4)]
    with closing(sqlite3.connect(path)) as raw:
        columns = [name for _, name, *_ in raw.execute("pragma table_info(payments)")]
    assert sorted(rows[0]) == sorted(columns)
    assert (one, unknown) == (rows[1], None)


def test_which_payments_a_ledger_knows_is_none_where_there_is_no_ledger(path: Path, tmp_path: Path) -> None:
    asked = [txid(number) for number in (1, 4, 7)]

    assert known_of(path, asked) == {txid(1), txid(4)}
    assert known_of(f"sqlite:///{path}", asked) == {txid(1), txid(4)}
    assert known_of(tmp_path / "none.sqlite3", asked) == set()
    assert not (tmp_path / "none.sqlite3").exists()


def test_a_text_that_cannot_be_a_transaction_names_nothing(path: Path) -> None:
    with LedgerView(path) as view:
        assert view.row("x") is None
        assert view.row("") is None


def test_where_there_is_no_ledger_a_look_says_so_and_makes_none(tmp_path: Path) -> None:
    text = complaint(tmp_path / NAME)

    assert text == f"there is no payments ledger at {tmp_path / NAME} yet"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("create table recipes (id)", "it is another program's database"),
        ("create table payments (id)", "it is another program's database"),
        ("create table alembic_version (version_num)", "it is another program's database"),
        (STAMP, "it has schema '', which is none of this program's: look whose database it is"),
        (
            f"{STAMP}; insert into alembic_version values ('9999')",
            f"it has schema 9999, newer than {REVISION}, the newest that this program knows: {OF_A_NEWER}",
        ),
        (
            f"{STAMP}; insert into alembic_version values ('0001')",
            f"it has schema 0001, older than {OLDEST}, the oldest that this program can upgrade: {OF_AN_OLDER}",
        ),
    ],
)
def test_what_is_not_a_ledger_of_this_program_is_refused_with_its_reason(
    script: str, reason: str, tmp_path: Path
) -> None:
    run_sql(tmp_path / NAME, script)

    assert complaint(tmp_path / NAME) == f"the payments ledger {tmp_path / NAME} cannot be read: {reason}"


def test_a_look_changes_nothing_and_may_not(path: Path) -> None:
    before = path.read_bytes()

    with LedgerView(path) as view:
        view.rows(None, 9)
        with pytest.raises(Exception, match="readonly"):
            view._connection.exec_driver_sql("DELETE FROM payments")

    assert path.read_bytes() == before


def test_columns_that_an_older_schema_lacks_are_left_out(path: Path) -> None:
    run_sql(path, "alter table payments drop column delivered_round")

    with LedgerView(path) as view:
        rows = view.rows(None, 9)

    assert "delivered_round" not in view.columns
    assert set(rows[0]) == set(view.columns)
