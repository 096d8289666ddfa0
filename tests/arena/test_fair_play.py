"""A small slice of `python -m tests.fair_play`, on rounds that are drawn: the brain knows more at the close."""

import random
from collections.abc import Sequence

import pytest

from generator.arena.scores import ORDER
from generator.brain.forecast import UNITS
from generator.catalog.durations import HOUR_MS
from generator.values.rounds import Triple
from tests.fair_play import Days, Played, Row, ballot_of, days_of, edge_over, row_of, saved_in

BASE: Triple = (0.32, 0.36, 0.32)


def leaning(lean: float) -> Triple:
    """Return chances whose band is likelier by `lean`, as they are published."""
    side = round(UNITS * (0.32 - lean / 2)) / UNITS
    return side, 1 - 2 * side, side


@pytest.fixture(scope="module")
def days() -> Days:
    dice = random.Random(4)
    rounds = []
    for hour in range(120 * 24):
        known_at_opening = dice.gauss(0, 0.08)
        true = leaning(min(0.5, max(-0.3, known_at_opening + dice.gauss(0, 0.08))))
        came = dice.choices(ORDER, true)[0]
        rounds.append(Played(hour * HOUR_MS, BASE, leaning(known_at_opening), true, ballot_of(true), came))
    return days_of(rounds)


@pytest.fixture(scope="module")
def row(days: Days) -> Row:
    return row_of(saved_in(days), 30, draws=60, keys=200)


def test_a_copied_ballot_beats_the_seal_at_opening_and_not_the_one_at_the_close(days: Days) -> None:
    assert edge_over(days, closing=False).low > 0
    close = edge_over(days, closing=True)
    assert close.low < 0.0005
    assert abs(close.value) < 0.0005  # what rounding to whole percents costs or gives


def test_a_picker_led_by_leaving_rounds_out_and_now_saves_no_more_than_the_honest(row: Row) -> None:
    honest, on_its_own, on_all = row.saved

    assert on_its_own > 1.5 * honest
    assert on_all < honest
    assert row.picker_before > 60
    assert row.picker_now < row.picker_before


def test_the_best_of_many_tapping_keys_is_said_to_be_luck(row: Row) -> None:
    assert row.lucky_beyond <= 10


def test_a_ballot_adds_to_a_hundred_whatever_is_copied() -> None:
    dice: Sequence[float] = [0.0, 0.3333, 0.1249, 0.5051]

    for down in dice:
        for up in dice[:3]:
            chances = ballot_of((down, 1 - down - up, up))
            assert chances.up + chances.neutral + chances.down == 100
