"""Look into the payments ledger without changing it, also while gateways write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import sqlalchemy as sa

from gateway.errors import LedgerUnreadable, database_reason
from gateway.ledger.engine import postgres_engine, sqlite_path
from gateway.ledger.tables import REVISION, payments
from gateway.settings import POSTGRES

PAGE: Final = 1_000
# An export reads everything.
STATEMENT_MS: Final = 30_000


class LedgerView:
    """A read-only view of the payments ledger at a file or URL; nothing is made or changed.

    Raises:
        LedgerUnreadable: there is none, or it is not one that this program knows.
    """

    def __init__(self, where: Path | str) -> None:
        self.columns = tuple(column.name for column in payments.columns)
        self._shown, self._engine = _engine(where)
        try:
            self._connection = self._engine.connect().execution_options(postgresql_readonly=True)
            self._check()
        except (sa.exc.SQLAlchemyError, LedgerUnreadable) as error:
            self._engine.dispose()
            reason = database_reason(error)
            raise LedgerUnreadable(f"the payments ledger {self._shown} cannot be read: {reason}") from error

    def rows(self, state: str | None, limit: int) -> list[dict[str, Any]]:
        """Return the newest payments of a state as stored, or of every state."""
        query = sa.select(payments).order_by(payments.c.created_at.desc(), payments.c.txid).limit(limit)
        if state is not None:
            query = query.where(payments.c.state == state)
        return [dict(row) for row in self._connection.execute(query).mappings()]

    def row(self, txid: str) -> dict[str, Any] | None:
        """Return one payment, None when it is not known."""
        found = self._connection.execute(sa.select(payments).where(payments.c.txid == txid)).mappings().first()
        return dict(found) if found is not None else None

    def all_rows(self) -> Iterator[dict[str, Any]]:
        """Yield every payment, oldest first."""
        query = sa.select(payments).order_by(payments.c.created_at, payments.c.txid)
        with self._connection.execute(query, execution_options={"yield_per": PAGE}) as result:
            yield from (dict(row) for row in result.mappings())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._engine.dispose()

    def _check(self) -> None:
        if self._engine.dialect.name == "postgresql":
            # Not as an option of the connection: the URL may have its own, and poolers refuse it.
            self._connection.exec_driver_sql(f"SET statement_timeout = {STATEMENT_MS}")
        names = sa.inspect(self._connection).get_table_names()
        if "alembic_version" not in names:
            raise LedgerUnreadable("it is not of this program, or older: start the gateway once to bring it up to date")
        version = self._connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none()
        if version != REVISION:
            raise LedgerUnreadable(f"it has schema {version}, this program reads {REVISION}")


def _engine(where: Path | str) -> tuple[str, sa.Engine]:
    if isinstance(where, str) and where.startswith(POSTGRES):
        return postgres_engine(where)
    path = sqlite_path(where)
    if not path.is_file():
        raise LedgerUnreadable(f"there is no payments ledger at {path} yet")
    # Not immutable: a gateway may write meanwhile. Only its own files next to the database are shared.
    return str(path), sa.create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
