"""How joint scenarios scored: the record of what was sealed of all assets together."""

from __future__ import annotations

from dataclasses import dataclass

from generator.values.scores import Estimate, Rate


@dataclass(frozen=True, slots=True)
class JointScores:
    """The live record of one horizon, next to independence: the same moves of each asset, put together at random."""

    horizon: str  # 1h, 4h, 24h
    days: int  # UTC days with a case: the blocks of the intervals
    held_50: Rate  # how often the portfolio's move ended in its 50% range
    held_90: Rate
    held_90_if_independent: Rate
    three_beyond_percent: float  # mean chance that three or more assets move far at once
    three_beyond: Rate  # how often they did
    interval_skill: Estimate | None  # of the portfolio's ranges against independence, percent; None of a short record
    energy_skill: Estimate | None  # of the scenarios, likewise
