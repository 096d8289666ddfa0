import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from structlog.testing import capture_logs

from gateway.errors import LedgerUnreadable
from gateway.ledger import engine, schema
from gateway.ledger.record import KEEP_ROUNDS
from gateway.ledger.schema import OLDEST
from gateway.ledger.store import Ledger
from gateway.ledger.tables import REVISION, metadata
from gateway.ledger.view import LedgerView
from tests.ledger.test_ledger import ledger_with
from tests.support.intents import INTENT

NAME = "payments.sqlite3"
NEVER = 1_000
MIGRATIONS = Path(__file__).parents[2] / "gateway" / "ledger" / "migrations"
# Columns of the oldest schema in their order.
PAID = ("PAID", "settled", "p", "/p", "no-store", "s", "d", 10_000, "P", "n", None, 9, 1, 1, "o", 1,
        None, "facilitator", 1.0, 2.0, 4, None, 9 + KEEP_ROUNDS, 9, None)  # fmt: skip
UNKNOWN = ("UNKNOWN", "intent", *PAID[2:11], 1_100, 1_000, 1_000, "host:1:2:abcd", 1,
           None, None, 5.0, None, 0, None, 1_100 + KEEP_ROUNDS, None, None)  # fmt: skip
NEXT = "0009"
NEXT_MIGRATION = f"""\"\"\"A column that a later version adds.\"\"\"

import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{REVISION}"


def upgrade() -> None:
    op.add_column("payments", sa.Column("memo", sa.String))
    op.create_index("payments_memo", "payments", ["memo"])
    op.execute("UPDATE payments SET memo = txid")
"""


def config() -> Config:
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    return made


def make_old(url: str) -> None:
    """Make a ledger of the oldest schema that is upgraded, with a settled payment and one whose outcome is unknown."""
    oldest, engine = config(), sa.create_engine(url)
    with engine.begin() as connection:
        oldest.attributes["connection"] = connection
        command.upgrade(oldest, OLDEST)
        tables = sa.MetaData()
        tables.reflect(connection)
        connection.execute(tables.tables["bodies"].insert().values(("d", b"{}")))
        for row in (PAID, UNKNOWN):
            connection.execute(tables.tables["payments"].insert().values(row))
    engine.dispose()


def old_ledger(folder: Path) -> Path:
    make_old(f"sqlite:///{folder / NAME}")
    return folder / NAME


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as raw:
        return list(raw.iterdump())


def set_schema(path: Path, version: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("update alembic_version set version_num = ?", (version,))
        raw.commit()


@contextmanager
def failing_at(statement: int) -> Iterator[list[str]]:
    """Fail one statement of every database, counted from the first that writes; yield what was executed before."""
    seen: list[str] = []

    def execute(*arguments: Any) -> None:
        text = arguments[2]
        if not text.lstrip().upper().startswith(("SELECT", "PRAGMA", "BEGIN")):
            seen.append(text)
            if len(seen) > statement:
                raise sqlite3.OperationalError("the power went")

    sa.event.listen(sa.Engine, "before_cursor_execute", execute)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", execute)


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program be one with a later schema, in a folder with a percent sign."""
    folder = tmp_path / "100%(free)s"
    shutil.copytree(Path(engine.__file__).parent, folder)
    (folder / "migrations" / "versions" / f"{NEXT}_memo.py").write_text(NEXT_MIGRATION)
    monkeypatch.setattr(engine, "__file__", str(folder / "engine.py"))
    for module in (engine, schema):
        monkeypatch.setattr(module, "REVISION", NEXT)


def test_the_newest_migration_and_the_oldest_are_those_that_the_program_names() -> None:
    script = ScriptDirectory.from_config(config())

    assert (script.get_heads(), script.get_bases()) == ([REVISION], [OLDEST])


@pytest.mark.usefixtures("later")
def test_an_upgraded_ledger_keeps_every_payment_and_its_body(tmp_path: Path) -> None:
    with capture_logs() as logs:
        ledger = Ledger(old_ledger(tmp_path))

    paid = ledger.find("PAID")
    assert paid is not None
    assert (paid.state, paid.content, paid.deliveries, paid.payer) == ("settled", b"{}", 4, "P")
    assert paid.keep_round == paid.last_valid + KEEP_ROUNDS
    assert paid.delivered_round == paid.last_valid
    [unknown] = ledger.open_payments()
    assert (unknown.txid, unknown.owner, unknown.intent_round) == ("UNKNOWN", "host:1:2:abcd", 1_000)
    assert unknown.delivered_round is None
    assert [(line["before"], line["after"]) for line in logs] == [(REVISION, NEXT)]


def test_the_migrations_make_the_tables_and_indexes_of_a_new_ledger(tmp_path: Path) -> None:
    path = old_ledger(tmp_path)
    Ledger(path).close()
    engine = sa.create_engine(f"sqlite:///{path}")

    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()

    assert differences == []


def written_for(url: str) -> list[str]:
    """Return the statements that make the ledger in a database, without asking one."""
    statements: list[str] = []
    dialect: sa.Dialect = sa.make_url(url).get_dialect()()

    def note(statement: Any, *_: object) -> None:
        statements.append(str(statement.compile(dialect=dialect)))

    metadata.create_all(sa.create_mock_engine(url, note), checkfirst=False)
    return statements


def test_postgres_gets_the_same_indexes_and_gives_out_no_numbers_of_its_own() -> None:
    of_sqlite, of_postgres = written_for("sqlite://"), written_for("postgresql://")

    indexes = [text for text in of_sqlite if "INDEX" in text]
    assert indexes == [text for text in of_postgres if "INDEX" in text]
    assert sum(" WHERE " in text for text in indexes) == 3
    assert not any("SERIAL" in text for text in of_postgres)


@pytest.mark.usefixtures("later")
def test_an_upgraded_ledger_takes_payments_and_opens_again(tmp_path: Path) -> None:
    old_ledger(tmp_path)
    ledger_with(tmp_path, INTENT).close()

    again = Ledger(tmp_path / NAME)

    assert {record.txid for record in again.open_payments()} == {INTENT.txid, "UNKNOWN"}


@pytest.mark.usefixtures("later")
def test_an_upgrade_that_ends_at_any_statement_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    path = old_ledger(tmp_path)
    whole = shutil.copy(path, tmp_path / "whole.sqlite3")
    with failing_at(NEVER) as statements:
        Ledger(whole).close()
    before = dump(path)

    for number in range(len(statements)):
        with failing_at(number), pytest.raises(LedgerUnreadable, match="the power went"):
            Ledger(path)
        assert dump(path) == before

    assert len(statements) > 3
    assert Ledger(path).find("PAID") is not None


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0099", f"has schema 0099, newer than {REVISION}, the newest that this program knows: install the version"),
        (
            "0007",
            f"has schema 0007, older than {OLDEST}, the oldest that this program can upgrade: start commit 78f9e24c",
        ),
        ("x'; drop", "has schema \"x'; drop\", which is none of this program's"),
    ],
)
def test_a_schema_without_an_upgrade_is_one_true_line_and_stays_as_it_is(
    version: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / NAME
    ledger_with(tmp_path, INTENT).close()
    set_schema(path, version)
    before = dump(path)

    with pytest.raises(LedgerUnreadable) as gateway:
        Ledger(path)
    with pytest.raises(LedgerUnreadable) as view:
        LedgerView(path)

    assert said in str(gateway.value)
    assert said in str(view.value)
    assert dump(path) == before


@pytest.mark.usefixtures("later")
def test_payments_of_an_older_schema_are_shown_without_a_change(tmp_path: Path) -> None:
    path = old_ledger(tmp_path)
    before = dump(path)

    with LedgerView(path) as view:
        shown = list(view.all_rows())
        paid = view.row("PAID")

    assert [(row["txid"], row["state"], row["payer"]) for row in shown] == [
        ("PAID", "settled", "P"), ("UNKNOWN", "intent", "P"),
    ]  # fmt: skip
    assert paid == shown[0]
    assert set(view.columns) == set(shown[0])
    assert dump(path) == before
