"""Payments of long ago: settled ones move to a small table, refused ones go; the whole rows are exported before.

What a txid of them gets is decided for good: 410, since its body is gone, or what any payment gets that can never land.
What is not decided never moves: intents, what was closed on the facilitator's word, and adopted payments that were
not presented yet.
"""

import base64
import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from gateway.ledger.record import Record
from gateway.ledger.tables import payments, settled_old

OLD_ROUNDS: Final = 2_800_000
"""About 90 days of the chain, counted from the round until which a body is kept."""
PAGE: Final = 200
PROVEN: Final = ("chain", "absent", "never_landed", "adopted")
TXID_BYTES: Final = 32
FIND_RETIRED: Final = sa.select(settled_old).where(settled_old.c.txid == sa.bindparam("packed"))
"""Select a retired payment by its `txid_bytes`; built once, since each purchase asks for it."""


def retirable(passed_round: int) -> sa.Select[Any]:
    """Select a page of payments that are decided and whose body has not been needed for so many rounds."""
    is_settled = (payments.c.state == "settled") & (payments.c.sha256 != "")
    is_refused = (payments.c.state == "refused") & (payments.c.evidence == "absent")
    return (
        sa.select(*(column for column in payments.columns if column is not payments.c.receipt))
        .where(payments.c.keep_round < passed_round - OLD_ROUNDS, is_settled | is_refused)
        .where(payments.c.evidence.in_(PROVEN))
        .order_by(payments.c.keep_round)
        .limit(PAGE)
    )


def small_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a settled payment."""
    return {
        "txid": txid_bytes(row["txid"]),
        "product": row["product"],
        "amount_atomic": row["price_atomic"],
        "settled_at": int(row["closed_at"] or row["created_at"]),
    }


def record_of(txid: str, row: Any) -> Record:
    """Return a retired payment as a record; what is not kept of it is empty."""
    unknown: dict[str, Any] = {field.name: "" for field in fields(Record) if field.type is str}
    known = {
        "txid": txid,
        "state": "settled",
        "product": row.product,
        "price_atomic": row.amount_atomic,
        "closed_at": float(row.settled_at),
        "sha256": "gone",
        "evidence": "chain",
    }
    rounds: dict[str, Any] = {"identifier": None, "last_valid": 0, "intent_round": None, "watched_round": None}
    return Record(**{**unknown, **rounds, **known})


def txid_bytes(txid: str) -> bytes | None:
    """Return the 32 bytes that a txid writes in base32, None where it writes others.

    >>> txid_bytes("A" * 52) == bytes(32)
    True
    >>> txid_bytes("PROBE") is None
    True
    """
    try:
        data = base64.b32decode(txid + "====")
    except ValueError:
        return None
    return data if len(data) == TXID_BYTES else None


def txid_of(packed: bytes) -> str:
    """Return the txid of its 32 bytes.

    >>> txid_of(bytes(32)) == "A" * 52
    True
    """
    return base64.b32encode(packed).decode().rstrip("=")


def export(rows: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Add whole rows to `settled-YYYY-MM.csv` of the month in which they were closed, durably.

    After a crash between this and the transaction that moves them, rows stand there twice.
    """
    by_month: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        closed = datetime.fromtimestamp(row["closed_at"] or row["created_at"], UTC)
        by_month[f"settled-{closed:%Y-%m}.csv"].append(row)

    for name, of_month in by_month.items():
        path = folder / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(of_month[0]))
            if os.fstat(descriptor).st_size == 0:
                writer.writeheader()
            writer.writerows(of_month)
            file.flush()
            os.fsync(descriptor)
