import sqlite3
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from gateway.errors import LedgerUnreadable
from gateway.ledger.store import Ledger
from gateway.ledger.tables import REVISION
from tests.ledger.test_ledger import INTENT, ledger_with


def test_the_revision_that_needs_no_migration_is_the_newest() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[2] / "gateway" / "ledger" / "migrations"))

    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


def test_a_newer_ledger_is_one_clear_line_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "payments.sqlite3"
    ledger_with(tmp_path, INTENT).close()
    raw = sqlite3.connect(path)
    raw.execute("update alembic_version set version_num = '0099'")
    raw.commit()
    before = list(raw.iterdump())

    with pytest.raises(LedgerUnreadable, match=r"has schema 0099, this program knows up to 0005; it was left"):
        Ledger(path)

    assert list(raw.iterdump()) == before
    raw.close()
