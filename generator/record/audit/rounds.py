"""The rounds of a log, and those that are published: sealed before they start, ended once, scored by their prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final

from generator.arena.ballots import FIRST_FORM, digest_of_ballots
from generator.arena.crowd import CrowdSums
from generator.arena.published import chance_sums_of, complaint_of, round_of_row
from generator.arena.scores import Sums, track_record
from generator.catalog.formats import ms_of
from generator.catalog.links import ROUNDS_PUBLISHED
from generator.record.audit.compare import row_differences, shortened
from generator.record.audit.entries import AT_CLOSE, SLOT, SUMS
from generator.record.audit.game import AuditError, Read, Row, Site, Waiting, in_time, seconds
from generator.record.audit.recount import RecountError, path_of, recount
from generator.record.audit.scores import crowd_line, score_line
from generator.values.scores import ForecastScores
from generator.values.votes import ChanceSums

UNPUBLISHED: Final = ("ballots_sha256", "ballot_form")  # of a round's row: in the log alone
KEPT_ROUNDS: Final = 2_000  # whose rows are kept to be compared; four times as many as are published
RECOUNTED: Final = 500  # rounds whose ballots are recounted; each is a request or more
NO_CHANCES: Final = asdict(ChanceSums())


@dataclass
class RoundLog:
    """What the log says of rounds."""

    recounted: ClassVar[str] = "rounds' ballots"
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # that ended last, as rows of /arena/rounds.json
    voted: dict[str, dict[str, Any]] = field(default_factory=dict)  # likewise, of those with real votes
    ended: set[str] = field(default_factory=set)  # the names of all rounds that ended
    voted_before: int = 0  # how many had real votes before those in `voted`
    open: dict[str, dict[str, Any]] = field(default_factory=dict)
    entries: dict[str, list[int]] = field(default_factory=dict)  # numbers of each round's entries, among those taken
    sums: Sums = field(default_factory=Sums)
    crowd: CrowdSums = field(default_factory=CrowdSums)
    simulated_crowd: CrowdSums = field(default_factory=CrowdSums)
    is_compared_at_close: bool = False  # whether a round was sealed under that rule
    kept: int = KEPT_ROUNDS
    most_voted: int = RECOUNTED

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind."""
        return {
            "round.sealed": self._sealed,
            "round.resealed": self._sealed_again,
            "round.started": self._locked,
            "round.judged": self._resolved,
            "round.void": self._void,
        }

    def waiting(self) -> Iterator[Waiting]:
        """Give the rounds that have not ended."""
        for name, row in self.open.items():
            yield Waiting(
                ms_of(row["end"]), f"round {name} was sealed and never ended: its end is missing from the log"
            )

    def complaint(self, site: Site) -> str | None:
        """Say which published round is not as it was logged, or is left out."""
        return rows_complaint(site.rows, self, site.first_at)

    @property
    def recounts(self) -> Sequence[str]:
        """The rounds with real votes.

        No round is exempt: the release that shows a lock in the log comes with the first of its ballots.
        """
        return tuple(self.voted)

    def recount(self, name: str, read: Read) -> int:
        """Count the ballots of one round again and return how many they are."""
        row = self.voted[name]
        try:
            ballots = recount(name, row, read)
        except RecountError as error:
            raise AuditError(f"round {name}: published ballots: {error}") from None

        if ballots is None:
            raise AuditError(
                f"round {name}: {path_of(name)} is not published; the log counted {real_votes(row)} ballots at the "
                f"lock, of the digest {row['ballots_sha256']}"
            )
        return ballots

    def lines(self, counted: int) -> list[str]:
        """Say how brain and crowds did in the log, and whose ballots were counted again."""
        record = self.record()
        lines = [score_line("brain, rounds in the log", record)] if record.resolved else []
        crowds = (("people", self.crowd.scores()), ("simulated voters", self.simulated_crowd.scores()))
        lines += [crowd_line(f"{who} in the log", scores) for who, scores in crowds if scores.n]

        if self.voted:
            older = f"; {self.voted_before} older rounds with votes were not" if self.voted_before else ""
            lines.append(
                f"ballots counted again: {counted} of {len(self.voted)} rounds, every signature checked{older}"
            )
        return lines

    def record(self) -> ForecastScores:
        """Return the scores of the brain, of what is in the log alone."""
        return track_record("arena", self.sums)

    def _sealed(self, entry: Row) -> None:
        name = entry["round_id"]
        if name in self.open or name in self.ended:
            raise AuditError("this round was sealed before")
        if not entry["opened"] <= entry["at"] < entry["start"] < entry["end"]:
            raise AuditError("the forecast was not sealed before the start")

        row = {**_row(entry), "band_bps": entry["band_bps"], "commitment": entry["commitment"]}
        self.open[name] = {**row, "ballot_form": int(entry.get("ballot_form", FIRST_FORM))}

        if entry.get("compared_at") == AT_CLOSE:
            self.is_compared_at_close = True
            self.open[name]["closing"] = dict.fromkeys(("commitment", "forecast", "void_reason"))
        elif self.is_compared_at_close:
            raise AuditError("people were compared with the forecast at the close before, and are not in this round")

    def _sealed_again(self, entry: Row) -> None:
        row = self.open.get(entry["round_id"])
        if row is None or row["phase"] != "open" or "closing" not in row:
            raise AuditError("no open round that is sealed twice was sealed under this name")
        if not entry["at"] < row["start"]:
            raise AuditError("the forecast at the close was not sealed before the start")
        row["closing"] = {**row["closing"], "commitment": entry["commitment"]}

    def _closed(self, row: dict[str, Any], entry: Row, *, is_live: bool) -> None:
        """Open the second seal of a round: it is the one that stood in the log last, whether it counts or not.

        Args:
            row: of the round, in its phase before.
            entry: that opens it.
            is_live: whether the round goes live by it; else it is void.
        """
        sealed = row.get("closing")
        opened = entry.get("closing")
        if (sealed is None) != (opened is None):
            raise AuditError("it opens another number of seals than it has")
        if sealed is None or opened is None:
            return

        if opened["commitment"] != sealed["commitment"]:
            raise AuditError("the forecast at the close is not the last one that was sealed before it")
        if row["phase"] == "live" and opened != sealed:
            raise AuditError("the forecast at the close was opened otherwise before")
        if row["phase"] == "open" and not is_live and opened["void_reason"] is not None:
            raise AuditError("the forecast at the close is void in a round that never went live")
        row["closing"] = opened

    def _locked(self, entry: Row) -> None:
        row = self.open.get(entry["round_id"])
        if row is None or row["phase"] != "open":
            raise AuditError("no open round was sealed under this name")
        in_time(seconds(row["start"], entry["at"]), "locked", "start")

        self._closed(row, entry, is_live=True)
        names = ("forecast", "salt", "previous_outcome", "votes", "simulated_votes", "start_price", "price_basis")
        row.update({name: entry[name] for name in names}, phase="live", ballots_sha256=entry["ballots_sha256"])
        row.update({name: entry[name] for name in SUMS if name in entry})
        if not real_votes(row) and row["ballots_sha256"] != digest_of_ballots(()):
            raise AuditError("it has no real votes, and a digest of some")
        if row["forecast"]["band_bps"] != row["band_bps"]:
            raise AuditError("the band is not the one that was published at opening")

    def _resolved(self, entry: Row) -> None:
        row = self.open.pop(entry["round_id"], None)
        if row is None or row["phase"] != "live":
            raise AuditError("no live round under this name")
        in_time(seconds(row["end"], entry["at"]), "resolved", "end")
        row.update({name: entry[name] for name in ("end_price", "change_bps", "outcome", "lesson")}, phase="resolved")
        self._end(row)

    def _void(self, entry: Row) -> None:
        row = self.open.pop(entry["round_id"], None)
        if row is None and entry["round_id"] in self.ended:
            raise AuditError("this round had ended")

        slot = _row(entry)
        if row is not None and any(row[name] != slot[name] for name in SLOT):
            raise AuditError("its slot is not that of the round that was sealed")

        row = row or {**slot, "commitment": None}
        row.update({name: entry[name] for name in ("forecast", "salt", "previous_outcome", "void_reason")})
        self._closed(row, entry, is_live=False)
        row["phase"] = "void"
        self._end(row)

    def _end(self, row: dict[str, Any]) -> None:
        row.pop("band_bps", None)
        unpublished = {name: row.pop(name, None) for name in UNPUBLISHED}

        if complaint := complaint_of(row):
            raise AuditError(complaint)
        self._keep({**row, **unpublished})
        if row["phase"] == "resolved":
            item = round_of_row(row)
            self.sums = self.sums.counted(item).ended([item])
            self.crowd = self.crowd.plus(item, chance_sums_of(row, "chance_sums"))
            self.simulated_crowd = self.simulated_crowd.plus(item, chance_sums_of(row, "simulated_chance_sums"))

    def _keep(self, row: dict[str, Any]) -> None:
        """Keep a round that ended, and no more rows than are compared: a log has many years of them."""
        name = row["round_id"]
        self.ended.add(name)
        self.rows[name] = row
        if len(self.rows) > self.kept:
            oldest = next(iter(self.rows))
            del self.rows[oldest]
            self.entries.pop(oldest, None)

        if not real_votes(row):
            return
        self.voted[name] = row
        if len(self.voted) > self.most_voted:
            del self.voted[next(iter(self.voted))]
            self.voted_before += 1


def real_votes(row: Row) -> int:
    """Return a round's real votes; one that never locked has none."""
    if row["ballots_sha256"] is None:
        return 0
    return sum(votes - row["simulated_votes"][word] for word, votes in row["votes"].items())


def _row(entry: Row) -> dict[str, Any]:
    """Begin a row of `/arena/rounds.json` with what is known when a round opens."""
    later = ("forecast", "salt", "previous_outcome", "price_basis", "start_price", "end_price", "change_bps")
    nothing = {"bullish": 0, "bearish": 0, "neutral": 0}

    return {
        **{name: entry[name] for name in SLOT},
        **dict.fromkeys((*later, "outcome", "void_reason", "lesson")),
        "phase": "open",
        "warm_up": False,
        "votes": nothing,
        "simulated_votes": nothing,
    }


def rows_of(body: Any) -> Sequence[Row]:
    """Return the rows of a published `/arena/rounds.json`; raise ValueError where it has none."""
    rows = body.get("rounds") if isinstance(body, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("this is not a published record: it has no list `rounds`")
    return rows


def rows_complaint(rows: Sequence[Row], log: RoundLog, first_at: str | None) -> str | None:
    """Compare all published rounds with the log; return the first that does not hold, with its fields, or None.

    `first_at` is the time of the log's first entry.
    """
    names = {str(row.get("round_id")) for row in rows}
    if len(names) < len(rows):
        return "a round is published twice"

    for row in rows:
        logged = log.rows.get(str(row.get("round_id")))
        if logged is None:
            complaint = _unlogged(row, log, first_at)
        else:
            stated = {name: value for name, value in logged.items() if name not in UNPUBLISHED}
            # The log says nothing of chances where no vote could give any: then the row may not either.
            stated |= {name: NO_CHANCES for name in SUMS if name in row and name not in logged}
            # Nor of a second seal from before there was one.
            stated |= {"closing": None} if "closing" in row and "closing" not in logged else {}
            differences = row_differences(row, {**stated, "log_entries": log.entries.get(logged["round_id"], [])})
            complaint = f"round {logged['round_id']}: {differences}" if differences else None
        if complaint is not None:
            return complaint

    return _rounds_left_out(rows, names, log)


def _unlogged(row: Row, log: RoundLog, first_at: str | None) -> str | None:
    """Judge a row without an end in the log: only rounds from before the log may have none, and these must add up."""
    name = str(row.get("round_id"))
    if name in log.open:
        return f"round {name}: it is published as {shortened(row.get('phase'))} and has not ended in the log"
    if not row.get("warm_up") and first_at is not None and str(row.get("opened")) >= first_at:
        return f"round {name} is published and not in the log"
    complaint = complaint_of(row)
    return f"round {name}: {complaint}" if complaint else None


def _rounds_left_out(rows: Sequence[Row], names: set[str], log: RoundLog) -> str | None:
    """Check that every logged round that ended within the published window is published: no loss is left out."""
    oldest = min((str(row.get("start")) for row in rows), default="")
    whole = len(rows) < ROUNDS_PUBLISHED
    for name, logged in log.rows.items():
        if name not in names and (whole or logged["start"] >= oldest):
            return f"round {name} ended {logged['phase']} in the log and is not published"
    return None
