"""The teacher: what a resolved round teaches.

learning_score = 50 x Brier of the brain's three chances: 0 when it was certain and right, 33.3 for even chances, 100
when it was certain and wrong. The larger, the more there is to learn.
shared_intelligence_score = 100 x the chance that brain and crowd together gave to what came true: the mean of the
brain's chance and the crowd's share (a linear opinion pool), or the brain's chance alone without a crowd.
"""

from collections.abc import Sequence
from typing import Final

from generator.arena.concepts import LessonFacts, concept_of, explain, whole_percents
from generator.arena.scores import brier, chance_of
from generator.arena.tally import consensus_of, share_of
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.durations import MINUTE_MS
from generator.catalog.formats import iso
from generator.catalog.text.concepts import chapter_of
from generator.catalog.text.lessons import HoursOnRecord, Percents, RoundFacts, VoteCounts, lesson_summary
from generator.catalog.words import Call, Concept, Consensus, PatternType, Prediction
from generator.values.rounds import Lesson, Round, Triple
from generator.values.votes import Tally

NO_VOTES: Final = Tally()


def learning_score(chances: Triple, outcome: Prediction) -> float:
    """Return 50 x Brier, 0..100, one decimal.

    >>> learning_score((1 / 3, 1 / 3, 1 / 3), Prediction.BULLISH)
    33.3
    """
    return round(50 * brier(chances, outcome), 1)


def shared_intelligence_score(chances: Triple, tally: Tally, outcome: Prediction) -> float:
    """Return 100 x the pooled chance of what came true, 0..100, one decimal."""
    pooled = chance_of(chances, outcome)
    if tally.total:
        pooled = (pooled + share_of(tally, outcome)) / 2
    return round(100 * pooled, 1)


_PATTERNS: Final = {  # brain right, crowd right
    (True, True): PatternType.BOTH_CORRECT,
    (True, False): PatternType.BRAIN_ONLY,
    (False, True): PatternType.CROWD_ONLY,
    (False, False): PatternType.BOTH_WRONG,
}


def pattern_of(consensus: Consensus, *, brain_called: bool, brain_correct: bool, crowd_correct: bool) -> PatternType:
    """Name who was right; without a call the brain was neither right nor wrong, whoever voted."""
    if not brain_called:
        return PatternType.NO_CALL
    if consensus is Consensus.NONE:
        return PatternType.NO_CROWD
    return _PATTERNS[brain_correct, crowd_correct]


def lesson_of(
    resolved: Round,
    real: Tally,
    created_ms: int,
    *,
    simulated: Tally = NO_VOTES,
    others: Sequence[float] = (),
    record: HoursOnRecord | None = None,
    used: Sequence[Concept] = (),
) -> Lesson:
    """Draw the lesson of a resolved round; its crowd is the real and the simulated votes together.

    A forecast from before calls keeps the lesson it had: its word was right or wrong, whatever it claimed.

    Args:
        others: moves of the other assets over the same hour in basis points, as far as they are known.
        record: the asset's hours before the round, where the round is an hour and they are known.
        used: ideas of earlier lessons, each once, that of the newest lesson first.
    """
    if resolved.outcome is None or resolved.prediction is None or resolved.probabilities is None:
        raise ValueError(f"round {resolved.round_id} is not resolved")

    tally = real.plus(simulated)
    consensus = consensus_of(tally)
    has_call = resolved.call is not Call.NONE
    brain_correct = has_call and resolved.prediction == resolved.outcome
    crowd_correct = str(consensus) == str(resolved.outcome)
    pattern = pattern_of(consensus, brain_called=has_call, brain_correct=brain_correct, crowd_correct=crowd_correct)

    facts = LessonFacts(resolved, real, tuple(others), record)
    explained = explain(concept_of(facts, used), facts)

    return Lesson(
        lesson_id=f"lesson-{resolved.round_id}",
        round_id=resolved.round_id,
        asset=resolved.asset,
        brain_prediction=resolved.prediction,
        human_consensus=consensus,
        actual_outcome=resolved.outcome,
        brain_correct=int(brain_correct),
        crowd_correct=int(crowd_correct),
        agreement=int(has_call and str(consensus) == str(resolved.prediction)),
        shared_intelligence_score=shared_intelligence_score(resolved.probabilities, tally, resolved.outcome),
        learning_score=learning_score(resolved.probabilities, resolved.outcome),
        pattern_type=pattern,
        summary=lesson_summary(_as_published(facts, simulated)),
        created_ms=created_ms,
        warm_up=resolved.warm_up,
        simulated_crowd=resolved.simulated_crowd,
        brain_called=None if resolved.call is None else int(has_call),
        concept=explained.concept,
        chapter=chapter_of(explained.concept),
        created_at=iso(created_ms),
        point=explained.point,
        question=explained.question,
        answer=explained.answer,
    )


def _as_published(facts: LessonFacts, simulated: Tally) -> RoundFacts:
    """Return the round in the numbers that are published of it."""
    down, small, up = whole_percents(facts.chances)

    return RoundFacts(
        name=ASSET_NAMES[facts.round.asset],
        minutes=(facts.round.end_ms - facts.round.start_ms) // MINUTE_MS,
        moved=facts.change_bps / 100,
        outcome=facts.outcome,
        chances=Percents(up, small, down),
        score=facts.brier,
        base_score=facts.base_brier,
        band=facts.band_bps / 100 or None,
        record=facts.record,
        votes=_counts(facts.votes),
        simulated=_counts(simulated),
        is_backtest=facts.round.warm_up,
    )


def _counts(tally: Tally) -> VoteCounts:
    return VoteCounts(tally.bullish, tally.neutral, tally.bearish)
