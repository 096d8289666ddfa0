"""The payments ledger: what must survive a crash, in SQLite or PostgreSQL.

A payment stands here only after verify succeeded. Its row is the intent, written durably before settle is asked;
it ends as settled or refused by evidence. The unique txid is the lock between processes. After a crash at any
instruction a row says at worst `intent`, which is read as "unknown: look at the chain".
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from gateway.errors import GatewayError, IdentityTaken
from gateway.ledger.file import LedgerFile
from gateway.ledger.opening import begin, checkpoint, open_engine, sqlite_path
from gateway.ledger.record import Adoption, Intent, Record
from gateway.ledger.statements import Statement, Statements
from gateway.ledger.wires import Wires

__all__ = ["Adoption", "Intent", "Ledger", "Record"]

Place = tuple[float, str]
"""Where a page ends in the order of time and txid: seconds since the epoch, txid."""
BEGINNING: Final[Place] = (0.0, "")
KEEP_ROUNDS: Final = 35_000
"""How long past its last valid round a payment's body is kept: more than a day, and counted by the chain."""
# As large as an answer with its row, and new each time: a full disk still has room for a few bytes where others stood.
PROBE_BYTES: Final = 32_768
DEADLOCK: Final = "40P01"


class Ledger:
    """The payments ledger on one database. Blocking: call it from its own thread.

    Args:
        where: a SQLite file, made if absent, or a database URL.

    Raises:
        LedgerUnreadable: it is corrupt, of a newer schema, or cannot be opened. Nothing is overwritten.
    """

    def __init__(self, where: Path | str) -> None:
        self._engine = open_engine(where)
        self._do = Statements(self._engine.dialect)
        # Whoever writes, reads or copies holds one of them: one connection each way serves every thread.
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._copying = threading.Lock()
        self._postgres = self._engine.dialect.name == "postgresql"
        self._wires = Wires(self._engine) if self._postgres else None
        self._reader = self._open_reader()
        self._writer = self._engine.connect()
        self._copier = None if self._postgres else self._engine.connect()
        self._file = None if self._postgres else LedgerFile(self._engine, sqlite_path(where))
        self._stored: set[str] = set()
        self._writing = False

    @property
    def fault(self) -> str | None:
        """What makes the ledger unusable until a restart, a sentence for the operator; None while all is well."""
        return self._file.fault if self._file else None

    def check_file(self) -> None:
        """Check that a SQLite file is still the one that was opened.

        Raises:
            LedgerUnavailable: it was removed, replaced or found damaged.
        """
        if self._file:
            self._file.check()

    def examine(self) -> None:
        """Read a whole SQLite file and look for damage, while others work; `fault` says what was found."""
        if self._file:
            self._file.examine()

    def stop_examining(self) -> None:
        """End `examine` in another thread."""
        if self._file:
            self._file.stop()

    def cut(self) -> None:
        """Make whatever waits for PostgreSQL fail at once; called from another thread, never blocks."""
        if self._wires:
            self._wires.cut()

    def probe(self) -> None:
        """Write as much as an intent does, durably, where it stands in nobody's way.

        Raises:
            LedgerUnavailable: the file is not ours any more.
        """
        self.check_file()
        # A server keeps its own reserve of disk; here a lock is all that can be in the way.
        content = secrets.token_bytes(16 if self._postgres else PROBE_BYTES)
        with self._transaction():
            self._do.probe.write(self._writer, {"id": 1, "content": content})

    def find(self, txid: str) -> Record | None:
        """Return a payment with its body, None when it is not known."""
        rows = self._read(self._do.find, {"the_txid": txid})
        return Record(*rows[0]) if rows else None

    def find_identifier(self, identifier: str) -> str | None:
        """Return the txid that holds a payment identifier, None when it is free."""
        rows = self._read(self._do.find_identifier, {"the_identifier": identifier})
        return str(rows[0][0]) if rows else None

    def open_payments(self, after: Place = BEGINNING) -> list[Record]:
        """Return payments whose outcome is not known, oldest first, at most 200, without bodies.

        Args:
            after: where the page before ended.
        """
        return [Record(*row) for row in self._read(self._do.open, {"the_time": after[0], "the_last": after[1]})]

    def count_open(self) -> tuple[int, int | None]:
        """Return how many payments are open, and the earliest round at which an intent of them was written."""
        count, oldest = self._read(self._do.count_open, {})[0]
        return int(count), oldest

    def write_intent(self, intent: Intent) -> None:
        """Write an intent and its body durably, in one transaction.

        Args:
            intent: of a verified payment.

        Raises:
            IdentityTaken: another process holds the txid or the identifier.
            LedgerUnavailable: a restart would not find what is written now.
        """
        self.check_file()
        with self._transaction():
            if intent.sha256 not in self._stored:
                self._do.put_body.write(self._writer, {"sha256": intent.sha256, "content": intent.content})
                self._stored.add(intent.sha256)
            written = self._do.put_intent.write(self._writer, _row(intent))
        if written != 1:
            message = f"{intent.txid} or its identifier is already known"
            raise IdentityTaken(message)

    def begin_settle(self, txid: str, holder: str, attempt: int, owner: str) -> bool:
        """Note durably that this process asks the facilitator once more.

        Args:
            txid: of an intent.
            holder: the process whose attempt is over.
            attempt: how many settles were begun when that was seen.
            owner: this process.

        Returns:
            False when somebody else took over meanwhile, or the payment is closed.
        """
        values = {"the_holder": holder, "the_attempt": attempt, "the_owner": owner}
        return self._change(self._do.begin_settle, txid, values)

    def adopt(self, adoption: Adoption) -> None:
        """Take in a payment that only the chain knows, settled and without a body.

        Raises:
            IdentityTaken: the ledger knows the txid.
        """
        with self._transaction():
            written = self._do.put_intent.write(self._writer, _adopted_row(adoption))
        if written != 1:
            message = f"{adoption.txid} is already known"
            raise IdentityTaken(message)

    def attach_body(self, txid: str, snapshot_id: str, sha256: str, content: bytes, keep_round: int) -> bool:
        """Choose what an adopted payment bought, durably; from then on it is repeated as every other.

        Args:
            txid: of an adopted payment.
            snapshot_id: the snapshot that is delivered.
            sha256: digest of the content.
            content: the body.
            keep_round: the round of the chain until which it is kept.

        Returns:
            False when a body was chosen already.
        """
        values = {"the_snapshot": snapshot_id, "the_digest": sha256, "the_round": keep_round}
        with self._transaction():
            self._do.put_body.write(self._writer, {"sha256": sha256, "content": content})
            return self._change(self._do.attach_body, txid, values)

    def mark_settled(self, txid: str, at: datetime, evidence: str) -> bool:
        """Close a payment as settled; evidence also reopens a refusal.

        Args:
            txid: of a known payment.
            at: wall time now.
            evidence: `facilitator` or `chain`.

        Returns:
            False when it was settled already.
        """
        return self._change(self._do.settle, txid, {"the_evidence": evidence, "the_time": at.timestamp()})

    def mark_refused(self, txid: str, at: datetime, reason: str, evidence: str) -> bool:
        """Close an intent as refused.

        Args:
            txid: of an intent.
            at: wall time now.
            reason: what the payer is told.
            evidence: why this is certain: `before_broadcast` or `absent`.

        Returns:
            False when it was closed already, or settled a second time meanwhile, so that the first answer says
            nothing any more.
        """
        values = {"the_reason": reason, "the_evidence": evidence, "the_time": at.timestamp()}
        return self._change(self._do.refuse, txid, values)

    def note_refusal(self, txid: str, reason: str, at_round: int) -> bool:
        """Note that the first settle was refused before any broadcast, and that the chain had nothing at a round.

        Args:
            txid: of an intent.
            reason: the facilitator's.
            at_round: the round read before the chain was asked.

        Returns:
            False when it was noted already, settled a second time, or closed.
        """
        return self._change(self._do.note_refusal, txid, {"the_reason": reason, "the_round": at_round})

    def unproven(self, after: Place = BEGINNING, since_round: int = 0) -> list[Record]:
        """Return what was closed on the facilitator's word, oldest first, at most 200, without bodies.

        Args:
            after: where the page before ended.
            since_round: nothing whose last valid round is before.
        """
        values = {"the_time": after[0], "the_last": after[1], "the_round": since_round}
        return [Record(*row) for row in self._read(self._do.unproven, values)]

    def review(self, txid: str, old: str, new: str) -> bool:
        """Replace the evidence of a closed payment by a better one; its state stays.

        Returns:
            False when the old evidence stands there no more.
        """
        return self._change(self._do.review, txid, {"the_old": old, "the_new": new})

    def watch(self, txid: str, watched_round: int | None) -> None:
        """Keep how far the unbroken chain of 404s reaches."""
        self._change(self._do.watch, txid, {"the_round": watched_round})

    def count_deliveries(self, counts: Mapping[str, int]) -> None:
        """Add deliveries per txid, in one transaction."""
        with self._transaction():
            for txid, count in counts.items():
                self._change(self._do.deliver, txid, {"the_count": count})

    def purge(self, passed_round: int) -> int:
        """Drop at most 200 bodies that no payment needs any more; rows stay, so that a txid is never sold twice.

        Args:
            passed_round: a round that the chain has certainly passed.

        Returns:
            How many bodies went.
        """
        with self._transaction():
            if self._postgres:
                # An intent that another process is writing may need the very body that seems unused; it has put that
                # body first. One lock only: with a second one the two would wait for each other.
                self._writer.exec_driver_sql("LOCK TABLE bodies IN EXCLUSIVE MODE")
            # A later intent of the same transaction must put its body again.
            self._stored.clear()
            return self._do.purge.write(self._writer, {"the_round": passed_round})

    def write_all(self, writes: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run many writes in one transaction with one sync; when one spoils it, each in one of its own.

        Args:
            writes: calls of this ledger's methods that belong to different payments.

        Returns:
            The result of each, or the exception that it raised. All are durable on return.
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

        Args:
            reads: calls of this ledger's methods that change nothing.

        Returns:
            The result of each, or the exception that it raised.
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

    def copy_log(self) -> int:
        """Copy SQLite's write-ahead log into its file as far as it is committed; readers and writers go on.

        Returns:
            How many pages the log has; 0 for a database that keeps its log by itself.
        """
        with self._copying:
            return 0 if self._copier is None else checkpoint(self._copier)

    def end_log(self) -> None:
        """Copy the rest of the log while nobody here writes, so that the next write begins it again."""
        with self._lock:
            checkpoint(self._writer)

    def close(self) -> None:
        """Close the database."""
        with self._lock, self._reading, self._copying:
            for connection in (self._reader, self._writer, self._copier):
                if connection is not None:
                    connection.close()
            self._engine.dispose()

    def _open_reader(self) -> sa.Connection:
        connection = self._engine.connect()
        return connection.execution_options(isolation_level="AUTOCOMMIT") if self._postgres else connection

    def _read(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self._reading:
            if self._reader.closed:
                self._reader = self._open_reader()
            try:
                return statement.read(self._reader, values)
            except sa.exc.SQLAlchemyError:
                # Opened again at the next use: what SQLAlchemy reconnects by itself has lost its AUTOCOMMIT.
                self._reader.close()
                raise

    def _is_everyones(self, error: Exception) -> bool:
        """Return whether every write would fail as this one did, and as slowly: locked, full, out of reach.

        One write can be blamed for a violated constraint, a value that no column holds, or a deadlock.
        """
        driver: Any = self._engine.dialect.loaded_dbapi
        orig = getattr(error, "orig", None)
        return isinstance(orig, driver.OperationalError) and getattr(orig, "sqlstate", None) != DEADLOCK

    def _change(self, statement: Statement, txid: str, values: Mapping[str, Any]) -> bool:
        with self._transaction():
            return statement.write(self._writer, {"the_txid": txid, **values}) == 1

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Open a transaction, or take part in the one that `write_all` opened."""
        with self._lock:
            if self._writing:
                yield
                return
            self._writing = True
            self._stored.clear()
            try:
                with self._writer.begin():
                    begin(self._writer)
                    yield
            finally:
                self._writing = False


def _result(write: Callable[[], Any]) -> Any:
    try:
        return write()
    except GatewayError as error:
        # It changed nothing, so the others may go on.
        return error


def _row(intent: Intent) -> dict[str, Any]:
    return {
        "txid": intent.txid,
        "state": "intent",
        "product": intent.product,
        "path": intent.path,
        "cache_control": intent.cache_control,
        "snapshot_id": intent.snapshot_id,
        "sha256": intent.sha256,
        "price_atomic": intent.price_atomic,
        "payer": intent.payer,
        "network": intent.network,
        "identifier": intent.identifier,
        "last_valid": intent.last_valid,
        "intent_round": intent.intent_round,
        "watched_round": intent.intent_round,
        "owner": intent.owner,
        "settles": 1,
        "reason": None,
        "evidence": None,
        "created_at": intent.at.timestamp(),
        "closed_at": None,
        "deliveries": 0,
        "refusal_round": None,
        "keep_round": intent.last_valid + KEEP_ROUNDS,
    }


def _adopted_row(adoption: Adoption) -> dict[str, Any]:
    return {
        "txid": adoption.txid,
        "state": "settled",
        "product": adoption.product,
        "path": adoption.path,
        "cache_control": adoption.cache_control,
        "snapshot_id": "",
        "sha256": "",
        "price_atomic": adoption.price_atomic,
        "payer": adoption.payer,
        "network": adoption.network,
        "identifier": None,
        "last_valid": adoption.last_valid,
        "intent_round": None,
        "watched_round": None,
        "owner": adoption.owner,
        "settles": 0,
        "reason": None,
        "evidence": "adopted",
        "created_at": adoption.at.timestamp(),
        "closed_at": adoption.at.timestamp(),
        "deliveries": 0,
        "refusal_round": None,
        "keep_round": adoption.last_valid + KEEP_ROUNDS,
    }
