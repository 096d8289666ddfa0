"""The ladders of a log, and of the files that reveal them: each hour opens to what was sealed before it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple

from typing_extensions import TypedDict

from gateway.wire.foreign import read_json
from generator.arena.ladders.hour import LadderHour
from generator.arena.ladders.scores import short_scores
from generator.arena.ladders.sums import sums_of
from generator.arena.published import digest_of
from generator.catalog.counts import quantity
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import iso, ms_of
from generator.catalog.horizons import HORIZONS
from generator.record.audit.game import AuditError, Read, Row, Site, Waiting
from generator.values.hours import Move


class AssetPartition(TypedDict):
    """Three chances of the next four hours."""

    band_percent: float
    """Half width of the middle."""
    chances: list[float]
    """Of an end below it, within it and above it."""
    base_rates: list[float]
    """How often each came before."""


class AssetLadder(TypedDict):
    """What was sealed of one asset."""

    ladder: Mapping[str, list[list[float]]]
    """Horizon to its levels: percent, then the chances of above, below and either at the end, then touched."""
    partition: AssetPartition | None
    """Null without one."""


class SealedLadder(TypedDict):
    """What was sealed of an hour."""

    start: str
    """Start of the hour, ISO 8601 UTC."""
    assets: Mapping[str, AssetLadder]
    """By asset."""
    base_rates: Mapping[str, list[list[float]]]
    """Horizon to how often each level was passed before: at the end, and touched."""


class MoveThatCame(TypedDict):
    """What came of one asset over one horizon, in percent of the price at the start."""

    move: float | None
    """At the end; null where void."""
    high: float | None
    """Highest on the way; null where a bar is missing."""
    low: float | None
    """Lowest on the way; null where a bar is missing."""


class RevealedHour(TypedDict):
    """One hour of a day's ladders."""

    ladder: SealedLadder
    """What was sealed before it; with the salt it gives the log's commitment."""
    salt: str
    """Hex digits."""
    start_prices: Mapping[str, float]
    """Asset to USD."""
    came: Mapping[str, Mapping[str, MoveThatCame]]
    """Horizon and asset to what came."""
    void_reason: str | None
    """Why it was not judged; null where it was."""


class LaddersOfDay(TypedDict):
    """What was sealed of a day's ladders, hour by hour, and what came."""

    day: str
    """UTC day, such as 2026-11-20."""
    hours: list[RevealedHour]
    """Oldest first."""


OPENED_DAYS: Final = 7  # whose files are read, the newest
KEPT_DAYS: Final = 40  # whose commitments are kept to be compared with their files
_LEAST, _MOST = 0.001, 0.999
MoveOf = Callable[[str, str, str], Move | None]
"""The move that the logged prices give: of the start of an hour, an asset and a horizon; None where none is logged."""


def day_text(day: int) -> str:
    """Return a UTC day by its number since 1970, e.g. `2026-11-20`."""
    return datetime.fromtimestamp(day * DAY_MS / 1000, UTC).strftime("%Y-%m-%d")


def ladders_path(day: int) -> str:
    """Return where the ladders of a day are published once its last horizon has ended."""
    return f"/files/ladders/{day_text(day)}.json"


def no_move(_start: str, _asset: str, _horizon: str) -> None:
    """Stand for a log without hourly predictions."""


class Revealed(NamedTuple):
    """What the log says of the file of a day."""

    path: str
    sha256: str
    scores: Mapping[str, Any] | None  # of the day's chances; None of an entry from before they were logged


@dataclass
class LadderLog:
    """What the log says of ladders, of the last days."""

    recounted: ClassVar[str] = "days of ladders"
    made: dict[str, dict[str, str]] = field(default_factory=dict)  # day -> start of the hour -> its last commitment
    revealed: dict[str, Revealed] = field(default_factory=dict)  # by day
    move_of: MoveOf = field(default=no_move, compare=False)

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind."""
        return {"ladder.sealed": self._made, "ladder.judged": self._revealed}

    def _made(self, entry: Row) -> None:
        """Read that an hour's ladder was sealed; the last one before the hour counts."""
        at = entry["at"]
        start = entry["start"]
        commitment = str(entry["commitment"])

        # ISO 8601 in UTC orders as time does, so texts are compared.
        if not at < start:
            raise AuditError("made after its hour began")
        if start[:10] in self.revealed:
            raise AuditError(f"the ladders of {start[:10]} were revealed before")

        self.made.setdefault(start[:10], {})[start] = commitment
        # A log has many years; only the last weeks are compared with files.
        while len(self.made) > KEPT_DAYS:
            oldest = next(iter(self.made))
            del self.made[oldest]
            self.revealed.pop(oldest, None)

    def _revealed(self, entry: Row) -> None:
        """Read which file reveals a day, and how its chances did."""
        at = entry["at"]
        day = entry["day"]
        file = Revealed(entry["path"], entry["sha256"], entry.get("scores"))

        if day in self.revealed:
            raise AuditError("this day was revealed before")
        if day not in self.made:
            raise AuditError("no ladder of this day was sealed")
        if file.path != ladders_path(_number(day)):
            raise AuditError(f"its file is named {file.path}")
        if ms_of(at) < (_number(day) + 2) * DAY_MS - HOUR_MS:
            raise AuditError("revealed before its last horizon had ended")

        self.revealed[day] = file

    def complaint(self, site: Site) -> str | None:
        """Return None: ladders are published in the files that `recount` opens."""
        return None

    @property
    def recounts(self) -> Sequence[str]:
        """The last days that were revealed."""
        return list(self.revealed)[-OPENED_DAYS:]

    def recount(self, name: str, read: Read) -> int:
        """Open the file of one day, score it again and return 1."""
        path = self.revealed[name].path
        data = read(path)
        if data is None:
            raise AuditError(f"{path} is not published; the log names its digest")
        if complaint := file_complaint(self, name, data):
            raise AuditError(f"{path}: {complaint}")
        return 1

    def waiting(self) -> Iterator[Waiting]:
        """Give the days that were not revealed."""
        for day in self.made:
            if day not in self.revealed:
                over_ms = (_number(day) + 2) * DAY_MS
                yield Waiting(over_ms, f"the ladders of {day} were sealed and never revealed")

    def lines(self, counted: int) -> list[str]:
        """Say how many days were opened."""
        if not self.recounts:
            return []
        return [f"ladders opened to what was sealed before each hour, and scored again: {quantity(counted, 'day')}"]


def _number(day: str) -> int:
    return ms_of(f"{day}T00:00:00Z") // DAY_MS


def hours_in(data: bytes) -> list[LadderHour]:
    """Return the hours of the file that reveals a day."""
    # Of an hour in its file there is no more to come: it is judged, and was made before it began.
    return [
        LadderHour(
            start_ms=ms_of(hour["ladder"]["start"]),
            made_ms=0,  # not published
            warm_up=False,
            said=hour["ladder"]["assets"],
            base=hour["ladder"]["base_rates"],
            prices=hour["start_prices"],
            came=hour["came"],
            void_reason=hour["void_reason"],
        )
        for hour in read_json(data)["hours"]
    ]


def file_complaint(log: LadderLog, day: str, data: bytes) -> str | None:
    """Return what is wrong with the file that reveals a day.

    None where it holds what was sealed hour by hour, its moves are those of the logged prices, and its chances did as
    the log says.
    """
    revealed = log.revealed[day]
    if hashlib.sha256(data).hexdigest() != revealed.sha256:
        return "it is not the file whose digest is in the log"

    try:
        complaint = _sealed_complaint(log.made[day], read_json(data)["hours"])
        if complaint is not None:
            return complaint

        hours = hours_in(data)
        return _moves_complaint(hours, log.move_of) or _scores_complaint(hours, revealed.scores)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"it is not of its form ({type(error).__name__}: {error})"


def _sealed_complaint(sealed: Mapping[str, str], hours: Sequence[Mapping[str, Any]]) -> str | None:
    """Return where the hours are not those that were sealed, or their chances are none."""
    shown = {hour["ladder"]["start"]: hour for hour in hours}
    if len(shown) != len(hours) or set(shown) != set(sealed):
        return "its hours are not those that were sealed"
    for start, hour in shown.items():
        if digest_of(hour["ladder"], hour["salt"]) != sealed[start]:
            return f"{start}: ladder and salt do not give the commitment"
        if complaint := _chances_complaint(hour["ladder"]["assets"]):
            return f"{start}: {complaint}"
    return None


def _moves_complaint(hours: Sequence[LadderHour], move_of: MoveOf) -> str | None:
    """Return where a move is another than that of the prices in the log."""
    for hour in hours:
        for horizon, assets in hour.came.items():
            for asset, outcome in assets.items():
                logged = move_of(iso(hour.start_ms), asset, horizon)
                if logged is None or logged.move is None or outcome["move"] == logged.move:
                    continue
                where = f"{iso(hour.start_ms)}: {asset} over {horizon}"
                return f"{where}: the move is {outcome['move']}, the logged prices give {logged.move}"
    return None


def _scores_complaint(hours: Sequence[LadderHour], logged: Mapping[str, Any] | None) -> str | None:
    """Return which score of the log does not follow from what was said and what came."""
    if logged is None:
        return None
    for name, score in short_scores(sums_of(hours)).items():
        if logged.get(name) != score:
            return f"the scores of {name} are {logged.get(name)} in the log, the file gives {score}"
    return None


def _chances_complaint(assets: Mapping[str, Any]) -> str | None:
    """Return where chances are none: out of bounds, rising with the level, or a touch less likely than the end."""
    for asset, stated in assets.items():
        for horizon, rows in stated["ladder"].items():
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

        # Three chances of three digits each: they sum to one but for what rounding leaves.
        part = stated["partition"]
        if part is not None and round(1000 * sum(part["chances"])) != 1000:
            return f"{asset}: the parts do not sum to one"
    return None
