"""Look into the payments ledger without changing it, also while gateways write."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import sqlalchemy as sa

from gateway.errors import LedgerUnreadable, database_reason
from gateway.ledger.engine import postgres_engine, sqlite_path
from gateway.ledger.retired import FIND_RETIRED, txid_bytes, txid_of
from gateway.ledger.schema import unusable_schema
from gateway.ledger.tables import payments, settled_old
from gateway.settings import POSTGRES

PAGE: Final = 1_000
# An export reads everything.
STATEMENT_MS: Final = 30_000


class LedgerView:
    """A read-only view of the payments ledger at a file or URL, of any schema that can be upgraded; nothing is changed.

    `columns` are those of the newest schema that the ledger has; an older one lacks some.

    Raises:
        LedgerUnreadable: there is none, or it is not one that this program knows.
    """

    def __init__(self, where: Path | str) -> None:
        self._shown, self._engine = _engine(where)
        try:
            self._connection = self._engine.connect().execution_options(postgresql_readonly=True)
            self.columns = self._check()
        except (sa.exc.SQLAlchemyError, LedgerUnreadable) as error:
            self._engine.dispose()
            reason = database_reason(error)
            raise LedgerUnreadable(f"the payments ledger {self._shown} cannot be read: {reason}") from error

    def rows(self, state: str | None, limit: int) -> list[dict[str, Any]]:
        """Return the newest payments of a state as stored, or of every state."""
        query = self._select().order_by(payments.c.created_at.desc(), payments.c.txid).limit(limit)
        if state is not None:
            query = query.where(payments.c.state == state)
        return [dict(row) for row in self._connection.execute(query).mappings()]

    def row(self, txid: str) -> dict[str, Any] | None:
        """Return one payment, None when it is not known."""
        row = self._connection.execute(self._select().where(payments.c.txid == txid)).mappings().first()
        if row is not None:
            return dict(row)

        packed = txid_bytes(txid)
        if packed is None or not self._keeps_old:
            return None
        old = self._connection.execute(FIND_RETIRED, {"packed": packed}).first()
        return None if old is None else self._moved_row(old)

    def newest_round(self) -> int:
        """Return the chain's round when the newest intent was written, 0 where none was."""
        return int(self._connection.execute(sa.select(sa.func.max(payments.c.intent_round))).scalar() or 0)

    def all_rows(self) -> Iterator[dict[str, Any]]:
        """Yield every payment, oldest first."""
        query = self._select().order_by(payments.c.created_at, payments.c.txid)
        with self._connection.execute(query, execution_options={"yield_per": PAGE}) as result:
            yield from (dict(row) for row in result.mappings())

    @property
    def has_moved_rows(self) -> bool:
        """Whether payments of long ago left the table that `rows` reads."""
        if not self._keeps_old:
            return False
        return self._connection.execute(sa.select(settled_old.c.txid).limit(1)).first() is not None

    def moved_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the settled payments of long ago, oldest first; what is not kept of them is empty."""
        if not self._keeps_old:
            return
        query = sa.select(settled_old).order_by(settled_old.c.settled_at, settled_old.c.txid)
        with self._connection.execute(query, execution_options={"yield_per": PAGE}) as result:
            for row in result:
                yield self._moved_row(row)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._engine.dispose()

    def _moved_row(self, row: Any) -> dict[str, Any]:
        """Return a payment of long ago in the columns of the others, None for what is not kept of it."""
        kept = {
            "txid": txid_of(row.txid),
            "state": "settled",
            "product": row.product,
            "price_atomic": row.amount_atomic,
            "closed_at": float(row.settled_at),
        }
        return {name: kept.get(name) for name in self.columns}

    def _select(self) -> sa.Select[Any]:
        return sa.select(*(payments.c[name] for name in self.columns))

    def _check(self) -> tuple[str, ...]:
        """Refuse what is not a ledger that this program knows, and return the columns that its payments have."""
        if self._engine.dialect.name == "postgresql":
            # Not as an option of the connection: the URL may have its own, and poolers refuse it.
            self._connection.exec_driver_sql(f"SET statement_timeout = {STATEMENT_MS}")
        inspector = sa.inspect(self._connection)
        if not {"alembic_version", "payments"} <= set(inspector.get_table_names()):
            raise LedgerUnreadable("it is another program's database")
        revision = self._connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none()
        reason = unusable_schema(str(revision or ""))
        if reason is not None:
            raise LedgerUnreadable(f"it {reason}")
        present = {column["name"] for column in inspector.get_columns("payments")}
        self._keeps_old = inspector.has_table(settled_old.name)
        return tuple(column.name for column in payments.columns if column.name in present)


def known_of(where: Path | str, txids: Iterable[str]) -> set[str]:
    """Return which of some transactions a ledger knows; none when there is no ledger."""
    if not (isinstance(where, str) and where.startswith(POSTGRES)) and not sqlite_path(where).exists():
        return set()
    with LedgerView(where) as view:
        return {txid for txid in txids if view.row(txid) is not None}


def _engine(where: Path | str) -> tuple[str, sa.Engine]:
    if isinstance(where, str) and where.startswith(POSTGRES):
        return postgres_engine(where)
    path = sqlite_path(where)
    if not path.is_file():
        raise LedgerUnreadable(f"there is no payments ledger at {path} yet")
    # Not immutable: a gateway may write meanwhile. Only its own files next to the database are shared.
    return str(path), sa.create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
