"""Calls, and the chance of a move, scored a second time from their definitions."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log, sqrt
from statistics import fmean

import pytest

from generator.arena.scores import Sums, track_record
from generator.catalog.words import Call, Prediction
from generator.values.hours import PredictionMade
from generator.values.scores import ForecastScores

UP, DOWN, FLAT = Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL
HOUR = 3_600_000
NAMED = {Call.UP: UP, Call.DOWN: DOWN, Call.SMALL_MOVE: FLAT}
WORD = {**NAMED, Call.NONE: FLAT}


def hours_of_forecasts(hours: int, seed: int = 5) -> list[list[PredictionMade]]:
    """Return hours of up to seven forecasts that resolved, with every kind of call, and some from before calls."""
    draw = random.Random(seed)
    made = []
    for number in range(hours):
        hour = []
        for asset in ("BTC", "ETH", "SOL", "XRP", "XLM", "ALGO", "HBAR")[: draw.randint(1, 7)]:
            neutral = round(draw.uniform(0.1, 0.7), 4)
            up = round(draw.uniform(0, 1 - neutral), 4)
            call = draw.choice([None, *Call])
            word = draw.choice([UP, DOWN, FLAT]) if call is None else WORD[call]
            hour.append(
                PredictionMade(
                    asset,
                    number * HOUR,
                    (number + 1) * HOUR,
                    (round(1 - neutral - up, 4), neutral, up),
                    (0.31, 0.36, 0.33),
                    word,
                    10.0,
                    outcome=draw.choice([UP, UP, DOWN, FLAT]),
                    call=call,
                )
            )
        made.append(hour)
    return made


def scored(hours: Sequence[Sequence[PredictionMade]]) -> ForecastScores:
    sums = Sums()
    for hour in hours:
        for made in hour:
            sums = sums.counted(made)
        sums = sums.ended(hour)
    return track_record("hourly", sums)


@pytest.fixture(scope="module")
def hours() -> list[list[PredictionMade]]:
    return hours_of_forecasts(60)


@pytest.fixture(scope="module")
def made(hours: list[list[PredictionMade]]) -> list[PredictionMade]:
    return [one for hour in hours for one in hour]


def test_hits_are_counted_by_kind_of_call_and_nothing_else_is_a_hit_or_a_miss(
    hours: list[list[PredictionMade]], made: list[PredictionMade]
) -> None:
    kinds = Counter(one.call for one in made)
    right = Counter(one.call for one in made if one.call in NAMED and NAMED[one.call] is one.outcome)

    record = scored(hours)

    assert {call: (rate.hits, rate.n) for call, rate in record.by_call.items()} == {
        call: (right[call], kinds[call]) for call in NAMED
    }
    assert (record.hit.hits, record.hit.n) == (right.total(), sum(kinds[call] for call in NAMED))
    assert record.no_calls == kinds[Call.NONE]
    assert record.resolved == len(made)


def test_the_base_of_the_calls_is_the_rate_of_the_outcome_most_frequent_before(
    hours: list[list[PredictionMade]], made: list[PredictionMade]
) -> None:
    called = [one for one in made if one.call in NAMED]

    chance = scored(hours).chance

    assert (chance.hits, chance.n) == (sum(one.outcome is FLAT for one in called), len(called))


def test_forecasts_from_before_calls_keep_the_hits_and_misses_of_their_words(
    hours: list[list[PredictionMade]], made: list[PredictionMade]
) -> None:
    older = [one for one in made if one.call is None]
    right = Counter(one.prediction for one in older if one.prediction is one.outcome)

    before = scored(hours).before_calls

    assert before is not None
    assert (before.hit.hits, before.hit.n) == (right.total(), len(older))
    assert {call: rate.hits for call, rate in before.by_word.items()} == {call: right[NAMED[call]] for call in NAMED}
    assert before.last_ms == max(one.start_ms for one in older)
    assert scored([[one for one in hour if one.call is not None] for hour in hours]).before_calls is None


def test_brier_and_log_score_are_of_every_forecast_with_or_without_a_call(
    hours: list[list[PredictionMade]],
) -> None:
    without = [[replace(one, call=Call.NONE, prediction=FLAT) for one in hour] for hour in hours]

    one, other = scored(hours), scored(without)

    assert (one.brier, one.log_score, one.baselines) == (other.brier, other.log_score, other.baselines)
    assert (other.hit.n, other.hit.percent) == (0, None)


def squared(chance: float, moved: bool) -> float:
    return (chance - moved) ** 2


def test_the_chance_of_a_move_is_scored_as_two_classes_against_its_base_rate(
    hours: list[list[PredictionMade]], made: list[PredictionMade]
) -> None:
    cases = [(1 - one.probabilities[1], one.outcome is not FLAT) for one in made if one.call is not None]

    move = scored(hours).move

    assert (move.n, move.moved.hits) == (len(cases), sum(moved for _, moved in cases))
    assert move.said_percent == round(100 * fmean(chance for chance, _ in cases), 1)
    assert move.base_percent == 64.0
    assert move.brier == pytest.approx(fmean(squared(*case) for case in cases), abs=6e-5)
    assert move.base_rate_brier == pytest.approx(fmean(squared(0.64, moved) for _, moved in cases), abs=6e-5)
    assert move.log_score == pytest.approx(fmean(surprise(*case) for case in cases), abs=6e-5)
    base_logs = [-log(0.64 if moved else 0.36) for _, moved in cases]
    assert move.base_rate_log_score == pytest.approx(fmean(base_logs), abs=6e-5)
    assert move.log_skill_percent is None  # of 60 hours no skill is shown


def surprise(chance: float, moved: bool) -> float:
    return -log(max(chance if moved else 1 - chance, 0.01))


def test_a_move_that_was_ruled_out_counts_as_one_in_a_hundred() -> None:
    (hour,) = hours_of_forecasts(1)
    ruled_out = replace(hour[0], probabilities=(0.0, 1.0, 0.0), call=Call.SMALL_MOVE, outcome=UP)

    move = scored([[ruled_out]]).move

    assert (move.brier, move.log_score, move.base_rate_brier) == (1.0, round(log(100), 4), round(0.36**2, 4))


@pytest.mark.parametrize("loss", [squared, surprise])
def test_the_interval_of_a_skill_is_that_of_hours_drawn_with_replacement(loss: Callable[[float, bool], float]) -> None:
    hours = hours_of_forecasts(250, seed=8)
    losses = []
    for hour in hours:
        cases = [(1 - one.probabilities[1], one.outcome is not FLAT) for one in hour if one.call is not None]
        losses.append((sum(loss(*case) for case in cases), sum(loss(0.64, moved) for _, moved in cases)))
    draw = random.Random(1)
    skills = []
    for _ in range(2000):
        drawn = draw.choices(losses, k=len(losses))
        skills.append(100 * (1 - sum(own for own, _ in drawn) / sum(base for _, base in drawn)))
    spread = sqrt(fmean((skill - fmean(skills)) ** 2 for skill in skills))

    move = scored(hours).move
    skill = move.skill_percent if loss is squared else move.log_skill_percent

    assert skill is not None
    assert skill.low is not None
    assert skill.high is not None
    assert skill.high - skill.low == pytest.approx(2 * 1.96 * spread, rel=0.08)
    assert skill.high + skill.low == pytest.approx(2 * skill.value, abs=0.11)


def test_the_reliability_of_the_chance_of_a_move_is_shown_in_bins_and_by_hour(
    hours: list[list[PredictionMade]], made: list[PredictionMade]
) -> None:
    cases = [one for one in made if one.call is not None]
    chance = {id(one): round(100 * (1 - one.probabilities[1]), 2) for one in cases}

    move = scored(hours).move

    assert sum(part.n for part in move.bins) == len(cases)
    assert [part.low_percent for part in move.bins] == [0, 40, 50, 60, 70, 80, 90]
    assert [part.high_percent for part in move.bins] == [40, 50, 60, 70, 80, 90, 100]
    for part in move.bins:
        inside = [one for one in cases if part.low_percent <= chance[id(one)] < part.high_percent]
        assert part.n == len(inside)
        assert (part.hit is None) == (len(inside) < 30)
        if part.hit:
            assert part.hit.hits == sum(one.outcome is not FLAT for one in inside)
            assert part.said_percent == round(fmean(chance[id(one)] for one in inside), 1)
    assert [row.hour for row in move.hours] == list(range(24))
    for row in move.hours:
        inside = [one for one in cases if one.start_ms // HOUR % 24 == row.hour]
        assert (row.n, row.moved.n, row.moved.hits) == (
            len(inside),
            len(inside),
            sum(one.outcome is not FLAT for one in inside),
        )


def test_sums_of_one_kind_have_no_other_and_remember_an_earlier_one() -> None:
    assert Sums(kind="band").has("band")
    assert not Sums(kind="band").has("call")
    assert Sums(kind="call", earlier=Sums(kind="band")).has("band")
