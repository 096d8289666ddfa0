"""Open the payments ledger's database, and guard what was opened: its schema, its file, its connections.

A database is checked, brought to the newest schema, and never overwritten. Of a SQLite file it is watched whether it
is still the one at its path, and whether it is whole; connections to PostgreSQL have limits, and can be cut.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import sqlalchemy as sa
import structlog

from gateway.errors import LedgerUnreadable, database_reason
from gateway.ledger.schema import unusable_schema
from gateway.ledger.tables import REVISION, metadata
from gateway.settings import POSTGRES
from gateway.wire.extras import missing
from gateway.wire.space import NO_INODES, has_no_inodes, reason_of

BUSY_TIMEOUT_S: Final = 4.0
ADVISORY_KEY: Final = 0x656D69
SQLITE: Final = "sqlite:///"
EDGES: Final = {"payments": ("rowid", "txid", "identifier"), "bodies": ("rowid", "sha256")}
"""Each the order of a tree in the file."""
CONNECT_S: Final = 3
STATEMENT_MS: Final = 4_000
LOCK_MS: Final = 3_000
CONNECT_OPTIONS: Final = {
    "connect_timeout": CONNECT_S,
    # A partition: bytes that are not acknowledged, and times in which nothing is sent.
    "tcp_user_timeout": 5_000,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""libpq's, in seconds, the second in milliseconds."""
log = structlog.get_logger("gateway.ledger")


def open_engine(where: Path | str) -> sa.Engine:
    """Open a SQLite file, made if absent, or the database of a URL, and bring it to the newest schema.

    Raises:
        LedgerUnreadable: it cannot be reached, is corrupt, another program's, or of a newer program.
    """
    if isinstance(where, str) and where.startswith(POSTGRES):
        return _open_postgres(where)
    return _open_sqlite(sqlite_path(where))


def sqlite_path(where: Path | str) -> Path:
    """Return the file that a path or a `sqlite:///` URL names.

    >>> str(sqlite_path("sqlite:////var/lib/emi/pay%20ments.sqlite3"))
    '/var/lib/emi/pay ments.sqlite3'
    """
    if isinstance(where, Path):
        return where
    return Path(unquote(where.removeprefix(SQLITE)))


def postgres_engine(url: str) -> tuple[str, sa.Engine]:
    """Return how to show a database's URL, without its password, and an engine that is not connected yet."""
    shown = sa.make_url(url).render_as_string(hide_password=True)
    try:
        return shown, sa.create_engine(url, connect_args=CONNECT_OPTIONS)
    except ImportError as error:
        raise LedgerUnreadable(missing(f"the payments ledger {shown}", "postgres")) from error


class Sockets:
    """The sockets of the connections of an engine, which has none yet.

    A server that is stopped, or whose disk hangs, acknowledges every byte and answers none: no option of libpq's ends
    that. Shutting the socket down from another thread does; the driver fails at once, and a new connection is made.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._lock = threading.Lock()
        self._sockets: dict[int, socket.socket] = {}
        sa.event.listen(engine, "connect", self._opened)
        sa.event.listen(engine, "close", self._closed)

    def abort(self) -> None:
        """Shut every connection down; never blocks."""
        with self._lock:
            for connected in self._sockets.values():
                with contextlib.suppress(OSError):
                    connected.shutdown(socket.SHUT_RDWR)

    def _opened(self, connection: Any, _record: object) -> None:
        with self._lock:
            # A copy of ours: a number that libpq has closed may be another's by now.
            self._sockets[id(connection)] = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        try:
            # Not as an option of the connection: the URL may have its own, and poolers refuse it.
            connection.execute(f"SET statement_timeout = {STATEMENT_MS}")
            connection.execute(f"SET lock_timeout = {LOCK_MS}")
            connection.commit()
        except Exception:
            self._closed(connection, None)
            connection.close()
            raise

    def _closed(self, connection: Any, _record: object) -> None:
        with self._lock:
            ours = self._sockets.pop(id(connection), None)
        if ours is not None:
            ours.close()


def _open_sqlite(path: Path) -> sa.Engine:
    _make_file(path)
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_S},
    )
    sa.event.listen(engine, "connect", _prepare)

    with _left_as_it_is(engine, str(path)):
        _check(engine)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        _migrate(engine)

    return engine


def _open_postgres(url: str) -> sa.Engine:
    shown, engine = postgres_engine(url)
    with _left_as_it_is(engine, shown):
        _migrate(engine)
    # The migration's connection has none of the limits that later ones get: it may have a large table to change.
    engine.dispose()
    return engine


@contextlib.contextmanager
def _left_as_it_is(engine: sa.Engine, shown: str) -> Iterator[None]:
    """Say in one line which database cannot be used, and why."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, LedgerUnreadable) as error:
        engine.dispose()

        reason = f"cannot be read ({database_reason(error)})"
        advice = ": restore or move it"
        if isinstance(error, LedgerUnreadable):
            reason = str(error)
            advice = ""
        elif isinstance(error, sa.exc.OperationalError):
            # Locked, read-only, no room, no server: none of them calls for another database in its place.
            advice = ""
            if engine.dialect.name == "sqlite" and has_no_inodes(Path(shown)):
                reason = f"cannot be written: {NO_INODES}"
        raise LedgerUnreadable(f"the payments ledger {shown} {reason}; it was left as it is{advice}") from error


def _prepare(connection: sa.engine.interfaces.DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    # FULL: a commit that returned is on the disk, also through a power cut.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _make_file(path: Path) -> None:
    """Make the file and its folder where they are not there, for no one else to read."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerUnreadable(f"the payments ledger {path} cannot be opened: {reason_of(error, path)}") from error


def _check(engine: sa.Engine) -> None:
    """Read the schema and both edges of every tree: reading a large file to its end takes minutes."""
    with engine.connect() as connection:
        names = set(sa.inspect(connection).get_table_names())
        for table in EDGES.keys() & names:
            for column in EDGES[table]:
                # One at a time: SQLite looks both up at once only by reading everything.
                for edge in ("min", "max"):
                    connection.exec_driver_sql(f"SELECT {edge}({column}) FROM {table}")  # noqa: S608 - our names


def _migrate(engine: sa.Engine) -> None:
    with engine.connect() as connection, connection.begin():
        # Taken before reading, so that two processes that start at once do not both make the tables.
        postgres = connection.dialect.name == "postgresql"
        lock = f"SELECT pg_advisory_xact_lock({ADVISORY_KEY})" if postgres else "BEGIN IMMEDIATE"
        connection.exec_driver_sql(lock)

        revision = _revision(connection)
        if revision is None:
            _make(connection)
        elif revision != REVISION:
            _upgrade(connection, revision)


def _revision(connection: sa.Connection) -> str | None:
    """Return the revision of the schema, None for an empty database."""
    names = set(sa.inspect(connection).get_table_names())
    if "alembic_version" in names:
        return str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none() or "")
    if not names:
        return None
    raise LedgerUnreadable("is another program's database")


def _make(connection: sa.Connection) -> None:
    """Make the newest schema at once; a test holds it equal to what the migrations make."""
    metadata.create_all(connection)
    connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    version = sa.table("alembic_version", sa.column("version_num"))
    connection.execute(sa.insert(version).values(version_num=REVISION))


def _upgrade(connection: sa.Connection, revision: str) -> None:
    """Bring an older schema to the newest, all of it in the transaction that is open, so that no half remains."""
    reason = unusable_schema(revision)
    if reason is not None:
        raise LedgerUnreadable(reason)
    # Imported here: nearly every start finds the newest schema, or an empty database, and needs none of it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    # A percent sign in an option begins an interpolation, and a folder's name may hold one.
    scripts = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", scripts.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISION)
    log.info("the payments ledger was upgraded", before=revision, after=REVISION)
