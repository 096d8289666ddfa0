"""What opening a ledger makes, checks and says: each sentence as the operator reads it."""

import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from gateway.errors import LedgerUnreadable
from gateway.ledger.damage import is_corruption, quick_check
from gateway.ledger.engine import CONNECT_OPTIONS, LOCK_MS, STATEMENT_MS, Sockets, postgres_engine
from gateway.ledger.store import DEADLOCK, Ledger
from gateway.ledger.thread import WAIT_S
from tests.support.intents import INTENT

NAME = "payments.sqlite3"


def complaint(path: Path) -> str:
    """Return why a ledger cannot be opened, without the beginning that names it."""
    with pytest.raises(LedgerUnreadable) as caught:
        Ledger(path)
    beginning = f"the payments ledger {path} "
    assert str(caught.value).startswith(beginning)
    return str(caught.value).removeprefix(beginning)


def run_sql(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(script)


def trees(path: Path) -> set[tuple[str, str]]:
    """Return each order in which the file keeps all rows of payments and bodies: by rowid, and by unique columns."""
    found: set[tuple[str, str]] = set()
    with closing(sqlite3.connect(path)) as raw:
        for table in ("payments", "bodies"):
            found.add((table, "rowid"))
            for index, origin in raw.execute(f"SELECT name, origin FROM pragma_index_list('{table}')").fetchall():
                if origin in {"pk", "u"}:
                    columns = raw.execute(f"SELECT name FROM pragma_index_info('{index}')").fetchall()
                    found |= {(table, name) for (name,) in columns}
    return found


def test_a_ledger_is_made_with_its_folders_for_no_one_else_to_read(tmp_path: Path) -> None:
    path = tmp_path / "state" / "ledger" / NAME

    Ledger(path).close()
    Ledger(path).close()

    assert (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_lock_is_waited_for_four_seconds_and_less_than_a_caller_waits(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / NAME)

    waits_ms = ledger._writer.exec_driver_sql("PRAGMA busy_timeout").scalar()

    assert waits_ms == 4_000
    assert waits_ms < 1_000 * WAIT_S


def test_opening_reads_both_ends_of_every_tree(tmp_path: Path) -> None:
    Ledger(tmp_path / NAME).close()
    executed: list[str] = []

    def note(*arguments: object) -> None:
        executed.append(str(arguments[2]))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    Ledger(tmp_path / NAME).close()
    sa.event.remove(sa.Engine, "before_cursor_execute", note)

    expected = {f"SELECT {edge}({column}) FROM {table}" for table, column in trees(tmp_path / NAME)
                for edge in ("min", "max")}  # fmt: skip
    assert {text for text in executed if text.startswith(("SELECT min", "SELECT max"))} == expected


def test_what_is_not_a_database_is_to_be_restored_or_moved(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"only text, and a lot of it" * 200)

    text = complaint(tmp_path / NAME)

    assert text == "cannot be read (file is not a database); it was left as it is: restore or move it"


def test_a_ledger_that_another_program_holds_is_not_to_be_restored(tmp_path: Path) -> None:
    Ledger(tmp_path / NAME).close()
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as holder:
        holder.execute("begin immediate")
        sa.event.listen(sa.Engine, "connect", _wait_for_no_lock)
        text = complaint(tmp_path / NAME)
        sa.event.remove(sa.Engine, "connect", _wait_for_no_lock)

    assert text == "cannot be read (database is locked); it was left as it is"


def _wait_for_no_lock(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("pragma busy_timeout=1")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("create table recipes (id)", "is another program's database"),
        (
            "create table alembic_version (version_num)",
            "has schema '', which is none of this program's: look whose database it is",
        ),
    ],
)
def test_a_database_of_another_program_is_left_as_it_is(script: str, reason: str, tmp_path: Path) -> None:
    run_sql(tmp_path / NAME, script)

    assert complaint(tmp_path / NAME) == f"{reason}; it was left as it is"


def test_a_folder_in_the_place_of_a_file_is_named_with_the_systems_reason(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()

    assert complaint(tmp_path / NAME) == "cannot be opened: Is a directory"


@pytest.mark.parametrize(
    ("code", "corrupt"),
    [
        (sqlite3.SQLITE_CORRUPT, True),
        (sqlite3.SQLITE_CORRUPT | 1 << 8, True),  # its extended codes: of a virtual table, of an index
        (sqlite3.SQLITE_NOTADB, True),
        (sqlite3.SQLITE_BUSY, False),
        (sqlite3.SQLITE_FULL, False),
    ],
)
def test_corruption_is_recognised_by_sqlites_code(code: int, corrupt: bool) -> None:
    error = sqlite3.DatabaseError("of some kind")
    error.sqlite_errorcode = code

    assert is_corruption(error) is corrupt


@pytest.mark.parametrize(("state", "corrupt"), [("XX001", True), ("XX002", True), ("XX000", False), (DEADLOCK, False)])
def test_corruption_is_recognised_by_postgres_state(state: str, corrupt: bool) -> None:
    error = _PostgresError("of some kind")
    error.sqlstate = state

    assert is_corruption(error) is corrupt
    assert not is_corruption(OSError("of no database"))


class _PostgresError(Exception):
    sqlstate = ""


def test_a_file_that_is_not_a_database_is_what_a_check_says(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"only text, and a lot of it" * 200)
    engine = sa.create_engine(f"sqlite:///{tmp_path / NAME}")

    with engine.connect() as connection:
        assert quick_check(connection) == "file is not a database"
    engine.dispose()


def test_a_check_that_meets_a_lock_says_nothing_of_the_file(tmp_path: Path) -> None:
    Ledger(tmp_path / NAME).close()
    engine = sa.create_engine(f"sqlite:///{tmp_path / NAME}", connect_args={"timeout": 0})
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as holder:
        holder.execute("pragma locking_mode=exclusive")
        holder.execute("begin exclusive")

        with engine.connect() as connection, pytest.raises(sa.exc.OperationalError):
            quick_check(connection)
    engine.dispose()


# Connections to PostgreSQL, without one


def test_a_database_whose_driver_is_missing_is_named_without_its_password() -> None:
    with pytest.raises(LedgerUnreadable) as caught:
        postgres_engine("postgresql+pg8000://emi:secret@db.example.org/ledger")

    named = "postgresql+pg8000://emi:***@db.example.org/ledger"
    extra = "needs the extra `postgres` of this package: pip install -r requirements-postgres.lock"
    assert str(caught.value) == f"the payments ledger {named} {extra}"


class FakeConnection:
    """A connection as psycopg's: a socket, statements, and a server that may refuse them."""

    def __init__(self, *, refuses: bool = False) -> None:
        self._ours, self.server = socket.socketpair()
        self.refuses = refuses
        self.statements: list[str] = []
        self.commits = 0
        self.closed = False

    def fileno(self) -> int:
        return self._ours.fileno()

    def execute(self, statement: str) -> None:
        if self.refuses:
            raise ConnectionResetError("the server went away")
        self.statements.append(statement)

    def commit(self) -> None:
        self.commits += 1

    def close(self) -> None:
        self.closed = True
        self._ours.close()


class Connections:
    """The sockets of an engine, and the connections that it opened."""

    def __init__(self) -> None:
        self.sockets = Sockets(sa.create_engine("sqlite://"))
        self._made: list[FakeConnection] = []

    def open(self, *, refuses: bool = False) -> FakeConnection:
        connection = FakeConnection(refuses=refuses)
        self._made.append(connection)
        self.sockets._opened(connection, None)
        return connection

    def close(self, connection: FakeConnection) -> None:
        self.sockets._closed(connection, None)

    def end(self) -> None:
        for connection in self._made:
            self.close(connection)
            connection.close()
            connection.server.close()


@pytest.fixture
def connections() -> Iterator[Connections]:
    """Follow the connections of an engine that has none yet."""
    made = Connections()
    yield made
    made.end()


def test_each_connection_gets_limits_below_what_a_caller_waits(connections: Connections) -> None:
    connection = connections.open()

    assert connection.statements == ["SET statement_timeout = 4000", "SET lock_timeout = 3000"]
    assert connection.commits == 1
    assert LOCK_MS < STATEMENT_MS < 1_000 * WAIT_S


def test_every_open_connection_is_shut_down_and_a_closed_one_is_not_touched(connections: Connections) -> None:
    opened, ended = connections.open(), connections.open()
    connections.close(ended)
    ended.server.setblocking(False)

    connections.sockets.abort()

    assert opened.server.recv(1) == b""
    with pytest.raises(BlockingIOError):
        ended.server.recv(1)


def test_a_connection_that_takes_no_limits_is_closed(connections: Connections) -> None:
    with pytest.raises(ConnectionResetError):
        connections.open(refuses=True)

    assert [connection.closed for connection in connections._made] == [True]
    assert connections.sockets._sockets == {}


def test_a_server_that_is_cut_off_is_noticed_before_a_caller_has_waited_twice() -> None:
    idle_s = (
        CONNECT_OPTIONS["keepalives_idle"]
        + CONNECT_OPTIONS["keepalives_interval"] * (CONNECT_OPTIONS["keepalives_count"])
    )

    assert CONNECT_OPTIONS["keepalives"] == 1
    assert CONNECT_OPTIONS["connect_timeout"] < WAIT_S
    assert CONNECT_OPTIONS["tcp_user_timeout"] == 1_000 * WAIT_S
    assert idle_s == 11


def test_a_deadlock_fails_the_write_that_it_hit_and_no_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / NAME)
    original = sqlite3.OperationalError("deadlock detected")
    original.sqlstate = DEADLOCK  # type: ignore[attr-defined]

    def deadlock() -> None:
        raise sa.exc.OperationalError("UPDATE", {}, original)

    failed, written = ledger.write_all([deadlock, lambda: ledger.write_intent(INTENT)])

    assert (type(failed), written) == (sa.exc.OperationalError, None)
    assert ledger.find(INTENT.txid) is not None


def test_a_ledger_that_is_out_of_reach_fails_every_read_that_waits(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / NAME)
    asked: list[int] = []

    def read() -> None:
        asked.append(1)
        raise sa.exc.OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error"))

    results = ledger.read_all([lambda: 7, read, read, read])

    assert results[0] == 7
    assert [type(result) for result in results[1:]] == [sa.exc.OperationalError] * 3
    assert len(asked) == 1
