"""Audit a copy of the payments ledger: it is upgraded, read to its end, and every body is the one that was sold."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from gateway.errors import LedgerUnreadable
from gateway.ledger.damage import quick_check
from gateway.ledger.engine import open_engine
from gateway.ledger.tables import bodies, payments, settled_old

PAGE = 500


@dataclass(frozen=True, slots=True)
class LedgerFigures:
    """What a ledger was found to hold."""

    states: Counter[str] = field(default_factory=Counter)
    bodies: int = 0
    old: int = 0  # settled long ago
    newest_round: int = 0  # of the chain, when the newest intent was written; 0 where there is none

    def __str__(self) -> str:
        counted = ", ".join(f"{number} {state}" for state, number in sorted(self.states.items()))
        old = f", {self.old} settled long ago" if self.old else ""
        return f"{counted or 'no payments'}{old}; {self.bodies} bodies, each of its digest"


def audit_ledger(where: Path | str) -> LedgerFigures:
    """Upgrade and read a copy of the ledger to its end.

    Raises:
        LedgerUnreadable: it is damaged, of another program or a newer schema, or a body is not the one that was sold.
    """
    engine = open_engine(where)
    try:
        with engine.connect() as connection:
            damage = quick_check(connection) if engine.dialect.name == "sqlite" else None
            if damage is not None:
                raise LedgerUnreadable(f"the payments ledger {where} is damaged: {damage}")
            old = int(connection.execute(sa.select(sa.func.count()).select_from(settled_old)).scalar_one())
            return LedgerFigures(_states(connection), _check_bodies(connection), old, _newest_round(connection))
    finally:
        engine.dispose()


def _states(connection: sa.Connection) -> Counter[str]:
    query = sa.select(payments.c.state, sa.func.count()).group_by(payments.c.state)
    return Counter({state: int(number) for state, number in connection.execute(query)})


def _newest_round(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(sa.func.max(payments.c.intent_round))).scalar() or 0)


def _check_bodies(connection: sa.Connection) -> int:
    count = 0
    with connection.execute(sa.select(bodies), execution_options={"yield_per": PAGE}) as rows:
        for digest, content in rows:
            if hashlib.sha256(content).hexdigest() != digest:
                raise LedgerUnreadable(f"the body {digest} of the payments ledger is not the one that was sold")
            count += 1
    return count
