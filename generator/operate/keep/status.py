"""What backups and restore drills came to, in one small file that the doctor and the metrics read."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, Self

from gateway.wire.durable import replace_status
from gateway.wire.foreign import read_json
from gateway.wire.limits import BACKUP_AGE_S, DRILL_AGE_S
from generator.operate.keep.figures import Figures

OLDEST_BACKUP: Final = timedelta(seconds=BACKUP_AGE_S)
OLDEST_DRILL: Final = timedelta(seconds=DRILL_AGE_S)
Kind = Literal["backup", "drill"]


@dataclass(frozen=True, slots=True)
class Result:
    """Of one kind: when it last went well, and what it last came to. Times are seconds since the epoch, 0 for never."""

    good_at: float = 0.0
    tried_at: float = 0.0
    fault: str | None = None
    found: str = ""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read one that `note_reading` wrote; nothing was tried where there is no file, or none that can be read."""
        try:
            return cls(**read_json(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return cls()

    def judge(self, what: str, now: datetime, oldest: timedelta) -> tuple[bool | None, str]:
        """Return whether all is well, None where it was never tried, and a line for the operator."""
        if not self.tried_at:
            return None, f"no {what} was made from here"
        age = now - datetime.fromtimestamp(self.good_at, UTC)
        if self.fault is not None:
            return False, f"the last {what} failed: {self.fault}"
        if age > oldest:
            return False, f"the last {what} is {age / timedelta(hours=1):.0f} hours old"
        return True, f"{self.found}, {age / timedelta(hours=1):.1f} hours ago"


@dataclass(frozen=True, slots=True)
class Status:
    """What backups and drills came to."""

    backup: Result = field(default_factory=Result)
    drill: Result = field(default_factory=Result)
    drilled: Figures = field(default_factory=Figures)  # what the last good drill found in its backup

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read it; nothing was tried where there is no file, or none that can be read."""
        try:
            values = read_json(path.read_bytes())
            # A note of an earlier version has no figures.
            figures = Figures(**values.get("drilled", {}))
            return cls(Result(**values["backup"]), Result(**values["drill"]), figures)
        except (OSError, ValueError, TypeError, KeyError):
            return cls()

    def judge_backup(self, now: datetime) -> tuple[bool | None, str]:
        """Return whether the last backup is young and went well, and a line."""
        return self.backup.judge("backup", now, OLDEST_BACKUP)

    def judge_drill(self, now: datetime) -> tuple[bool | None, str]:
        """Return whether the last restore drill is young and went well, and a line."""
        return self.drill.judge("restore drill", now, OLDEST_DRILL)


def note(  # noqa: PLR0917
    path: Path,
    kind: Kind,
    at: datetime,
    found: str = "",
    fault: str | None = None,
    drilled: Figures | None = None,
) -> None:
    """Note what a backup or a drill came to, whole or not at all; `drilled` is what a drill found in its backup."""
    before = Status.load(path)
    result: Result = getattr(before, kind)
    seconds = at.timestamp()
    changed = replace(result, tried_at=seconds, fault=fault, found=found or result.found)
    if fault is None:
        changed = replace(changed, good_at=seconds)
    status = replace(before, backup=changed) if kind == "backup" else replace(before, drill=changed)
    if drilled is not None:
        status = replace(status, drilled=drilled)

    path.parent.mkdir(parents=True, exist_ok=True)
    replace_status(path, json.dumps(asdict(status)).encode())


def note_reading(path: Path, at: datetime, fault: str | None) -> None:
    """Note what the reading of a whole database came to, whole or not at all; the watcher is another user."""
    seconds = at.timestamp()
    before = Result.load(path)
    result = Result(before.good_at if fault else seconds, seconds, fault)
    replace_status(path, json.dumps(asdict(result)).encode())
