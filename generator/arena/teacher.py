"""Running totals over rounds, predictions and lessons, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import comb
from typing import Final

from generator.arena.range_scores import Counts, RangeSums, new_cases
from generator.arena.scores import Case, Sums, case_of, track_record, wilson
from generator.arena.values import Lesson, Pattern, PredictionMade, Rehearsal, Round, TeacherMetrics, TrackRecord
from generator.catalog.words import PatternType, RoundPhase


@dataclass(frozen=True, slots=True)
class LessonSums:
    """Running counts over lessons; immutable."""

    total: int = 0
    warm_up: int = 0
    brain_hits: int = 0
    crowd_hits: int = 0
    agreements: int = 0
    patterns: dict[PatternType, int] = field(default_factory=dict)

    def plus(self, lesson: Lesson) -> LessonSums:
        """Count one more lesson."""
        return LessonSums(
            total=self.total + 1,
            warm_up=self.warm_up + lesson.warm_up,
            brain_hits=self.brain_hits + lesson.brain_correct,
            crowd_hits=self.crowd_hits + lesson.crowd_correct,
            agreements=self.agreements + lesson.agreement,
            patterns={**self.patterns, lesson.pattern_type: self.patterns.get(lesson.pattern_type, 0) + 1},
        )

    def metrics(self) -> TeacherMetrics:
        """Show the counts and rates; crowd and agreement over rounds with a crowd."""
        crowds = self.total - self.patterns.get(PatternType.NO_CROWD, 0)
        return TeacherMetrics(
            lessons_total=self.total,
            warm_up=self.warm_up,
            brain=wilson(self.brain_hits, self.total),
            crowd=wilson(self.crowd_hits, crowds),
            agreement=wilson(self.agreements, crowds),
            patterns={pattern: self.patterns.get(pattern, 0) for pattern in PatternType},
        )


ALL: Final = "all rounds with a crowd"
AGREED: Final = "brain and crowd said the same"
DIFFERED: Final = "brain and crowd did not say the same"
ENOUGH: Final = 30
SIGNIFICANT: Final = 0.05


Groups = Mapping[str, LessonSums]


@dataclass(frozen=True, slots=True)
class PatternSums:
    """The groups; immutable, kept in step round by round."""

    groups: Groups = field(default_factory=dict)

    def plus(self, lesson: Lesson, regime_mode: str | None) -> PatternSums:
        """Count a lesson in every group that it belongs to; one without a crowd in none."""
        if lesson.pattern_type is PatternType.NO_CROWD:
            return self
        names = [ALL, AGREED if lesson.agreement else DIFFERED, f"asset {lesson.asset}"]
        if regime_mode is not None:
            names.append(f"market mode {regime_mode} at sealing")
        more = {name: self.groups.get(name, LessonSums()).plus(lesson) for name in names}
        return PatternSums({**self.groups, **more})

    def patterns(self) -> tuple[Pattern, ...]:
        """Return the groups, the three general ones first, the others by name."""
        first = [name for name in (ALL, AGREED, DIFFERED) if name in self.groups]
        rest = sorted(name for name in self.groups if name not in first)
        return tuple(_pattern(name, self.groups[name]) for name in (*first, *rest))


def _pattern(name: str, sums: LessonSums) -> Pattern:
    rounds, both_wrong = sums.total, sums.patterns.get(PatternType.BOTH_WRONG, 0)
    brain, crowd = wilson(sums.brain_hits, rounds), wilson(sums.crowd_hits, rounds)
    return Pattern(name, rounds, brain, crowd, wilson(both_wrong, rounds), finding(name, sums))


def finding(name: str, sums: LessonSums) -> str:
    """Say what a group shows, by the rounds in which brain and crowd differed: only these can tell them apart."""
    rounds = sums.total
    if rounds < ENOUGH:
        return f"{rounds} rounds: fewer than {ENOUGH}, too few to tell."
    brain, crowd = (f"{100 * hits / rounds:.0f}%" for hits in (sums.brain_hits, sums.crowd_hits))
    if name == AGREED:
        return f"When both said the same they were right in {brain} of {rounds} rounds."
    # rounds in which one alone was right
    both_wrong = sums.patterns.get(PatternType.BOTH_WRONG, 0)
    ahead, behind = rounds - sums.crowd_hits - both_wrong, rounds - sums.brain_hits - both_wrong
    who, of = ("brain", (brain, crowd)) if ahead >= behind else ("crowd", (crowd, brain))
    if ahead == behind:
        return f"Brain and crowd were level: each was right in {brain} of {rounds} rounds."
    chance = sign_test(ahead, behind)
    shown = "more than chance would give" if chance < SIGNIFICANT else "that could be chance"
    return (
        f"The {who} was ahead, {of[0]} to {of[1]} of {rounds} rounds: where only one of them was right it was the {who} in "
        f"{max(ahead, behind)} of {ahead + behind} ({shown}, sign test p = {chance:.2f})."
    )


def sign_test(one: int, other: int) -> float:
    """Return how likely a split at least as uneven is by chance, if either were as likely (exact, two-sided)."""
    n = one + other
    return min(1.0, 2 * sum(comb(n, k) for k in range(max(one, other), n + 1)) / (1 << n))


RoundChange = tuple[Round | None, Round]
PredictionChange = tuple[PredictionMade | None, PredictionMade]


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """Everything that is counted over the whole record; immutable, kept in step tick by tick."""

    phases: dict[RoundPhase, int] = field(default_factory=dict)
    rounds_warm_up: int = 0
    lessons: LessonSums = field(default_factory=LessonSums)
    lessons_live: LessonSums = field(default_factory=LessonSums)
    patterns: PatternSums = field(default_factory=PatternSums)
    arena: Sums = field(default_factory=Sums)  # without the backtest: what the log can show
    hourly: Sums = field(default_factory=Sums)
    ranges: RangeSums = field(default_factory=RangeSums)
    arena_before: Sums = field(default_factory=Sums)  # of the backtest
    hourly_before: Sums = field(default_factory=Sums)
    ranges_before: RangeSums = field(default_factory=RangeSums)

    def after(
        self,
        rounds: Iterable[RoundChange] = (),
        predictions: Iterable[PredictionChange] = (),
        lessons: Iterable[Lesson] = (),
    ) -> RunningTotals:
        """Count what a tick changed; each change is (before or None, after)."""
        totals = self
        modes: dict[str, str | None] = {}
        for was, round_now in rounds:
            totals = totals._with_round(was, round_now)
            modes[round_now.round_id] = round_now.regime_mode
        totals = _counting(totals, predictions)
        lessons_all, live_only, patterns = totals.lessons, totals.lessons_live, totals.patterns
        for lesson in lessons:
            lessons_all = lessons_all.plus(lesson)
            live_only = live_only if lesson.warm_up else live_only.plus(lesson)
            patterns = patterns.plus(lesson, modes.get(lesson.round_id))
        return replace(totals, lessons=lessons_all, lessons_live=live_only, patterns=patterns)

    def _with_round(self, before: Round | None, now: Round) -> RunningTotals:
        phases = dict(self.phases)
        if before is not None:
            phases[before.phase] -= 1
        phases[now.phase] = phases.get(now.phase, 0) + 1
        was, case = case_of(before) if before else None, case_of(now)
        return replace(
            self,
            phases={phase: count for phase, count in phases.items() if count},
            rounds_warm_up=self.rounds_warm_up + now.warm_up - (before.warm_up if before else False),
            arena=self.arena.moved(_of(was, warm_up=False), _of(case, warm_up=False)),
            arena_before=self.arena_before.moved(_of(was, warm_up=True), _of(case, warm_up=True)),
        )

    def arena_record(self) -> TrackRecord:
        """The rounds' scores, without the backtest."""
        return track_record("arena", self.arena, warm_up=self.arena_before.resolved)

    def hourly_record(self) -> TrackRecord:
        """The hourly forecasts' scores, without the backtest."""
        return track_record("hourly", self.hourly, warm_up=self.hourly_before.resolved)

    def rehearsal(self) -> Rehearsal | None:
        """The scores of the backtest, None where there is none."""
        hourly, arena = self.hourly_before, self.arena_before
        if not hourly.resolved and not arena.resolved:
            return None
        return Rehearsal(track_record("hourly", hourly), track_record("arena", arena), self.ranges_before.scores())

    @property
    def void_rate_percent(self) -> float | None:
        """Share of finished rounds that were void, in percent with one decimal; None before the first."""
        void, resolved = self.phases.get(RoundPhase.VOID, 0), self.phases.get(RoundPhase.RESOLVED, 0)
        return round(100 * void / (void + resolved), 1) if void + resolved else None


def _counting(totals: RunningTotals, changes: Iterable[PredictionChange]) -> RunningTotals:
    hourly = {False: totals.hourly, True: totals.hourly_before}
    hours: dict[tuple[int, bool], tuple[int, int]] = {}
    ended: dict[bool, list[tuple[str, int, Counts]]] = {False: [], True: []}
    for made_before, made in changes:
        before, now = case_of(made_before) if made_before else None, case_of(made)
        for warm_up, sums in hourly.items():
            hourly[warm_up] = sums.moved(_of(before, warm_up=warm_up), _of(now, warm_up=warm_up))
        if made.outcome is not None and (made_before is None or made_before.outcome is None):
            n, hits = hours.get((made.start_ms, made.warm_up), (0, 0))
            hours[made.start_ms, made.warm_up] = n + 1, hits + (made.outcome == made.prediction)
        ended[made.warm_up].extend(new_cases(made_before, made))
    for (_, warm_up), (n, hits) in hours.items():
        hourly[warm_up] = hourly[warm_up].together(n, hits)
    return replace(
        totals,
        hourly=hourly[False],
        hourly_before=hourly[True],
        ranges=totals.ranges.plus(ended[False]) if ended[False] else totals.ranges,
        ranges_before=totals.ranges_before.plus(ended[True]) if ended[True] else totals.ranges_before,
    )


def _of(case: Case | None, *, warm_up: bool) -> Case | None:
    return case if case is not None and case.warm_up == warm_up else None
