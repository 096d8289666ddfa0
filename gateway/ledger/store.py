"""The payments ledger: what must survive a crash, in SQLite or PostgreSQL.

A payment is kept here only after verify succeeded. Its row is the intent, written durably before settle is asked;
it ends as settled or refused by evidence. The unique txid is the lock between processes. After a crash at any
instruction a row says at worst `intent`, which is read as "unknown: ask the chain".
"""

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from gateway.errors import GatewayError, IdentityTaken, LedgerUnavailable, database_reason
from gateway.ledger import retired
from gateway.ledger.damage import DamageMark, is_corruption
from gateway.ledger.engine import Sockets, open_engine, sqlite_path
from gateway.ledger.record import Change, NoteRefusal, Record, Refuse, Review, Settle, Watch
from gateway.ledger.tables import UNPROVEN, bodies, payments, probe, settled_old

Place = tuple[float, str]
"""Where a page ends in the order of time and txid: seconds since the epoch, txid."""
BEGINNING: Final[Place] = (0.0, "")
PAGE: Final = 200
# Bodies dropped in one transaction: no payment waits long behind it.
PURGE_LIMIT: Final = 200
# As large as an answer with its row, and new each time: a full disk still has room for a few bytes in used pages.
PROBE_BYTES: Final = 32_768
LANDED_AFTER_REFUSAL: Final = "landed_after_refusal"
"""The reason that a payment keeps which was refused and then settled."""
DEADLOCK: Final = "40P01"
GONE: Final = (
    "the payments ledger file was removed or replaced: quoting has stopped; stop the gateway gently, never by kill -9, "
    "then see that the file is there, and emi adopt"
)
"""What was sold lately may stand in this process alone, which writes it into the file when it is stopped."""
DAMAGED: Final = "the payments ledger is damaged: quoting has stopped; restore its backup and restart the gateway"
# No payment has it: a txid is 52 characters.
PROBE_TXID: Final = "PROBE"
Identity = tuple[tuple[int, int], ...]
log = structlog.get_logger("gateway.ledger")
_IS_INTENT: Final = payments.c.state == sa.literal_column("'intent'")
_COUNT_ROWS: Final = {"preserve_rowcount": True}
_ONE_PAGE: Final[sa.ColumnElement[int]] = sa.literal_column(str(PAGE))


def _page_of(time: sa.ColumnElement[Any], *rows: Any) -> sa.Executable:
    """Select a page of payments after a place, in the order of a time."""
    place = sa.tuple_(sa.bindparam("the_time", type_=sa.Double), sa.bindparam("the_txid", type_=sa.String))
    query = sa.select(payments).where(*rows, sa.tuple_(time, payments.c.txid) > place)
    return query.order_by(time, payments.c.txid).limit(_ONE_PAGE)


# Built once: a purchase executes these, or every second does.
_FIND: Final = (
    sa.select(payments, bodies.c.content)
    .select_from(payments.outerjoin(bodies, payments.c.sha256 == bodies.c.sha256))
    .where(payments.c.txid == sa.bindparam("the_txid"))
)
_FIND_IDENTIFIER: Final = sa.select(payments.c.txid).where(payments.c.identifier == sa.bindparam("the_identifier"))
# One statement for what nearly every purchase learns: neither table has its txid, nor any payment its identifier.
_IS_KNOWN: Final[sa.Executable] = sa.union_all(
    sa.select(sa.literal_column("1")).where(payments.c.txid == sa.bindparam("the_txid")),
    sa.select(sa.literal_column("1")).where(settled_old.c.txid == sa.bindparam("packed")),
    sa.select(sa.literal_column("1")).where(payments.c.identifier == sa.bindparam("the_identifier")),
)
_OPEN: Final = _page_of(payments.c.created_at, _IS_INTENT)
_UNPROVEN: Final = _page_of(
    payments.c.closed_at, sa.text(UNPROVEN), payments.c.last_valid >= sa.bindparam("since_round")
)
_COUNT_OPEN: Final = sa.select(sa.func.count(), sa.func.min(payments.c.intent_round)).where(_IS_INTENT)
_SETTLE: Final = (
    sa.update(payments)
    .where(payments.c.txid == sa.bindparam("the_txid"), payments.c.state != "settled")
    .values(
        state="settled",
        # Kept for the operator: the payer was asked to sign another payment, and may have paid twice.
        reason=sa.case((payments.c.state == "refused", LANDED_AFTER_REFUSAL)),
        evidence=sa.bindparam("the_evidence"),
        closed_at=sa.bindparam("the_time"),
        receipt=sa.bindparam("the_receipt"),
    )
)
_COUNT_DELIVERIES: Final = (
    sa.update(payments)
    .where(payments.c.txid == sa.bindparam("the_txid"))
    .values(
        deliveries=payments.c.deliveries + sa.bindparam("more"),
        # The first round that was known is kept.
        delivered_round=sa.func.coalesce(payments.c.delivered_round, sa.bindparam("reached", type_=sa.BigInteger)),
    )
)


class Ledger:
    """The payments ledger in a SQLite file, made if absent, or at a URL. Blocking: call it from its own thread.

    Raises:
        LedgerUnreadable: it is corrupt, of a newer schema, or cannot be opened. Nothing is overwritten.
    """

    def __init__(self, where: Path | str) -> None:
        self._engine = open_engine(where)
        self._postgres = self._engine.dialect.name == "postgresql"

        insert: Any = postgresql.insert if self._postgres else sqlite.insert
        self._put_body = insert(bodies).on_conflict_do_nothing()
        self._put_intent = insert(payments).on_conflict_do_nothing()
        self._put_retired = insert(settled_old).on_conflict_do_nothing()
        written = insert(probe)
        content = {"content": written.excluded.content}
        self._put_probe = written.on_conflict_do_update(index_elements=["id"], set_=content)

        self._damage = None if self._postgres else DamageMark(sqlite_path(where))
        sa.event.listen(self._engine, "handle_error", self._look_at_error)

        # Whoever writes or reads holds one of them: one connection each way serves every thread.
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._sockets = Sockets(self._engine) if self._postgres else None
        self._reader = self._open_reader()
        self._writer = self._engine.connect()

        self._paths = () if self._postgres else _files(sqlite_path(where))
        self._opened = _identity(self._paths)
        self.fault: str | None = None
        """What makes the ledger unusable until a restart, a sentence for the operator; None while all is well."""
        self._writing = False

        damage = None if self._damage is None else self._damage.recheck(self._writer)
        if damage is not None:
            self.fault = f"{DAMAGED} ({damage})"
            log.error(self.fault)

    def check_file(self) -> None:
        """Raise LedgerUnavailable for a SQLite file that a restart would not find: it was removed or replaced."""
        if self.fault is None and self._paths:
            try:
                ours = _identity(self._paths) == self._opened
            except (FileNotFoundError, NotADirectoryError):
                ours = False
            except OSError as error:
                raise LedgerUnavailable(f"the payments ledger file cannot be looked at: {error.strerror}") from error
            if not ours:
                self.fault = GONE
                log.error(GONE)

        if self.fault is not None:
            raise LedgerUnavailable(self.fault)

    def abort_connections(self) -> None:
        """Make whatever waits for PostgreSQL fail at once; called from another thread, never blocks."""
        if self._sockets:
            self._sockets.abort()

    def probe(self) -> None:
        """Write as much as an intent does, durably, and where it does: a row of payments is put in and taken out."""
        self.check_file()
        # A server keeps its own reserve of disk; here a lock is all that can be in the way.
        content = secrets.token_bytes(16 if self._postgres else PROBE_BYTES)
        with self._transaction():
            self._execute(self._put_probe, {"id": 1, "content": content})
            # Both in one transaction: no crash leaves a payment that is none.
            self._put_row(_PROBE)
            self._execute(sa.delete(payments).where(payments.c.txid == PROBE_TXID))

    def look_up(self, txid: str, identifier: str | None) -> tuple[Record | None, str | None]:
        """Return a payment as `find` does, and the txid that holds an identifier; None for what is not known."""
        keys = {"the_txid": txid, "packed": retired.txid_bytes(txid), "the_identifier": identifier}
        if not self._read(_IS_KNOWN, keys):
            return None, None
        return self.find(txid), None if identifier is None else self.find_identifier(identifier)

    def find(self, txid: str) -> Record | None:
        """Return a payment with its body, None when it is not known."""
        rows = self._read(_FIND, {"the_txid": txid})
        if rows:
            return Record(*rows[0])

        # In this order a payment that is moved meanwhile is found in one of both.
        packed = retired.txid_bytes(txid)
        old = [] if packed is None else self._read(retired.FIND_RETIRED, {"packed": packed})
        return retired.record_of(txid, old[0]) if old else None

    def find_identifier(self, identifier: str) -> str | None:
        """Return the txid that holds a payment identifier, None when it is free."""
        rows = self._read(_FIND_IDENTIFIER, {"the_identifier": identifier})
        if not rows:
            return None
        return str(rows[0][0])

    def open_payments(self, after: Place = BEGINNING) -> list[Record]:
        """Return payments whose outcome is not known, oldest first, at most 200 after a place, without bodies."""
        return self._page(_OPEN, after)

    def unproven(self, after: Place = BEGINNING, since_round: int = 0) -> list[Record]:
        """Return what was closed on the facilitator's word, oldest first, at most 200 after a place, without bodies.

        Nothing whose last valid round is before `since_round`.
        """
        return self._page(_UNPROVEN, after, since_round=since_round)

    def count_open(self) -> tuple[int, int | None]:
        """Return how many payments are open, and the earliest round at which an intent of them was written."""
        count, oldest = self._read(_COUNT_OPEN)[0]
        return int(count), oldest

    def write_intent(self, intent: Record) -> None:
        """Write the intent of a verified payment and its body durably, in one transaction.

        Raises:
            IdentityTaken: another process holds the txid or the identifier.
            LedgerUnavailable: a restart would not find what is written now.
        """
        self.check_file()
        with self._transaction():
            self._execute(self._put_body, {"sha256": intent.sha256, "content": intent.content})
            self._put_row(intent)

    def adopt(self, record: Record) -> None:
        """Take in a payment that only the chain knows, settled and without a body.

        Raises:
            IdentityTaken: the ledger knows it already.
        """
        with self._transaction():
            packed = retired.txid_bytes(record.txid)
            if (
                packed is not None
                and self._writer.execute(retired.FIND_RETIRED, {"packed": packed}).first() is not None
            ):
                raise IdentityTaken(f"{record.txid} was settled long ago")
            self._put_row(record)

    def begin_settle(self, txid: str, holder: str, attempt: int, owner: str) -> bool:
        """Note durably that this process, the owner, asks the facilitator once more about an intent.

        The holder's attempt, the last of so many, is over. False when another process took over meanwhile, or the
        payment is closed.
        """
        unchanged = (_IS_INTENT, payments.c.owner == holder, payments.c.settles == attempt)
        return self._update(txid, *unchanged, owner=owner, settles=payments.c.settles + 1)

    def attach_body(self, chosen: Record) -> bool:
        """Choose durably what an adopted payment bought, its receipt, and until which round of the chain both are kept.

        From then on it is repeated as every other. False when a body was chosen already.
        """
        names = ("snapshot_id", "sha256", "keep_round", "receipt")
        values = {name: getattr(chosen, name) for name in names}
        with self._transaction():
            self._execute(self._put_body, {"sha256": chosen.sha256, "content": chosen.content})
            return self._update(chosen.txid, payments.c.sha256 == "", **values)

    def apply(self, txid: str, change: Change, at: datetime) -> bool:
        """Change durably what is known of a payment, at a wall time.

        False when the row is not, or no longer, one that this may change: `Settle` never changes a settled one;
        `Refuse` and `NoteRefusal` change intents only, and not on the first answer's word once settle was asked
        again; `Review` needs the old evidence.
        """
        match change:
            case Settle(evidence, receipt):
                values = {
                    "the_txid": txid,
                    "the_evidence": evidence,
                    "the_time": at.timestamp(),
                    "the_receipt": receipt,
                }
                return self._execute(_SETTLE, values) == 1
            case Refuse(reason, evidence):
                # A later settle may have broadcast it: from then on only absence past its last round counts.
                first = [payments.c.settles == 1] if evidence == "before_broadcast" else []
                closed: dict[str, Any] = {"reason": reason, "evidence": evidence, "closed_at": at.timestamp()}
                return self._update(txid, _IS_INTENT, *first, state="refused", **closed)
            case NoteRefusal(reason, at_round):
                unnoted = (_IS_INTENT, payments.c.settles == 1, payments.c.refusal_round.is_(None))
                return self._update(txid, *unnoted, reason=reason, refusal_round=at_round)
            case Review(old, new):
                return self._update(txid, payments.c.evidence == old, evidence=new)
            case Watch(watched_round):
                return self._update(txid, watched_round=watched_round)

    def count_deliveries(self, counts: Mapping[str, int], reached: int | None = None) -> None:
        """Add deliveries per txid, in one transaction; the chain's round is noted with the first, if it is known."""
        rows = [{"the_txid": txid, "more": count, "reached": reached} for txid, count in counts.items()]
        with self._transaction():
            self._writer.execute(_COUNT_DELIVERIES, rows)

    def purge(self, passed_round: int) -> int:
        """Drop at most 200 bodies that no payment needs once the chain has passed a round; return how many went.

        Receipts go with their body. Rows stay, so that a txid is never sold twice.
        """
        # Two selects and no OR, so that each has its index.
        needed = sa.union_all(
            sa.select(payments.c.sha256).where(_IS_INTENT),
            sa.select(payments.c.sha256).where(payments.c.keep_round >= passed_round),
        )
        unneeded = sa.select(bodies.c.sha256).where(bodies.c.sha256.not_in(needed)).limit(PURGE_LIMIT)

        with self._transaction():
            if self._postgres:
                # An intent that another process is writing may need the very body that seems unused; it has put that
                # body first. One lock only: with a second one the two would wait for each other.
                self._writer.exec_driver_sql("LOCK TABLE bodies IN EXCLUSIVE MODE")
            dropped = self._writer.execute(unneeded).scalars().all()
            if not dropped:
                return 0
            has_receipt = (payments.c.sha256.in_(dropped), payments.c.receipt.is_not(None))
            self._execute(sa.update(payments).where(*has_receipt).values(receipt=None))
            return self._execute(sa.delete(bodies).where(bodies.c.sha256.in_(dropped)))

    def retire(self, passed_round: int, folder: Path) -> int:
        """Move a page of payments of long ago out of the way, after their whole rows were added to files of a folder.

        Settled ones stay known by their txid, refused ones go; see `gateway.ledger.retired`. Return how many.
        """
        with self._transaction():
            rows = [dict(row) for row in self._writer.execute(retired.retirable(passed_round)).mappings()]
            if not rows:
                return 0

            try:
                retired.export(rows, folder)
            except OSError as error:
                raise LedgerUnavailable(f"old payments cannot be exported to {folder}: {error.strerror}") from error
            small = [retired.small_row(row) for row in rows if row["state"] == "settled"]
            if small:
                self._writer.execute(self._put_retired, small)
            return self._execute(sa.delete(payments).where(payments.c.txid.in_([row["txid"] for row in rows])))

    def write_all(self, writes: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run writes of different payments in one transaction with one sync.

        When one spoils it, each is run in a transaction of its own. Return the result of each, or the exception that it
        raised. All are durable on return.
        """
        try:
            with self._transaction():
                return [_result(write) for write in writes]
        except sa.exc.SQLAlchemyError as error:
            if len(writes) == 1 or self._is_everyones(error):
                return [error] * len(writes)

        return [self.write_all([write])[0] for write in writes]

    def read_all(self, reads: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run reads one after the other, and none after one that shows the database to be out of reach.

        Return the result of each, or the exception that it raised.
        """
        results: list[Any] = []
        for read in reads:
            try:
                results.append(read())
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                if self._is_everyones(error):
                    return results + [error] * (len(reads) - len(results))
                results.append(error)
        return results

    def close(self) -> None:
        """Close the database."""
        with self._lock, self._reading:
            self._reader.close()
            self._writer.close()
            self._engine.dispose()

    def _look_at_error(self, context: sa.engine.ExceptionContext) -> None:
        """Note that a page was corrupt, whatever was asked: what else is damaged, no one knows."""
        if self.fault is None and is_corruption(context.original_exception):
            self.fault = DAMAGED
            log.error(DAMAGED, reason=database_reason(context.original_exception))
            if self._damage is not None:
                self._damage.set()

    def _open_reader(self) -> sa.Connection:
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def _read(self, query: sa.Executable, values: Mapping[str, Any] | None = None) -> Sequence[tuple[Any, ...]]:
        with self._reading:
            if self._reader.closed:
                self._reader = self._open_reader()
            try:
                rows: Sequence[Any] = self._reader.execute(query, values).all()
            except sa.exc.SQLAlchemyError:
                # Opened again at the next use: what SQLAlchemy reconnects by itself has lost its AUTOCOMMIT.
                self._reader.close()
                raise
            return rows

    def _page(self, query: sa.Executable, after: Place, **values: Any) -> list[Record]:
        return [Record(*row) for row in self._read(query, {"the_time": after[0], "the_txid": after[1], **values})]

    def _put_row(self, record: Record) -> None:
        if self._execute(self._put_intent, {name: getattr(record, name) for name in _COLUMNS}) != 1:
            raise IdentityTaken(f"{record.txid} or its identifier is already known")

    def _update(self, txid: str, *conditions: sa.ColumnElement[bool], **values: Any) -> bool:
        return self._execute(sa.update(payments).where(payments.c.txid == txid, *conditions).values(**values)) == 1

    def _execute(self, statement: sa.Executable, values: Mapping[str, Any] | None = None) -> int:
        """Execute a write in a transaction and return how many rows it touched."""
        with self._transaction():
            try:
                # Without the option an INSERT has no rowcount on PostgreSQL.
                result: Any = self._writer.execute(statement, values, execution_options=_COUNT_ROWS)
            except OverflowError as error:
                # SQLite's driver says so of a number that no column holds; it must not sink the batch of others.
                raise sa.exc.DataError(str(statement), None, error) from error
            return int(result.rowcount)

    def _is_everyones(self, error: Exception) -> bool:
        """Return whether every write would fail as this one did, and as slowly: locked, full, out of reach.

        One write can be blamed for a violated constraint, a value that no column holds, or a deadlock.
        """
        driver: Any = self._engine.dialect.loaded_dbapi
        orig = getattr(error, "orig", None)
        return isinstance(orig, driver.OperationalError) and getattr(orig, "sqlstate", None) != DEADLOCK

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Open a transaction, or take part in the one that is open."""
        with self._lock:
            if self._writing:
                yield
                return
            self._writing = True
            try:
                with self._writer.begin():
                    if not self._postgres:
                        # The write lock at the start of a transaction, not in its middle.
                        self._writer.exec_driver_sql("BEGIN IMMEDIATE")
                    yield
            finally:
                self._writing = False


_COLUMNS: Final = tuple(column.name for column in payments.columns)
_PROBE: Final = Record(
    txid=PROBE_TXID,
    state="probe",
    product="",
    path="",
    cache_control="",
    snapshot_id="",
    sha256="",
    price_atomic=0,
    payer="",
    network="",
    identifier=None,
    last_valid=0,
    intent_round=None,
    watched_round=None,
    owner="",
)


def _result(write: Callable[[], Any]) -> Any:
    try:
        return write()
    except GatewayError as error:
        # It changed nothing, so the others may continue.
        return error


def _files(path: Path) -> tuple[Path, ...]:
    """Return a database's file, its write-ahead log and its index; SQLite puts these next to what a link points at."""
    real = path.resolve()
    return (path, *(real.with_name(f"{real.name}-{kind}") for kind in ("wal", "shm")))


def _identity(paths: tuple[Path, ...]) -> Identity:
    return tuple((status.st_dev, status.st_ino) for status in (path.stat() for path in paths))
