"""The devnet's ledger in SQLite: balances, opt-ins and committed groups; one database transaction per group.

Rounds follow the wall clock: 2.8 seconds each, counted from a fixed day so that a restart continues them.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.devnet.errors import DevnetError
from gateway.devnet.rules import MIN_BALANCE, Changes, evaluate
from gateway.devnet.transactions import Item, parse_item
from gateway.wire.networks import Network

ROUND_S: Final = 2.8
FIRST_ROUND_AT: Final = 1_735_689_600.0
"""2025-01-01T00:00:00Z, the start of round 1."""
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
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
SCHEMA_VERSION: Final = "1"


class RoundClock:
    """Tell the round; a clock that goes back holds the last round, as a chain would.

    Args:
        now: Unix time in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._highest = 1

    def raise_to(self, at_least: int) -> None:
        """Never answer a lower round than this one from now on (the ledger's last commit)."""
        self._highest = max(self._highest, at_least)

    def current(self) -> int:
        """Return the last round that is finished."""
        elapsed = self._now() - FIRST_ROUND_AT
        self._highest = max(self._highest, 1 + int(elapsed // ROUND_S))
        return self._highest

    def since_round_ns(self) -> int:
        """Return the nanoseconds since the current round began."""
        return max(0, int((self._now() - started_at(self.current())) * 1e9))

    def seconds_to(self, target: int) -> float:
        """Return the seconds until a round begins, 0 when it has begun."""
        return 0.0 if self.current() >= target else max(0.0, started_at(target) - self._now())


def started_at(number: int) -> float:
    """Return the Unix time at which a round began."""
    return FIRST_ROUND_AT + (number - 1) * ROUND_S


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
    """One transaction that is in the ledger; `position` counts from 0 within its round."""

    item: Item
    round: int
    position: int


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: transactions of one address, newest first.

    Args:
        address: whose.
        role: `sender`, `receiver`, or empty for both.
        min_round: first round, included.
        max_round: last round, included.
        after: (round, position) of the last one that was given before, in the order of the answer.
    """

    address: str
    role: str = ""
    min_round: int = 0
    max_round: int = 2**63 - 1
    after: tuple[int, int] | None = None


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
            raise DevnetError(f"devnet state {path}: {problem}; remove it to start again") from problem
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
            for position, item in enumerate(items, self._next_position(current)):
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
                self._store_participants(item, current, position)
        return current

    def _next_position(self, at_round: int) -> int:
        sql = "SELECT max(position) FROM transactions WHERE round = ?"
        last = self._database.execute(sql, (at_round,)).fetchone()[0]
        return 0 if last is None else int(last) + 1

    def _store_participants(self, item: Item, at_round: int, position: int) -> None:
        rows = [(item.sender, "sender"), (item.receiver, "receiver")]
        self._database.executemany(
            "INSERT OR IGNORE INTO participants VALUES (?, ?, ?, ?, ?)",
            [(address, role, at_round, position, item.txid) for address, role in rows],
        )

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

    def search(self, wanted: Search) -> Iterator[Committed]:
        """Give transactions in the order of an indexer, newest first."""
        at_round, position = wanted.after or (2**63 - 1, 0)
        sql = """SELECT DISTINCT round, position, txid FROM participants
            WHERE address = ? AND ? IN ('', role) AND round BETWEEN ? AND ? AND (round, position) < (?, ?)
            ORDER BY round DESC, position DESC"""
        parameters = (
            wanted.address,
            wanted.role,
            *map(_fit, (wanted.min_round, wanted.max_round, at_round, position)),
        )
        for _, _, txid in self._database.execute(sql, parameters):
            found = self.transaction(txid)
            if found is not None:
                yield found

    def micro_algos(self, address: str) -> int:
        """Return an account's balance in micro-ALGO, 0 when it was never seen."""
        row = self._database.execute("SELECT micro_algos FROM accounts WHERE address = ?", (address,)).fetchone()
        return 0 if row is None else int(row[0])

    def holding(self, address: str) -> int | None:
        """Return an account's atomic units of the asset, None when it is not opted in."""
        row = self._database.execute("SELECT amount FROM holdings WHERE address = ?", (address,)).fetchone()
        return None if row is None else int(row[0])

    def is_committed(self, txid: str) -> bool:
        """Return whether a transaction is in the ledger."""
        return self._database.execute("SELECT 1 FROM transactions WHERE txid = ?", (txid,)).fetchone() is not None

    def lease_until(self, sender: str, lease: bytes) -> int:
        """Return the last round in which a sender's lease is taken, 0 when it is free."""
        sql = "SELECT max(last_valid) FROM transactions WHERE sender = ? AND lease = ?"
        return int(self._database.execute(sql, (sender, lease)).fetchone()[0] or 0)

    def _prepare(self, path: Path) -> None:
        # A commit survives kill -9 by the write-ahead log; only a power cut may take the last payments back.
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
