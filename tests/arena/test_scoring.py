"""Formulas of scores, against the same sums written another way, for numbers and for arrays."""

import random
from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np
import numpy.typing as npt
import pytest

from generator.arena import scores
from generator.arena.scoring import (
    E9,
    Ratio,
    brier,
    brier_e8,
    log_e9,
    log_score,
    pinball,
    pinball_units,
    qlike,
    qlike_of,
    skill,
    squared_error,
    squared_error_e8,
)
from generator.values.ranges import interval_score
from generator.values.scores import Estimate

Array = npt.NDArray[np.float64]


def drawn(number: int = 200) -> list[tuple[float, float, float, float]]:
    """Return low and high ends, moves and shares that should be outside."""
    chance = random.Random(5)
    ends = [sorted(chance.uniform(-3, 3) for _ in range(2)) for _ in range(number)]
    return [(low, high, chance.uniform(-5, 5), chance.choice((0.1, 0.5))) for low, high in ends]


def slow_pinball(level: float, quantile: float, move: float) -> float:
    return level * (move - quantile) if move >= quantile else (1 - level) * (quantile - move)


def test_a_pinball_loss_weighs_what_is_above_by_the_level_and_the_rest_below() -> None:
    for low, _, move, level in drawn():
        assert pinball(level, low, move) == slow_pinball(level, low, move)


def test_an_interval_score_is_the_pinball_loss_of_both_ends() -> None:
    for low, high, move, missing in drawn():
        loss = slow_pinball(missing / 2, low, move) + slow_pinball(1 - missing / 2, high, move)
        assert interval_score(low, high, missing, move) == pytest.approx(2 / missing * loss)


def test_losses_of_four_quantiles_are_summed_in_twentieths_of_a_ten_thousandth() -> None:
    for low, high, move, _ in drawn(20):
        quantiles = [round(end, 4) for end in (low - 1, low, high, high + 1)]
        levels = (0.05, 0.25, 0.75, 0.95)
        losses = [slow_pinball(level, end, round(move, 4)) for level, end in zip(levels, quantiles, strict=True)]
        assert pinball_units(quantiles, round(move, 4)) == round(20 * 10_000 * sum(losses))


def test_arrays_are_scored_case_by_case_as_numbers_are() -> None:
    cases = drawn()
    low, high, move = (np.array([case[place] for case in cases]) for place in range(3))

    def each(score: Callable[[float, float, float], float]) -> list[float]:
        return [score(*case[:3]) for case in cases]

    assert interval_score(low, high, 0.1, move).tolist() == each(lambda a, b, c: interval_score(a, b, 0.1, c))
    assert pinball(np.array(0.25), low, move).tolist() == each(lambda a, _, c: pinball(0.25, a, c))
    assert squared_error(low, move).tolist() == each(lambda a, _, c: squared_error(a, c))


def test_chances_as_published_score_the_same_in_whole_numbers() -> None:
    chance = random.Random(7)
    for _ in range(200):
        down = chance.randrange(10_001)
        neutral = chance.randrange(10_001 - down)
        chances = (down / 10_000, neutral / 10_000, (10_000 - down - neutral) / 10_000)
        came = chance.randrange(3)
        exact = sum(
            (Fraction(round(said * 10_000), 10_000) - (place == came)) ** 2 for place, said in enumerate(chances)
        )
        assert brier_e8(chances, came) == exact * 10**8
        assert brier(chances, came) == pytest.approx(float(exact))
        assert scores.brier(chances, scores.ORDER[came]) == pytest.approx(float(exact))


def test_one_chance_scores_half_of_its_two_outcomes() -> None:
    for said in (0.0, 0.13, 0.5, 1.0):
        assert squared_error(said, 1.0) == pytest.approx(brier((said, 1 - said), 0) / 2)
        assert squared_error_e8(said, has_come=True) == brier_e8((said, 1 - said), 0) // 2
        assert squared_error_e8(said, has_come=False) == brier_e8((said, 1 - said), 1) // 2


def test_the_log_score_clamps_what_was_called_impossible() -> None:
    assert log_score(0.25) == pytest.approx(-log(0.25))
    assert log_score(0.0) == log_score(0.01) == pytest.approx(-log(0.01))
    assert log_score(0.0, 0.001) == pytest.approx(-log(0.001))
    assert log_e9(0.25) == round(-log(0.25) * E9)


def test_qlike_of_a_ratio_is_that_of_sigma_and_move_but_for_a_part_of_the_move() -> None:
    move = 0.7
    sigmas = np.array([0.2, 0.5, 0.7, 1.4])

    of_ratio = qlike_of(move**2 / sigmas**2)

    own = [qlike(sigma, move) - qlike(move, move) for sigma in sigmas.tolist()]
    assert of_ratio.tolist() == pytest.approx(own)
    assert of_ratio[2] == pytest.approx(0.0)


def test_a_skill_has_its_interval_and_is_none_below_ten_blocks() -> None:
    nine = Ratio()
    for place in range(9):
        nine = nine.plus(60 + place, 100)
    ten = nine.plus(69, 100)
    half = ten.half_width() or 0.0

    shown = skill(0.65, 1.0, ten)

    assert skill(0.65, 1.0, nine) is None
    assert skill(0.65, 0.0, ten) is None
    assert shown == Estimate(35.0, round(35 - 100 * half, 1), round(35 + 100 * half, 1))
