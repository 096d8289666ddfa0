"""The audit of a whole log: entries go in one by one, what they say together is recomputed, the first fault is named.

What holds of an honest log and is checked here: time never runs backwards unless the log says that the clock stepped;
a forecast is sealed before its round starts and opens to its commitment; a round that was sealed ends, once; outcomes,
lessons and scores follow from the logged prices, votes and bands; an hourly prediction opens to the commitment that
stood before its hour, and the moves of its ranges follow from the logged prices. Each game reads its own entries.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.wire.foreign import read_json
from generator.arena.games import SEALED
from generator.arena.scores import track_record
from generator.catalog.log_kinds import step_of
from generator.record.audit.daily import DailyLog
from generator.record.audit.game import AuditError, GameLog, Row, overdue, seconds
from generator.record.audit.hourly import HourLog
from generator.record.audit.ladders import LadderLog
from generator.record.audit.rounds import RoundLog
from generator.record.audit.scores import crowd_scores_of, far_scores_of, scores_in_form
from generator.record.audit.sealed import SealedLog


@dataclass
class Audit:
    """What was read so far; unknown kinds of entries are passed over, since later versions add some."""

    rounds: RoundLog = field(default_factory=RoundLog)
    hourly: HourLog = field(default_factory=HourLog)
    ladders: LadderLog = field(default_factory=LadderLog)
    daily: DailyLog = field(default_factory=DailyLog)
    sealed: tuple[SealedLog, ...] = field(default_factory=lambda: tuple(SealedLog(game) for game in SEALED))
    clock_steps: int = 0
    origin: str | None = None
    mode: str | None = None
    keys: list[str] = field(default_factory=list)
    first_at: str | None = None
    last_at: str | None = None
    _index: int = 0
    _before: str | None = None  # time of the entry before the last

    @property
    def games(self) -> tuple[GameLog, ...]:
        """Every game, in the order in which its faults are named."""
        return (self.rounds, self.hourly, self.ladders, self.daily, *self.sealed)

    def __post_init__(self) -> None:
        """Note what reads each kind of entry; the moves of ladders are those of the hours' ranges."""
        self.ladders.move_of = self.hourly.move_of
        self.readers: dict[str, Callable[[Row], None]] = {
            "log.opened": self._opened,
            "log.key": self._key,
            "clock.stepped": self._stepped,
            "scores": self._scores,
        }
        for game in self.games:
            self.readers.update(game.readers)

    def take(self, data: bytes) -> None:
        """Read the next entry; raise AuditError where it is not of its form or does not follow from those before it."""
        try:
            entry = read_json(data)
            step = step_of(entry)
            self._clock(step, entry["at"])

            reader = self.readers.get(step)
            if reader is not None:
                reader(entry)
        except AuditError as fault:
            about = entry.get("round_id") or entry.get("question_id") or entry.get("start") or entry.get("day") or ""
            raise AuditError(f"entry {self._index}, {step} {about}: {fault}") from None
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise AuditError(f"entry {self._index}: not of its form ({type(error).__name__}: {error})") from error

        if "round_id" in entry:
            self.rounds.entries.setdefault(str(entry["round_id"]), []).append(self._index)
        self._index += 1

    def finish(self) -> None:
        """Check what should have ended before the last entry; raise AuditError naming what did not."""
        if self.last_at is None:
            return
        for game in self.games:
            if missing := overdue(game.waiting(), self.last_at):
                raise AuditError(missing)

    def _clock(self, step: str, at: str) -> None:
        if self.last_at is not None and seconds(self.last_at, at) < 0 and step != "clock.stepped":
            raise AuditError(f"its time {at} is before that of the entry before it, {self.last_at}: it was back-dated")
        self.first_at = self.first_at or at
        self._before = self.last_at
        self.last_at = at

    def _opened(self, entry: Row) -> None:
        if self._index:
            raise AuditError("a log is opened once")
        self.origin = str(entry["origin"])
        self.mode = str(entry["source_mode"])
        self._key(entry)

    def _key(self, entry: Row) -> None:
        self.keys.append(str(entry["key"]))

    def _stepped(self, entry: Row) -> None:
        if entry["before"] != self._before:
            raise AuditError(f"the entry before it is of {self._before}")
        self.clock_steps += 1

    def _scores(self, entry: Row) -> None:
        records = {
            "arena": track_record("arena", self.rounds.sums.scored()),
            "hourly": track_record("hourly", self.hourly.sums.scored()),
        }
        recomputed = {name: scores_in_form(entry[name], record) for name, record in records.items()}
        crowds = {"crowd": self.rounds.crowd, "simulated_crowd": self.rounds.simulated_crowd}
        recomputed |= {name: crowd_scores_of(sums.scores()) for name, sums in crowds.items() if name in entry}
        if "how_far" in entry:
            recomputed["how_far"] = far_scores_of(self.hourly.far.scores())

        for name, scores in recomputed.items():
            if entry[name] != scores:
                raise AuditError(f"the {name} scores are {entry[name]}, the log gives {scores}")
