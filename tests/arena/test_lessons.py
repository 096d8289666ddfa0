"""What a resolved round teaches."""

from dataclasses import replace

import pytest

from generator.arena.lessons import lesson_of
from generator.arena.teacher import LessonSums
from generator.arena.values import Lesson, Round, Tally
from generator.catalog.words import Consensus, PatternType, Prediction, RoundPhase
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import NOON

NO_ONE, BULLS, BEARS, TIED = Tally(), Tally(3, 1, 0), Tally(1, 3, 0), Tally(2, 2, 0)


def resolved(outcome: Prediction, prediction: Prediction = Prediction.BULLISH) -> Round:
    return replace(
        an_open_round(),
        phase=RoundPhase.RESOLVED,
        prediction=prediction,
        probabilities=(0.2, 0.3, 0.5),
        outcome=outcome,
        start_price=100.0,
        end_price=100.5,
        change_bps=50.0,
    )


def lesson(outcome: str, prediction: str, tally: Tally) -> Lesson:
    return lesson_of(resolved(Prediction(outcome), Prediction(prediction)), tally, NOON)


@pytest.mark.parametrize(
    ("outcome", "prediction", "tally", "pattern", "brain", "crowd", "agreement"),
    [
        ("BULLISH", "BULLISH", BULLS, PatternType.BOTH_CORRECT, 1, 1, 1),
        ("BULLISH", "BULLISH", BEARS, PatternType.BRAIN_ONLY, 1, 0, 0),
        ("BEARISH", "BULLISH", BEARS, PatternType.CROWD_ONLY, 0, 1, 0),
        ("BEARISH", "BULLISH", BULLS, PatternType.BOTH_WRONG, 0, 0, 1),
        ("NEUTRAL", "NEUTRAL", TIED, PatternType.BOTH_CORRECT, 1, 1, 1),
        ("BULLISH", "BULLISH", NO_ONE, PatternType.NO_CROWD, 1, 0, 0),
        ("BEARISH", "BULLISH", NO_ONE, PatternType.NO_CROWD, 0, 0, 0),
    ],
)
def test_patterns_and_flags(  # noqa: PLR0917
    outcome: str, prediction: str, tally: Tally, pattern: PatternType, brain: int, crowd: int, agreement: int
) -> None:
    made = lesson(outcome, prediction, tally)

    assert made.pattern_type is pattern
    assert (made.brain_correct, made.crowd_correct, made.agreement) == (brain, crowd, agreement)
    assert (made.human_consensus is Consensus.NONE) == (tally.total == 0)


@pytest.mark.parametrize(
    ("outcome", "prediction", "bps", "real", "simulated", "summary"),
    [
        (
            "BEARISH", "NEUTRAL", -38.0, Tally(24, 9, 2), NO_ONE,
            ("Bitcoin fell 0.38% in the hour, 3.8 times the neutral band. Both were wrong: the brain expected a small "
            "move, and the crowd a rise. 24 of 35 votes said up."),
        ),
        (
            "NEUTRAL", "NEUTRAL", -4.0, NO_ONE, NO_ONE,
            ("Bitcoin fell 0.04% in the hour, within the neutral band of ±0.10%. The brain was right: it expected a "
            "small move. No one voted."),
        ),
        (
            "BULLISH", "BULLISH", 11.0, BEARS, Tally(20, 15, 0),
            ("Bitcoin rose 0.11% in the hour, just outside the neutral band of 0.10%. The brain was right: it "
            "expected a rise. 3 of 4 votes said down. 20 of 35 simulated votes said up."),
        ),
        (
            "NEUTRAL", "BULLISH", 0.2, NO_ONE, TIED,
            ("Bitcoin hardly moved in the hour, within the neutral band of ±0.10%. The crowd was right; the brain "
            "expected a rise. The 4 simulated votes were split."),
        ),
    ],
)  # fmt: skip
def test_a_lesson_says_the_facts_of_its_round(  # noqa: PLR0917
    outcome: str, prediction: str, bps: float, real: Tally, simulated: Tally, summary: str
) -> None:
    of = replace(resolved(Prediction(outcome), Prediction(prediction)), change_bps=bps, band_bps=10.0)

    assert lesson_of(of, real, NOON, simulated=simulated).summary == summary


def test_scores_follow_their_definitions() -> None:
    made = lesson("BULLISH", "BULLISH", BULLS)

    assert made.learning_score == round(50 * (0.2**2 + 0.3**2 + 0.5**2), 1)
    assert made.shared_intelligence_score == round(100 * (0.5 + 0.75) / 2, 1)
    assert lesson("BULLISH", "BULLISH", NO_ONE).shared_intelligence_score == 50.0


def test_a_round_without_an_outcome_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="is not resolved"):
        lesson_of(an_open_round(), BULLS, NOON)


def test_metrics_rate_crowd_and_agreement_over_rounds_with_a_crowd() -> None:
    sums = LessonSums()
    for made in (lesson("BULLISH", "BULLISH", BULLS), lesson("BULLISH", "BULLISH", NO_ONE)):
        sums = sums.plus(made)

    metrics = sums.metrics()

    assert (metrics.brain.n, metrics.crowd.n, metrics.agreement.n) == (2, 1, 1)
    assert metrics.patterns[PatternType.NO_CROWD] == 1
    assert set(metrics.patterns) == set(PatternType)
