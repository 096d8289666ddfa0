"""Finished rounds of the Arena: what each side answered, and who was right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from markupsafe import Markup

from generator.arena.rates import ENOUGH, rate
from generator.arena.tally import consensus_of
from generator.catalog.formats import ms_of
from generator.catalog.text.figures import signed_bps
from generator.catalog.text.labels import MARKS, NO_CALL, OUTCOME
from generator.catalog.words import Call, PatternType
from generator.site.charts.plot import Chart
from generator.site.charts.record import rates
from generator.site.words.votes import apart
from generator.values.scores import LessonMetrics, Rate
from generator.values.view import ArenaView
from generator.values.votes import Tally

HISTORY_SHOWN: Final = 48
PEOPLE: Final = "People"
OF_BACKTEST: Final = "Source: rounds of the backtest, downloads of the track record."
PATTERNS: Final[dict[PatternType, str]] = {
    PatternType.BOTH_CORRECT: "both right",
    PatternType.BRAIN_ONLY: "only the brain right",
    PatternType.CROWD_ONLY: "only the people right",
    PatternType.BOTH_WRONG: "both wrong",
    PatternType.NO_CROWD: "nobody voted",
    PatternType.NO_CALL: "no call of the brain",
}


@dataclass(frozen=True, slots=True)
class FinishedRound:
    """What the pages read of one row of `/arena/rounds.json`."""

    round_id: str
    asset: str
    start_ms: int
    warm_up: bool  # of the backtest
    prediction: str | None  # None without a forecast
    called: bool  # whether it was a call; one that was sealed before calls existed counts as its word
    votes: Mapping[str, Tally]  # of the `real` and the `simulated` voters; who cast none is left out
    outcome: str | None  # None where the round is void
    void_reason: str | None
    change_bps: float | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Read a row."""
        forecast = row["forecast"]
        return cls(
            round_id=row["round_id"],
            asset=row["asset"],
            start_ms=ms_of(row["start"]),
            warm_up=row["warm_up"],
            prediction=forecast["prediction"] if forecast else None,
            called=bool(forecast) and forecast.get("call") != Call.NONE,
            votes=dict(apart(Tally(**row["votes"]), Tally(**row["simulated_votes"]))),
            outcome=row["outcome"],
            void_reason=row["void_reason"],
            change_bps=row["change_bps"],
        )


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What one side answered in a finished round, and whether it was right.

    `answer` is empty where the side gave none; `right` is None then, and where the round is void.
    """

    answer: str
    mark: str
    right: bool | None


class RoundRow(NamedTuple):
    """One finished round in the table."""

    round_id: str
    asset: str
    start_ms: int
    brain: JudgedAnswer
    people: JudgedAnswer
    simulated: JudgedAnswer
    outcome: str
    outcome_mark: str
    moved: str
    votes: str
    void_reason: str | None
    warm_up: bool


class PatternCount(NamedTuple):
    """How many rounds came out in one way."""

    words: str
    rounds: int


class NamedRate(NamedTuple):
    """How often one of those that are compared was right."""

    name: str
    hit: Rate


class WhoWasRight(NamedTuple):
    """Brain and people compared over all resolved rounds."""

    chart: Chart | None
    tested: bool  # whether the chart is of the backtest
    needed: int
    brain: Rate
    people: tuple[NamedRate, ...]
    real: bool  # whether all votes are of real voters
    agreement: Rate
    patterns: tuple[PatternCount, ...]
    warm_up: int
    total: int


def history(rounds: Sequence[FinishedRound]) -> tuple[RoundRow, ...]:
    """Return what a table of finished rounds shows of the newest of them, newest first."""
    return tuple(map(_history_row, rounds[:HISTORY_SHOWN]))


def _history_row(played: FinishedRound) -> RoundRow:
    outcome = played.outcome
    counts = [f"{votes.total:,} {who}" for who, votes in played.votes.items()]

    return RoundRow(
        round_id=played.round_id,
        asset=played.asset,
        start_ms=played.start_ms,
        brain=_brains_answer(played),
        people=_judged(_consensus(played, "real"), outcome),
        simulated=_judged(_consensus(played, "simulated"), outcome),
        outcome="void" if outcome is None else OUTCOME[outcome],
        outcome_mark="" if outcome is None else MARKS[OUTCOME[outcome]],
        moved=signed_bps(played.change_bps),
        votes=", ".join(counts) or "0",
        void_reason=played.void_reason,
        warm_up=played.warm_up,
    )


def _consensus(played: FinishedRound, who: str) -> str | None:
    votes = played.votes.get(who)
    return consensus_of(votes) if votes else None


def _brains_answer(played: FinishedRound) -> JudgedAnswer:
    if played.prediction is not None and not played.called:
        return JudgedAnswer(NO_CALL, MARKS[NO_CALL], None)
    return _judged(played.prediction, played.outcome)


def _judged(answer: str | None, outcome: str | None) -> JudgedAnswer:
    if answer is None:
        return JudgedAnswer("", "", None)
    right = None if outcome is None else answer == outcome
    words = OUTCOME[answer]
    return JudgedAnswer(words, MARKS.get(words, ""), right)


def who_was_right(arena: ArenaView, rounds: Sequence[FinishedRound], source: Markup | str) -> WhoWasRight:
    """Compare brain and people over all resolved rounds; those of the backtest before the start are apart."""
    metrics = arena.teacher
    people = crowds(metrics, rounds)
    patterns = tuple(PatternCount(words, metrics.patterns.get(pattern, 0)) for pattern, words in PATTERNS.items())

    chart = rates("right", "The brain", (("Brain", metrics.brain), *people), source, arena.arena_record.chance)
    is_tested = False
    if chart is None and arena.backtest is not None:
        tested = arena.backtest.arena
        chart = rates("right", "The brain", (("Brain", tested.hit),), OF_BACKTEST, tested.chance)
        is_tested = chart is not None

    return WhoWasRight(
        chart=chart,
        tested=is_tested,
        needed=ENOUGH,
        brain=metrics.brain,
        people=people,
        real=people[0].name == PEOPLE,
        agreement=metrics.agreement,
        patterns=patterns,
        warm_up=arena.lessons_warm_up,
        total=metrics.lessons_total,
    )


def crowds(metrics: LessonMetrics, rounds: Sequence[FinishedRound]) -> tuple[NamedRate, ...]:
    """Return how often the people were right; where a crowd is simulated, both apart over the rounds listed."""
    hits: dict[str, list[bool]] = {"real": [], "simulated": []}
    for played in rounds:
        if played.outcome is None or played.warm_up:
            continue
        for who, votes in played.votes.items():
            hits[who].append(consensus_of(votes) == played.outcome)

    if not hits["simulated"]:
        return (NamedRate(PEOPLE, metrics.crowd),)
    return tuple(
        NamedRate(f"{who.capitalize()} voters", rate(sum(right), len(right))) for who, right in hits.items() if right
    )
