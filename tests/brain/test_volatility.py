"""How far: the frozen regression, ranges that come true as often as they say."""

import json
import math
from dataclasses import astuple
from datetime import UTC, datetime

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.outlook import EDGES, HORIZON_BARS, calendar
from generator.brain.ranges import RangeModel
from generator.brain.week import QUARTER_MS
from generator.brain.weights import PACKAGED, Weights
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray
from tests.support.learning import teach
from tests.support.markets import market

WEIGHTS = Weights.load()


def mean_of(values: list[float], half_life: float) -> float:
    """Average with halving weights; while young, plainly."""
    return running(values, half_life)[-1]


def running(values: list[float], half_life: float) -> list[float]:
    alpha, level, out = 1.0 - 0.5 ** (1.0 / half_life), 0.0, []
    for count, value in enumerate(values, start=1):
        level += (value - level) * max(alpha, 1.0 / count)
        out.append(level)
    return out


@pytest.mark.parametrize("bars", [60, 140])
def test_the_outlook_is_the_frozen_regression_one_number_at_a_time(bars: int) -> None:
    frame, frozen = market(bars, assets=("BTC",)), json.loads(PACKAGED.read_bytes())
    close, high, low, volume = (frame.fields[name][:, 0].tolist() for name in ("close", "high", "low", "volume"))
    variance = [
        0.5 * math.log(close[i] / close[i - 1]) ** 2 + 0.5 * math.log(high[i] / low[i]) ** 2 / (4.0 * math.log(2.0))
        for i in range(1, bars)
    ]
    logs = [math.log(v) for v in running(variance, 6)]
    slow = mean_of(logs, 7 * 288)
    month = 0.5 * (mean_of(logs, 30 * 288) - slow)
    x = [0.5 * (math.log(mean_of(variance, half_life)) - slow) for half_life in (6, 24, 72, 216, 3, 12)]
    usual = mean_of([math.log(v + 1e-9) for v in running(volume, 12)], 3 * 288)
    x += [math.log(mean_of(volume, half_life) + 1e-9) - usual for half_life in (12, 3)]
    closed = datetime.fromtimestamp((int(frame.t[-1]) + BAR_MS) / 1000, tz=UTC)

    reading = Engine(WEIGHTS, ("BTC",)).update(frame)

    assert reading is not None
    assert reading.outlook is not None
    for at, found in enumerate(astuple(reading.outlook)):
        level = frozen["quarter"][at][closed.hour * 4 + closed.minute // 15] + frozen["weekday"][at][closed.weekday()]
        level += frozen["weekend"][at][closed.hour] if closed.weekday() >= 5 else 0.0
        level += sum(a * b for a, b in zip(frozen["levels"][at], x, strict=True))
        if HORIZON_BARS[at] == 288:
            level = 0.7 * level + 0.3 * month
        level += frozen["gain"][at]
        assert found == pytest.approx(math.exp(0.5 * slow + level) * math.sqrt(HORIZON_BARS[at]), rel=1e-6)


@pytest.mark.parametrize(("day", "weekend"), [("2026-11-20", 0.0), ("2026-11-21", 1.0), ("2026-11-22", 1.0)])
def test_the_weekend_is_saturday_and_sunday_in_utc(day: str, weekend: float) -> None:
    noon = int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp() * 1000)

    assert calendar(np.array([noon // QUARTER_MS % 672]))[0, -12] == weekend


def test_the_market_outlook_is_the_geometric_mean_over_assets() -> None:
    reading = Engine(WEIGHTS, ("BTC", "ETH", "XRP")).update(market(200))

    assert reading is not None
    assert reading.outlook is not None
    each = [asset.outlook.h4 for asset in reading.assets.values() if asset.outlook]
    assert len(each) == 3
    assert reading.outlook.h4 == pytest.approx(float(np.exp(np.mean(np.log(each)))))


def learned(scale: float, quarters: int = 3000) -> tuple[RangeModel, FloatArray, FloatArray]:
    """Return what is learned from normal moves whose sigma is `scale` times the one expected, and both."""
    ranges = RangeModel(2, WEIGHTS.outlook)
    rng = np.random.default_rng(4)
    expected = np.sqrt(np.array([1.0, 4.0, 16.0, 96.0]))[:, None] * np.array([0.01, 0.02])
    close = np.cumsum(scale * expected[0] * rng.normal(size=(quarters - 1, 2)), axis=0)
    teach(ranges, close, expected)
    return ranges, expected, close[-1]


@pytest.mark.parametrize("scale", [0.8, 1.3])
def test_an_expected_sigma_that_is_off_is_corrected_and_ranges_fit(scale: float) -> None:
    ranges = learned(scale)[0]

    corrected = ranges.correction()[0] * ranges.widths()[0, :, None]
    assert ranges.correction()[0] == pytest.approx([scale, scale], rel=0.12)
    assert corrected[0] == pytest.approx(0.6745 * scale, rel=0.1)
    assert corrected[1] == pytest.approx(1.6449 * scale, rel=0.1)
    assert ranges.within(0, np.array([0.0, EDGES[-1]])).tolist() == [0.0, 1.0]


def test_the_correction_is_limited_and_a_single_crash_hardly_moves_it() -> None:
    wild, expected, close = learned(4.0)
    assert wild.correction().max() == 1.5

    ranges, expected, close = learned(1.0)
    before = ranges.correction()
    teach(ranges, (close - 50.0 * expected[0])[None], expected, first=3000)
    assert ranges.correction() == pytest.approx(before, rel=0.02)


def test_ranges_widen_with_the_horizon_and_lie_around_the_price() -> None:
    reading = Engine(WEIGHTS, ("BTC", "ETH")).update(market(200))

    assert reading is not None
    for asset in reading.assets.values():
        assert asset.ranges is not None
        edges = [asset.ranges[name] for name in HORIZONS]
        for one in edges:
            assert one.low_90 < one.low_50 < 0.0 < one.high_50 < one.high_90
        assert [one.high_90 for one in edges] == sorted(one.high_90 for one in edges)
