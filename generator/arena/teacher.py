"""Running totals over rounds, predictions and lessons, and what is shown of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import comb
from typing import Final

from generator.arena.beta import binomial_tail
from generator.arena.crowd import CrowdSums
from generator.arena.ranges import NOTHING, Counts, RangeCase, RangeSums, new_cases
from generator.arena.rates import ENOUGH, rate, shared
from generator.arena.scores import Sums, track_record
from generator.catalog.text import figures
from generator.catalog.words import Consensus, PatternType, RoundPhase
from generator.values.hours import PredictionMade
from generator.values.rounds import Lesson, Round
from generator.values.scores import BacktestScores, ForecastScores, Rate, TeacherMetrics, TeacherPattern
from generator.values.votes import Votes


@dataclass(frozen=True, slots=True)
class LessonSums:
    """Running counts over lessons; immutable."""

    total: int = 0
    called: int = 0
    brain_hits: int = 0  # among these
    crowds: int = 0
    crowd_hits: int = 0
    compared: int = 0  # with a crowd, and a call or a word from before calls
    agreements: int = 0
    before_calls: int = 0
    before_hits: int = 0
    patterns: dict[PatternType, int] = field(default_factory=dict)

    def plus(self, lesson: Lesson) -> LessonSums:
        """Count one more lesson."""
        is_before = lesson.brain_called is None
        has_crowd = lesson.human_consensus is not Consensus.NONE

        return LessonSums(
            total=self.total + 1,
            called=self.called + int(lesson.brain_called == 1),
            brain_hits=self.brain_hits + (0 if is_before else lesson.brain_correct),
            crowds=self.crowds + int(has_crowd),
            crowd_hits=self.crowd_hits + lesson.crowd_correct,
            compared=self.compared + int(has_crowd and lesson.brain_called != 0),
            agreements=self.agreements + lesson.agreement,
            before_calls=self.before_calls + int(is_before),
            before_hits=self.before_hits + (lesson.brain_correct if is_before else 0),
            patterns={**self.patterns, lesson.pattern_type: self.patterns.get(lesson.pattern_type, 0) + 1},
        )

    def metrics(self, warm_up: int) -> TeacherMetrics:
        """Show the counts and rates: of the brain over its calls, of the crowd over rounds with one.

        Args:
            warm_up: lessons that the backtest made besides.
        """
        return TeacherMetrics(
            lessons_total=self.total + warm_up,
            warm_up=warm_up,
            brain=shared(rate(self.brain_hits, self.called)),
            before_calls=shared(rate(self.before_hits, self.before_calls)),
            crowd=shared(rate(self.crowd_hits, self.crowds)),
            same_answer=shared(rate(self.agreements, self.compared)),
            patterns={pattern.value: self.patterns.get(pattern, 0) for pattern in PatternType},
        )


ALL: Final = "all rounds with a call and a crowd"
AGREED: Final = "brain and crowd said the same"
DIFFERED: Final = "brain and crowd did not say the same"
SIGNIFICANT: Final = 0.05
EXACT_BELOW: Final = 200  # cases; the exact sum costs the cube of them


Groups = Mapping[str, LessonSums]


@dataclass(frozen=True, slots=True)
class PatternSums:
    """The groups; immutable, kept in step round by round."""

    groups: Groups = field(default_factory=dict)

    def plus(self, lesson: Lesson, regime_mode: str | None) -> PatternSums:
        """Count a lesson in every group that it belongs to; one without a crowd or without a call in none."""
        if lesson.human_consensus is Consensus.NONE or lesson.brain_called != 1:
            return self

        names = [ALL, AGREED if lesson.agreement else DIFFERED, f"asset {lesson.asset}"]
        if regime_mode is not None:
            names.append(f"market mode {regime_mode} at sealing")

        more = {name: self.groups.get(name, LessonSums()).plus(lesson) for name in names}
        return PatternSums({**self.groups, **more})

    def patterns(self) -> tuple[TeacherPattern, ...]:
        """Return the groups, the three general ones first, the others by name."""
        first = [name for name in (ALL, AGREED, DIFFERED) if name in self.groups]
        rest = sorted(name for name in self.groups if name not in first)
        return tuple(_pattern(name, self.groups[name]) for name in (*first, *rest))


def _pattern(name: str, sums: LessonSums) -> TeacherPattern:
    rounds = sums.total
    both_wrong = sums.patterns.get(PatternType.BOTH_WRONG, 0)

    return TeacherPattern(
        when=name,
        rounds=rounds,
        brain=shared(rate(sums.brain_hits, rounds)),
        crowd=shared(rate(sums.crowd_hits, rounds)),
        both_wrong=shared(rate(both_wrong, rounds)),
        finding=finding(name, sums),
    )


def finding(name: str, sums: LessonSums) -> str:
    """Say what a group shows, by the rounds in which brain and crowd differed: only these can tell them apart."""
    rounds = sums.total
    if rounds < ENOUGH:
        return f"{rounds} rounds: fewer than {ENOUGH}, too few to tell."

    brain = figures.percent(rate(sums.brain_hits, rounds).percent, 0)
    crowd = figures.percent(rate(sums.crowd_hits, rounds).percent, 0)
    if name == AGREED:
        return f"When both said the same they were right in {brain} of {rounds} rounds."

    both_wrong = sums.patterns.get(PatternType.BOTH_WRONG, 0)
    # Where the crowd was wrong, and not both of them were, the brain alone was right; and the other way round.
    brain_alone = rounds - sums.crowd_hits - both_wrong
    crowd_alone = rounds - sums.brain_hits - both_wrong
    if brain_alone == crowd_alone:
        return f"Brain and crowd were level: each was right in {brain} of {rounds} rounds."

    if brain_alone > crowd_alone:
        who, shares = "brain", f"{brain} to {crowd}"
    else:
        who, shares = "crowd", f"{crowd} to {brain}"

    chance = sign_test(brain_alone, crowd_alone)
    shown = "more than chance would give" if chance < SIGNIFICANT else "that could be chance"
    return (
        f"The {who} was ahead, {shares} of {rounds} rounds: where only one of them was right it was the {who} in "
        f"{max(brain_alone, crowd_alone)} of {brain_alone + crowd_alone} ({shown}, sign test p = {chance:.2f})."
    )


@lru_cache(maxsize=256)  # a tick asks for each group again, and almost always about the same counts
def sign_test(wins: int, losses: int) -> float:
    """Return how likely a split at least as uneven is by chance, if either were as likely (two-sided).

    Exact below 200 cases, where the sum is short; from there on within 1e-9 of it, at a cost that does not grow.

    >>> sign_test(5, 5), sign_test(10, 0) == 2 / 2**10
    (1.0, True)
    """
    n = wins + losses
    most = max(wins, losses)

    # No split is more even than this, so any other is at least as uneven.
    if abs(wins - losses) <= 1:
        return 1.0

    if n < EXACT_BELOW:
        tail = sum(comb(n, k) for k in range(most, n + 1))
        return 2 * tail / (1 << n)

    return min(1.0, 2 * binomial_tail(n, most))


COUNTING_RULE: Final = "7"  # another one where the totals below, or what is counted into them, are other ones
RoundChange = tuple[Round | None, Round]
PredictionChange = tuple[PredictionMade | None, PredictionMade]
NO_VOTES: Final[Mapping[str, Votes]] = {}
RangesOfBlock = Callable[[bool, str, int], Counts]  # warm_up, horizon, block -> what was counted of it before


def never_counted(_warm_up: bool, _horizon: str, _block: int) -> Counts:  # noqa: FBT001
    """Stand for a record in which no block was counted before."""
    return NOTHING


@dataclass(frozen=True, slots=True)
class Scored:
    """What is counted of live play, or of the backtest; immutable."""

    phases: Mapping[RoundPhase, int] = field(default_factory=dict)
    arena: Sums = field(default_factory=Sums)
    hourly: Sums = field(default_factory=Sums)
    ranges: RangeSums = field(default_factory=RangeSums)
    lessons: LessonSums = field(default_factory=LessonSums)
    patterns: PatternSums = field(default_factory=PatternSums)
    crowd: CrowdSums = field(default_factory=CrowdSums)  # of real votes that gave chances
    simulated_crowd: CrowdSums = field(default_factory=CrowdSums)


class _Counting:
    """Counts changes on top of what was counted before."""

    def __init__(self, before: Scored, *, warm_up: bool) -> None:
        self.before = before
        self.warm_up = warm_up
        self.phases = Counter(before.phases)
        self.arena = before.arena
        self.hourly = before.hourly

        self.hours: dict[int, list[PredictionMade]] = {}  # start -> forecasts that came due together
        self.moves: list[RangeCase] = []
        self.lessons = before.lessons

        self.patterns = before.patterns
        self.crowd = before.crowd
        self.simulated_crowd = before.simulated_crowd
        self.modes: dict[str, str | None] = {}  # round -> market mode at sealing

    def round(self, item: Round, sign: int = 1) -> None:
        """Count a round as it is (sign 1), or no more as it was (sign -1)."""
        self.modes[item.round_id] = item.regime_mode
        self.phases[item.phase] += sign
        self.arena = self.arena.counted(item, sign)

    def round_ended(self, before: Round | None, now: Round, votes: Votes) -> None:
        """Score a round whose outcome came with a change, and the chances that were voted in it."""
        if now.outcome is not None and (before is None or before.outcome is None):
            self.arena = self.arena.ended([now])
            self.crowd = self.crowd.plus(now, votes.real.chances)
            self.simulated_crowd = self.simulated_crowd.plus(now, votes.simulated.chances)

    def forecast(self, prediction: PredictionMade, sign: int = 1) -> None:
        """Count an hourly forecast as it is (sign 1), or no more as it was (sign -1)."""
        self.hourly = self.hourly.counted(prediction, sign)

    def ended(self, before: PredictionMade | None, now: PredictionMade) -> None:
        """Count what came due with a change of an hourly forecast: its outcome, its moves."""
        if now.outcome is not None and (before is None or before.outcome is None):
            self.hours.setdefault(now.start_ms, []).append(now)
        self.moves.extend(new_cases(before, now))

    def lesson(self, lesson: Lesson) -> None:
        """Count a lesson."""
        self.lessons = self.lessons.plus(lesson)
        self.patterns = self.patterns.plus(lesson, self.modes.get(lesson.round_id))

    def counted(self, known: RangesOfBlock) -> Scored:
        """Return the sums after all changes; `known` is what the record had of the blocks of ranges before."""
        hourly = self.hourly
        for together in self.hours.values():
            hourly = hourly.ended(together)

        ranges = self.before.ranges
        if self.moves:
            ranges = ranges.plus(self.moves, partial(known, self.warm_up))
        return Scored(
            phases=dict(+self.phases),
            arena=self.arena,
            hourly=hourly,
            ranges=ranges,
            lessons=self.lessons,
            patterns=self.patterns,
            crowd=self.crowd,
            simulated_crowd=self.simulated_crowd,
        )


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """Everything that is counted over the whole record; immutable, kept in step tick by tick.

    Live play and the backtest are counted apart from the first case on, so no rate can be of both.
    """

    live: Scored = field(default_factory=Scored)  # what the log can show
    backtest: Scored = field(default_factory=Scored)

    def after(
        self,
        rounds: Iterable[RoundChange] = (),
        predictions: Iterable[PredictionChange] = (),
        lessons: Iterable[Lesson] = (),
        ranges_before: RangesOfBlock = never_counted,
        votes: Mapping[str, Votes] = NO_VOTES,
    ) -> RunningTotals:
        """Count what a tick changed; each change is (before or None, after).

        Args:
            votes: by round, those of the rounds that ended; a round without votes may be left out.
            ranges_before: of the blocks of ranges that the changes belong to, what the record had before them.
        """
        live = _Counting(self.live, warm_up=False)
        backtest = _Counting(self.backtest, warm_up=True)

        def side(of: Round | PredictionMade | Lesson) -> _Counting:
            return backtest if of.warm_up else live

        for before, now in rounds:  # a round that the backtest had opened may be played live
            if before is not None:
                side(before).round(before, -1)
            side(now).round(now)
            side(now).round_ended(before, now, votes.get(now.round_id, Votes()))

        for earlier, judged in predictions:
            if earlier is not None:
                side(earlier).forecast(earlier, -1)
            side(judged).forecast(judged)
            side(judged).ended(earlier, judged)

        for lesson in lessons:
            side(lesson).lesson(lesson)

        return RunningTotals(live.counted(ranges_before), backtest.counted(ranges_before))

    @property
    def phases(self) -> dict[RoundPhase, int]:
        """How many rounds there are of each phase, all of them."""
        return dict(Counter(self.live.phases) + Counter(self.backtest.phases))

    def arena_record(self) -> ForecastScores:
        """The rounds' scores, without the backtest."""
        return track_record("arena", self.live.arena, warm_up=self.backtest.arena.resolved)

    def hourly_record(self) -> ForecastScores:
        """The hourly forecasts' scores, without the backtest."""
        return track_record("hourly", self.live.hourly, warm_up=self.backtest.hourly.resolved)

    def backtest_scores(self) -> BacktestScores | None:
        """The scores of the backtest, None where there is none."""
        hourly = self.backtest.hourly
        arena = self.backtest.arena
        if not hourly.resolved and not arena.resolved:
            return None
        return BacktestScores(
            track_record("hourly", hourly, backtest=True),
            track_record("arena", arena, backtest=True),
            self.backtest.ranges.scores(backtest=True),
        )

    def void(self) -> Rate:
        """How many of the live rounds that ended were void."""
        void = self.live.phases.get(RoundPhase.VOID, 0)
        return rate(void, void + self.live.phases.get(RoundPhase.RESOLVED, 0))
