"""What many rounds say together: when the crowd beats the brain, when the brain beats the crowd, when both fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from generator.arena.scores import wilson
from generator.arena.values import Lesson, Pattern, Rate
from generator.catalog.words import PatternType

ALL: Final = "all rounds with a crowd"
AGREED: Final = "brain and crowd said the same"
DIFFERED: Final = "brain and crowd did not say the same"
ENOUGH: Final = 30


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Counts over the rounds of one group; immutable."""

    rounds: int = 0
    brain: int = 0
    crowd: int = 0
    both_wrong: int = 0

    def plus(self, lesson: Lesson) -> GroupSums:
        """Count one more round with a crowd."""
        return GroupSums(
            self.rounds + 1,
            self.brain + lesson.brain_correct,
            self.crowd + lesson.crowd_correct,
            self.both_wrong + (lesson.pattern_type is PatternType.BOTH_WRONG),
        )


Groups = Mapping[str, GroupSums]


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
        more = {name: self.groups.get(name, GroupSums()).plus(lesson) for name in names}
        return PatternSums({**self.groups, **more})

    def patterns(self) -> tuple[Pattern, ...]:
        """Return the groups, the three general ones first, the others by name."""
        first = [name for name in (ALL, AGREED, DIFFERED) if name in self.groups]
        rest = sorted(name for name in self.groups if name not in first)
        return tuple(_pattern(name, self.groups[name]) for name in (*first, *rest))


def _pattern(name: str, sums: GroupSums) -> Pattern:
    brain, crowd = wilson(sums.brain, sums.rounds), wilson(sums.crowd, sums.rounds)
    return Pattern(name, sums.rounds, brain, crowd, wilson(sums.both_wrong, sums.rounds), finding(name, brain, crowd))


def finding(name: str, brain: Rate, crowd: Rate) -> str:
    """Say what a group shows; intervals that overlap show nothing."""
    if brain.n < ENOUGH:
        return f"{brain.n} rounds: fewer than {ENOUGH}, too few to tell."
    if name == AGREED:
        return f"When both said the same they were right in {brain.percent:g} % of {brain.n} rounds."
    if (brain.low_percent or 0) > (crowd.high_percent or 0):
        return (
            f"The brain was right more often than the crowd over {brain.n} rounds; the 95 % intervals do not overlap."
        )
    if (crowd.low_percent or 0) > (brain.high_percent or 0):
        return (
            f"The crowd was right more often than the brain over {brain.n} rounds; the 95 % intervals do not overlap."
        )
    return f"Neither was right more often than the other over {brain.n} rounds: the difference could be chance."
