"""What payments of long ago cost in the ledger: `python -m tests.benchmarks.old_payments [--rows N] [--seed N]`.

The table is filled in random order, as txids come; then finds, and pages of payments that move into it, are timed in
CPU seconds. Ten million rows take some minutes and a gigabyte.
"""

import argparse
import base64
import random
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from gateway.ledger.record import KEEP_ROUNDS, Settle
from gateway.ledger.retired import OLD_ROUNDS, PAGE
from gateway.ledger.store import Ledger
from gateway.ledger.tables import settled_old
from tests.support.intents import INTENT

BATCH: Final = 100_000
FINDS: Final = 5_000
PAGES: Final = 20
PRODUCTS: Final = ("x402-market-regime", "x402-main-brain", "x402-atlas", "x402-atlas-human-report")


def main() -> None:
    """Fill, measure, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    chance = random.Random(chosen.seed)

    with tempfile.TemporaryDirectory(prefix="old-payments-") as name:
        folder = Path(name)
        path = folder / "payments.sqlite3"
        Ledger(path).close()
        empty = path.stat().st_size
        known = fill(path, chosen.rows, chance)
        size = path.stat().st_size - empty
        ledger = Ledger(path)
        found = per_find(ledger, known)
        unknown = per_find(ledger, [chance.randbytes(32) for _ in range(FINDS)])
        moved = per_move(ledger, folder, chance)
        ledger.close()

    print(f"rows {chosen.rows:,}, seed {chosen.seed}")
    print(f"size {size / 1e6:,.0f} MB, {size / chosen.rows:.1f} bytes a row")
    print(f"find {found * 1e6:.0f} us of CPU where it is there, {unknown * 1e6:.0f} us where no payment is known")
    print(f"move {moved * 1e6:.0f} us of CPU a payment, in pages of {PAGE}, export and sync included")


def fill(path: Path, count: int, chance: random.Random) -> list[bytes]:
    """Insert so many rows in random order; return some of their txids."""
    engine = sa.create_engine(f"sqlite:///{path}")
    known: list[bytes] = []
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA cache_size = -2000000")
        connection.exec_driver_sql("PRAGMA synchronous = OFF")
        for done in range(0, count, BATCH):
            rows = [
                {
                    "txid": chance.randbytes(32),
                    "product": chance.choice(PRODUCTS),
                    "amount_atomic": 10_000,
                    "settled_at": 1_790_000_000 + done + place,
                }
                for place in range(min(BATCH, count - done))
            ]
            connection.execute(sa.insert(settled_old), rows)
            connection.commit()
            known += [row["txid"] for row in rows[:: max(1, count // FINDS)]]  # type: ignore[misc]
            print(f"{done + len(rows):,} rows", file=sys.stderr, flush=True)
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return known


def txid(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=")


def per_find(ledger: Ledger, txids: list[bytes]) -> float:
    """Return the CPU seconds of one look-up."""
    names = [txid(data) for data in txids]
    began = time.process_time()
    for name in names:
        ledger.find(name)
    return (time.process_time() - began) / len(names)


def per_move(ledger: Ledger, folder: Path, chance: random.Random) -> float:
    """Return the CPU seconds of moving one payment."""
    count = PAGES * PAGE
    intents = [replace(INTENT, txid=txid(chance.randbytes(32))) for _ in range(count)]
    ledger.write_all([partial(ledger.write_intent, intent) for intent in intents])
    ledger.write_all([partial(ledger.apply, one.txid, Settle("chain"), datetime.now(UTC)) for one in intents])

    began = time.process_time()
    for _ in range(PAGES):
        assert ledger.retire(INTENT.last_valid + KEEP_ROUNDS + OLD_ROUNDS + 1, folder) == PAGE
    return (time.process_time() - began) / count


if __name__ == "__main__":
    main()
