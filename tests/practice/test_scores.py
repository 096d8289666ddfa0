"""Scores of practice, against the sums written another way and against the record's own."""

import random
from math import log

import pytest

from generator.arena import scores as record_scores
from generator.arena.intervals import TwoRanges, how_far_score, interval_score
from generator.catalog.words import Prediction
from generator.practice.curve import BLOCK, blocks
from generator.practice.scores import brier, log_score, moved_brier


def pinball(quantile: float, level: float, move: float) -> float:
    return level * (move - quantile) if move >= quantile else (1 - level) * (quantile - move)


def test_an_interval_score_is_the_pinball_loss_of_both_ends() -> None:
    chance = random.Random(5)
    for _ in range(200):
        low, high = sorted(chance.uniform(-3, 3) for _ in range(2))
        move, missing = chance.uniform(-5, 5), chance.choice((0.1, 0.5))
        loss = pinball(low, missing / 2, move) + pinball(high, 1 - missing / 2, move)
        assert interval_score(low, high, missing, move) == pytest.approx(2 / missing * loss)


def test_how_far_is_the_mean_of_both_ranges() -> None:
    ranges = TwoRanges(-1.0, -0.3, 0.2, 1.2)
    assert how_far_score(ranges, 0.5) == pytest.approx(((0.5 + 4 * 0.3) + 2.2) / 2)
    assert how_far_score(ranges, -1.5) == pytest.approx(((0.5 + 4 * 1.2) + (2.2 + 20 * 0.5)) / 2)


def test_a_range_holds_its_ends() -> None:
    ranges = TwoRanges(-1.0, -0.3, 0.2, 1.2)
    assert ranges.holds_50(-0.3)
    assert ranges.holds_50(0.2)
    assert not ranges.holds_50(0.21)
    assert ranges.holds_90(-1.0)
    assert ranges.holds_90(1.2)
    assert not ranges.holds_90(-1.01)
    assert ranges.width_90 == pytest.approx(2.2)


def test_a_range_of_half_outside_of_nine_in_ten_is_refused() -> None:
    for low_90, low_50, high_50, high_90 in ((-1, -2, 1, 2), (-1, 0, 2, 1), (-1, 0.5, 0.4, 1)):
        with pytest.raises(ValueError, match="inside the 90% range"):
            TwoRanges(low_90, low_50, high_50, high_90)


def test_three_chances_score_as_in_the_record() -> None:
    chances = (0.2, 0.3, 0.5)
    for place, word in enumerate(record_scores.ORDER):
        assert brier(chances, place) == pytest.approx(record_scores.brier(chances, word))
        assert log_score(chances[place]) == pytest.approx(record_scores.log_score(chances, word))
    assert log_score(0.0) == pytest.approx(record_scores.log_score((0.0, 1.0, 0.0), Prediction.BEARISH))


def test_one_chance_scores_half_of_its_two_outcomes() -> None:
    for said in (0.0, 0.13, 0.5, 1.0):
        assert moved_brier(said, moved=True) == pytest.approx(brier((said, 1 - said), 0) / 2)
        assert moved_brier(said, moved=False) == pytest.approx(brier((said, 1 - said), 1) / 2)
    assert log_score(0.25) == pytest.approx(-log(0.25))


def test_a_block_has_twenty_differences_and_a_band_of_nine_in_ten() -> None:
    chance = random.Random(3)
    values = [chance.gauss(0, 1) for _ in range(2 * BLOCK + 5)]
    first, second = blocks(values)

    mean = sum(values[:20]) / 20
    deviation = (sum((value - mean) ** 2 for value in values[:20]) / 19) ** 0.5
    assert first.mean == pytest.approx(mean)
    assert (first.high - first.low) / 2 == pytest.approx(1.7291328 * deviation / 20**0.5)
    assert second.mean == pytest.approx(sum(values[20:40]) / 20)


def test_fewer_than_twenty_differences_are_no_block() -> None:
    assert blocks([0.1] * 19) == []
