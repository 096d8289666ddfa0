"""The crowd's chances: the mean of the votes that gave some, scored next to the brain's and the base rate's.

Real and simulated voters are two crowds, each with sums of its own. A vote that is a word says no chance and is not in
any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from generator.arena.rates import ENOUGH
from generator.arena.scores import ORDER
from generator.arena.scoring import E8, E9, Ratio, brier_e8, log_e9, mean, skill
from generator.catalog.formats import probabilities
from generator.values.rounds import Round, Triple
from generator.values.scores import CrowdRecord
from generator.values.votes import ChanceSums

_PERCENT: Final = 100


def mean_chances(sums: ChanceSums) -> Triple | None:
    """Return the mean chances of votes as published: down, neutral, up; None where no vote gave any.

    >>> mean_chances(ChanceSums(votes=3, up=150, neutral=90, down=60))
    (0.2, 0.3, 0.5)
    """
    if not sums.votes:
        return None
    whole = _PERCENT * sums.votes
    down, neutral, up = probabilities((sums.down / whole, sums.neutral / whole, sums.up / whole))
    return down, neutral, up


@dataclass(frozen=True, slots=True)
class CrowdSums:
    """Running sums over the rounds in which a crowd gave chances; immutable. A round is one block."""

    votes: int = 0  # that gave chances
    brier: Ratio = field(default_factory=Ratio)  # of the crowd, over that of the base rates
    log: Ratio = field(default_factory=Ratio)
    brain_brier: int = 0  # of the brain in the same rounds, times 10^8
    brain_log: int = 0  # times 10^9

    def plus(self, played: Round, sums: ChanceSums) -> CrowdSums:
        """Score the chances of one resolved round.

        A round without them, or without a forecast of the brain that they can be compared with, changes nothing.
        """
        chances = mean_chances(sums)
        brain = played.compared
        if chances is None or played.outcome is None or brain is None or played.base_rate is None:
            return self

        place = ORDER.index(played.outcome)
        return CrowdSums(
            votes=self.votes + sums.votes,
            brier=self.brier.plus(brier_e8(chances, place), brier_e8(played.base_rate, place)),
            log=self.log.plus(log_e9(chances[place]), log_e9(played.base_rate[place])),
            brain_brier=self.brain_brier + brier_e8(brain, place),
            brain_log=self.brain_log + log_e9(brain[place]),
        )

    def scores(self) -> CrowdRecord:
        """Return the scores."""
        rounds = self.brier.blocks
        brier = mean(self.brier.above, E8, rounds)
        base_brier = mean(self.brier.below, E8, rounds)
        log_score = mean(self.log.above, E9, rounds)
        base_log = mean(self.log.below, E9, rounds)

        return CrowdRecord(
            n=rounds,
            votes=self.votes,
            brier=brier,
            brier_base_rate=base_brier,
            brier_brain=mean(self.brain_brier, E8, rounds),
            log_score=log_score,
            log_score_base_rate=base_log,
            log_score_brain=mean(self.brain_log, E9, rounds),
            skill_percent=skill(brier, base_brier, self.brier) if rounds >= ENOUGH else None,
        )
