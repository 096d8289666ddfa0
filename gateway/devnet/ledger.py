"""The devnet's ledger in SQLite: balances, opt-ins and committed groups; one database transaction per group.

Rounds follow the wall clock: 2.8 seconds each, counted from a fixed day so that a restart continues them. What refuses
a group is said in a node's own words.
"""

import base64
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.devnet.errors import DevnetError, LedgerRefusal
from gateway.devnet.transactions import Item, check_signature, parse_item
from gateway.wire.algorand import (
    MAX_GROUP,
    MIN_FEE,
    ROUND_S,
    group_id_of,
)
from gateway.wire.networks import Network

FIRST_ROUND_AT: Final = 1_735_689_600.0
"""2025-01-01T00:00:00Z, the start of round 1."""
MAX_NUMBER: Final = 2**63 - 1
"""SQLite's largest; rounds that high never come."""
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS accounts (address TEXT PRIMARY KEY, micro_algos INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS holdings (address TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS transactions (
    txid TEXT PRIMARY KEY, round INTEGER NOT NULL, position INTEGER NOT NULL, sender TEXT NOT NULL,
    last_valid INTEGER NOT NULL, lease BLOB, wire BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS leases ON transactions (sender, lease, last_valid) WHERE lease IS NOT NULL;
CREATE INDEX IF NOT EXISTS places ON transactions (round, position);
CREATE TABLE IF NOT EXISTS participants (
    address TEXT NOT NULL, role TEXT NOT NULL, round INTEGER NOT NULL, position INTEGER NOT NULL, txid TEXT NOT NULL,
    PRIMARY KEY (address, role, round, position, txid)
) STRICT, WITHOUT ROWID;
"""


class RoundClock:
    """Give the round, none below `least`; a clock that goes back holds the last round, as a chain would."""

    def __init__(self, now: Callable[[], float], least: int) -> None:
        self._now = now
        self._highest = least

    def current(self) -> int:
        """Return the last round that is finished."""
        elapsed = self._now() - FIRST_ROUND_AT
        self._highest = max(self._highest, 1 + int(elapsed // ROUND_S))
        return self._highest


def started_at(number: int) -> float:
    """Return the Unix time at which a round began."""
    return FIRST_ROUND_AT + (number - 1) * ROUND_S


@dataclass(frozen=True, slots=True)
class Committed:
    """One transaction that is in the ledger; `position` counts from 0 within its round."""

    item: Item
    round: int
    position: int


class DevnetLedger:
    """Balances and commits, safe against kill -9 and against a second process on the same file.

    Args:
        path: the SQLite file; its folder is made 0700.
        identity: whose genesis transactions must name.
        now: Unix time in seconds, from which rounds are counted.

    Raises:
        DevnetError: the file cannot be opened or is corrupt.
    """

    def __init__(self, path: Path, identity: Network, now: Callable[[], float] = time.time) -> None:
        self.identity = identity
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as problem:
            raise DevnetError(f"devnet state {path}: {problem}") from problem

        try:
            # A commit survives kill -9 by the write-ahead log; only a power cut may take the last payments back.
            self._database.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {SCHEMA}")
            last = self._one("SELECT max(round) FROM transactions")
        except sqlite3.Error as problem:
            self.close()
            raise DevnetError(f"devnet state {path}: {problem}; remove it to start again") from problem
        self.rounds = RoundClock(now, last or 1)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def submit(self, items: Sequence[Item]) -> int:
        """Commit a group, all of it or nothing, and return its round; raise LedgerRefusal with the reason."""
        with self._writing():
            return self._play(items)

    def simulate(self, items: Sequence[Item]) -> None:
        """Raise LedgerRefusal if a group would not commit now; nothing is changed."""
        with self._writing(end="ROLLBACK"):
            self._play(items)

    def fund(self, address: str, micro_algos: int, asset_amount: int) -> None:
        """Bring an account up to these balances out of thin air, opted in; more than that is left as it is."""
        with self._writing():
            self._set_algos(address, max(self.micro_algos(address), micro_algos))
            self._set_holding(address, max(self.holding(address) or 0, asset_amount))

    def transaction(self, txid: str) -> Committed | None:
        """Return a committed transaction, None when the ledger does not have it."""
        sql = "SELECT wire, round, position FROM transactions WHERE txid = ?"
        row = self._database.execute(sql, (txid,)).fetchone()
        return None if row is None else Committed(parse_item(row[0]), row[1], row[2])

    def search(
        self, address: str, role: str = "", min_round: int = 0, after: tuple[int, int] = (MAX_NUMBER, 0)
    ) -> Iterator[Committed]:
        """Give transactions of one address in the order of an indexer, newest first.

        Args:
            address: whose.
            role: `sender`, `receiver`, or empty for both.
            min_round: the lowest round, included.
            after: round and position of the last one that was given before.
        """
        sql = """SELECT DISTINCT round, position, txid FROM participants
            WHERE address = ? AND ? IN ('', role) AND round >= ? AND (round, position) < (?, ?)
            ORDER BY round DESC, position DESC"""
        for _, _, txid in self._database.execute(sql, (address, role, min_round, *after)):
            transaction = self.transaction(txid)
            if transaction is not None:
                yield transaction

    def micro_algos(self, address: str) -> int:
        """Return an account's balance in micro-ALGO, 0 when it was never seen."""
        return self._one("SELECT micro_algos FROM accounts WHERE address = ?", address) or 0

    def holding(self, address: str) -> int | None:
        """Return an account's atomic units of the asset, None when it is not opted in."""
        return self._one("SELECT amount FROM holdings WHERE address = ?", address)

    def is_committed(self, txid: str) -> bool:
        """Return whether a transaction is in the ledger."""
        return self._one("SELECT 1 FROM transactions WHERE txid = ?", txid) is not None

    def _one(self, sql: str, *parameters: str | int | bytes) -> int | None:
        row = self._database.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _writing(self, end: str = "COMMIT") -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute(end)

    def _play(self, items: Sequence[Item]) -> int:
        """Apply a group within a database transaction and return its round."""
        _check_group(items)
        current = self.rounds.current()
        last = self._one("SELECT max(position) FROM transactions WHERE round = ?", current)
        first_free = 0 if last is None else last + 1

        for position, item in enumerate(items, first_free):
            self._check_header(item, current)
            check_signature(item)
            self._apply(item)

            # `lv` may be any unsigned 64-bit number; SQLite's integers are signed.
            last_valid = min(item.fields["lv"], MAX_NUMBER)
            row = (item.txid, current, position, item.sender, last_valid, item.fields.get("lx"), item.wire)
            self._database.execute("INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            for address, role in ((item.sender, "sender"), (item.receiver, "receiver")):
                place = (address, role, current, position, item.txid)
                self._database.execute("INSERT INTO participants VALUES (?, ?, ?, ?, ?)", place)
        return current

    def _check_header(self, item: Item, at_round: int) -> None:
        fields = item.fields
        if fields.get("gh") != self.identity.genesis_hash_bytes:
            named = base64.b64encode(fields.get("gh", b"")).decode()
            raise LedgerRefusal(f"tx.GenesisHash {named} does not match the ledger's {self.identity.genesis_hash}")

        first = fields.get("fv", 0)
        last = fields.get("lv", 0)
        if not first <= at_round <= last:
            raise LedgerRefusal(f"txn dead: round {at_round} outside of {first}--{last}")
        if self.is_committed(item.txid):
            raise LedgerRefusal(f"transaction already in ledger: {item.txid}")

        # A lease bars its sender from another transaction with it until the first can no longer commit.
        sql = "SELECT max(last_valid) FROM transactions WHERE sender = ? AND lease = ?"
        if "lx" in fields and (self._one(sql, item.sender, fields["lx"]) or 0) >= at_round:
            raise LedgerRefusal(f"transaction {item.txid} using an overlapping lease")

    def _apply(self, item: Item) -> None:
        fields = item.fields
        unsupported = sorted({"rekey", "close", "aclose", "asnd"} & fields.keys())
        if unsupported:
            raise LedgerRefusal(f"transaction {item.txid}: the devnet does not do {', '.join(unsupported)}")

        have = self.micro_algos(item.sender)
        fee = fields.get("fee", 0)
        amount = fields.get("amt", 0)
        if fee + amount > have:
            raise LedgerRefusal(
                f"transaction {item.txid}: overspend (account {item.sender}, "
                f"data {{MicroAlgos:{have}}}, tried to spend {{{fee + amount}}})"
            )
        self._set_algos(item.sender, have - fee - amount)

        if fields["type"] == "pay":
            self._set_algos(item.receiver, self.micro_algos(item.receiver) + amount)
        else:
            self._move_asset(item, fields.get("xaid", 0), fields.get("aamt", 0))

    def _move_asset(self, item: Item, asset: int, amount: int) -> None:
        have = self.holding(item.sender)
        if asset != self.identity.asset_id:
            raise LedgerRefusal(f"transaction {item.txid}: asset {asset} does not exist or has been deleted")
        if amount == 0 and item.receiver == item.sender:  # an opt-in
            have = have or 0
        elif have is None:
            raise LedgerRefusal(f"transaction {item.txid}: asset {asset} missing from {item.sender}")
        elif amount > have:
            raise LedgerRefusal(f"transaction {item.txid}: underflow on subtracting {amount} from sender amount {have}")
        elif self.holding(item.receiver) is None:
            raise LedgerRefusal(
                f"transaction {item.txid}: receiver error: must optin, asset {asset} missing from {item.receiver}"
            )

        self._set_holding(item.sender, have - amount)
        self._set_holding(item.receiver, (self.holding(item.receiver) or 0) + amount)

    def _set_algos(self, address: str, micro_algos: int) -> None:
        self._database.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?)", (address, micro_algos))

    def _set_holding(self, address: str, amount: int) -> None:
        self._database.execute("INSERT OR REPLACE INTO holdings VALUES (?, ?)", (address, amount))


def _check_group(items: Sequence[Item]) -> None:
    if not 0 < len(items) <= MAX_GROUP:
        raise LedgerRefusal(f"group has {len(items)} transactions; 1 to {MAX_GROUP} are allowed")

    named = [item.fields.get("grp") for item in items]
    if named != [None] and set(named) != {group_id_of([item.fields for item in items])}:
        raise LedgerRefusal("transactionGroup: incomplete group or wrong group id")

    fees = sum(item.fields.get("fee", 0) for item in items)
    if fees < MIN_FEE * len(items):
        raise LedgerRefusal(f"txgroup had {fees} in fees, which is less than the minimum {len(items)} * {MIN_FEE}")
