"""The one clock of the process; tests pass their own."""

import time
from datetime import UTC, datetime
from typing import Final, Protocol

JUMP_S: Final = 2.0  # what slewing and a busy second stay below


class TimeSource(Protocol):
    """Where a generator reads the wall time and a monotonic time: the machine, or a test."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()


class JumpWatch:
    """Detect that the wall clock was set, by how far it and the monotonic clock went apart since the last check.

    A slow process makes no jump: both clocks advance. A machine that slept does: its monotonic clock slept too.
    """

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._apart_s = self._apart()

    def jump_s(self) -> float:
        """Return by how many seconds the wall clock jumped since the last check, 0.0 if it did not."""
        apart_s = self._apart()
        jump_s = apart_s - self._apart_s
        self._apart_s = apart_s
        return jump_s if abs(jump_s) >= JUMP_S else 0.0

    def _apart(self) -> float:
        return self._clock.now().timestamp() - self._clock.monotonic()


def elapsed_s() -> float:
    """Return seconds that count on while the process is suspended and while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
