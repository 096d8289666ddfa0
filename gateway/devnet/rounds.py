"""Rounds from the wall clock: 2.8 seconds each, counted from a fixed day so that a restart continues them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

ROUND_S: Final = 2.8
FIRST_ROUND_AT: Final = 1_735_689_600.0
"""2025-01-01T00:00:00Z, the start of round 1."""


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
