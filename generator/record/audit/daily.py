"""The daily questions of a log, and those published: asked in time, opened to what was sealed, scored by answers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, ClassVar, Final

from gateway.wire.foreign import read_json
from generator.arena.ballots import FORM, BallotFile, DailyBallot, Poll, digest_of_ballots, judge_all
from generator.arena.daily import complaint_of, mean_score, named, question_of_row, score, times_complaint
from generator.catalog.counts import quantity
from generator.catalog.formats import ms_of
from generator.catalog.links import DAILY_JSON, DAILY_PUBLISHED
from generator.catalog.log_kinds import step_of
from generator.catalog.words import RoundPhase
from generator.record.audit.compare import row_differences
from generator.record.audit.entries import ASKED, OF_BASE, OF_DAILY
from generator.record.audit.game import AuditError, Read, Row, Site, Waiting, in_time, seconds
from generator.record.audit.recount import RecountError, all_parts, path_of

KEPT: Final = 400  # questions that are kept to be compared with what is published
OPEN, LIVE, RESOLVED, VOID = (
    str(phase) for phase in (RoundPhase.OPEN, RoundPhase.LIVE, RoundPhase.RESOLVED, RoundPhase.VOID)
)
DAILY_ORDER: Final = (OPEN, LIVE, RESOLVED, VOID)
_LATER: Final = ("forecast", "salt", "price_basis", "start_price", "end_price", "move", "answers", "answers_sha256")


@dataclass
class DailyLog:
    """The newest daily questions of a log, as rows of `/arena/daily.json`, and the form of their answers."""

    recounted: ClassVar[str] = "questions' answers"
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)
    has_base: bool = False  # whether a question had one, as every later one must

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind."""
        return {
            "daily.sealed": self._asked,
            "daily.started": self._closed,
            "daily.judged": self._measured,
            "daily.void": self._void,
        }

    def _asked(self, entry: Row) -> None:
        """Read that a question was asked and the brain's ranges were sealed."""
        name = entry["question_id"]
        if name in self.rows:
            raise AuditError("this question was asked before")
        row = {**{key: entry[key] for key in ASKED}, **dict.fromkeys((*_LATER, *OF_BASE, "scores", "void_reason"))}
        row["base"] = entry.get("base")
        self._count_from(row["base"])
        if complaint := times_complaint(row):
            raise AuditError(complaint)
        if not entry["asked"] <= entry["at"] < entry["closes"]:
            raise AuditError("it was not sealed before it closed")

        self.rows[name] = {**row, "phase": OPEN}
        self.forms[name] = int(entry["ballot_form"])
        if len(self.rows) > KEPT:
            oldest = next(iter(self.rows))
            del self.rows[oldest], self.forms[oldest]

    def _count_from(self, base: float | None) -> None:
        """Check that the rule by which ranges count from the price at asking holds from its first question on."""
        if self.has_base and base is None:
            raise AuditError("it has no base, and a question before it has one")
        self.has_base = base is not None

    def _closed(self, entry: Row) -> None:
        """Read that it took no more answers, and what was sealed."""
        row = self._of(entry, OPEN)
        in_time(seconds(row["closes"], entry["at"]), "closed", "close")
        if not entry["answers"] and entry["answers_sha256"] != digest_of_ballots(()):
            raise AuditError("it has no answers, and a digest of some")
        self._come(row, entry)

    def _measured(self, entry: Row) -> None:
        """Read what came, and the scores."""
        row = self._of(entry, LIVE)
        in_time(seconds(row["measured"], entry["at"]), "measured", "end")
        if not row["answers"] and entry["scores"]["people"] is not None:
            raise AuditError("it has no answers, and a score of theirs")
        self._come(row, entry)

    def _void(self, entry: Row) -> None:
        """Read that it cannot count."""
        self._come(self._of(entry, OPEN, LIVE), entry)

    def _of(self, entry: Row, *phases: str) -> dict[str, Any]:
        row = self.rows.get(entry["question_id"])
        if row is None or row["phase"] not in phases:
            raise AuditError(f"no question that is {' or '.join(phases)} has this name")
        return row

    @staticmethod
    def _come(row: dict[str, Any], entry: Row) -> None:
        """Let a question come to the phase that an entry is about."""
        [(phase, names)] = [(phase, names) for phase, (step, names) in OF_DAILY.items() if step == step_of(entry)]
        known = {name: entry[name] for name in names if name in entry or name not in OF_BASE}
        row.update(known, phase=str(phase))
        if complaint := complaint_of(row):
            raise AuditError(complaint)

    def complaint(self, site: Site) -> str | None:
        """Say which published question is not as it was logged, or is left out."""
        return daily_complaint(site.read(DAILY_JSON), self, site.last_at)

    @property
    def recounts(self) -> Sequence[str]:
        """The questions with answers."""
        return tuple(self.answered)

    def recount(self, name: str, read: Read) -> int:
        """Count the answers to one question again and return how many they are."""
        row = self.rows[name]
        try:
            answers = recount_daily(name, row, self.forms[name], read)
        except RecountError as error:
            raise AuditError(f"daily question {name}: published answers: {error}") from None

        if answers is None:
            raise AuditError(
                f"daily question {name}: {path_of(name)} is not published; the log counted {row['answers']} answers"
            )
        return answers

    def waiting(self) -> Iterator[Waiting]:
        """Give the questions that have not come to their next phase."""
        for name, row in self.rows.items():
            due = {OPEN: row["closes"], LIVE: row["measured"]}.get(row["phase"])
            if due is not None:
                yield Waiting(
                    ms_of(due), f"daily question {name} was asked and never ended: its end is missing from the log"
                )

    def lines(self, counted: int) -> list[str]:
        """Say how many questions there are, and how many answers were counted again."""
        if not self.rows:
            return []
        asked = quantity(len(self.rows), "question")
        return [f"daily: {asked}, {len(self.answered)} with answers, {counted} counted again"]

    @property
    def answered(self) -> dict[str, dict[str, Any]]:
        """The questions whose answers can be counted again."""
        return {name: row for name, row in self.rows.items() if row["answers"]}


def recount_daily(question_id: str, logged: Row, form: int, read: Read) -> int | None:
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

    # The digest names each answer that counted: with it none can be added, left out or exchanged.
    digest = digest_of_ballots(answer.txid for answer in answers)
    if (len(answers), digest) != (logged["answers"], logged["answers_sha256"]):
        raise RecountError(f"they are {len(answers)} of digest {digest}, the log says another number or digest")

    if logged["move"] is None:
        return
    people = mean_score([score(answer.ends, logged["move"]) for answer in answers])
    if people != logged["scores"]["people"]:
        raise RecountError(f"their mean score is {people}, the log says {logged['scores']['people']}")


def daily_complaint(data: bytes | None, log: DailyLog, last_at: str | None) -> str | None:
    """Compare the published questions with the log; return the first thing that does not hold, or None.

    The file may be some ticks older or newer than the log: a question is compared in the phase that it is published in,
    and one that came to it after the log's last entry by itself.
    """
    if data is None:
        return f"the log has daily questions and {DAILY_JSON} is not published" if log.rows else None
    try:
        rows: list[Row] = read_json(data)["questions"]
        complaints = (_daily_row_complaint(row, log, last_at or "") for row in rows)
        return next(filter(None, complaints), None) or _questions_left_out(rows, log)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"{DAILY_JSON} is not of the published form ({type(error).__name__}: {error})"


def _daily_row_complaint(row: Row, log: DailyLog, last_at: str) -> str | None:
    name = str(row["question_id"])
    if complaint := complaint_of(row):
        return f"daily question {name}: {complaint}"

    logged = log.rows.get(name)
    came_at = str({OPEN: row["asked"], LIVE: row["closes"]}.get(row["phase"], row["measured"]))
    if logged is None:
        oldest = min((question["asked"] for question in log.rows.values()), default="")
        is_out_of_reach = len(log.rows) >= KEPT and row["asked"] < oldest
        is_newer = came_at >= last_at
        return None if is_newer or is_out_of_reach else f"daily question {name} is published and not in the log"

    if DAILY_ORDER.index(row["phase"]) > DAILY_ORDER.index(logged["phase"]) and came_at < last_at:
        return f"daily question {name} is published as {row['phase']} and is {logged['phase']} in the log"
    common = logged if row["phase"] == logged["phase"] else {key: logged[key] for key in (*ASKED, "base")}
    differences = row_differences({**dict.fromkeys(OF_BASE), **row}, common)
    return f"daily question {name}: {differences}" if differences else None


def _questions_left_out(rows: Sequence[Row], log: DailyLog) -> str | None:
    """Check that no question of the published time is left out; one that is open may be newer than the file."""
    names = {row["question_id"] for row in rows}
    oldest = min((row["asked"] for row in rows), default="")
    whole = len(rows) < DAILY_PUBLISHED
    for name, logged in log.rows.items():
        is_of_the_time = whole or logged["asked"] >= oldest
        if name not in names and is_of_the_time and logged["phase"] != OPEN:
            return f"daily question {name} is in the log and not published"
    return None
