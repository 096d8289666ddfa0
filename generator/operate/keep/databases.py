"""Copies of a database that programs are writing, and their way back, for SQLite and PostgreSQL.

Either copy is of one instant. SQLite's online backup makes it in a single step, in one read transaction of the
write-ahead log, which keeps no writer waiting. PostgreSQL's `pg_dump` makes it in the snapshot in which what the
manifest says of it was read.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from gateway.wire.extras import missing
from generator.errors import BackupError
from generator.operate.keep.files import PRIVATE, compress, create, decompress, owner_of
from generator.record.memory import tables as t
from generator.record.memory.rows import put_meta

SQLITE: Final = ".sqlite3.gz"
POSTGRES: Final = ".pgdump"
BUSY_S: Final = 30.0
WHOLE: Final = "ok"
SETTLED: Final = (
    ("payments", "SELECT count(*) FROM payments WHERE state = 'settled'"),
    ("settled_old", "SELECT count(*) FROM settled_old"),
)
"""In the ledger, of any schema: a payment that settled stays in one of these tables for good."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a copy is of."""

    schema: str
    generation: int = 0
    log_size: int = 0
    payments: int = 0  # settled, those of long ago too


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a database."""

    file: Path
    facts: Facts
    plain: int  # bytes once unpacked


class Database:
    """A database by its URL, of SQLite or PostgreSQL; ValueError for another."""

    def __init__(self, url: str | sa.URL) -> None:
        try:
            self.url = sa.make_url(url)
        except ArgumentError as error:
            raise ValueError("not the URL of a database") from error
        self.is_file = self.url.get_backend_name() == "sqlite"
        if not self.is_file and self.url.get_backend_name() != "postgresql":
            raise ValueError("only SQLite and PostgreSQL are copied")

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return the database of a file."""
        return cls(sa.URL.create("sqlite", database=str(path)))

    @property
    def where(self) -> Path | str:
        """The file, or the URL with its password."""
        return self.path if self.is_file else self.url.render_as_string(hide_password=False)

    @property
    def path(self) -> Path:
        """The file of SQLite."""
        return Path(self.url.database or "").absolute()

    @property
    def shown(self) -> str:
        """Where it is, without a password."""
        return str(self.path) if self.is_file else self.url.render_as_string(hide_password=True)

    def is_there(self) -> bool:
        """Return whether there is anything to copy; a server that does not answer raises BackupError."""
        if self.is_file:
            return self.path.is_file()
        with self.connected() as connection:
            return bool(sa.inspect(connection).get_table_names())

    @contextlib.contextmanager
    def connected(self) -> Iterator[sa.Connection]:
        """Open a connection in one transaction of one snapshot; BackupError where it fails."""
        options = {"isolation_level": "SERIALIZABLE" if self.is_file else "REPEATABLE READ"}
        try:
            engine = sa.create_engine(self.url)
        except ImportError as error:
            raise BackupError(missing(self.shown, "postgres")) from error

        try:
            with engine.connect().execution_options(**options) as connection:
                yield connection
                connection.commit()
        except SQLAlchemyError as error:
            raise BackupError(f"{self.shown}: {_first_line(getattr(error, 'orig', None) or error)}") from error
        finally:
            engine.dispose()

    def owner(self) -> tuple[str, str, int]:
        """Return owner, group and mode of the file; of a server's nothing."""
        return owner_of(self.path) if self.is_file else ("", "", PRIVATE)


def copy(database: Database, folder: Path, name: str) -> Copy:
    """Copy a database into a folder under a name.

    Raises:
        BackupError: it cannot be read, is damaged or another program's, or the program that copies it is not there.
    """
    if not database.is_file:
        copied = _dump(database, folder / f"{name}{POSTGRES}")
    else:
        plain = folder / f"{name}.sqlite3"
        target = folder / f"{name}{SQLITE}"
        facts = _copy_file(database.path, plain)
        copied = Copy(target, facts, compress(plain, target))
        plain.unlink()

    if not copied.facts.schema:
        raise BackupError(f"{database.shown} holds none of our tables: no backup is made of it")
    return copied


def unpack(source: Path, draft: Path, most_bytes: int) -> Facts:
    """Make a database's file of its copy, under another name than its own, and read it to its end.

    Args:
        source: what `copy` wrote.
        draft: a file that is not there.
        most_bytes: of the file.

    Raises:
        BackupError: it is not whole, too large, or no database of ours.
    """
    with source.open("rb") as packed, create(draft) as file:
        decompress(packed, file, most_bytes, source.name)
        file.flush()
        os.fsync(file.fileno())
    try:
        with contextlib.closing(sqlite3.connect(draft)) as unpacked:
            verdict = unpacked.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise BackupError(f"{source.name} is not a database: {error}") from error
    if verdict != WHOLE:
        raise BackupError(f"{source.name} is damaged: {' '.join(str(verdict).split())}"[:200])

    with Database.at(draft).connected() as connection:
        return facts_of(connection)


def check_loadable(source: Path, database: Database) -> None:
    """Raise BackupError where a copy cannot be put into a database: it is of the other kind, or the other is not empty.

    Args:
        source: what `copy` wrote.
        database: where it is to go.
    """
    is_file = source.name.endswith(SQLITE)
    if is_file != database.is_file:
        kinds = ("PostgreSQL", "SQLite") if database.is_file else ("SQLite", "PostgreSQL")
        raise BackupError(f"{source.name} is of {kinds[0]}, {database.shown} is of {kinds[1]}")
    if is_file:
        return

    if database.is_there():
        raise BackupError(f"{database.shown} has tables already: make an empty database, or drop what is in it")
    program = _program("pg_restore", _major(database))
    listed = subprocess.run([program, "--list", str(source)], capture_output=True, text=True, check=False)  # noqa: S603
    if listed.returncode != 0:
        raise BackupError(f"{source.name} is not a dump: {' '.join(listed.stderr.split())}"[:200])


def load(source: Path, database: Database) -> None:
    """Put a dump into an empty database of PostgreSQL, in one transaction; BackupError where that fails."""
    program = _program("pg_restore", _major(database))
    _run(database, [program, "--exit-on-error", "--single-transaction", "--no-owner", "--no-acl"], str(source))


def _copy_file(source: Path, target: Path) -> Facts:
    os.close(os.open(target, os.O_CREAT | os.O_EXCL, PRIVATE))
    address = f"file:{quote(str(source.resolve()))}?mode=ro"
    try:
        with (
            contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as live,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            live.backup(copy)
            # A damaged database makes no backup, so that the whole ones of before are not aged out by it.
            verdict = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise BackupError(f"{source} cannot be copied: {error}") from error
    if verdict != WHOLE:
        raise BackupError(f"{source} is damaged ({' '.join(str(verdict).split())}): no backup is made of it")

    with Database.at(target).connected() as connection:
        return facts_of(connection)


def facts_of(connection: sa.Connection) -> Facts:
    """Return what is in a database, of the memory or of the payments ledger."""
    names = set(sa.inspect(connection).get_table_names())

    if t.meta.name in names:
        noted = {key: value for key, value in connection.execute(sa.select(t.meta.c.key, t.meta.c.value))}  # noqa: C416  typed
        log_size = connection.execute(sa.select(sa.func.max(t.log_entries.c.id))).scalar()
        generation = str(noted.get(t.GENERATION_KEY, 0))
        if not generation.isdecimal():
            raise BackupError("the memory names no number of its last release")
        return Facts(str(noted.get(t.SCHEMA_KEY, "")), int(generation), int(log_size or 0))

    # Other programs use Alembic too: only with its payments is it the ledger.
    if "alembic_version" in names and "payments" in names:
        schema = str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() or "")
        return Facts(schema, payments=sum(_count(connection, query) for table, query in SETTLED if table in names))
    return Facts("")


def _count(connection: sa.Connection, query: str) -> int:
    return int(connection.exec_driver_sql(query).scalar() or 0)


def raise_generation(database: Database, by: int) -> None:
    """Leave out numbers of releases: readers may have seen as many since the copy, and a number is used once.

    The published log may be ahead of the copy as well, which the next start accepts of a memory that was put back.
    """
    with database.connected() as connection:
        before = facts_of(connection).generation
        value = sa.update(t.meta).where(t.meta.c.key == t.GENERATION_KEY).values(value=str(before + by))
        connection.execute(value)
        put_meta(connection, t.BEHIND_KEY, "restored from a backup")


def _dump(database: Database, target: Path) -> Copy:
    program = _program("pg_dump", _major(database))
    with database.connected() as connection:
        facts = facts_of(connection)
        snapshot = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
        os.close(os.open(target, os.O_CREAT | os.O_EXCL, PRIVATE))
        _run(database, [program, "--format=custom", f"--snapshot={snapshot}", f"--file={target}"])
    return Copy(target, facts, target.stat().st_size)


def _major(database: Database) -> int:
    with database.connected() as connection:
        return int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000


def _program(name: str, major: int) -> str:
    """Return a program of PostgreSQL of a server's version: Debian keeps several side by side."""
    for program in (f"/usr/lib/postgresql/{major}/bin/{name}", shutil.which(name)):
        if program is None or not Path(program).is_file():
            continue

        # It prints, for example, `pg_dump (PostgreSQL) 17.5`, with the packager's version behind it.
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        if version.split()[2:3] and version.split()[2].partition(".")[0] == str(major):
            return program

    raise BackupError(f"{name} of PostgreSQL {major} is not here: apt-get install postgresql-client-{major}")


def _run(database: Database, command: list[str], *more: str) -> None:
    """Run a program of PostgreSQL on a database; its password goes by the environment, which others cannot read."""
    address = database.url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = dict(os.environ)
    if database.url.password is not None:
        environment["PGPASSWORD"] = str(database.url.password)

    done = subprocess.run(  # noqa: S603  a program of the system
        [*command, f"--dbname={address}", *more], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[:1] or [f"it ended with {done.returncode}"]
        raise BackupError(f"{Path(command[0]).name}: {reason[0]}")


@contextlib.contextmanager
def scratch_database(like: Database, holds: str) -> Iterator[Database]:
    """Make an empty database on the server of another, for the length of the block; its user needs CREATEDB."""
    name = f"emi_scratch_{holds}_{os.getpid()}"
    engine = sa.create_engine(like.url, isolation_level="AUTOCOMMIT")
    try:
        # A dump is tried on a server of the same version, and nothing of it is left, whatever happens.
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
            try:
                yield Database(like.url.set(database=name))
            finally:
                connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    except SQLAlchemyError as error:
        reason = _first_line(getattr(error, "orig", None) or error)
        raise BackupError(f"no scratch database can be made next to {like.shown}: {reason}") from error
    finally:
        engine.dispose()


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
