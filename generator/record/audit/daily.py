"""The daily questions of a log: asked in time, opened to what was sealed, scored by prices and answers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Final

from generator.arena.ballots import FORM, BallotFile, DailyBallot, Poll, digest_of_ballots, judge_all
from generator.arena.daily import complaint_of, mean_score, named, question_of_row, score, times_complaint
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.formats import ms_of
from generator.catalog.words import RoundPhase
from generator.record.audit.entries import ASKED, OF_DAILY
from generator.record.audit.recount import RecountError, all_parts, path_of

KEPT: Final = 400  # questions that are kept to be compared with what is published
OVERDUE_MS: Final = 2 * HOUR_MS
OPEN, LIVE, RESOLVED, VOID = (
    str(phase) for phase in (RoundPhase.OPEN, RoundPhase.LIVE, RoundPhase.RESOLVED, RoundPhase.VOID)
)
_LATER: Final = ("forecast", "salt", "price_basis", "start_price", "end_price", "move", "answers", "answers_sha256")
Row = Mapping[str, Any]


class DailyError(ValueError):
    """What is said of a daily question does not hold."""


@dataclass
class DailyLog:
    """The newest daily questions of a log, as rows of `/arena/daily.json`, and the form of their answers."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)

    def take_asked(self, entry: Row) -> None:
        """Read that a question was asked and the brain's ranges were sealed."""
        name = entry["question_id"]
        if name in self.rows:
            raise DailyError("this question was asked before")
        row = {**{key: entry[key] for key in ASKED}, **dict.fromkeys((*_LATER, "scores", "void_reason"))}
        if complaint := times_complaint(row):
            raise DailyError(complaint)
        if not entry["asked"] <= entry["at"] < entry["closes"]:
            raise DailyError("it was not sealed before it closed")

        self.rows[name] = {**row, "phase": OPEN}
        self.forms[name] = int(entry["ballot_form"])
        if len(self.rows) > KEPT:
            oldest = next(iter(self.rows))
            del self.rows[oldest], self.forms[oldest]

    def take_closed(self, entry: Row) -> None:
        """Read that it took no more answers, and what was sealed."""
        row = self._of(entry, OPEN)
        _in_time(row["closes"], entry["at"], "closed")
        self._come(row, entry)

    def take_measured(self, entry: Row) -> None:
        """Read what came, and the scores."""
        row = self._of(entry, LIVE)
        _in_time(row["measured"], entry["at"], "measured")
        self._come(row, entry)

    def take_void(self, entry: Row) -> None:
        """Read that it cannot count."""
        self._come(self._of(entry, OPEN, LIVE), entry)

    def _of(self, entry: Row, *phases: str) -> dict[str, Any]:
        row = self.rows.get(entry["question_id"])
        if row is None or row["phase"] not in phases:
            raise DailyError(f"no question that is {' or '.join(phases)} has this name")
        return row

    @staticmethod
    def _come(row: dict[str, Any], entry: Row) -> None:
        """Let a question come to the phase that an entry is about."""
        [(phase, names)] = [(phase, names) for phase, (kind, names) in OF_DAILY.items() if kind == entry["kind"]]
        row.update({name: entry[name] for name in names}, phase=str(phase))
        if complaint := complaint_of(row):
            raise DailyError(complaint)

    def missing(self, last_at: str) -> str | None:
        """Return a question that should have ended before the last entry; None where there is none."""
        for name, row in self.rows.items():
            due = {OPEN: row["closes"], LIVE: row["measured"]}.get(row["phase"])
            if due is not None and ms_of(last_at) - ms_of(due) > OVERDUE_MS:
                return name
        return None

    @property
    def answered(self) -> dict[str, dict[str, Any]]:
        """The questions whose answers can be counted again."""
        return {name: row for name, row in self.rows.items() if row["answers"]}


def _in_time(due: str, at: str, what: str) -> None:
    late_ms = ms_of(at) - ms_of(due)
    if not 0 <= late_ms < MINUTE_MS:
        raise DailyError(f"{what} {late_ms / 1000:.0f} s after its time")


def recount_daily(question_id: str, logged: Row, form: int, read: Callable[[str], bytes | None]) -> int | None:
    """Verify the published answers to one question and return how many they are; None where none are published.

    RecountError: a part is missing, an answer does not hold, their number or digest is another than the log says, or
    they do not give the logged mean score.
    """
    first = read(path_of(question_id))
    if first is None:
        return None
    if not 1 <= form <= FORM:
        raise RecountError(f"they have form {form}, which this version does not know: verify with a newer one")

    try:
        rows, address, genesis_hash = all_parts(question_id, first, read)
        files = [
            BallotFile(str(row["txid"]), str(row["signed"]).encode(), int(row["arrived_ms"]), confirmed=True)
            for row in rows
        ]
        stated = [(str(row["txid"]), str(row["voter"]), row["ranges"]) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise RecountError(f"not of the form of answers ({type(error).__name__}: {error})") from error

    question = replace(question_of_row(logged), phase=RoundPhase.OPEN)
    poll = Poll(address, genesis_hash, {}, question.closes_ms, {question_id: form}, {question_id: question})
    judged = judge_all(files, poll, lambda _: frozenset())
    for verdict in judged.verdicts:
        if verdict.reason is not None:
            raise RecountError(f"answer {verdict.name}: {verdict.reason}")

    counted = [(answer.txid, answer.voter, named(answer.ends)) for answer in judged.answers]
    if sorted(counted, key=itemgetter(0)) != sorted(stated, key=itemgetter(0)):
        raise RecountError("a row's txid, voter or ranges are not those of its signed transaction")
    _compare(judged.answers, logged)
    return len(judged.answers)


def _compare(answers: Sequence[DailyBallot], logged: Row) -> None:
    most, times = Counter(answer.voter for answer in answers).most_common(1)[0] if answers else ("", 0)
    if times > 1:
        raise RecountError(f"voter {most} is counted {times} times")
    digest = digest_of_ballots(answer.txid for answer in answers)
    if (len(answers), digest) != (logged["answers"], logged["answers_sha256"]):
        raise RecountError(f"they are {len(answers)} of digest {digest}, the log says another number or digest")
    if logged["move"] is None:
        return
    people = mean_score([score(answer.ends, logged["move"]) for answer in answers])
    if people != logged["scores"]["people"]:
        raise RecountError(f"their mean score is {people}, the log says {logged['scores']['people']}")
