"""The one clock of the process; tests step their own."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tell the wall time and a monotonic time, and wait."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; meanwhile the rest of the process goes on."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; meanwhile the rest of the process goes on."""
        await asyncio.sleep(seconds)
