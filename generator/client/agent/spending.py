"""What an agent may spend: amounts are reserved before a payment is signed, and given back only on proof of refusal.

The state is one file, replaced whole and on the disk before anything is signed; a lock keeps processes apart. What
cannot be read stops every purchase: no restart forgets what was spent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gateway.wire.durable import replace_file
from gateway.wire.foreign import read_json
from generator.catalog.money import usdc_amount
from generator.client.agent.answers import ToolError
from generator.errors import GeneratorError
from generator.lock import StateLock, StateLockTaken

FILE: Final = "spending.json"
LOCK: Final = "spending"
PATIENCE_S: Final = 10.0
POLL_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that is spent, in atomic units of USDC: on one call, on a UTC day, ever."""

    call: int
    day: int
    life: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one purchase may cost, and the UTC day on which it was begun."""

    amount_atomic: int
    day: str
    released: bool = False


class Spending:
    """The reservations of one state folder, shared by every process that buys with it."""

    def __init__(self, folder: Path, caps: Caps) -> None:
        self._folder = folder
        self._caps = caps

    def reserve(self, key: str, amount_atomic: int, now: datetime) -> None:
        """Reserve an amount for a purchase, once; what the same purchase reserved before counts once.

        Raises:
            ToolError: `cap_exceeded`, with what is left.
            GeneratorError: the state cannot be read or written; then nothing must be signed.
        """
        day = f"{now:%Y-%m-%d}"
        with held(self._folder, LOCK):
            known = self._read()
            before = known.get(key)
            if before is not None and not before.released and amount_atomic <= before.amount_atomic:
                return

            others = {name: other for name, other in known.items() if name != key and not other.released}
            left = self._left(others, day)
            if amount_atomic > min(left.values()):
                shown = {name: usdc_amount(max(0, amount)) for name, amount in left.items()}
                raise ToolError(
                    f"cap_exceeded: {usdc_amount(amount_atomic)} USDC is more than is left: {shown['call']} a call, "
                    f"{shown['day']} today (UTC), {shown['life']} ever. No tool raises a cap; only the person who "
                    "started this server can",
                    error="cap_exceeded",
                    left_usdc=shown,
                )
            self._write({**known, key: Reservation(amount_atomic, day)})

    def release(self, key: str) -> None:
        """Give back what a purchase reserved, since it is proven that nothing was paid."""
        with held(self._folder, LOCK):
            known = self._read()
            before = known.get(key)
            if before is not None:
                self._write({**known, key: Reservation(before.amount_atomic, before.day, released=True)})

    def spent(self) -> int:
        """Return what is reserved or spent, atomic units."""
        with held(self._folder, LOCK):
            return sum(kept.amount_atomic for kept in self._read().values() if not kept.released)

    def _left(self, counted: dict[str, Reservation], day: str) -> dict[str, int]:
        ever = sum(kept.amount_atomic for kept in counted.values())
        today = sum(kept.amount_atomic for kept in counted.values() if kept.day >= day)
        return {"call": self._caps.call, "day": self._caps.day - today, "life": self._caps.life - ever}

    def _read(self) -> dict[str, Reservation]:
        path = self._folder / FILE
        try:
            rows: dict[str, Any] = read_json(path.read_text(encoding="utf-8"))
            known = {key: Reservation(**row) for key, row in rows.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise GeneratorError(f"{path} cannot be read, so nothing is bought: {error}") from error

        # An amount that was edited by hand could raise a cap.
        if not all(type(kept.amount_atomic) is int and kept.amount_atomic >= 0 for kept in known.values()):
            raise GeneratorError(f"{path} cannot be read, so nothing is bought: an amount is not a number")
        return known

    def _write(self, known: dict[str, Reservation]) -> None:
        rows = {key: asdict(reservation) for key, reservation in known.items()}
        write_durably(self._folder / FILE, json.dumps(rows).encode())


@contextmanager
def held(folder: Path, name: str, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold a lock between processes for a few milliseconds' work; GeneratorError where another keeps it too long."""
    until = time.monotonic() + patience_s

    while True:
        lock = StateLock(folder, name)
        try:
            lock.__enter__()
            break
        except StateLockTaken as taken:
            if time.monotonic() > until:
                raise GeneratorError(f"process {taken.pid} keeps {folder / name} locked; nothing was paid") from taken
            time.sleep(POLL_S)

    # Held: whatever happens in the block, the next process gets it.
    try:
        yield
    finally:
        lock.__exit__()


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file by one that is whole and on the disk when this returns; GeneratorError if it cannot be."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, content)
    except OSError as error:
        raise GeneratorError(f"{path} cannot be written: {error.strerror}") from error
