"""The teacher: what a resolved round teaches.

learning_score = 50 x Brier of the brain's three chances: 0 when it was certain and right, 33.3 for even chances, 100
when it was certain and wrong. The larger, the more there is to learn.
shared_intelligence_score = 100 x the chance that brain and crowd together gave to what came true: the mean of the
brain's chance and the crowd's share (a linear opinion pool), or the brain's chance alone without a crowd.
"""

from dataclasses import replace

from generator.arena.numbers import Triple, chance_of
from generator.arena.scores import brier
from generator.arena.tally import consensus_of, share_of
from generator.arena.values import Lesson, Round, Tally
from generator.catalog.words import Consensus, PatternType, Prediction


def learning_score(chances: Triple, outcome: Prediction) -> float:
    """Return 50 x Brier, 0..100, one decimal."""
    return round(50 * brier(chances, outcome), 1)


def shared_intelligence_score(chances: Triple, tally: Tally, outcome: Prediction) -> float:
    """Return 100 x the pooled chance of what came true, 0..100, one decimal."""
    brain = chance_of(chances, outcome)
    pooled = (brain + share_of(tally, outcome)) / 2 if tally.total else brain
    return round(100 * pooled, 1)


def pattern_of(consensus: Consensus, *, brain_correct: bool, crowd_correct: bool) -> PatternType:
    """Name who was right."""
    if consensus is Consensus.NONE:
        return PatternType.NO_CROWD
    if brain_correct:
        return PatternType.BOTH_CORRECT if crowd_correct else PatternType.BRAIN_ONLY
    return PatternType.CROWD_ONLY if crowd_correct else PatternType.BOTH_WRONG


def lesson_of(resolved: Round, tally: Tally, created_ms: int) -> Lesson:
    """Draw the lesson of a resolved round.

    Raises:
        ValueError: the round is not resolved.
    """
    if resolved.outcome is None or resolved.prediction is None or resolved.probabilities is None:
        raise ValueError(f"round {resolved.round_id} is not resolved")
    consensus = consensus_of(tally)
    brain_correct = resolved.prediction == resolved.outcome
    crowd_correct = str(consensus) == str(resolved.outcome)
    lesson = Lesson(
        lesson_id=f"lesson-{resolved.round_id}",
        round_id=resolved.round_id,
        asset=resolved.asset,
        brain_prediction=resolved.prediction,
        human_consensus=consensus,
        actual_outcome=resolved.outcome,
        brain_correct=int(brain_correct),
        crowd_correct=int(crowd_correct),
        agreement=int(str(consensus) == str(resolved.prediction)),
        shared_intelligence_score=shared_intelligence_score(resolved.probabilities, tally, resolved.outcome),
        learning_score=learning_score(resolved.probabilities, resolved.outcome),
        pattern_type=pattern_of(consensus, brain_correct=brain_correct, crowd_correct=crowd_correct),
        summary="",
        created_ms=created_ms,
        warm_up=resolved.warm_up,
        simulated_crowd=resolved.simulated_crowd,
    )
    return replace(lesson, summary=summary_of(lesson, resolved))


_WORDS = {
    PatternType.BOTH_CORRECT: "Brain and crowd both said so.",
    PatternType.BRAIN_ONLY: "The brain said so, the crowd did not.",
    PatternType.CROWD_ONLY: "The crowd said so, the brain did not.",
    PatternType.BOTH_WRONG: "Neither brain nor crowd said so.",
}


def summary_of(lesson: Lesson, resolved: Round) -> str:
    """Tell a lesson in two plain sentences."""
    moved = f"{lesson.asset} moved {resolved.change_bps:+.1f} bps against a neutral band of {resolved.band_bps:.1f} bps"
    if lesson.pattern_type is PatternType.NO_CROWD:
        said = "The brain said so; no one voted." if lesson.brain_correct else "The brain did not say so; no one voted."
    else:
        said = _WORDS[lesson.pattern_type]
    return f"{moved}: {lesson.actual_outcome}. {said}"
