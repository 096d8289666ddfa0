"""The claims of one sealed game in a log: sealed before their start, opened to their digest, and scored again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from generator.arena.published import digest_of
from generator.arena.sealed import STEPS, Sealed, Seen
from generator.catalog.counts import quantity
from generator.catalog.formats import ms_of, rounded
from generator.catalog.words import RoundPhase
from generator.record.audit.game import AuditError, Read, Row, Site, Waiting, in_time, seconds

KEPT: Final = 1_000  # claims and sightings that later entries are compared with
Key = tuple[str, str]  # start and horizon


@dataclass
class SealedLog:
    """What the log says of the claims of one game; all of it is in the log itself."""

    game: Sealed
    rows: dict[Key, dict[str, Any]] = field(default_factory=dict)  # the newest claims, with their phase
    seen: dict[str, Seen] = field(default_factory=dict)  # time of an end of a span -> what was seen then
    judged: int = 0
    void: int = 0
    sums: dict[str, float] = field(default_factory=dict)  # of each score, over the claims that were judged

    @property
    def recounted(self) -> str:
        """What `recount` counts: nothing."""
        return self.game.kind

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind."""
        of_phase = {
            RoundPhase.OPEN: self._sealed,
            RoundPhase.LIVE: self._started,
            RoundPhase.RESOLVED: self._judged,
            RoundPhase.VOID: self._void,
        }
        return {f"{self.game.kind}.{step}": of_phase[phase] for phase, (step, _) in STEPS.items()}

    def waiting(self) -> Iterator[Waiting]:
        """Give the claims that have not come to their next phase."""
        due = {RoundPhase.OPEN: "start", RoundPhase.LIVE: "end"}
        for (start, horizon), row in self.rows.items():
            if row["phase"] in due:
                complaint = f"the {self.game.kind} claim of {start} over {horizon} was sealed and never ended"
                yield Waiting(ms_of(row[due[row["phase"]]]), complaint)

    def complaint(self, site: Site) -> str | None:
        """Return None: claims are published in the log alone."""
        return None

    @property
    def recounts(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def recount(self, name: str, read: Read) -> int:
        """Return 0."""
        return 0

    def lines(self, counted: int) -> list[str]:
        """Say how many claims were judged, and how they did."""
        if not self.rows:
            return []
        text = f"{self.game.kind}: {quantity(self.judged, 'claim')} opened to the digest and scored again"
        text += f", {self.void} void" if self.void else ""
        means = [f"{name} {rounded(total / self.judged, 4):g}" for name, total in self.sums.items()]
        return [f"{text}; mean {', '.join(means)}" if means else text]

    def _sealed(self, entry: Row) -> None:
        start = entry["start"]
        horizon = entry["horizon"]
        length_ms = self.game.horizons.get(horizon)
        if length_ms is None or ms_of(entry["end"]) - ms_of(start) != length_ms:
            raise AuditError(f"no claim is made of {start} to {entry['end']}")
        if self.game.upcoming(ms_of(entry["at"])) != ms_of(start):
            raise AuditError("sealed outside of the time before its start")

        before = self.rows.get((start, horizon))
        if before is not None and before["phase"] is not RoundPhase.OPEN:
            raise AuditError("sealed again after it began or was void")
        row = {"start": start, "end": entry["end"], "horizon": horizon, "commitment": entry["commitment"]}
        unknown = dict.fromkeys(("at_start", "at_end", "scores", "void_reason"))
        self.rows[start, horizon] = {**row, **unknown, "made": entry["at"], "phase": RoundPhase.OPEN}
        _forget_oldest(self.rows)

    def _started(self, entry: Row) -> None:
        row = self._of(entry, RoundPhase.OPEN)
        in_time(seconds(row["start"], entry["at"]), "started", "start")
        self._open(row, entry, RoundPhase.LIVE)
        self._compare(row["start"], entry["at_start"])
        row.update(at_start=entry["at_start"], phase=RoundPhase.LIVE)

    def _judged(self, entry: Row) -> None:
        row = self._of(entry, RoundPhase.LIVE)
        in_time(seconds(row["end"], entry["at"]), "judged", "end")
        self._open(row, entry, RoundPhase.RESOLVED)
        self._compare(row["end"], entry["at_end"])

        scores = self.game.score(row["content"], row["at_start"], entry["at_end"]) or {}
        if entry["scores"] != scores:
            raise AuditError(f"the scores are {entry['scores']}, what was sealed and seen gives {scores}")
        row.update(at_end=entry["at_end"], scores=scores, phase=RoundPhase.RESOLVED)
        self.judged += 1
        for name, score in scores.items():
            self.sums[name] = self.sums.get(name, 0.0) + score

    def _void(self, entry: Row) -> None:
        row = self._of(entry, RoundPhase.OPEN, RoundPhase.LIVE)
        if not entry["void_reason"]:
            raise AuditError("void without a reason")
        self._open(row, entry, RoundPhase.VOID)
        row.update(void_reason=entry["void_reason"], phase=RoundPhase.VOID)
        self.void += 1

    def _of(self, entry: Row, *phases: RoundPhase) -> dict[str, Any]:
        row = self.rows.get((entry["start"], entry["horizon"]))
        if row is None or row["phase"] not in phases:
            raise AuditError(f"no claim that is {' or '.join(phases)} is of this start and horizon")
        return row

    def _open(self, row: dict[str, Any], entry: Row, phase: RoundPhase) -> None:
        """Check that a claim that is opened in a phase opens to its last digest, and is of this game and span."""
        _, names = self.game.step(phase)
        if "forecast" not in names:
            return

        forecast = entry["forecast"]
        if digest_of(forecast, entry["salt"]) != row["commitment"]:
            raise AuditError("forecast and salt do not give the commitment")

        # Of another span it would open to its digest as well: a claim could be reused where it came true.
        about = {"game": self.game.kind, **{name: row[name] for name in ("horizon", "start", "end")}}
        if forecast != {**about, "content": forecast["content"]}:
            raise AuditError("the sealed forecast is of another game or span")

        row["content"] = forecast["content"]

    def _compare(self, at: str, seen: Seen) -> None:
        """Check that all claims that begin or end at a time saw the same."""
        if self.seen.setdefault(at, seen) != seen:
            raise AuditError(f"it saw {seen} at {at}, another claim saw {self.seen[at]}")
        _forget_oldest(self.seen)


def _forget_oldest(kept: dict[Any, Any]) -> None:
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
