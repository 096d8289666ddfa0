"""The payments ledger: what must survive a crash, in SQLite.

A payment stands here only after verify succeeded. Its row is the intent, written durably before settle is asked;
it ends as settled or refused by evidence. The unique txid is the lock between processes. After a crash at any
instruction a row says at worst `intent`, which is read as "unknown: look at the chain".
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.pool import StaticPool

from gateway.errors import IdentityTaken, LedgerUnreadable

SCHEMA_VERSION: Final = 1
BUSY_TIMEOUT_S: Final = 5.0
KEEP: Final = timedelta(days=2)
ROUND_S: Final = 2.8
LIFE_ROUNDS: Final = 1_000
OPEN_LIMIT: Final = 200

_metadata = sa.MetaData()
_meta = sa.Table("meta", _metadata, sa.Column("schema_version", sa.Integer, nullable=False))
_bodies = sa.Table(
    "bodies",
    _metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
_payments = sa.Table(
    "payments",
    _metadata,
    sa.Column("txid", sa.String(52), primary_key=True),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("product", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("cache_control", sa.String, nullable=False),
    sa.Column("snapshot_id", sa.String(12), nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("price_atomic", sa.Integer, nullable=False),
    sa.Column("payer", sa.String(58), nullable=False),
    sa.Column("network", sa.String, nullable=False),
    sa.Column("identifier", sa.String(128), unique=True),
    sa.Column("last_valid", sa.Integer, nullable=False),
    sa.Column("intent_round", sa.Integer),
    sa.Column("watched_round", sa.Integer),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("settles", sa.Integer, nullable=False),
    sa.Column("settling_until", sa.Float, nullable=False),
    sa.Column("reason", sa.String),
    sa.Column("evidence", sa.String),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("closed_at", sa.Float),
    sa.Column("keep_until", sa.Float, nullable=False),
    sa.Column("deliveries", sa.Integer, nullable=False),
    sa.Index("payments_open", "state", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Intent:
    """What is written before settle is asked.

    Args:
        txid: the payment's identity.
        product, path, cache_control, snapshot_id: what is bought, enough to deliver it without any vault.
        sha256, content: the body that was quoted.
        price_atomic: what is paid.
        payer: the sender.
        network: as the client sent it.
        identifier: the payment-identifier extension's id, if any.
        last_valid: last round at which it can land.
        intent_round: the chain's round now, None when it could not be read.
        owner: this process.
        settling_until: wall time until which this process may be asking the facilitator.
        at: wall time now.
    """

    txid: str
    product: str
    path: str
    cache_control: str
    snapshot_id: str
    sha256: str
    content: bytes
    price_atomic: int
    payer: str
    network: str
    identifier: str | None
    last_valid: int
    intent_round: int | None
    owner: str
    settling_until: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """One payment as it stands on disk; times are seconds since the epoch."""

    txid: str
    state: str
    product: str
    path: str
    cache_control: str
    snapshot_id: str
    sha256: str
    price_atomic: int
    payer: str
    network: str
    identifier: str | None
    last_valid: int
    intent_round: int | None
    watched_round: int | None
    owner: str
    settles: int
    settling_until: float
    reason: str | None
    evidence: str | None
    created_at: float
    closed_at: float | None
    keep_until: float
    deliveries: int
    content: bytes | None


class Ledger:
    """The payments ledger on one SQLite file. Blocking: call it from its own thread.

    Args:
        path: the file, made if absent.

    Raises:
        LedgerUnreadable: the file is corrupt, of another schema, or cannot be opened. Nothing is overwritten.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine = _open(path)

    def find(self, txid: str) -> Record | None:
        """Return a payment with its body, None when it is not known."""
        query = (
            sa.select(_payments, _bodies.c.content)
            .select_from(_payments.outerjoin(_bodies, _payments.c.sha256 == _bodies.c.sha256))
            .where(_payments.c.txid == txid)
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        return Record(**row) if row is not None else None

    def find_identifier(self, identifier: str) -> str | None:
        """Return the txid that holds a payment identifier, None when it is free."""
        query = sa.select(_payments.c.txid).where(_payments.c.identifier == identifier)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def write_intent(self, intent: Intent) -> None:
        """Write an intent and its body durably, in one transaction.

        Args:
            intent: of a verified payment.

        Raises:
            IdentityTaken: another process holds the txid or the identifier.
        """
        body = sqlite_insert(_bodies).values(sha256=intent.sha256, content=intent.content).on_conflict_do_nothing()
        try:
            with self._engine.begin() as connection:
                connection.execute(body)
                connection.execute(sa.insert(_payments).values(_row(intent)))
        except sa.exc.IntegrityError as error:
            message = f"{intent.txid} or its identifier is already known"
            raise IdentityTaken(message) from error

    def begin_settle(self, txid: str, holder: str, owner: str, at: datetime, until: datetime) -> bool:
        """Note durably that this process asks the facilitator once more.

        Args:
            txid: of an intent.
            holder: whose unfinished asking may be taken over: this process, or one that is gone.
            owner: this process.
            at: wall time now.
            until: when another process may take over.

        Returns:
            False when another process is asking, or the payment is closed.
        """
        mine = sa.or_(_payments.c.owner == holder, _payments.c.settling_until <= at.timestamp())
        values = {"owner": owner, "settles": _payments.c.settles + 1, "settling_until": until.timestamp()}
        return self._update(txid, values, _payments.c.state == "intent", mine)

    def mark_settled(self, txid: str, at: datetime, evidence: str) -> bool:
        """Close a payment as settled and count its first delivery; evidence also reopens a refusal.

        Args:
            txid: of a known payment.
            at: wall time now.
            evidence: `facilitator` or `chain`.

        Returns:
            False when it was settled already.
        """
        values = {"state": "settled", "reason": None, "evidence": evidence, "closed_at": at.timestamp()}
        return self._update(txid, values, _payments.c.state != "settled")

    def mark_refused(self, txid: str, at: datetime, reason: str, evidence: str) -> bool:
        """Close an intent as refused.

        Args:
            txid: of an intent.
            at: wall time now.
            reason: what the payer is told.
            evidence: why this is certain: `before_broadcast` or `absent`.

        Returns:
            False when it was closed already.
        """
        values = {"state": "refused", "reason": reason, "evidence": evidence, "closed_at": at.timestamp()}
        return self._update(txid, values, _payments.c.state == "intent")

    def watch(self, txid: str, watched_round: int | None) -> None:
        """Keep how far the unbroken chain of 404s reaches."""
        self._update(txid, {"watched_round": watched_round}, _payments.c.state == "intent")

    def count_deliveries(self, counts: Mapping[str, int]) -> None:
        """Add deliveries per txid, in one transaction."""
        with self._engine.begin() as connection:
            for txid, count in counts.items():
                values = {"deliveries": _payments.c.deliveries + count}
                connection.execute(sa.update(_payments).where(_payments.c.txid == txid).values(values))

    def open_payments(self) -> list[Record]:
        """Return the oldest payments whose outcome is not known, at most 200, without bodies."""
        query = (
            sa.select(_payments, sa.null().label("content"))
            .where(_payments.c.state == "intent")
            .order_by(_payments.c.created_at)
            .limit(OPEN_LIMIT)
        )
        with self._engine.connect() as connection:
            return [Record(**row) for row in connection.execute(query).mappings()]

    def purge(self, now: datetime) -> int:
        """Drop bodies that no payment needs any more; rows stay, so that a txid is never sold twice.

        Args:
            now: wall time.

        Returns:
            How many bodies went.
        """
        needed = sa.select(_payments.c.sha256).where(
            sa.or_(_payments.c.state == "intent", _payments.c.keep_until > now.timestamp())
        )
        with self._engine.begin() as connection:
            result = connection.execute(sa.delete(_bodies).where(_bodies.c.sha256.not_in(needed)))
        return result.rowcount

    def close(self) -> None:
        """Close the file."""
        self._engine.dispose()

    def _update(self, txid: str, values: Mapping[str, Any], *conditions: sa.ColumnElement[bool]) -> bool:
        statement = sa.update(_payments).where(_payments.c.txid == txid, *conditions).values(values)
        with self._engine.begin() as connection:
            return connection.execute(statement).rowcount == 1


def _row(intent: Intent) -> dict[str, Any]:
    names = (
        "txid", "product", "path", "cache_control", "snapshot_id", "sha256", "price_atomic", "payer", "network",
        "identifier", "last_valid", "intent_round", "owner",
    )  # fmt: skip
    left = max(intent.last_valid - intent.intent_round, 0) if intent.intent_round is not None else LIFE_ROUNDS
    keep_until = intent.at + timedelta(seconds=min(left, LIFE_ROUNDS) * ROUND_S) + KEEP
    return {
        **{name: getattr(intent, name) for name in names},
        "state": "intent",
        "watched_round": intent.intent_round,
        "settles": 1,
        "settling_until": intent.settling_until.timestamp(),
        "created_at": intent.at.timestamp(),
        "keep_until": keep_until.timestamp(),
        "deliveries": 0,
    }


def utc(seconds: float) -> datetime:
    """Return a stored time as an aware one."""
    return datetime.fromtimestamp(seconds, UTC)


def _open(path: Path) -> sa.Engine:
    fresh = _is_fresh(path)
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_S},
    )
    try:
        _prepare(engine, fresh=fresh)
    except sa.exc.DatabaseError as error:
        engine.dispose()
        message = f"the payments ledger {path} cannot be read ({error.orig}); it was left as it is: restore or move it"
        raise LedgerUnreadable(message) from error
    except LedgerUnreadable as error:
        engine.dispose()
        message = f"the payments ledger {path} {error}; it was left as it is"
        raise LedgerUnreadable(message) from None
    return engine


def _is_fresh(path: Path) -> bool:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        return path.stat().st_size == 0
    except OSError as error:
        message = f"the payments ledger {path} cannot be opened: {error.strerror}"
        raise LedgerUnreadable(message) from error


def _prepare(engine: sa.Engine, *, fresh: bool) -> None:
    with engine.connect() as connection:
        if not fresh:
            verdict = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
            if verdict != "ok":
                message = f"is corrupt ({str(verdict)[:80]})"
                raise LedgerUnreadable(message)
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        # FULL: a commit that returned is on the disk, also through a power cut.
        connection.exec_driver_sql("PRAGMA synchronous=FULL")
    with engine.begin() as connection:
        _check_schema(connection)


def _check_schema(connection: sa.Connection) -> None:
    # Taken before reading, so that two processes that start at once do not both make the tables.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    names = set(sa.inspect(connection).get_table_names())
    if not names:
        _metadata.create_all(connection)
        connection.execute(sa.insert(_meta).values(schema_version=SCHEMA_VERSION))
        return
    if "meta" not in names:
        message = "is another program's database"
        raise LedgerUnreadable(message)
    version = connection.execute(sa.select(_meta.c.schema_version)).scalar_one_or_none()
    if version != SCHEMA_VERSION:
        message = f"has schema {version}, this program knows {SCHEMA_VERSION}"
        raise LedgerUnreadable(message)
