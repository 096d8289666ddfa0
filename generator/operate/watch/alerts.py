"""What is said of faults, and when: once at the start, once at the end, once more each day between.

A fault is known by its name, its subject and its cause: another cause is another fault, and is reported whatever was
reported of the first. One that goes and comes again within an hour is one fault. So its end is reported when it has
been gone for an hour, with the time at which it went.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple

from gateway.wire.foreign import read_json
from generator.catalog.durations import DAY_S, HOUR_S
from generator.catalog.formats import iso_of_s
from generator.operate.watch.judge import FAULTS, Anchors, Found

QUIET_S: Final = HOUR_S
AGAIN_S: Final = DAY_S


class Key(NamedTuple):
    """What makes two faults the same one."""

    name: str
    subject: str
    cause: str


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

    def content(self, runbook: str) -> dict[str, str]:
        """Return it as the JSON object that a command reads on its standard input; `runbook` is the file's path."""
        return {
            "fault": self.fault,
            "subject": self.subject,
            "event": self.event,
            "since": iso_of_s(self.since),
            "text": self.text,
            "runbook": f"{runbook}#{self.fault}",
        }


@dataclass(frozen=True, slots=True)
class AlertState:
    """Every fault that is not over, and what the last look kept."""

    anchors: Anchors = field(default_factory=Anchors)
    alerts: Mapping[Key, Alert] = field(default_factory=dict)
    pinged_of: float = 0.0  # generated_at of the release of which the last plain ping spoke

    def advance(self, faults: Mapping[str, Found | None], now: float) -> "AlertState":
        """Return the state after a look: what is new, back or gone; a kind that is None stays as it is."""
        alerts = dict(self.alerts)

        for name, findings in faults.items():
            if findings is None:
                continue

            seen = {Key(name, subject, finding.cause): finding.text for subject, finding in findings.items()}
            for key, text in seen.items():
                known = alerts.get(key)
                alerts[key] = replace(known, text=text, gone_at=None) if known else Alert(now, text)

            # What was never sent is forgotten without a word; the rest is reported once as gone.
            for key in [key for key in alerts if key.name == name and key not in seen]:
                alert = alerts[key]
                if alert.sent_at is None:
                    del alerts[key]
                elif alert.gone_at is None:
                    alerts[key] = replace(alert, gone_at=now)
        return replace(self, alerts=alerts)

    def messages(self, now: float) -> list[tuple[Key, Message]]:
        """Return what is to be reported now, each under the key by which `sent` takes it back."""
        due = []
        for key, alert in self.alerts.items():
            event = _event(key.name, alert, now)
            if event is not None:
                due.append((key, _message(key, event, alert)))
        return due

    def sent(self, key: Key, now: float) -> "AlertState":
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
        rows = [{**key._asdict(), **asdict(row)} for key, row in self.alerts.items()]
        values = {"anchors": asdict(self.anchors), "pinged_of": self.pinged_of, "faults": rows}
        return json.dumps(values, indent=1).encode() + b"\n"

    @classmethod
    def of(cls, data: bytes) -> "AlertState":
        """Read it; a text that is none begins a new one, so that a torn file never silences anybody."""
        try:
            values: dict[str, Any] = read_json(data)
            rows = [dict(row) for row in values["faults"]]
            alerts = {Key(*(row.pop(field) for field in Key._fields)): Alert(**row) for row in rows}
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


def _message(key: Key, event: str, alert: Alert) -> Message:
    text = alert.text
    if alert.gone_at is not None:
        text = f"over since {iso_of_s(alert.gone_at)}: {text}"
    return Message(key.name, key.subject, event, alert.since, text)


LASTING_S: Final[Mapping[str, float]] = {fault.name: fault.lasting_s for fault in FAULTS}
