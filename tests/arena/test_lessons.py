"""What a resolved round teaches."""

from dataclasses import replace

import pytest

from generator.arena.lessons import lesson_of
from generator.arena.teacher import LessonSums
from generator.catalog.words import Call, Consensus, PatternType, Prediction, RoundPhase
from generator.values.rounds import Lesson, Round
from generator.values.votes import Tally
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import NOON

NO_ONE, BULLS, BEARS, TIED = Tally(), Tally(3, 1, 0), Tally(1, 3, 0), Tally(2, 2, 0)


CALLS = {Prediction.BULLISH: Call.UP, Prediction.BEARISH: Call.DOWN, Prediction.NEUTRAL: Call.SMALL_MOVE}


def resolved(outcome: Prediction, prediction: Prediction = Prediction.BULLISH) -> Round:
    return replace(
        an_open_round(),
        phase=RoundPhase.RESOLVED,
        prediction=prediction,
        call=CALLS[prediction],
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
    assert made.brain_called == 1


@pytest.mark.parametrize(("tally", "crowd"), [(BULLS, 0), (TIED, 1), (NO_ONE, 0)])
def test_without_a_call_the_brain_is_neither_right_nor_wrong(tally: Tally, crowd: int) -> None:
    of = replace(resolved(Prediction.NEUTRAL, Prediction.NEUTRAL), call=Call.NONE)

    made = lesson_of(of, tally, NOON)

    assert made.pattern_type is PatternType.NO_CALL
    assert (made.brain_called, made.brain_correct, made.crowd_correct, made.agreement) == (0, 0, crowd, 0)
    assert "expected" not in made.summary
    assert "right" not in made.summary.replace("The crowd was right", "")
    assert made.learning_score == lesson_of(replace(of, call=Call.SMALL_MOVE), tally, NOON).learning_score


def test_a_forecast_from_before_calls_keeps_the_lesson_it_had() -> None:
    of = replace(resolved(Prediction.BULLISH, Prediction.NEUTRAL), call=None)

    made = lesson_of(of, NO_ONE, NOON)

    assert made.brain_called is None
    assert (made.pattern_type, made.brain_correct) == (PatternType.NO_CROWD, 0)


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

    metrics = sums.metrics(3)

    assert (metrics.brain.n, metrics.crowd.n, metrics.same_answer.n) == (2, 1, 1)
    assert metrics.patterns[PatternType.NO_CROWD] == 1
    assert set(metrics.patterns) == set(PatternType)


def test_metrics_rate_the_brain_over_its_calls_and_older_words_apart() -> None:
    flat = resolved(Prediction.NEUTRAL, Prediction.NEUTRAL)
    sums = LessonSums()
    for of, tally in [
        (flat, TIED),
        (replace(flat, call=Call.NONE), TIED),
        (replace(flat, call=Call.NONE), NO_ONE),
        (replace(flat, call=None), TIED),
        (replace(flat, call=None, prediction=Prediction.BULLISH), BULLS),
    ]:
        sums = sums.plus(lesson_of(of, tally, NOON))

    metrics = sums.metrics(3)

    assert (metrics.brain.hits, metrics.brain.n) == (1, 1)
    assert (metrics.before_calls.hits, metrics.before_calls.n) == (1, 2)
    assert (metrics.crowd.hits, metrics.crowd.n) == (3, 4)
    assert (metrics.same_answer.hits, metrics.same_answer.n) == (3, 3)
    assert (metrics.lessons_total, metrics.warm_up) == (5 + 3, 3)
    assert metrics.patterns[PatternType.NO_CALL] == 2
