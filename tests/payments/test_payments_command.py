import csv
import hashlib
import io
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner, Result

from gateway.errors import LedgerUnreadable
from gateway.ledger.record import KEEP_ROUNDS, Refuse, Settle
from gateway.ledger.retired import OLD_ROUNDS
from gateway.ledger.store import Ledger
from gateway.ledger.view import LedgerView
from generator.cli import application
from tests.support.intents import INTENT
from tests.support.processes import emi_here
from tests.support.vaults import START

UNKNOWN, SETTLED, REFUSED = (letter * 52 for letter in "USR")
OVER = INTENT.last_valid + KEEP_ROUNDS + OLD_ROUNDS + 1


def payments(*args: str, folder: Path) -> Result:
    return CliRunner().invoke(application(), ["payments", *args], env={"EMI_STATE_DIR": str(folder)})


def three_payments(folder: Path) -> Ledger:
    ledger = Ledger(folder / "payments.sqlite3")
    for number, txid in enumerate((UNKNOWN, SETTLED, REFUSED)):
        ledger.write_intent(replace(INTENT, txid=txid, created_at=(START + timedelta(minutes=number)).timestamp()))
    ledger.apply(SETTLED, Settle("facilitator"), START)
    ledger.apply(REFUSED, Refuse("payment_expired", "absent"), START)
    return ledger


def test_list_shows_what_is_unknown_while_a_gateway_holds_the_ledger(tmp_path: Path) -> None:
    three_payments(tmp_path)

    done = payments("--state", "unknown", "--json", folder=tmp_path)

    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 0, done.stderr
    assert [(row["txid"], row["state"], row["created_at"]) for row in rows] == [
        (UNKNOWN, "unknown", "2026-11-20T12:00:00Z")
    ]


def test_list_shows_a_refused_payment_that_landed(tmp_path: Path) -> None:
    ledger = three_payments(tmp_path)
    ledger.apply(REFUSED, Settle("chain"), START)
    ledger.close()

    done = payments("--state", "settled", folder=tmp_path)

    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["landed_after_refusal", "-"]


def test_show_and_export_after_the_gateway_ended(tmp_path: Path) -> None:
    three_payments(tmp_path).close()

    shown = payments(REFUSED, folder=tmp_path)
    exported = payments("--export", "csv", folder=tmp_path)
    missing = emi_here("payments", "X" * 52, cwd=tmp_path, EMI_STATE_DIR=str(tmp_path))

    rows = list(csv.DictReader(io.StringIO(exported.stdout)))
    assert "payment_expired" in shown.stdout
    assert [(row["txid"], row["state"]) for row in rows] == [
        (UNKNOWN, "unknown"), (SETTLED, "settled"), (REFUSED, "refused"),
    ]  # fmt: skip
    assert missing.returncode == 1
    assert missing.stderr.count("\n") == 1


def test_one_payment_is_shown_as_json_too(tmp_path: Path) -> None:
    three_payments(tmp_path).close()

    shown = json.loads(payments(SETTLED, "--json", folder=tmp_path).stdout)

    assert (shown["txid"], shown["state"], shown["evidence"]) == (SETTLED, "settled", "facilitator")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("list",), "'list' is not a transaction id, which has 52 letters and digits; `emi payments` lists them"),
        ((UNKNOWN, "--state", "unknown"), "--state and --limit are for the list"),
        ((UNKNOWN, "--export", "csv"), "--export csv writes every payment"),
        (("--limit", "3", "--export", "jsonl"), "--export jsonl writes every payment"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    done = emi_here("payments", *options, cwd=tmp_path, EMI_STATE_DIR=str(tmp_path))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"emi: {words}")


def test_a_view_changes_nothing(tmp_path: Path) -> None:
    three_payments(tmp_path).close()

    with LedgerView(tmp_path / "payments.sqlite3") as view, pytest.raises(sa.exc.OperationalError, match="readonly"):
        view._connection.exec_driver_sql("update payments set state = 'settled'")


def test_without_a_ledger_a_view_says_so_and_makes_none(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnreadable, match="no payments ledger"):
        LedgerView(tmp_path / "payments.sqlite3")

    assert list(tmp_path.iterdir()) == []


def test_a_cell_that_a_spreadsheet_would_run_is_made_text(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    ledger.write_intent(INTENT)
    ledger.apply(INTENT.txid, Refuse("=1+cmd", "absent"), START)
    ledger.close()

    done = payments("--export", "csv", folder=tmp_path)

    assert "'=1+cmd" in done.stdout


@pytest.mark.parametrize("command", [("--json",), (INTENT.txid,), ("--export", "csv")])
def test_a_payment_identifier_is_never_shown(command: tuple[str, ...], tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    ledger.write_intent(replace(INTENT, identifier="secret0123456789"))
    ledger.close()

    done = payments(*command, folder=tmp_path)

    assert done.exit_code == 0
    assert "secret" not in done.stdout


def test_payments_of_long_ago_are_exported_and_the_list_says_where_they_are(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    digest = hashlib.sha256(b"{}").hexdigest()
    ledger.write_intent(replace(INTENT, txid="A" * 52, sha256=digest))
    ledger.apply("A" * 52, Settle("chain"), START)
    ledger.purge(OVER)
    assert ledger.retire(OVER, tmp_path) == 1
    ledger.close()

    listed = payments(folder=tmp_path)
    exported = payments("--export", "csv", folder=tmp_path)

    assert "more than about 90 days ago are not listed" in listed.stderr
    (row,) = csv.DictReader(io.StringIO(exported.stdout))
    assert (row["txid"], row["state"], row["created_at"]) == ("A" * 52, "settled", "")
    assert row["closed_at"] == START.strftime("%Y-%m-%dT%H:%M:%SZ")
