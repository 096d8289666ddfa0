"""The market's two axes: each rule by hand, and every reading against its own history."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from generator.brain.axes import FALLING, NONE, RISING, SIDES, UNKNOWN, MarketAxes, side_of
from generator.brain.engine import Engine
from generator.brain.reading import NO_AXES, ROUGH, BrainReading
from generator.brain.weights import Weights
from generator.catalog.words import MarketSide, VolatilityWord
from generator.lab.simulator import DAY, simulate
from generator.market.bars import BAR_MS, BarFrame, FloatArray

HALF_DAY = DAY // 2
KEPT = 0.5 ** (1 / 6)  # of a smoothed chance after one bar: half of it after half an hour


def take(  # noqa: PLR0917
    axes: MarketAxes, t_ms: int, chances: FloatArray, weight: float, stressed: float, steps: int = 1
) -> None:
    """Feed one bar."""
    axes.update(np.array([t_ms]), chances[None], np.array([weight]), np.array([stressed]), np.array([float(steps)]))
    axes.settle()


@pytest.mark.parametrize(
    ("rising", "falling", "before", "side"),
    [
        (0.5499, 0.20, NONE, NONE),
        (0.55, 0.20, NONE, RISING),
        (0.20, 0.55, NONE, FALLING),
        (0.40, 0.20, RISING, RISING),
        (0.3999, 0.20, RISING, NONE),
        (0.20, 0.40, FALLING, FALLING),
        (0.20, 0.3999, FALLING, NONE),
        (0.42, 0.56, RISING, FALLING),  # the other side is taken though this one could be held
        (0.50, 0.30, FALLING, NONE),  # what one side may keep does not take the other
        (0.50, 0.20, UNKNOWN, NONE),
        (0.60, 0.20, UNKNOWN, RISING),
    ],
)
def test_a_side_is_taken_at_055_and_held_down_to_040(rising: float, falling: float, before: int, side: int) -> None:
    assert side_of(rising, falling, before) == side


def test_chances_are_halved_towards_the_new_ones_in_half_an_hour() -> None:
    axes = MarketAxes()

    for bar in range(6):
        take(axes, bar * BAR_MS, np.array([0.85, 0.05]), 1.0, math.nan)

    assert axes.chances.tolist() == pytest.approx([0.55, 0.15])  # half-way from 0.25


def test_a_side_dates_from_the_bar_that_crossed() -> None:
    axes = MarketAxes()

    for bar in range(12):
        take(axes, bar * BAR_MS, np.array([1.0, 0.0]), 1.0, math.nan)

    # 1 - 0.75 kept^n passes 0.55 with n = 5: kept^5 is 0.5612, kept^4 0.63
    assert 1 - 0.75 * KEPT**4 < 0.55 < 1 - 0.75 * KEPT**5
    assert SIDES[int(axes.side[0])] is MarketSide.RISING
    assert axes.side_since[0] == 4 * BAR_MS


def test_a_gap_moves_the_chances_as_far_as_its_bars_would() -> None:
    through, across = MarketAxes(), MarketAxes()
    chances = np.array([0.7, 0.1])

    for bar in range(9):
        take(through, bar * BAR_MS, chances, 1.0, math.nan)
    take(across, 8 * BAR_MS, chances, 1.0, math.nan, steps=9)

    assert across.chances.tolist() == pytest.approx(through.chances.tolist())


def test_a_side_is_unknown_while_less_than_half_of_the_weight_is_there() -> None:
    axes = MarketAxes()
    seen = []

    for bar, weight in enumerate([0.0, 0.49, 0.50, 1.0, 0.49, 1.0]):
        take(axes, bar * BAR_MS, np.array([1.0, 0.0]), weight, math.nan, steps=100)
        seen.append((SIDES[int(axes.side[0])].value, int(axes.side_since[0]) // BAR_MS))

    unknown, rising = "unknown", "rising"
    assert seen == [(unknown, 0), (unknown, 0), (rising, 2), (rising, 2), (unknown, 4), (rising, 5)]


def test_the_step_dates_from_its_first_bar_and_ends_only_with_a_long_silence() -> None:
    axes = MarketAxes()
    since = []

    stressed_by_bar = [math.nan, 0.0, 0.0, 1.0, 1.0, math.nan, 1.0, math.nan, 1.0]
    weight_by_bar = [0.4, 0.5, 1.0, 1.0, 0.4, 0.5, 1.0, 0.4, 0.4]
    for bar, (stressed, weight) in enumerate(zip(stressed_by_bar, weight_by_bar, strict=True)):
        take(axes, bar * BAR_MS, np.full(2, 0.25), weight, stressed)
        since.append(int(axes.step_since[0]) // BAR_MS)

    assert since == [0, 1, 1, 3, 3, 3, 3, 7, 8]


@dataclass(frozen=True)
class Run:
    """Readings of a market of a family that was never trained on, with the chances of the filter at each."""

    frame: BarFrame
    readings: list[BrainReading]
    chances: list[list[float]]
    states: dict[int, bytes]  # after some bars, by row


@pytest.fixture(scope="module")
def run() -> Run:
    frame = simulate("alt", 60007, days=5).frame  # its first two days have both sides and three steps
    engine = Engine(Weights.load(), frame.assets)
    found = Run(frame, [], [], {})
    for row in engine.replay(frame.rows(0, 2 * DAY + 48)):
        reading = engine.reading()
        assert reading is not None
        found.readings.append(reading)
        found.chances.append(engine.filter.chances[:2, -1].tolist())
        if row % HALF_DAY == HALF_DAY - 1:
            found.states[row] = engine.dump()
    return found


def test_swings_are_the_word_of_volatility_in_every_reading(run: Run) -> None:
    for reading in run.readings:
        assert reading.regime.axes.swings is reading.regime.volatility


def test_swings_date_from_the_two_way_step_and_not_from_the_four_words(run: Run) -> None:
    since, step, words = None, None, set()

    for reading in run.readings:
        axes = reading.regime.axes
        now = None if axes.swings is VolatilityWord.UNKNOWN else axes.swings in ROUGH
        if now != step:
            since, step = reading.t_ms + BAR_MS, now
        assert axes.swings_since_ms == (None if now is None else since)
        words.add(axes.swings)

    assert len(words) > 3


def test_the_side_is_what_its_rule_gives_from_the_published_chances(run: Run) -> None:
    rising = falling = 0.25
    side, since, seen = "", 0, set()

    for bar, (reading, (up, down)) in enumerate(zip(run.readings, run.chances, strict=True), 1):
        rising, falling = KEPT * rising + (1 - KEPT) * up, KEPT * falling + (1 - KEPT) * down
        before = side
        chance = {"rising": rising, "falling": falling}
        if bar <= DAY + 1:  # a day of returns, and the trust that the first bar without one cost
            side = "unknown"
        elif max(chance.values()) >= 0.55:
            side = max(chance, key=lambda name: chance[name])
        elif chance.get(side, 0.0) < 0.40:
            side = "none"
        since = since if side == before else reading.t_ms + BAR_MS

        axes = reading.regime.axes
        seen.add(side)
        assert axes.side.value == side
        assert axes.side_since_ms == (None if side == "unknown" else since)
        if side != "unknown":
            assert axes.side_chance == pytest.approx(chance.get(side, 1.0 - rising - falling))

    assert seen == {"rising", "falling", "none", "unknown"}


def test_a_restart_keeps_both_axes_and_their_times(run: Run) -> None:
    seen = set()

    for row, state in run.states.items():
        again = Engine.load(Weights.load(), run.frame.assets, state).reading()
        assert again is not None
        assert again.regime == run.readings[row].regime
        seen.add((again.regime.axes.side, again.regime.axes.swings in ROUGH))

    assert len(seen) > 2


@pytest.mark.parametrize("day", [1, 2])
def test_bars_read_at_once_give_the_axes_of_the_stream(run: Run, day: int) -> None:
    stream = Engine.load(Weights.load(), run.frame.assets, run.states[day * DAY - 1])

    for row in range(day * DAY, day * DAY + 40):
        reading = stream.update(run.frame.rows(row, row + 1))
        assert reading is not None
        assert reading.regime == run.readings[row].regime


@pytest.mark.parametrize(("bars", "kept"), [(17, True), (84, False)])
def test_a_short_gap_ends_neither_axis_and_one_over_six_hours_both(run: Run, bars: int, *, kept: bool) -> None:
    engine = Engine.load(Weights.load(), run.frame.assets, run.states[2 * DAY - 1])
    step, since = engine.axes.step[0], engine.axes.step_since[0]
    first = 2 * DAY + bars

    at_return = engine.update(run.frame.rows(first, first + 1))

    assert at_return is not None
    assert at_return.regime.axes == NO_AXES  # the first bar after a gap has no return
    assert bool((engine.axes.step[0], engine.axes.step_since[0]) == (step, since)) is kept
    assert bool(engine.axes.side[0] != UNKNOWN) is kept


def test_axes_are_published_again_with_the_first_return_after_a_gap(run: Run) -> None:
    engine = Engine.load(Weights.load(), run.frame.assets, run.states[2 * DAY - 1])
    first = 2 * DAY + 84

    reading = engine.update(run.frame.rows(first, first + 2))

    assert reading is not None
    assert reading.regime.axes.swings is reading.regime.volatility is not VolatilityWord.UNKNOWN
    assert reading.regime.axes.swings_since_ms == reading.t_ms + BAR_MS
    assert reading.regime.axes.side is MarketSide.UNKNOWN  # until half of the weight is back
