"""The SQLite file of the payments ledger while it is open: is it still the one at its path, and is it whole?"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
import structlog

from gateway.errors import LedgerUnavailable

GONE: Final = "the payments ledger file was removed or replaced: quoting has stopped; restart the gateway"
CORRUPT: Final = "the payments ledger file is damaged: quoting has stopped; restore a backup and restart the gateway"
Identity = tuple[tuple[int, int], ...]
log = structlog.get_logger("gateway.ledger")


class LedgerFile:
    """A file that connections have open.

    Args:
        engine: a further connection reads the whole file.
        path: the file's; its write-ahead log exists already.
    """

    def __init__(self, engine: sa.Engine, path: Path) -> None:
        self.fault: str | None = None
        """What cannot be mended without a restart, a sentence for the operator; None while all is well."""
        self._engine = engine
        # SQLite puts its log beside what a link points at.
        self._paths = (path, *(path.resolve().with_name(f"{path.resolve().name}-{kind}") for kind in ("wal", "shm")))
        self._opened = _identity(self._paths)
        self._reading: Any = None
        self._stopped = False

    def check(self) -> None:
        """Refuse to go on with a file that a restart would not find.

        Raises:
            LedgerUnavailable: a file was removed or replaced, or is damaged.
        """
        if self.fault is None:
            try:
                ours = _identity(self._paths) == self._opened
            except (FileNotFoundError, NotADirectoryError):
                ours = False
            except OSError as error:
                message = f"the payments ledger file cannot be looked at: {error.strerror}"
                raise LedgerUnavailable(message) from error
            if not ours:
                self._fail(GONE)
        if self.fault is not None:
            raise LedgerUnavailable(self.fault)

    def examine(self) -> None:
        """Read every page and look for damage, while others read and write."""
        try:
            with self._engine.connect() as connection:
                self._reading = connection.connection.dbapi_connection
                verdict = "ok" if self._stopped else connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        except sa.exc.OperationalError as error:
            # Interrupted, or the disk failed: that says nothing of the file.
            if not self._stopped:
                log.warning("the payments ledger file could not be examined", reason=str(error.orig))
            return
        except sa.exc.DatabaseError as error:
            verdict = str(error.orig)
        finally:
            self._reading = None
        if verdict != "ok":
            self._fail(CORRUPT, found=str(verdict)[:200])

    def stop(self) -> None:
        """End an examination that is still reading."""
        self._stopped = True
        reading = self._reading
        if reading is not None:
            # It may end by itself meanwhile.
            with contextlib.suppress(Exception):
                reading.interrupt()

    def _fail(self, fault: str, **facts: str) -> None:
        self.fault = fault
        log.error(fault, **facts)


def _identity(paths: tuple[Path, ...]) -> Identity:
    return tuple((status.st_dev, status.st_ino) for status in (path.stat() for path in paths))
