"""A full human report for free: the last one of the newest finished UTC day, or a bundled one of a simulated day.

The last report of a day is known only once the next one began, and free twenty minutes later, when no one can pay for
it any more. What was made so far is noted in the memory every
quarter of an hour, so that a restart over midnight loses fifteen minutes of a day at most.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib import resources
from typing import Any, Final, Protocol

from generator.contract.base import encode

NEWEST_KEY: Final = "sample_newest"
SAMPLE_KEY: Final = "sample_of_day"
NOTED_EVERY_S: Final = 900
DAY_S: Final = 86_400
FREE_AFTER_S: Final = 20 * 60  # a quote is good for 15 minutes after a newer one
BUNDLED: Final = "sample_report.json"
# What a settled body says of its payment is not true of a sample.
PAYMENT_STATUS: Final = "free_sample"


class Notes(Protocol):
    """What is asked of the memory."""

    def meta(self, key: str) -> str | None:
        """Return a noted value."""
        ...

    def set_meta(self, key: str, value: str) -> None:
        """Note a value."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """One human report and the UTC day on which it was made."""

    day: date
    body: Mapping[str, Any]


class Sample:
    """Keep one human report a day and give the newest finished one."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._opened = False
        self._newest: Report | None = None
        self._sample: Report | None = None
        self._noted_at_s = float("-inf")
        self._file = b""

    def file(self, body: Mapping[str, Any] | None, at: datetime) -> bytes:
        """Take the report that this tick sells and return the sample's file.

        Args:
            body: the human report as sold; None while it is not for sale.

        Raises:
            LeadershipLost: another process leads now.
        """
        if not self._opened:
            self._newest, self._sample = self._read(NEWEST_KEY), self._read(SAMPLE_KEY)
            self._opened = True
        if self._newest is not None and self._newest.day < at.date():
            if at.timestamp() % DAY_S < FREE_AFTER_S:
                return self._content()  # yesterday's last can still be paid for: it is not given away meanwhile
            self._sample, self._file = self._newest, b""
            self._note(SAMPLE_KEY, self._newest)
        if body is None:
            return self._content()
        self._newest = Report(at.date(), body)
        if at.timestamp() - self._noted_at_s >= NOTED_EVERY_S or at.timestamp() < self._noted_at_s:
            self._note(NEWEST_KEY, self._newest)
            self._noted_at_s = at.timestamp()
        return self._content()

    def _content(self) -> bytes:
        if not self._file:
            self._file = encode(of_day(self._sample) if self._sample else bundled())
        return self._file

    def _note(self, key: str, report: Report) -> None:
        self._notes.set_meta(key, json.dumps({"day": report.day.isoformat(), "body": report.body}))

    def _read(self, key: str) -> Report | None:
        try:
            noted = json.loads(self._notes.meta(key) or "null")
            return Report(date.fromisoformat(noted["day"]), noted["body"]) if noted else None
        except (ValueError, KeyError, TypeError):
            # Written by another version: the next day brings a new one.
            return None


def of_day(report: Report) -> dict[str, Any]:
    """Return the sample that is a report which was for sale on its day."""
    note = f"A sample: the last full report of {report.day.isoformat()}, as it was sold on that day."
    return _marked(report.body, "last_of_day", note, report.day.isoformat())


def bundled() -> dict[str, Any]:
    """Return the sample that comes with the program: one report of a simulated market."""
    text = resources.files("generator.site").joinpath(BUNDLED).read_text(encoding="utf-8")
    note = "A sample of a bundled simulated day: made by a program, none of it is a real price."
    return _marked(json.loads(text), "bundled", note, None)


def _marked(body: Mapping[str, Any], kind: str, note: str, day: str | None) -> dict[str, Any]:
    head = {"sample": kind, "sample_day": day, "sample_note": note}
    return {"success": True, **head, **body, "payment_status": PAYMENT_STATUS}
