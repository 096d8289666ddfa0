"""The teacher: what a resolved round teaches.

learning_score = 50 x Brier of the brain's three chances: 0 when it was certain and right, 33.3 for even chances, 100
when it was certain and wrong. The larger, the more there is to learn.
shared_intelligence_score = 100 x the chance that brain and crowd together gave to what came true: the mean of the
brain's chance and the crowd's share (a linear opinion pool), or the brain's chance alone without a crowd.
"""

from collections.abc import Sequence
from typing import Final

from generator.arena.concepts import LessonFacts, concept_of, explain, in_hundred, whole_percents
from generator.arena.scores import ORDER, brier, chance_of
from generator.arena.tally import consensus_of, share_of
from generator.arena.values import Lesson, Round, Tally, Triple
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.durations import MINUTE_MS
from generator.catalog.text import lessons as texts
from generator.catalog.words import Call, Concept, Consensus, PatternType, Prediction

NO_VOTES: Final = Tally()
_COMMON: Final = 0.75  # share of hours from which how many go as far is not worth saying


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
    used: Sequence[Concept] = (),
) -> Lesson:
    """Draw the lesson of a resolved round; its crowd is the real and the simulated votes together.

    A forecast from before calls keeps the lesson it had: its word was right or wrong, whatever it claimed.

    Args:
        others: moves of the other assets over the same hour in basis points, as far as they are known.
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

    facts = LessonFacts(resolved, real, tuple(others))
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
        summary=summary_of(facts, simulated),
        created_ms=created_ms,
        warm_up=resolved.warm_up,
        simulated_crowd=resolved.simulated_crowd,
        brain_called=None if resolved.call is None else int(has_call),
        concept=explained.concept,
        point=explained.point,
        question=explained.question,
        answer=explained.answer,
    )


def summary_of(facts: LessonFacts, simulated: Tally) -> str:
    """Put a round in a few plain sentences: the chances and what came, its size, its score, the votes.

    Real and simulated votes are counted apart.
    """
    form = facts.slot % texts.FORMS
    sentences = (
        texts.CHANCES[form].format_map(_chances(facts)),
        _size(facts, form),
        texts.SCORES[form].format_map(_scores(facts)),
        _votes(facts.votes, ""),
        _votes(simulated, "simulated "),
        _no_votes(facts.round, facts.votes.plus(simulated)),
    )
    return " ".join(filter(None, sentences))


def _chances(facts: LessonFacts) -> dict[str, object]:
    percents = whole_percents(facts.chances)
    down, small, up = percents
    came = percents[ORDER.index(facts.outcome)]
    larger = sum(1 for percent in percents if percent > came)
    return {
        "up": up,
        "small": small,
        "down": down,
        "came": came,
        "outcome": texts.OUTCOME[facts.outcome],
        "rank": texts.RANKS[larger, percents.count(came)],
    }


def _size(facts: LessonFacts, form: int) -> str:
    """Say how far the price moved, in percent and by the week before it; empty where the round has no band."""
    if facts.sigmas is None:
        return ""

    rarity = ""
    if facts.rarity is not None and facts.rarity < _COMMON:
        rarity = texts.RARITY.format(share=in_hundred(facts.rarity))
    return texts.SIZES[form].format(
        name=ASSET_NAMES[facts.round.asset],
        moved=_moved(facts),
        sigmas=f"{facts.sigmas:.1f}",
        sigma=f"{facts.sigma_bps / 100:.2f}",
        rarity=rarity,
    )


def _moved(facts: LessonFacts) -> str:
    minutes = (facts.round.end_ms - facts.round.start_ms) // MINUTE_MS
    span = "the hour" if minutes == 60 else f"{minutes} minutes"
    percent = f"{abs(facts.change_bps) / 100:.2f}"
    if percent == "0.00":
        return f"hardly moved in {span}"
    way = "rose" if facts.change_bps > 0 else "fell"
    return f"{way} {percent}% in {span}"


def _scores(facts: LessonFacts) -> dict[str, str]:
    by = round(facts.base_brier - facts.brier, 3)
    verdict = texts.LEVEL
    if by > 0:
        verdict = texts.BETTER.format(by=f"{by:.3f}")
    elif by < 0:
        verdict = texts.WORSE.format(by=f"{-by:.3f}")
    return {"score": f"{facts.brier:.3f}", "base": f"{facts.base_brier:.3f}", "verdict": verdict}


def _votes(tally: Tally, kind: str) -> str:
    consensus = consensus_of(tally)
    if consensus is Consensus.NONE:
        return ""

    counts = [tally.bullish, tally.bearish, tally.neutral]
    most = max(counts)
    if counts.count(most) > 1:
        return texts.SPLIT.format(total=tally.total, kind=kind)

    votes = "votes" if tally.total > 1 else "vote"
    choice = texts.OUTCOME[Prediction(consensus)]
    return texts.VOTES.format(most=most, total=tally.total, kind=kind, votes=votes, choice=choice)


def _no_votes(played: Round, votes: Tally) -> str:
    if votes.total:
        return ""
    if played.warm_up:
        return texts.NO_VOTING
    return texts.NO_ONE
