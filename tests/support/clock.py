"""The clock of every test that needs one: it moves only when a test moves it."""

import asyncio
from datetime import UTC, datetime, timedelta

from gateway.clock import Clock

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class ManualClock(Clock):
    """Wall and monotonic time, both at a standstill until moved.

    Args:
        at: the first wall time.
    """

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at
        self._origin = at - timedelta(seconds=1_000)  # what monotonic time counts from

    def now(self) -> datetime:
        return self.at

    def unix(self) -> float:
        """Return wall time as Unix seconds."""
        return self.at.timestamp()

    def monotonic(self) -> float:
        return (self.at - self._origin).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Be at once where a sleeper wants to be."""
        self.step(seconds)
        await asyncio.sleep(0)

    def step(self, by: float | timedelta) -> datetime:
        """Let time pass, in seconds; return the new wall time."""
        self.at += by if isinstance(by, timedelta) else timedelta(seconds=by)
        return self.at

    def set_wall(self, by: float | timedelta) -> None:
        """Set the wall clock ahead or back, as NTP or an operator does; no time passes."""
        before = self.at
        self._origin += self.step(by) - before
