"""Backups of databases in PostgreSQL, and into an S3 that is not ours."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.ledger.record import Settle
from gateway.ledger.store import Ledger
from generator.record.memory.store import Memory
from tests.support.intents import INTENT
from tests.support.processes import emi
from tests.support.servers import make_bucket, make_database, postgres, s3
from tests.support.states.packed import unpacked

pytestmark = pytest.mark.outside
WHEN = datetime(2026, 11, 25, tzinfo=UTC)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as running:
        yield running.url


def settings(memory: str, ledger: str) -> dict[str, Any]:
    return {"EMI_STATE_DIR": "state", "EMI_MEMORY_URL": memory, "EMI_LEDGER_URL": ledger}


def sell_one(ledger_url: str) -> None:
    ledger = Ledger(ledger_url)
    ledger.write_intent(replace(INTENT, sha256="44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"))
    ledger.apply(INTENT.txid, Settle("facilitator"), WHEN)
    ledger.close()


def test_databases_in_postgresql_are_dumped_verified_and_put_back(server: str, tmp_path: Path) -> None:
    urls = [make_database(server, name) for name in ("memory", "ledger", "memory_again", "ledger_again")]
    Memory.open(urls[0]).close()
    sell_one(urls[1])

    made = emi("backup", "kept", cwd=tmp_path, **settings(urls[0], urls[1]))
    verified = emi("restore", "kept", "--dry-run", cwd=tmp_path, **settings(urls[0], urls[1]))
    over = emi("restore", "kept", "--unsigned", cwd=tmp_path, **settings(urls[0], urls[1]))
    restored = emi("restore", "kept", "--unsigned", cwd=tmp_path, **settings(urls[2], urls[3]))
    listed = emi("payments", "--json", cwd=tmp_path, **settings(urls[2], urls[3]))

    assert (made.returncode, made.stderr) == (0, "")
    assert "payments ledger: 1 settled; 1 bodies, each of its digest" in verified.stdout, verified.stderr
    assert "has tables already" in over.stderr
    assert restored.returncode == 0, restored.stderr
    assert json.loads(listed.stdout)["state"] == "settled"


def test_an_object_store_keeps_backups_that_verify_and_come_back(tmp_path: Path) -> None:
    state = unpacked("78f9e24c", tmp_path)
    with s3(tmp_path / "s3") as (environment, _):
        make_bucket(environment, "kept")
        found: dict[str, Any] = environment
        made = emi("backup", "s3://kept/emi", cwd=tmp_path, EMI_STATE_DIR="state", **found)
        verified = emi("restore", "s3://kept/emi", "--dry-run", cwd=tmp_path, EMI_STATE_DIR="state", **found)
        restored = emi("restore", "s3://kept/emi", "--unsigned", cwd=tmp_path, EMI_STATE_DIR="fresh", **found)

    assert (made.returncode, made.stderr) == (0, "")
    assert "405 log entries" in verified.stdout, verified.stderr
    assert restored.returncode == 0, restored.stderr
    assert txids(state) == txids(tmp_path / "fresh") != []


def txids(folder: Path) -> list[tuple[str]]:
    with contextlib.closing(sqlite3.connect(folder / "payments.sqlite3")) as ledger:
        found: list[tuple[str]] = ledger.execute("SELECT txid FROM payments ORDER BY 1").fetchall()
    return found
