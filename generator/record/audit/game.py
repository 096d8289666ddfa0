"""What an audit asks of each game whose forecasts are sealed in the log: rounds, hours, ladders, daily questions."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol

Row = Mapping[str, Any]
Read = Callable[[str], bytes | None]  # path with leading slash -> what is published there, None when nothing is
OVERDUE_S: Final = 2 * 3600  # what ended this long before the log's last entry has its outcome
PRICE_WINDOW_S: Final = 60


class AuditError(ValueError):
    """An entry of the log does not hold; the message names it."""


class GameLog(Protocol):
    """What the log says of one game, read entry by entry."""

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind; raises AuditError where it does not follow from those before it."""

    def missing(self, last_at: str) -> str | None:
        """Say what should have ended before the last entry, and did not; None where nothing is missing."""


def in_time(late_s: float, what: str, after: str) -> None:
    """Raise AuditError where a price was fixed before its time, or more than a minute after it."""
    if not 0 <= late_s < PRICE_WINDOW_S:
        raise AuditError(f"{what} {late_s:.0f} s after the {after}")


def seconds(begin: str, end: str) -> float:
    """Return the time between two moments, ISO 8601."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
