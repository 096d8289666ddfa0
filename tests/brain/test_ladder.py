"""The ladder and the partition: chances of moves beyond levels, by laws that are counted a second time here."""

import math
from itertools import pairwise

import numpy as np
import pytest

from generator.brain.columns import Columns
from generator.brain.engine import Engine
from generator.brain.ladder import LEAST, Ladder, MoveLaw, ladders, partition_chances, partitions
from generator.brain.measures import PARTITION_MINUTES
from generator.brain.outlook import EDGES, QUARTERS
from generator.brain.ranges import RangeModel
from generator.brain.week import DAY, Week
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray
from tests.support.learning import teach
from tests.support.markets import market

WEIGHTS = Weights.load()
ASSETS = 3


def frozen() -> list[MoveLaw]:
    ranges = RangeModel(ASSETS, WEIGHTS.outlook)
    return [ranges.move_law(horizon) for horizon in range(len(HORIZONS))]


def some_ladders() -> Columns[Ladder]:
    """Return the ladders of 200 sigmas from nearly none to one that leaves every level behind."""
    sigma = np.geomspace(0.0001, 0.2, 200) * np.ones((len(HORIZONS), 1))
    return ladders(sigma, frozen())


def test_a_chance_is_read_from_the_law_at_the_level_over_sigma() -> None:
    law = frozen()[2]
    sigma = 0.0123

    level = ladders(sigma * np.array([[0.2], [0.5], [1.0], [2.0]]), frozen())[0]["4h"][1]

    sizes = math.log(1.01) / sigma, -math.log(0.99) / sigma
    up, down = (0.5 * (1.0 - float(np.interp(size, EDGES, law.end))) for size in sizes)
    farther, nearer = ([1.0 - float(np.interp(size, EDGES, way)) for size in sizes] for way in law[1:])
    assert level.level == 1.0
    assert level.end.three == pytest.approx((up, down, up + down), abs=5e-5)
    expected = (0.5 * (farther[0] + nearer[0]), 0.5 * (farther[1] + nearer[1]), 0.5 * sum(farther))
    assert level.touch.three == pytest.approx(expected, abs=5e-5)


def test_a_larger_move_is_never_likelier_and_what_ends_beyond_has_touched() -> None:
    for ladder in some_ladders():
        for levels in ladder.values():
            for lower, higher in pairwise(levels):
                smaller = (*lower.end.three, *lower.touch.three)
                larger = (*higher.end.three, *higher.touch.three)
                assert all(after <= before for before, after in zip(smaller, larger, strict=True))
            for level in levels:
                assert all(end <= touch for end, touch in zip(level.end.three, level.touch.three, strict=True))
                for side in (level.end, level.touch):
                    assert max(side.above, side.below) <= side.either <= side.above + side.below + 1.5e-4


def test_no_chance_is_below_a_thousandth_or_above_its_rest() -> None:
    sides = [side for ladder in some_ladders() for levels in ladder.values() for row in levels for side in row[1:]]

    chances = {chance for side in sides for chance in side.three}
    assert (min(chances), max(chances)) == (LEAST, 1.0 - LEAST)


def test_the_partition_sums_to_one_as_published_and_is_the_ladder_at_its_band() -> None:
    sigma = np.linspace(0.002, 0.04, 97)
    band = np.where(np.arange(97) == 5, np.nan, 0.01)
    base = np.array((0.3, 0.4, 0.3))[:, None] * np.ones(97)

    found = partitions(band, sigma, frozen()[2], base)

    assert found[5] is None
    for column, ladder in enumerate(ladders(sigma * np.array([[0.2], [0.5], [1.0], [2.0]]), frozen())):
        part = found[column]
        if part is None:
            continue
        chances = (part.chances.down, part.chances.neutral, part.chances.up)
        assert sum(round(1_000 * chance) for chance in chances) == 1_000
        level = ladder["4h"][1].end
        assert (chances[2], chances[0]) == pytest.approx((level.above, level.below), abs=1.1e-3)
        assert part.base_rate.neutral == 0.4


def walk(quarters: int) -> tuple[FloatArray, FloatArray]:
    """Return log closes of quarter hours, (quarters, 2), and what was reached on the way to each, as `teach` takes."""
    steps = 0.001 * np.random.default_rng(8).standard_t(4, size=(3 * quarters + 1, 2))
    path = np.cumsum(steps, axis=0)
    reached = np.full((2, quarters, len(QUARTERS), 2), np.nan)
    for quarter in range(quarters):
        for horizon, span in enumerate(QUARTERS):
            if quarter >= span:
                way = path[3 * (quarter - span) + 1 : 3 * quarter + 1]
                reached[:, quarter, horizon] = way.max(axis=0), way.min(axis=0)
    return path[::3][:quarters], reached


def test_the_law_of_the_way_is_that_of_the_cases_counted_one_by_one() -> None:
    close, reached = walk(300)
    expected = 0.0015 * np.sqrt(np.array([3.0, 12.0, 48.0, 288.0]))[:, None] * np.ones((1, 2))
    ranges = RangeModel(2, WEIGHTS.outlook)
    factors = []
    for quarter in range(300):
        factors.append(ranges.correction()[1])
        teach(ranges, close[quarter][None], expected, quarter + 1, reached=reached[:, quarter : quarter + 1])

    sides = np.zeros((2, len(EDGES) - 1))
    keep = 0.5 ** (1.0 / (30 * DAY))
    for quarter in range(4, 300):
        sides *= keep
        for asset in range(2):
            start = close[quarter - 4, asset]
            way = (reached[0, quarter, 1, asset] - start, start - reached[1, quarter, 1, asset])
            # The correction in force is the one that all cases before this quarter hour have made.
            unit = expected[1, asset] * factors[quarter][asset]
            for row, size in enumerate(sorted((max(side, 0.0) / unit for side in way), reverse=True)):
                sides[row, np.searchsorted(EDGES, size, side="right") - 1] += 0.25 * 1.75 / 2

    below = np.cumsum(200.0 * WEIGHTS.outlook.touch[1] + sides, axis=1)
    law = ranges.move_law(1)
    assert law.farther[1:].tolist() == pytest.approx((below[0] / below[0, -1]).tolist(), abs=1e-9)
    assert law.nearer[1:].tolist() == pytest.approx((below[1] / below[1, -1]).tolist(), abs=1e-9)


def test_the_way_is_unknown_where_a_bar_is_missing_and_else_that_of_the_bars() -> None:
    bars = np.arange(3 * 40)
    top = np.random.default_rng(2).normal(size=(len(bars), 2))
    bottom = top - 1.0
    seen = np.ones_like(top)
    missing = 3 * 30 + 1
    top[missing, 0] = bottom[missing, 0] = seen[missing, 0] = np.nan
    week = Week(2)

    week.update(bars * BAR_MS, top, top, bottom, np.array((seen, seen, seen)))
    highest, lowest = week.reached(bars[2::3], (1, 16))

    for quarter in range(16, 40):
        span = slice(3 * (quarter - 15), 3 * (quarter + 1))
        for asset in range(2):
            if asset == 0 and 30 <= quarter < 46:
                assert math.isnan(highest[quarter, 1, asset])
                continue
            assert highest[quarter, 1, asset] == np.float32(top[span, asset].max())
            assert lowest[quarter, 1, asset] == np.float32(bottom[span, asset].min())
    assert np.isnan(highest[:, 0]).sum() == 1


def test_a_reading_has_ladder_and_partition_of_the_assets_that_have_a_range() -> None:
    engine = Engine(WEIGHTS, ("BTC", "ETH"))
    frame = market(900, assets=("BTC", "ETH"))
    frame.fields["close"][:, 1] = np.nan

    reading = engine.update(frame)

    assert reading is not None
    known, unknown = reading.assets["BTC"], reading.assets["ETH"]
    assert known.ranges is not None
    assert known.ladder == engine.ladders()[0]
    assert known.partition is not None
    assert known.partition.band == engine.past().band(PARTITION_MINUTES)[0]
    assert partition_chances(
        engine.past().band(PARTITION_MINUTES)[:1], engine.sigma()[2, :1], engine.ranges.move_law(2)
    ).ravel().tolist() == [
        round(1_000 * chance)
        for chance in (known.partition.chances.down, known.partition.chances.neutral, known.partition.chances.up)
    ]
    assert unknown.ladder is None
    assert unknown.partition is None
