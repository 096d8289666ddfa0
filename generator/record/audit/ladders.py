"""The ladders of a log, and of the files that reveal them: each hour opens to what was sealed before it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from generator.arena.published import digest_of
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import ms_of
from generator.catalog.horizons import HORIZONS

KEPT_DAYS: Final = 40  # whose commitments are kept to be compared with their files
OVERDUE_MS: Final = 2 * HOUR_MS
_LEAST, _MOST = 0.001, 0.999


class LadderError(ValueError):
    """What is said of ladders does not hold."""


def day_text(day: int) -> str:
    """Return a UTC day by its number since 1970, e.g. `2026-11-20`."""
    return datetime.fromtimestamp(day * DAY_MS / 1000, UTC).strftime("%Y-%m-%d")


def ladders_path(day: int) -> str:
    """Return where the ladders of a day are published once its last horizon has ended."""
    return f"/files/ladders/{day_text(day)}.json"


@dataclass
class LadderLog:
    """What the log says of ladders, of the last days."""

    made: dict[str, dict[str, str]] = field(default_factory=dict)  # day -> start of the hour -> its last commitment
    revealed: dict[str, tuple[str, str]] = field(default_factory=dict)  # day -> path and digest of its file

    def take_made(self, at: str, start: str, commitment: str) -> None:
        """Read that an hour's ladder was sealed; the last one before the hour counts."""
        if not at < start:
            raise LadderError("made after its hour began")
        if start[:10] in self.revealed:
            raise LadderError(f"the ladders of {start[:10]} were revealed before")
        self.made.setdefault(start[:10], {})[start] = commitment
        while len(self.made) > KEPT_DAYS:
            oldest = next(iter(self.made))
            del self.made[oldest]
            self.revealed.pop(oldest, None)

    def take_revealed(self, at: str, day: str, path: str, sha256: str) -> None:
        """Read which file reveals a day."""
        if day in self.revealed:
            raise LadderError("this day was revealed before")
        if day not in self.made:
            raise LadderError("no ladder of this day was sealed")
        if path != ladders_path(_number(day)):
            raise LadderError(f"its file is named {path}")
        if ms_of(at) < (_number(day) + 2) * DAY_MS - HOUR_MS:
            raise LadderError("revealed before its last horizon had ended")
        self.revealed[day] = (path, sha256)

    def missing(self, last_at: str) -> str | None:
        """Return a day that should have been revealed before the last entry; None where there is none."""
        for day in self.made:
            if day not in self.revealed and ms_of(last_at) > (_number(day) + 2) * DAY_MS + OVERDUE_MS:
                return day
        return None


def _number(day: str) -> int:
    return ms_of(f"{day}T00:00:00Z") // DAY_MS


def file_complaint(log: LadderLog, day: str, data: bytes) -> str | None:
    """Return what is wrong with the file that reveals a day; None where it holds what was sealed hour by hour."""
    _, sha256 = log.revealed[day]
    if hashlib.sha256(data).hexdigest() != sha256:
        return "it is not the file whose digest is in the log"
    try:
        hours = json.loads(data)["hours"]
        shown = {hour["ladder"]["start"]: hour for hour in hours}
        if len(shown) != len(hours) or set(shown) != set(log.made[day]):
            return "its hours are not those that were sealed"
        for start, hour in shown.items():
            if digest_of(hour["ladder"], hour["salt"]) != log.made[day][start]:
                return f"{start}: ladder and salt do not give the commitment"
            if complaint := _chances_complaint(hour["ladder"]["assets"]):
                return f"{start}: {complaint}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"it is not of its form ({type(error).__name__}: {error})"
    return None


def _chances_complaint(assets: Mapping[str, Any]) -> str | None:
    """Return where chances are none: out of bounds, rising with the level, or a touch less likely than the end."""
    for asset, said in assets.items():
        for horizon, rows in said["ladder"].items():
            if [row[0] for row in rows] != list(HORIZONS[horizon].levels):
                return f"{asset}: the levels over {horizon} are others"
            for row in rows:
                if not all(_LEAST <= chance <= _MOST for chance in row[1:]):
                    return f"{asset}: a chance over {horizon} is out of bounds"
                if any(end > touch for end, touch in zip(row[1:4], row[4:7], strict=True)):
                    return f"{asset}: a level over {horizon} is touched less often than passed"
            for lower, higher in pairwise(rows):
                if any(after > before for before, after in zip(lower[1:], higher[1:], strict=True)):
                    return f"{asset}: a chance over {horizon} rises with the level"
        part = said["partition"]
        if part is not None and round(1000 * sum(part["chances"])) != 1000:
            return f"{asset}: the parts do not sum to one"
    return None
