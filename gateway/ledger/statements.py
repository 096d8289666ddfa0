"""The payments ledger's statements, compiled once per database and then only executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from gateway.ledger.tables import UNPROVEN, bodies, payments, probe

OPEN_LIMIT: Final = 200
# Bodies dropped in one transaction: no payment waits long behind it.
PURGE_LIMIT: Final = 200
LANDED_AFTER_REFUSAL: Final = "landed_after_refusal"
"""The reason that a payment keeps which was refused and then settled."""


class Statement:
    """One statement with its names of parameters.

    Args:
        statement: with `bindparam`s, or an insert of the named columns.
        dialect: the database's.
        columns: the columns of an insert.
    """

    def __init__(self, statement: sa.ClauseElement, dialect: sa.Dialect, columns: list[str] | None = None) -> None:
        compiled: Any = statement.compile(dialect=dialect, column_keys=columns)
        self._text = str(compiled)
        self._errors: Any = dialect.loaded_dbapi.Error
        # Positional databases want a tuple in this order, named ones a mapping.
        self._order: list[str] | None = compiled.positiontup
        self._fixed = {name: value for name, value in compiled.params.items() if isinstance(value, str | int | float)}

    def read(self, connection: sa.Connection, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Execute and return every row; columns come in the statement's order."""
        cursor = self._execute(connection, values)
        try:
            return list(cursor.fetchall())
        finally:
            cursor.close()

    def write(self, connection: sa.Connection, values: Mapping[str, Any]) -> int:
        """Execute and return how many rows it touched."""
        cursor = self._execute(connection, values)
        count: int = cursor.rowcount
        cursor.close()
        return count

    def _execute(self, connection: sa.Connection, values: Mapping[str, Any]) -> Any:
        """Execute on the driver's cursor: the way through a result object costs six times as much.

        Raises:
            DatabaseError: SQLAlchemy's, round whatever the driver raised.
        """
        if self._fixed:
            values = {**self._fixed, **values}
        parameters: Any = values if self._order is None else [values[name] for name in self._order]
        driver = connection.connection.dbapi_connection
        assert driver is not None
        cursor = driver.cursor()
        try:
            cursor.execute(self._text, parameters)
        except OverflowError as error:
            # SQLite's driver says so of a number that no column holds; it must not sink the batch of others.
            raise sa.exc.DataError(self._text, None, error) from error
        except self._errors as error:
            if connection.dialect.is_disconnect(error, driver, cursor):
                # Replaced by a new one at the next use.
                connection.invalidate(error)
            raise sa.exc.DatabaseError(self._text, None, error) from error
        return cursor


class Statements:
    """Every statement of the payments ledger.

    Args:
        dialect: the database's.
    """

    def __init__(self, dialect: sa.Dialect) -> None:
        insert: Any = postgresql.insert if dialect.name == "postgresql" else sqlite.insert
        txid = payments.c.txid == sa.bindparam("the_txid")
        intent = payments.c.state == sa.literal_column("'intent'")
        refused = payments.c.state == sa.literal_column("'refused'")

        def update(*conditions: sa.ColumnElement[bool], **values: Any) -> Statement:
            return Statement(sa.update(payments).where(txid, *conditions).values(**values), dialect)

        self.put_body = Statement(
            insert(bodies).on_conflict_do_nothing(), dialect, [column.name for column in bodies.columns]
        )
        self.put_intent = Statement(
            insert(payments).on_conflict_do_nothing(), dialect, [column.name for column in payments.columns]
        )
        written = insert(probe)
        self.probe = Statement(
            written.on_conflict_do_update(index_elements=["id"], set_={"content": written.excluded.content}),
            dialect,
            [column.name for column in probe.columns],
        )
        self.find = Statement(_find().where(txid), dialect)
        self.find_identifier = Statement(
            sa.select(payments.c.txid).where(payments.c.identifier == sa.bindparam("the_identifier")), dialect
        )
        self.settle = update(
            payments.c.state != sa.literal_column("'settled'"),
            state=sa.literal_column("'settled'"),
            # Kept for the operator: somebody was told to sign another payment, and may have paid twice.
            reason=sa.case((refused, sa.literal_column(f"'{LANDED_AFTER_REFUSAL}'"))),
            evidence=sa.bindparam("the_evidence"),
            closed_at=sa.bindparam("the_time"),
        )
        self.note_refusal = update(
            intent,
            payments.c.settles == sa.literal_column("1"),
            payments.c.refusal_round.is_(None),
            reason=sa.bindparam("the_reason"),
            refusal_round=sa.bindparam("the_round"),
        )
        self.refuse = update(
            intent,
            # A later settle may have broadcast it: from then on only absence past its last round counts.
            sa.or_(
                sa.bindparam("the_evidence") != sa.literal_column("'before_broadcast'"),
                payments.c.settles == sa.literal_column("1"),
            ),
            state=sa.literal_column("'refused'"),
            reason=sa.bindparam("the_reason"),
            evidence=sa.bindparam("the_evidence"),
            closed_at=sa.bindparam("the_time"),
        )
        self.begin_settle = update(
            intent,
            payments.c.owner == sa.bindparam("the_holder"),
            payments.c.settles == sa.bindparam("the_attempt"),
            owner=sa.bindparam("the_owner"),
            settles=payments.c.settles + sa.literal_column("1"),
        )
        self.attach_body = update(
            payments.c.sha256 == sa.literal_column("''"),
            snapshot_id=sa.bindparam("the_snapshot"),
            sha256=sa.bindparam("the_digest"),
            keep_round=sa.bindparam("the_round"),
        )
        self.watch = update(watched_round=sa.bindparam("the_round"))
        self.review = update(
            payments.c.evidence == sa.bindparam("the_old"),
            evidence=sa.bindparam("the_new"),
        )
        self.deliver = update(deliveries=payments.c.deliveries + sa.bindparam("the_count"))
        self.open = Statement(
            sa.select(payments, sa.null().label("content"))
            .where(intent, _behind(payments.c.created_at))
            .order_by(payments.c.created_at, payments.c.txid)
            .limit(sa.literal_column(str(OPEN_LIMIT))),
            dialect,
        )
        self.count_open = Statement(
            sa.select(sa.func.count(), sa.func.min(payments.c.intent_round)).where(intent), dialect
        )
        self.unproven = Statement(
            sa.select(payments, sa.null().label("content"))
            .where(sa.text(UNPROVEN), _behind(payments.c.closed_at), payments.c.last_valid >= sa.bindparam("the_round"))
            .order_by(payments.c.closed_at, payments.c.txid)
            .limit(sa.literal_column(str(OPEN_LIMIT))),
            dialect,
        )
        self.purge = Statement(_purge(), dialect)


def _behind(time: sa.ColumnElement[float]) -> sa.ColumnElement[bool]:
    """Return the condition of the rows that come after a place in the order of a time and the txid."""
    place = sa.tuple_(sa.bindparam("the_time"), sa.bindparam("the_last"))
    return sa.tuple_(time, payments.c.txid) > place


def _find() -> sa.Select[Any]:
    both = payments.outerjoin(bodies, payments.c.sha256 == bodies.c.sha256)
    return sa.select(payments, bodies.c.content).select_from(both)


def _purge() -> sa.Delete:
    # Two selects and no OR, so that each has its index.
    needed = sa.union_all(
        sa.select(payments.c.sha256).where(payments.c.state == sa.literal_column("'intent'")),
        sa.select(payments.c.sha256).where(payments.c.keep_round >= sa.bindparam("the_round")),
    )
    some = sa.select(bodies.c.sha256).where(bodies.c.sha256.not_in(needed)).limit(sa.literal_column(str(PURGE_LIMIT)))
    return sa.delete(bodies).where(bodies.c.sha256.in_(some))
