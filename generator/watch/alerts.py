"""What is said of faults, and when: once at the start, once at the end, once more each day between.

A fault that goes and comes again within an hour is one fault. So its end is reported when it has been gone for an hour,
with the time at which it went.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.watch.judge import FAULTS, Anchors, Found

QUIET_S: Final = 3_600.0
AGAIN_S: Final = 86_400.0
RUNBOOK: Final = "docs/howto/runbook.md"


@dataclass(frozen=True, slots=True)
class Alert:
    """One fault from when it was first seen; times are Unix seconds."""

    since: float
    text: str
    sent_at: float | None = None  # None while it has not lasted long enough, or it could not be sent
    gone_at: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What the operator is sent."""

    fault: str
    subject: str
    event: str  # start, still, end
    since: float
    text: str

    def content(self) -> dict[str, str]:
        """Return it as the JSON object that a command reads on its standard input."""
        return {
            "fault": self.fault,
            "subject": self.subject,
            "event": self.event,
            "since": _iso(self.since),
            "text": self.text,
            "runbook": f"{RUNBOOK}#{self.fault}",
        }


@dataclass(frozen=True, slots=True)
class AlertState:
    """Every fault that is not over, by its name and subject, and what the last look kept."""

    anchors: Anchors = field(default_factory=Anchors)
    alerts: Mapping[tuple[str, str], Alert] = field(default_factory=dict)
    pinged_of: float = 0.0  # generated_at of the release of which the last plain ping spoke

    def advance(self, found: Mapping[str, Found | None], now: float) -> "AlertState":
        """Return the state after a look: what is new, back or gone; a kind that is None stays as it is."""
        alerts = dict(self.alerts)
        for name, subjects in found.items():
            if subjects is None:
                continue
            for subject, text in subjects.items():
                known = alerts.get((name, subject))
                alerts[name, subject] = replace(known, text=text, gone_at=None) if known else Alert(now, text)
            for key in [key for key in alerts if key[0] == name and key[1] not in subjects]:
                alert = alerts[key]
                if alert.sent_at is None:
                    del alerts[key]
                elif alert.gone_at is None:
                    alerts[key] = replace(alert, gone_at=now)
        return replace(self, alerts=alerts)

    def messages(self, now: float) -> list[tuple[tuple[str, str], Message]]:
        """Return what is to be reported now, each under the key by which `sent` takes it back."""
        due = []
        for (name, subject), alert in self.alerts.items():
            event = _event(name, alert, now)
            if event is not None:
                due.append(((name, subject), _message(name, subject, event, alert)))
        return due

    def sent(self, key: tuple[str, str], now: float) -> "AlertState":
        """Return the state after the message of a key was sent."""
        alerts = dict(self.alerts)
        alert = alerts.pop(key)
        if alert.gone_at is None:
            alerts[key] = replace(alert, sent_at=now)
        return replace(self, alerts=alerts)

    @property
    def is_quiet(self) -> bool:
        """Whether no fault that was reported is open."""
        return not any(alert.sent_at is not None for alert in self.alerts.values())

    def dumped(self) -> bytes:
        """Write it."""
        rows = [{"fault": name, "subject": subject, **asdict(row)} for (name, subject), row in self.alerts.items()]
        values = {"anchors": asdict(self.anchors), "pinged_of": self.pinged_of, "faults": rows}
        return json.dumps(values, indent=1).encode() + b"\n"

    @classmethod
    def of(cls, data: bytes) -> "AlertState":
        """Read it; a text that is none begins a new one, so that a torn file never silences anybody."""
        try:
            values: dict[str, Any] = read_json(data)
            rows = [dict(row) for row in values["faults"]]
            alerts = {(row.pop("fault"), row.pop("subject")): Alert(**row) for row in rows}
            return cls(Anchors(**values["anchors"]), alerts, float(values["pinged_of"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()


def _event(name: str, alert: Alert, now: float) -> str | None:
    """Return what of a fault is to be reported now, if anything."""
    if alert.gone_at is not None:
        return "end" if now - alert.gone_at >= QUIET_S else None
    if alert.sent_at is None:
        return "start" if now - alert.since >= LASTING_S.get(name, 0.0) else None
    return "still" if now - alert.sent_at >= AGAIN_S else None


def _message(name: str, subject: str, event: str, alert: Alert) -> Message:
    text = alert.text
    if alert.gone_at is not None:
        text = f"over since {_iso(alert.gone_at)}: {text}"
    return Message(name, subject, event, alert.since, text)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


LASTING_S: Final[Mapping[str, float]] = {fault.name: fault.lasting_s for fault in FAULTS}
