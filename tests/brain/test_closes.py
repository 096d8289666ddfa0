"""Days, hours and broken highs: what sentences say of the past, worked out another way from the same candles."""

import itertools
import statistics

import numpy as np
import pytest

from generator.brain.closes import Closes
from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.text.figures import day_and_clock
from generator.catalog.words import MarketStructure
from generator.market.bars import BAR_MS, BarFrame
from tests.support.markets import market

DAY = 288
WEEK = 8 * DAY - 3  # bars: more than its hours need
ASSETS = ("BTC", "ETH", "XRP")


def read(frame: BarFrame) -> BrainReading:
    reading = Engine(Weights.load(), ASSETS).update(frame)
    assert reading is not None
    return reading


def filled(frame: BarFrame) -> Closes:
    closes = Closes(len(frame.assets))
    logs = (np.log(frame.fields[name]) for name in ("close", "high", "low"))
    closes.update(frame.t, *logs)
    closes.settle()
    return closes


def without(frame: BarFrame, first: int, last: int) -> BarFrame:
    """Return a frame without the bars from `first` to `last`."""
    kept = [row for row in range(len(frame)) if not first <= row <= last]
    fields = {name: values[kept] for name, values in frame.fields.items()}
    return BarFrame(frame.assets, frame.t[kept], fields)


@pytest.mark.parametrize("days", [3, 10, 40])
def test_a_usual_day_is_the_median_of_the_moves_of_the_kept_days(days: int) -> None:
    frame = market(days * DAY + 7)
    close, t_ms = frame.fields["close"], frame.t.tolist()
    last_of_day = [row for row, t in enumerate(t_ms) if (t + BAR_MS) % DAY_MS == 0][-31:]
    moves = [close[late] / close[early] - 1.0 for early, late in itertools.pairwise(last_of_day)]

    usual, counts = filled(frame).usual_day(int(t_ms[-1]))

    assert counts.tolist() == [len(moves)] * 4
    if len(moves) < 3:
        assert np.isnan(usual).all()
        return
    sizes = [
        *([abs(float(move[column])) for move in moves] for column in range(3)),
        [abs(move.mean()) for move in moves],
    ]
    assert usual.tolist() == pytest.approx([statistics.median(column) for column in sizes])


def test_the_day_that_ends_with_this_bar_counts() -> None:
    frame = market(5 * DAY)
    ends = [row for row, t in enumerate(frame.t.tolist()) if (t + BAR_MS) % DAY_MS == 0]
    closes = filled(frame.rows(0, ends[-1] + 1))

    assert closes.usual_day(int(frame.t[ends[-1]]))[1].tolist() == [len(ends) - 1] * 4


def test_an_hours_move_is_from_the_close_an_hour_before_or_the_last_one_before_that() -> None:
    frame = market(60)
    close = frame.fields["close"]

    assert filled(frame).hour().tolist() == pytest.approx((close[-1] / close[-13] - 1.0).tolist())
    assert filled(without(frame, 47, 47)).hour().tolist() == pytest.approx((close[-1] / close[-14] - 1.0).tolist())
    assert np.isnan(filled(without(frame, 42, 50)).hour()).all()


def test_a_hole_is_known_for_a_day() -> None:
    frame = market(DAY + 100)
    holed = filled(without(frame, 50, 66))
    begin, end = int(frame.t[50]), int(frame.t[67])

    assert holed.last_hole(end + 20 * HOUR_MS) == (begin, end)
    assert holed.last_hole(end + DAY_MS) is None
    assert filled(without(frame, 50, 52)).last_hole(end) is None


def test_a_hole_of_85_minutes_is_named_in_the_limitations() -> None:
    frame = market(DAY + 100)
    begin = next(row for row in range(DAY, DAY + 60) if frame.t[row] % HOUR_MS == 0)

    limitations = read(without(frame, begin, begin + 16)).limitations

    named = [text for text in limitations if "no bars came between" in text]
    assert len(named) == 1
    assert f"between {day_and_clock(int(frame.t[begin]), int(frame.t[-1]))} and" in named[0]
    assert "(85 minutes)" in named[0]
    assert not [text for text in read(frame).limitations if "no bars came" in text]


def test_a_broken_high_has_its_time_and_the_distance_from_the_new_one() -> None:
    frame = market(2 * DAY, sigma=0.0002)
    hour = next(row for row in range(DAY + 24, 2 * DAY) if frame.t[row] % HOUR_MS == 0)
    frame = frame.rows(0, hour + 6)
    for row, factor in ((hour + 3, 1.03), (hour + 4, 1.05), (hour + 5, 1.04)):
        for name in ("open", "high", "low", "close"):
            frame.fields[name][row] *= factor

    week = read(frame).assets["BTC"].facts

    top, last = frame.fields["high"][hour : hour + 6, 0].max(), frame.fields["close"][-1, 0]
    assert week.broke_high_ms == int(frame.t[hour + 3]) + BAR_MS
    assert week.below_high == pytest.approx(1.0 - last / top, abs=1e-6)
    assert week.broke_low_ms is None
    assert read(frame).assets["BTC"].structure is MarketStructure.BREAKOUT


@pytest.fixture(scope="module")
def after_a_week() -> bytes:
    """Return the state of an engine that has seen `WEEK` bars."""
    engine = Engine(Weights.load(), ASSETS)
    engine.advance(market(WEEK + 3).rows(0, WEEK))
    return engine.dump()


@pytest.mark.parametrize("jump", [1.03, 0.97])
def test_an_hour_is_ranked_within_its_week_and_called_the_largest_where_it_is(after_a_week: bytes, jump: float) -> None:
    frame = market(WEEK + 3)
    for name in ("open", "high", "low", "close"):
        frame.fields[name][-3:] *= jump
    close = frame.fields["close"][[row for row, t in enumerate(frame.t.tolist()) if (t + BAR_MS) % 900_000 == 0]]
    hours = (close[4:] / close[:-4] - 1.0).mean(axis=1)[-668:]
    close = frame.fields["close"]
    moved = float((close[-1] / close[-13] - 1.0).mean())

    reading = Engine.load(Weights.load(), ASSETS, after_a_week).update(frame.rows(WEEK, WEEK + 3))

    assert reading is not None
    week = reading.regime.facts
    assert statistics.fmean(one.facts.hour or 0.0 for one in reading.assets.values()) == pytest.approx(moved)
    assert week.move_rank == pytest.approx(float((abs(hours[:-4]) < abs(moved)).mean()), abs=0.003)
    assert week.largest_of == "week"


def test_an_hour_among_few_days_has_no_rank() -> None:
    week = read(market(3 * DAY)).regime.facts

    assert week.move_rank is None
    assert week.largest_of in ("day", None)
