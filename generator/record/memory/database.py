"""The memory's database: opening, schema version, failures as one clear line, and the fencing epoch.

SQLite runs in WAL mode with synchronous FULL: what a tick committed survives a power cut. The highest epoch that ever
wrote is a row. Every writing transaction locks it first, so that on PostgreSQL a new leader's first transaction waits
for the last one of the old, and every later one of the old finds the higher epoch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from gateway.wire.extras import missing
from gateway.wire.space import NO_INODES, has_no_inodes, reason_of
from generator.errors import LeadershipLost, MemoryUnreadable
from generator.record.memory import tables
from generator.record.memory.rows import put_meta
from generator.record.memory.schema import bring_up_to_date

MAKING_LOCK: Final = 0x454D4901  # any number of ours: two generators that start on a new database wait for each other
IDLE_LIMIT_MS: Final = 3000
CHECKED_WHOLE: Final = 256 * 1024 * 1024  # bytes, about eight months of record: less than a second
CHECKED_ALWAYS: Final = (
    "meta",
    "ticks",
    "brain_state",
    "regime_history",
    "running_totals",
    "voters",
    "rejected_ballots",
)
READING: Final = "emi_reading"  # execution option of connections that only read: they take no lock
LEASE_TABLE: Final = "emi_lease"  # of the lease, which may use the same database
POSTGRES_ARGUMENTS: Final = {  # nothing that a tick asks takes seconds; a server that is gone must not hold it up
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "options": "-c statement_timeout=15000 -c lock_timeout=10000",
}


def open_database(url: str, checked_whole: int = CHECKED_WHOLE) -> Engine:
    """Open a database, make its tables when it is new, and check what is there when it is not.

    Args:
        checked_whole: bytes up to which all of an SQLite file is checked; of a larger one only what every tick reads.

    Raises:
        MemoryUnreadable: it cannot be opened, is corrupt, is another program's or of another schema version. Nothing
            was changed.
    """
    try:
        parsed = make_url(url)
        engine = _engine(parsed)
    except ImportError as error:
        raise MemoryUnreadable(missing("MEMORY_URL", "postgres")) from error
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        shown = repr(url) if "@" not in url else "(with credentials)"
        raise MemoryUnreadable(f"MEMORY_URL {shown} cannot be used: {_first_line(error)}") from error

    name = name_of(parsed)
    is_sqlite = parsed.get_backend_name() == "sqlite"
    if is_sqlite:
        _make_folder(parsed, name)
        _listen(engine)

    try:
        with translated(name), engine.begin() as connection:
            _check(connection, name, checked_whole)
        if is_sqlite:
            _use_wal(engine)
        # The first connection with the pragmas: what they cannot do is known now, not at the first tick.
        with translated(name), engine.begin():
            return engine
    except BaseException:
        engine.dispose()
        raise


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "postgresql":
        return create_engine(url)
    arguments = {name: value for name, value in POSTGRES_ARGUMENTS.items() if name not in url.query}
    return create_engine(url, pool_pre_ping=True, connect_args=arguments)


def name_of(url: URL) -> str:
    """Name a database for people: the file, or the URL without its password."""
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    return url.render_as_string(hide_password=True)


def _make_folder(url: URL, name: str) -> None:
    if not url.database or url.database == ":memory:":
        return
    try:
        Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise MemoryUnreadable(
            f"memory {name}: its folder cannot be made: {reason_of(error, Path(url.database))}"
        ) from error


def _listen(engine: Engine) -> None:
    """Let SQLAlchemy, not the driver, begin transactions: else its savepoints do not hold."""

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get(READING, False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _check(connection: Connection, name: str, checked_whole: int) -> None:
    """Make the tables of a new database; refuse what is not ours before anything is written."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"select pg_advisory_xact_lock({MAKING_LOCK})")
    present = set(inspect(connection).get_table_names()) - {LEASE_TABLE}
    if connection.dialect.name == "sqlite" and present:
        _check_pages(connection, name, present, checked_whole)
    bring_up_to_date(connection, name, present)


def _check_pages(connection: Connection, name: str, present: set[str], checked_whole: int) -> None:
    """Check an SQLite file in a time that does not grow with the record; `emi doctor --state` reads all of any."""
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    page_bytes = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    parts = ["1"]  # all of it, up to the first fault
    if pages * page_bytes > checked_whole:
        parts = [f"'{table}'" for table in CHECKED_ALWAYS if table in present]

    for part in parts:
        verdict = connection.exec_driver_sql(f"PRAGMA quick_check({part})").scalar()
        if verdict != "ok":
            raise MemoryUnreadable(_corrupt(name, str(verdict).splitlines()[-1]))


def _use_wal(engine: Engine) -> None:
    """Switch SQLite to WAL once the file is known to be ours (a pragma that writes)."""

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    if engine.url.database not in {None, "", ":memory:"}:
        engine.dispose()  # connections opened for the check get the pragmas too


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the driver's failures into MemoryUnreadable: one line that names the database and what to do."""
    try:
        yield
    except DBAPIError as error:
        raise MemoryUnreadable(_line(name, _first_line(error.orig))) from error


def _line(name: str, reason: str) -> str:
    if "not a database" in reason or "malformed" in reason:
        return _corrupt(name, reason)

    # SQLite adds files next to its own, and calls it the same whether it may not or there is no room for another.
    is_file = "://" not in name
    if is_file and ("unable to open" in reason or "full" in reason) and has_no_inodes(Path(name)):
        return f"memory {name} cannot be written: {NO_INODES}; what was recorded before is kept"

    if "readonly" in reason or "unable to open" in reason:
        return f"memory {name} cannot be opened for writing ({reason}): check the folder's rights"
    if "full" in reason:
        return f"memory {name} cannot be written ({reason}): make room; what was recorded before is kept"
    if "locked" in reason:
        return f"memory {name} is in use by another program ({reason})"
    return f"memory {name} cannot be used ({reason}); what was recorded before is kept"


def _corrupt(name: str, reason: str) -> str:
    return (
        f"memory {name} is not a readable database ({reason}): move it away to start again, or put back a copy; "
        "nothing was changed"
    )


def _first_line(error: BaseException | None) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


_FENCE = select(tables.meta.c.value).where(tables.meta.c.key == tables.FENCE_KEY).with_for_update()


def pass_fence(connection: Connection, epoch: int) -> None:
    """Lock the fence's row for this transaction and store the epoch.

    A leader stopped in the middle of a transaction would hold the lock for ever: PostgreSQL is set to end a
    transaction that does nothing for 3 seconds. SQLite's transactions are exclusive from their first statement.
    LeadershipLost where a writer of a higher epoch was here.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"set local idle_in_transaction_session_timeout = {IDLE_LIMIT_MS}")

    stored = int(connection.execute(_FENCE).scalar() or 0)
    if epoch < stored:
        raise LeadershipLost(f"the memory was taken over under epoch {stored}; {epoch} may not write any more", stored)
    if epoch > stored:
        put_meta(connection, tables.FENCE_KEY, str(epoch))
