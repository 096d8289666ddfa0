"""Running totals over rounds, predictions and lessons, and what is shown of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Final

from generator.arena.ranges import RangeCase, RangeSums, new_cases
from generator.arena.scores import Sums, track_record, wilson
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
class Scored:
    """What is scored of live play, or of the backtest."""

    arena: Sums = field(default_factory=Sums)
    hourly: Sums = field(default_factory=Sums)
    ranges: RangeSums = field(default_factory=RangeSums)


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """Everything that is counted over the whole record; immutable, kept in step tick by tick."""

    phases: Mapping[RoundPhase, int] = field(default_factory=dict)
    rounds_warm_up: int = 0
    lessons: LessonSums = field(default_factory=LessonSums)
    lessons_live: LessonSums = field(default_factory=LessonSums)
    patterns: PatternSums = field(default_factory=PatternSums)
    live: Scored = field(default_factory=Scored)  # what the log can show
    backtest: Scored = field(default_factory=Scored)

    def after(
        self,
        rounds: Iterable[RoundChange] = (),
        predictions: Iterable[PredictionChange] = (),
        lessons: Iterable[Lesson] = (),
    ) -> RunningTotals:
        """Count what a tick changed; each change is (before or None, after)."""
        phases, warm_up = Counter(self.phases), self.rounds_warm_up
        arena = [self.live.arena, self.backtest.arena]  # by warm_up
        modes: dict[str, str | None] = {}
        for before, now in rounds:
            modes[now.round_id] = now.regime_mode
            for one, sign in ((before, -1), (now, 1)):
                if one is not None:
                    phases[one.phase] += sign
                    warm_up += sign * one.warm_up
                    arena[one.warm_up] = arena[one.warm_up].added(one, sign)
        every, live_only, patterns = self.lessons, self.lessons_live, self.patterns
        for lesson in lessons:
            every = every.plus(lesson)
            live_only = live_only if lesson.warm_up else live_only.plus(lesson)
            patterns = patterns.plus(lesson, modes.get(lesson.round_id))
        live, backtest = map(Scored, arena, *self._hourly_after(predictions))
        return RunningTotals(+phases, warm_up, every, live_only, patterns, live, backtest)

    def _hourly_after(self, changes: Iterable[PredictionChange]) -> tuple[list[Sums], list[RangeSums]]:
        """Return the sums of predictions and of ranges after changes, each live and of the backtest."""
        hourly = [self.live.hourly, self.backtest.hourly]
        hours: dict[tuple[bool, int], tuple[int, int]] = {}  # outcomes that came together, and how many were hits
        ended: tuple[list[RangeCase], list[RangeCase]] = ([], [])
        for before, now in changes:
            for one, sign in ((before, -1), (now, 1)):
                if one is not None:
                    hourly[one.warm_up] = hourly[one.warm_up].added(one, sign)
            if now.outcome is not None and (before is None or before.outcome is None):
                n, hits = hours.get((now.warm_up, now.start_ms), (0, 0))
                hours[now.warm_up, now.start_ms] = n + 1, hits + (now.outcome == now.prediction)
            ended[now.warm_up].extend(new_cases(before, now))
        for (warm_up, _), (n, hits) in hours.items():
            hourly[warm_up] = hourly[warm_up].together(n, hits)
        known = (self.live.ranges, self.backtest.ranges)
        return hourly, [sums.plus(cases) if cases else sums for sums, cases in zip(known, ended, strict=True)]

    def arena_record(self) -> TrackRecord:
        """The rounds' scores, without the backtest."""
        return track_record("arena", self.live.arena, warm_up=self.backtest.arena.resolved)

    def hourly_record(self) -> TrackRecord:
        """The hourly forecasts' scores, without the backtest."""
        return track_record("hourly", self.live.hourly, warm_up=self.backtest.hourly.resolved)

    def rehearsal(self) -> Rehearsal | None:
        """The scores of the backtest, None where there is none."""
        hourly, arena = self.backtest.hourly, self.backtest.arena
        if not hourly.resolved and not arena.resolved:
            return None
        return Rehearsal(track_record("hourly", hourly), track_record("arena", arena), self.backtest.ranges.scores())

    @property
    def void_rate_percent(self) -> float | None:
        """Share of finished rounds that were void, in percent with one decimal; None before the first."""
        void, resolved = self.phases.get(RoundPhase.VOID, 0), self.phases.get(RoundPhase.RESOLVED, 0)
        return round(100 * void / (void + resolved), 1) if void + resolved else None
