import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from gateway.errors import LedgerUnreadable
from gateway.ledger.store import Ledger
from gateway.ledger.tables import REVISION, metadata
from tests.ledger.test_ledger import INTENT, ledger_with

OLD_SCHEMA = """
create table meta (schema_version integer not null);
insert into meta values (1);
create table bodies (sha256 varchar(64) not null primary key, content blob not null);
create table payments (
  txid varchar(52) not null primary key, state varchar(8) not null, product varchar not null, path varchar not null,
  cache_control varchar not null, snapshot_id varchar(12) not null, sha256 varchar(64) not null,
  price_atomic integer not null, payer varchar(58) not null, network varchar not null,
  identifier varchar(128), last_valid integer not null, intent_round integer, watched_round integer,
  owner varchar not null, settles integer not null, settling_until float not null, reason varchar, evidence varchar,
  created_at float not null, closed_at float, keep_until float not null, deliveries integer not null,
  UNIQUE (identifier));
create index payments_open on payments (state, created_at);
insert into bodies values ('d', x'7b7d');
insert into payments values ('OLD', 'settled', 'p', '/p', 'no-store', 's', 'd', 10000, 'P', 'n', null, 9, 1, 1, 'o', 1,
  0.0, null, 'facilitator', 1.0, 2.0, 3.0, 4);
"""


def old_ledger(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.executescript(OLD_SCHEMA)
    raw.close()


def test_an_old_ledger_is_migrated_and_keeps_every_payment(tmp_path: Path) -> None:
    path = tmp_path / "payments.sqlite3"
    old_ledger(path)

    record = Ledger(path).find("OLD")

    assert record is not None
    assert (record.state, record.content, record.deliveries) == ("settled", b"{}", 4)
    assert record.keep_round == record.last_valid + 35_000


def test_the_tables_are_what_the_newest_migration_leaves(tmp_path: Path) -> None:
    old_ledger(tmp_path / "old.sqlite3")
    Ledger(tmp_path / "old.sqlite3").close()
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'old.sqlite3'}")

    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection, opts={"compare_type": False}), metadata)
    engine.dispose()

    assert differences == []


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
