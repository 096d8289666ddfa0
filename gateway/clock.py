"""The one clock of the process; tests step their own."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Final

STARTING_S: Final = 10.0
"""Programs that are started together wait for each other so long before it is an alarm."""
STOP_QUOTING_S: Final = 300.0
"""A facilitator that has not worked for this long stops new quotes."""


class Clock:
    """The machine's wall time and monotonic time, and waiting."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; meanwhile the rest of the process continues."""
        await asyncio.sleep(seconds)


class Outage:
    """For how long calls of a kind have failed in a row; without calls it knows nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = None

    def failed(self) -> None:
        """Note a failure; the first of a row begins the outage."""
        if self._since is None:
            self._since = self._clock.monotonic()

    def ok(self) -> None:
        """Note a success, which ends it."""
        self._since = None

    def seconds(self) -> float:
        """Return seconds since the first failure of a row, 0 when the last call worked."""
        if self._since is None:
            return 0.0
        return self._clock.monotonic() - self._since


class LastSuccess:
    """The age of the last success; the start counts as one, so that a fresh process has time to connect."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.monotonic()
        self._ever = False

    def ok(self) -> None:
        """Note a success."""
        self._at = self._clock.monotonic()
        self._ever = True

    def starting(self) -> bool:
        """Return whether it has never worked yet and may still be starting itself."""
        return not self._ever and self.age_s() < STARTING_S

    def age_s(self) -> float:
        """Return seconds since the last success."""
        return self._clock.monotonic() - self._at
