"""The toy ledger in SQLite: balances, opt-ins and committed groups; one database transaction per group."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.devnet.errors import DevnetError
from gateway.devnet.rounds import RoundClock
from gateway.devnet.rules import MIN_BALANCE, Changes, evaluate
from gateway.devnet.transactions import Item, parse_item
from gateway.networks import Network

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS accounts (address TEXT PRIMARY KEY, micro_algos INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS holdings (address TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS transactions (
    txid TEXT PRIMARY KEY, round INTEGER NOT NULL, position INTEGER NOT NULL, sender TEXT NOT NULL,
    last_valid INTEGER NOT NULL, lease BLOB, wire BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS leases ON transactions (sender, lease, last_valid) WHERE lease IS NOT NULL;
"""
SCHEMA_VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class Account:
    """One account as the ledger has it.

    Args:
        micro_algos: balance.
        asset_amount: atomic units of the asset, None when not opted in.
    """

    micro_algos: int
    asset_amount: int | None

    @property
    def min_balance(self) -> int:
        """Micro-ALGO that must stay in the account."""
        return MIN_BALANCE * (1 if self.asset_amount is None else 2)


@dataclass(frozen=True, slots=True)
class Committed:
    """One transaction that is in the ledger."""

    item: Item
    round: int
    position: int


class Ledger:
    """Balances and commits, safe against kill -9 and against a second process on the same file.

    Args:
        path: the SQLite file; its folder is made 0700.
        identity: whose genesis transactions must name; a file of another network is refused.
        now: Unix time in seconds, from which rounds are counted.

    Raises:
        DevnetError: the file cannot be opened, is corrupt, or belongs to another network.
    """

    def __init__(self, path: Path, identity: Network, now: Callable[[], float] = time.time) -> None:
        self.identity = identity
        self.rounds = RoundClock(now)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as problem:
            raise DevnetError(f"devnet state {path}: {problem}") from problem
        try:
            self._prepare(path)
        except sqlite3.Error as problem:
            self.close()
            raise DevnetError(f"devnet state {path}: {problem}; remove it to start anew") from problem
        except DevnetError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def submit(self, items: Sequence[Item]) -> int:
        """Commit a group, all of it or nothing, and return its round.

        Raises:
            LedgerRefusal: why it cannot commit.
        """
        with self._writing():
            current = self.rounds.current()
            changes = evaluate(items, self, current, self.identity)
            self._store(changes)
            for position, item in enumerate(items):
                row = (
                    item.txid,
                    current,
                    position,
                    item.sender,
                    _fit(item.fields["lv"]),
                    item.fields.get("lx"),
                    item.wire,
                )
                self._database.execute("INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return current

    def simulate(self, items: Sequence[Item]) -> None:
        """Find out whether a group would commit now, and change nothing.

        Raises:
            LedgerRefusal: why it would not.
        """
        evaluate(items, self, self.rounds.current(), self.identity)

    def fund(self, address: str, micro_algos: int, asset_amount: int) -> Account:
        """Bring an account up to these balances out of thin air, opted in; more than that is left as it is."""
        with self._writing():
            account = self.account(address)
            changes = Changes({address: max(account.micro_algos, micro_algos)})
            changes.holdings[address] = max(account.asset_amount or 0, asset_amount)
            self._store(changes)
        return self.account(address)

    def account(self, address: str) -> Account:
        """Return an account's balances; zero and not opted in when it was never seen."""
        return Account(self.micro_algos(address), self.holding(address))

    def transaction(self, txid: str) -> Committed | None:
        """Return a committed transaction, None when the ledger does not have it."""
        sql = "SELECT wire, round, position FROM transactions WHERE txid = ?"
        row = self._database.execute(sql, (txid,)).fetchone()
        return None if row is None else Committed(parse_item(row[0]), row[1], row[2])

    def micro_algos(self, address: str) -> int:
        """Return an account's balance in micro-ALGO, 0 when it was never seen."""
        row = self._database.execute("SELECT micro_algos FROM accounts WHERE address = ?", (address,)).fetchone()
        return 0 if row is None else int(row[0])

    def holding(self, address: str) -> int | None:
        """Return an account's atomic units of the asset, None when it is not opted in."""
        row = self._database.execute("SELECT amount FROM holdings WHERE address = ?", (address,)).fetchone()
        return None if row is None else int(row[0])

    def is_committed(self, txid: str) -> bool:
        """Tell whether a transaction is in the ledger."""
        return self._database.execute("SELECT 1 FROM transactions WHERE txid = ?", (txid,)).fetchone() is not None

    def lease_until(self, sender: str, lease: bytes) -> int:
        """Return the last round in which a sender's lease is taken, 0 when it is free."""
        sql = "SELECT max(last_valid) FROM transactions WHERE sender = ? AND lease = ?"
        return int(self._database.execute(sql, (sender, lease)).fetchone()[0] or 0)

    def _prepare(self, path: Path) -> None:
        # A commit survives kill -9 by the write-ahead log; only a power cut may take the last toy payments back.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.executescript(SCHEMA)
        for name, value in (("schema_version", SCHEMA_VERSION), ("genesis_hash", self.identity.genesis_hash)):
            self._database.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))
            found = self._database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()[0]
            if found != value:
                raise DevnetError(
                    f"devnet state {path} has {name} {found}, not {value}; name another with EMI_STATE_DIR"
                )
        last = self._database.execute("SELECT max(round) FROM transactions").fetchone()[0]
        self.rounds.raise_to(last or 1)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _store(self, changes: Changes) -> None:
        put_account = (
            "INSERT INTO accounts VALUES (?, ?) ON CONFLICT (address) DO UPDATE SET micro_algos = excluded.micro_algos"
        )
        self._database.executemany(put_account, list(changes.micro_algos.items()))
        put_holding = "INSERT INTO holdings VALUES (?, ?) ON CONFLICT (address) DO UPDATE SET amount = excluded.amount"
        held = [(address, amount) for address, amount in changes.holdings.items() if amount is not None]
        self._database.executemany(put_holding, held)


def _fit(number: int) -> int:
    """Hold a round in SQLite's 64 signed bits; rounds that high never come."""
    return min(number, 2**63 - 1)
