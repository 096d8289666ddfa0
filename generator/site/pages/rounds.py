"""Finished rounds of the Arena: what each side answered, and who was right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

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
from generator.values.rows import PublishedRound
from generator.values.scores import Rate, TeacherMetrics
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


def history(rounds: Sequence[PublishedRound]) -> tuple[RoundRow, ...]:
    """Return what a table of finished rounds shows of the newest of them, newest first."""
    return tuple(map(_history_row, rounds[:HISTORY_SHOWN]))


def _history_row(played: PublishedRound) -> RoundRow:
    outcome = played["outcome"]
    voted = _votes(played)
    counts = [f"{votes.total:,} {who}" for who, votes in voted.items()]

    return RoundRow(
        round_id=played["round_id"],
        asset=played["asset"],
        start_ms=ms_of(played["start"]),
        brain=_brains_answer(played),
        people=_judged(_consensus(voted.get("real")), outcome),
        simulated=_judged(_consensus(voted.get("simulated")), outcome),
        outcome="void" if outcome is None else OUTCOME[outcome],
        outcome_mark="" if outcome is None else MARKS[OUTCOME[outcome]],
        moved=signed_bps(played["change_bps"]),
        votes=", ".join(counts) or "0",
        void_reason=played["void_reason"],
        warm_up=played["warm_up"],
    )


def _votes(played: PublishedRound) -> dict[str, Tally]:
    """Return the votes of the `real` and of the `simulated` voters; who cast none is left out."""
    return dict(apart(Tally(**played["votes"]), Tally(**played["simulated_votes"])))


def _consensus(votes: Tally | None) -> str | None:
    return consensus_of(votes) if votes else None


def _brains_answer(played: PublishedRound) -> JudgedAnswer:
    """Judge what was sealed; a forecast that was sealed before calls existed counts as its word."""
    forecast = played["forecast"]
    if forecast is None:
        return _judged(None, played["outcome"])
    if forecast.get("call") == Call.NONE:
        return JudgedAnswer(NO_CALL, MARKS[NO_CALL], None)
    return _judged(forecast["prediction"], played["outcome"])


def _judged(answer: str | None, outcome: str | None) -> JudgedAnswer:
    if answer is None:
        return JudgedAnswer("", "", None)
    right = None if outcome is None else answer == outcome
    words = OUTCOME[answer]
    return JudgedAnswer(words, MARKS.get(words, ""), right)


def who_was_right(arena: ArenaView, rounds: Sequence[PublishedRound], source: Markup | str) -> WhoWasRight:
    """Compare brain and people over all resolved rounds; those of the backtest before the start are apart."""
    metrics = arena.teacher
    people = crowds(metrics, rounds)
    patterns = tuple(PatternCount(words, metrics.patterns.get(pattern.value, 0)) for pattern, words in PATTERNS.items())

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
        agreement=metrics.same_answer,
        patterns=patterns,
        warm_up=metrics.warm_up,
        total=metrics.lessons_total - metrics.warm_up,
    )


def crowds(metrics: TeacherMetrics, rounds: Sequence[PublishedRound]) -> tuple[NamedRate, ...]:
    """Return how often the people were right; where a crowd is simulated, both apart over the rounds listed."""
    hits: dict[str, list[bool]] = {"real": [], "simulated": []}
    for played in rounds:
        if played["outcome"] is None or played["warm_up"]:
            continue
        for who, votes in _votes(played).items():
            hits[who].append(str(consensus_of(votes)) == played["outcome"])

    if not hits["simulated"]:
        return (NamedRate(PEOPLE, metrics.crowd),)
    return tuple(
        NamedRate(f"{who.capitalize()} voters", rate(sum(right), len(right))) for who, right in hits.items() if right
    )
