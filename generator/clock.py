"""The one clock of the process; tests step their own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final, Protocol

JUMP_S: Final = 2.0  # what slewing and a busy second stay below


class Clock(Protocol):
    """Tell the wall time and a monotonic time."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()


class JumpWatch:
    """Tell when the wall clock was set, by how far it and the monotonic clock went apart since the last look.

    A slow process makes no jump: both clocks go on. A machine that slept does: its monotonic clock slept too.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._apart_s = self._apart()

    def look(self) -> float:
        """Return by how many seconds the wall clock jumped since the last look, 0.0 if it did not."""
        apart_s = self._apart()
        jump_s = apart_s - self._apart_s
        self._apart_s = apart_s
        return jump_s if abs(jump_s) >= JUMP_S else 0.0

    def _apart(self) -> float:
        return self._clock.now().timestamp() - self._clock.monotonic()
