"""The HAR outlook against a reference written by hand, one number at a time."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.volatility import calendar
from generator.brain.weights import Weights
from generator.market.bars import BAR_MS
from tests.support.markets import market

HOUR = [0.605, -0.322, 0.328, 0.115, 0.061, -0.061, -0.033, 0.013, 0.036, -0.064, -0.073]


def mean_of(values: list[float], half_life: float) -> float:
    """Average with halving weights; while young, plainly."""
    alpha, level = 1.0 - 0.5 ** (1.0 / half_life), 0.0
    for count, value in enumerate(values, start=1):
        level += (value - level) * max(alpha, 1.0 / count)
    return level


def running(values: list[float], half_life: float) -> list[float]:
    alpha, level, out = 1.0 - 0.5 ** (1.0 / half_life), 0.0, []
    for count, value in enumerate(values, start=1):
        level += (value - level) * max(alpha, 1.0 / count)
        out.append(level)
    return out


@pytest.mark.parametrize("bars", [60, 333, 700])
def test_the_one_hour_outlook_is_the_frozen_regression(bars: int) -> None:
    frame = market(bars, assets=("BTC",))
    close, high, low, volume = (frame.fields[name][:, 0].tolist() for name in ("close", "high", "low", "volume"))
    variance = [
        0.5 * math.log(close[i] / close[i - 1]) ** 2 + 0.5 * math.log(high[i] / low[i]) ** 2 / (4.0 * math.log(2.0))
        for i in range(1, bars)
    ]
    slow = mean_of([math.log(v) for v in running(variance, 6)], 7 * 288)
    x = [0.5 * (math.log(mean_of(variance, half_life)) - slow) for half_life in (6, 24, 72, 216)]
    hourly = [math.log(v + 1e-9) for v in running(volume, 12)]
    x.append(hourly[-1] - mean_of(hourly, 3 * 288))
    closed = datetime.fromtimestamp((int(frame.t[-1]) + BAR_MS) / 1000, tz=UTC)
    angle = 2.0 * math.pi * (closed.hour * 60 + closed.minute) / 1440
    x += [math.sin(angle), math.cos(angle), math.sin(2 * angle), math.cos(2 * angle)]
    x += [float(closed.weekday() >= 5), 1.0]
    expected = math.exp(0.5 * slow + sum(a * b for a, b in zip(HOUR, x, strict=True))) * math.sqrt(12)

    reading = Engine(Weights.load(), ("BTC",)).update(frame)

    assert reading is not None
    assert reading.outlook is not None
    assert reading.outlook.h1 == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("day", "weekend"), [("2026-11-20", 0.0), ("2026-11-21", 1.0), ("2026-11-22", 1.0)])
def test_the_weekend_is_saturday_and_sunday_in_utc(day: str, weekend: float) -> None:
    noon = int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp() * 1000)

    assert calendar(noon)[4] == weekend


def test_the_outlook_of_a_steady_market_is_near_its_true_sigma() -> None:
    reading = Engine(Weights.load(), ("BTC", "ETH", "XRP")).update(market(1500, sigma=0.001))

    assert reading is not None
    assert reading.outlook is not None
    assert reading.outlook.h1 == pytest.approx(0.001 * math.sqrt(12), rel=0.35)
    assert reading.outlook.m15 < reading.outlook.h1 < reading.outlook.h4


def test_the_market_outlook_is_the_geometric_mean_over_assets() -> None:
    reading = Engine(Weights.load(), ("BTC", "ETH", "XRP")).update(market(600))

    assert reading is not None
    assert reading.outlook is not None
    each = [asset.outlook.h4 for asset in reading.assets.values() if asset.outlook]
    assert len(each) == 3
    assert reading.outlook.h4 == pytest.approx(float(np.exp(np.mean(np.log(each)))))
