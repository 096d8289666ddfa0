"""The teacher: what a resolved round teaches.

learning_score = 50 x Brier of the brain's three chances: 0 when it was certain and right, 33.3 for even chances, 100
when it was certain and wrong. The larger, the more there is to learn.
shared_intelligence_score = 100 x the chance that brain and crowd together gave to what came true: the mean of the
brain's chance and the crowd's share (a linear opinion pool), or the brain's chance alone without a crowd.
"""

from dataclasses import replace
from typing import Final

from generator.arena.scores import Triple, brier, chance_of
from generator.arena.tally import consensus_of, share_of
from generator.arena.values import Lesson, Round, Tally
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import Consensus, PatternType, Prediction

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


def pattern_of(consensus: Consensus, *, brain_correct: bool, crowd_correct: bool) -> PatternType:
    """Name who was right."""
    if consensus is Consensus.NONE:
        return PatternType.NO_CROWD
    return _PATTERNS[brain_correct, crowd_correct]


def lesson_of(resolved: Round, real: Tally, created_ms: int, *, simulated: Tally = NO_VOTES) -> Lesson:
    """Draw the lesson of a resolved round; its crowd is the real and the simulated votes together."""
    if resolved.outcome is None or resolved.prediction is None or resolved.probabilities is None:
        raise ValueError(f"round {resolved.round_id} is not resolved")

    tally = real.plus(simulated)
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
    return replace(lesson, summary=summary_of(lesson, resolved, real, simulated))


_EXPECTED: Final = {Prediction.BULLISH: "a rise", Prediction.BEARISH: "a fall", Prediction.NEUTRAL: "a small move"}
_VOTED: Final = {Consensus.BULLISH: "up", Consensus.BEARISH: "down", Consensus.NEUTRAL: "neutral"}
_JUDGED: Final = {
    PatternType.BOTH_CORRECT: "Brain and crowd were both right: they expected {expected}.",
    PatternType.BRAIN_ONLY: "The brain was right: it expected {expected}. The crowd was wrong.",
    PatternType.CROWD_ONLY: "The crowd was right; the brain expected {expected}.",
    PatternType.BOTH_WRONG: "Both were wrong: the brain expected {expected}, and {crowd}.",
}


def summary_of(lesson: Lesson, resolved: Round, real: Tally, simulated: Tally) -> str:
    """Put a lesson in a few plain sentences; real and simulated votes are counted apart."""
    expected = _EXPECTED[lesson.brain_prediction]
    two_crowds = real.total and simulated.total
    if lesson.pattern_type is PatternType.NO_CROWD or two_crowds:
        right = "was right" if lesson.brain_correct else "was wrong"
        judged = f"The brain {right}: it expected {expected}."
        if not real.total:
            judged += " No one voted."
    else:
        by_crowd = _EXPECTED[Prediction(lesson.human_consensus)]
        crowd = "so did the crowd" if by_crowd == expected else f"the crowd {by_crowd}"
        judged = _JUDGED[lesson.pattern_type].format(expected=expected, crowd=crowd)

    sentences = (_move(resolved), judged, _votes(real, ""), _votes(simulated, "simulated "))
    return " ".join(filter(None, sentences))


def _move(resolved: Round) -> str:
    """Say how far the price moved, and how far that is by the round's band; both in percent."""
    change_bps = resolved.change_bps or 0.0
    moved = abs(change_bps) / 100
    band = abs(resolved.band_bps or 0.0) / 100
    minutes = (resolved.end_ms - resolved.start_ms) // MINUTE_MS
    span = "the hour" if minutes == 60 else f"{minutes} minutes"

    verb = "hardly moved"
    if moved >= 0.005:
        way = "rose" if change_bps > 0 else "fell"
        verb = f"{way} {moved:.2f}%"

    times = moved / band if band else 0.0
    if resolved.outcome is Prediction.NEUTRAL:
        size = f"within the neutral band of \N{PLUS-MINUS SIGN}{band:.2f}%"
    elif times >= 1.5:
        size = f"{times:.1f} times the neutral band"
    else:
        size = f"just outside the neutral band of {band:.2f}%"

    return f"{ASSET_NAMES[resolved.asset]} {verb} in {span}, {size}."


def _votes(tally: Tally, kind: str) -> str:
    consensus = consensus_of(tally)
    if consensus is Consensus.NONE:
        return ""

    counts = [tally.bullish, tally.bearish, tally.neutral]
    most = max(counts)
    if counts.count(most) > 1:
        return f"The {tally.total} {kind}votes were split."

    votes = "votes" if tally.total > 1 else "vote"
    return f"{most} of {tally.total} {kind}{votes} said {_VOTED[consensus]}."
