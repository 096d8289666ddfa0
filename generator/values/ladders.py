"""Scores of ladders and partitions, as they are published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean with its 95% interval; None where nothing, or too little for an interval, has resolved."""

    # Published also where there is no mean; an `Estimate` then is null as a whole.
    value: float | None = None
    """The mean."""
    low: float | None = None
    """Lower end."""
    high: float | None = None
    """Upper end."""


@dataclass(frozen=True, slots=True)
class LadderScore:
    """The scores of one level of the ladder over all assets, either side; skill is against the base rate."""

    horizon: str
    """15m, 1h, 4h or 24h."""
    level: float
    """Percent."""
    kind: str
    """Whether it counts at the `end` or a `touch` on the way does."""
    n: int
    """Cases."""
    void: int
    """Cases of which it is not known what came."""
    events: int
    """Moves beyond the level."""
    days: int
    """UTC days with one."""
    said_percent: float
    """Mean chance that was given."""
    came_percent: float | None
    """Share of cases with a move beyond it; null below 30 cases."""
    brier: float
    """Mean squared distance of the chance from what came, smaller is better."""
    base_rate_brier: float
    """That of the base rate."""
    log_score: float
    """Mean negative log of the chance of what came, smaller is better."""
    base_rate_log_score: float
    """That of the base rate."""
    skill_percent: MeanInterval
    """How much of the base rate's Brier score was saved; of a rare level pooled with the next lower one."""
    rare: bool
    """Whether fewer than 30 days had an event."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """What was said and what came, by tenths of what was said."""

    n: int
    """Cases."""
    said_percent: float
    """Mean chance that was given."""
    came_percent: float
    """Share of cases in which it came."""


@dataclass(frozen=True, slots=True)
class PartitionScore:
    """The scores of the partition over all assets, next to those of its base rates."""

    n: int
    """Cases."""
    void: int
    """Cases of which it is not known what came."""
    brier: float
    """Mean three-class Brier score, 0..2, smaller is better."""
    base_rate_brier: float
    """That of the base rates."""
    log_score: float
    """Mean negative log of the chance of what came, smaller is better."""
    base_rate_log_score: float
    """That of the base rates."""
    skill_percent: MeanInterval
    """How much of the base rates' Brier score was saved."""


class LadderScores(NamedTuple):
    """The record of ladder and partition, live or of the backtest."""

    levels: tuple[LadderScore, ...]
    bins: Mapping[str, tuple[ReliabilityBin, ...]]  # by horizon and kind, over levels and sides
    partition: PartitionScore | None


NO_LADDER_SCORES: Final = LadderScores((), {}, None)
