"""What an audit asks of each game whose forecasts are sealed in the log: rounds, hours, ladders, daily questions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple, Protocol

Row = Mapping[str, Any]
Read = Callable[[str], bytes | None]  # path with leading slash -> what is published there, None when nothing is
OVERDUE_S: Final = 2 * 3600  # what ended this long before the log's last entry has its outcome
PRICE_WINDOW_S: Final = 60


class AuditError(ValueError):
    """An entry of the log does not hold; the message names it."""


class Site(NamedTuple):
    """What readers see, and the times of the first and last entry of the log that it is compared with."""

    read: Read
    rows: Sequence[Row]  # of /arena/rounds.json
    first_at: str | None
    last_at: str | None


class GameLog(Protocol):
    """What the log says of one game, read entry by entry, and what is published of it apart from the log."""

    recounted: ClassVar[str]
    """What `recount` counts, for the line that shows how far it is."""

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind; raises AuditError where it does not follow from those before it."""

    def missing(self, last_at: str) -> str | None:
        """Say what should have ended before the last entry, and did not; None where nothing is missing."""

    def complaint(self, site: Site) -> str | None:
        """Say what of the published files does not follow from the log; None where all of it does."""

    @property
    def recounts(self) -> Sequence[str]:
        """What has files of its own that can be counted again: names of rounds or questions, days."""

    def recount(self, name: str, read: Read) -> int:
        """Count one of them again; return how many ballots or answers it has. AuditError: it is not what was logged."""


def in_time(late_s: float, what: str, after: str) -> None:
    """Raise AuditError where a price was fixed before its time, or more than a minute after it."""
    if not 0 <= late_s < PRICE_WINDOW_S:
        raise AuditError(f"{what} {late_s:.0f} s after the {after}")


def seconds(begin: str, end: str) -> float:
    """Return the time between two moments, ISO 8601."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
