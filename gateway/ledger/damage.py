"""Damage to the database: how a driver says it, how a file is checked, and how a restart knows that it must be."""

import os
import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

import sqlalchemy as sa
import structlog

from gateway.errors import database_reason

PRIMARY_CODE: Final = 0xFF  # of SQLite's extended result codes, the part that names the error
# PostgreSQL's data_corrupted and index_corrupted.
CORRUPTED_STATES: Final = frozenset({"XX001", "XX002"})
SUFFIX: Final = "-damaged"
WHOLE: Final = "ok"
log = structlog.get_logger("gateway.ledger")


def is_corruption(error: BaseException) -> bool:
    """Return whether a driver's failure says that what is stored cannot be read as a database."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return code & PRIMARY_CODE in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    return getattr(error, "sqlstate", None) in CORRUPTED_STATES


def quick_check(connection: sa.Connection) -> str | None:
    """Read a whole SQLite file; return the first thing that is wrong with it in one line, None when nothing is."""
    try:
        verdict = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    except sa.exc.DatabaseError as error:
        if error.orig is None or not is_corruption(error.orig):
            raise
        verdict = database_reason(error)
    return None if verdict == WHOLE else " ".join(verdict.split())


def check_file(path: Path) -> str | None:
    """Read a whole SQLite file, which programs may be writing; return what is wrong with it, None when nothing is."""
    engine = sa.create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            return quick_check(connection)
    except sa.exc.DatabaseError as error:
        return f"cannot be read: {database_reason(error)}"
    finally:
        engine.dispose()


class DamageMark:
    """A file next to the database that remembers a corrupt page.

    Without it each start would have to read the whole file, which takes minutes when it is large.
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}{SUFFIX}")

    def set(self) -> None:
        """Make the next start check the whole file, also the one after a power cut."""
        try:
            self._path.touch(mode=0o600)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            log.warning("the next start cannot know that the ledger is damaged", reason=error.strerror)

    def recheck(self, connection: sa.Connection) -> str | None:
        """Check the whole file where a corrupt page was met before; return what is wrong, None when all is well."""
        if not self._path.exists():
            return None

        damage = quick_check(connection)
        # The check opened a transaction of its own accord.
        connection.rollback()
        if damage is None:
            self._path.unlink(missing_ok=True)
            log.info("the payments ledger is whole again")
        return damage
