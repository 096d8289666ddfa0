"""What an audit asks of each game whose forecasts are sealed in the log: rounds, hours, ladders, daily questions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

from generator.catalog.durations import HOUR_S
from generator.catalog.formats import ms_of

Row = Mapping[str, Any]
Read = Callable[[str], bytes | None]  # path with leading slash -> what is published there, None when nothing is
OVERDUE_S: Final = 2 * HOUR_S  # what ended this long before the log's last entry has its outcome
PRICE_WINDOW_S: Final = 60


class AuditError(ValueError):
    """An entry of the log does not hold; the message names it."""


class Site(NamedTuple):
    """What readers see, and the times of the first and last entry of the log that it is compared with."""

    read: Read
    rows: Sequence[Row]  # of /arena/rounds.json
    first_at: str | None
    last_at: str | None


class Waiting(NamedTuple):
    """What has not ended in the log so far, when it is to end, and the complaint where it does not."""

    due_ms: int
    complaint: str


class GameLog(Protocol):
    """What the log says of one game, read entry by entry, and what is published of it apart from the log."""

    @property
    def recounted(self) -> str:
        """What `recount` counts, for the line that shows how far it is."""

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind; raises AuditError where it does not follow from those before it."""

    def waiting(self) -> Iterator[Waiting]:
        """Give what has not ended so far."""

    def complaint(self, site: Site) -> str | None:
        """Say what of the published files does not follow from the log; None where all of it does."""

    @property
    def recounts(self) -> Sequence[str]:
        """What has files of its own that can be counted again: names of rounds or questions, days."""

    def recount(self, name: str, read: Read) -> int:
        """Count one of them again; return how many ballots or answers it has. AuditError: it is not what was logged."""

    def lines(self, counted: int) -> list[str]:
        """Say what was checked; `counted` is how much was counted again."""


def in_time(late_s: float, what: str, after: str) -> None:
    """Raise AuditError where a price was fixed before its time, or more than a minute after it."""
    if not 0 <= late_s < PRICE_WINDOW_S:
        raise AuditError(f"{what} {late_s:.0f} s after the {after}")


def overdue(waiting: Iterable[Waiting], last_at: str) -> str | None:
    """Return the first complaint about what should have ended two hours before the last entry; None without one."""
    last_ms = ms_of(last_at)
    return next((item.complaint for item in waiting if last_ms - item.due_ms > 1000 * OVERDUE_S), None)


def seconds(begin: str, end: str) -> float:
    """Return the time between two moments, ISO 8601."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
