"""Ranges of practice and blocks of its differences, against sums written another way."""

import random

import pytest

from generator.arena.practice.curve import BLOCK, blocks
from generator.arena.practice.record import ranges_of
from generator.values.ranges import MoveRange


def test_how_far_is_the_mean_of_both_ranges() -> None:
    ranges = MoveRange(-1.0, -0.3, 0.2, 1.2)
    assert ranges.score(0.5) == pytest.approx(((0.5 + 4 * 0.3) + 2.2) / 2)
    assert ranges.score(-1.5) == pytest.approx(((0.5 + 4 * 1.2) + (2.2 + 20 * 0.5)) / 2)


def test_a_range_holds_its_ends() -> None:
    ranges = MoveRange(-1.0, -0.3, 0.2, 1.2)
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
            ranges_of({"low_90": low_90, "low_50": low_50, "high_50": high_50, "high_90": high_90})


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
