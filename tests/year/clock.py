"""One virtual clock for all processes of a year: true time, and by how much the machine's wall clock is wrong."""

import asyncio
import multiprocessing
from datetime import UTC, datetime

from gateway.clock import Clock


class YearClock(Clock):
    """The machine's clock in shared memory; processes that are forked later read the same one.

    Args:
        at: the first time.
    """

    def __init__(self, at: datetime) -> None:
        self._true = multiprocessing.Value("d", at.timestamp())
        self._wrong = multiprocessing.Value("d", 0.0)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._true.value + self._wrong.value, UTC)

    def monotonic(self) -> float:
        return float(self._true.value)

    def true(self) -> float:
        """Return what everyone else takes for Unix time."""
        return float(self._true.value)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.step(seconds)
        await asyncio.sleep(0)

    def step(self, seconds: float) -> None:
        """Let time pass."""
        with self._true.get_lock():
            self._true.value += seconds

    def go_to(self, at: datetime) -> None:
        """Let time pass until then; it never goes back."""
        with self._true.get_lock():
            self._true.value = max(self._true.value, at.timestamp())

    def set_wrong(self, seconds: float) -> None:
        """Set the machine's wall clock this far from the true time."""
        self._wrong.value = seconds
