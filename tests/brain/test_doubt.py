"""Doubt in the data makes no claim surer: a table of claims by faults, on one market read with and without each."""

import dataclasses
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

from generator.brain.doubt import SILENT, doubts
from generator.brain.engine import Engine
from generator.brain.ladder import ladders
from generator.brain.measures import ForecastInputs
from generator.brain.outlook import RANGE_BARS
from generator.brain.weights import Weights
from generator.catalog.horizons import HORIZONS
from generator.catalog.text import readings
from generator.market.bars import BarFrame
from tests.support.markets import market

WEIGHTS = Weights.load()
NAMES = ("BTC", "ETH", "XRP", "SOL")
WARM = 900
AFTER = (1, 2, 4, 13, 26)
PRICES = ("open", "high", "low", "close")


def _frozen(frame: BarFrame) -> None:
    for name in PRICES:
        frame.fields[name][WARM:, 0] = frame.fields["close"][WARM - 1, 0]


def _capped(frame: BarFrame) -> None:
    for name in PRICES:
        frame.fields[name][WARM, 0] *= 1.1


def _split(frame: BarFrame) -> None:
    for name in PRICES:
        frame.fields[name][WARM:, 0] /= 10.0


def _missing(frame: BarFrame) -> None:
    for name in PRICES:
        frame.fields[name][WARM:, 0] = np.nan


def _untraded(frame: BarFrame) -> None:
    frame.fields["volume"][WARM:, 0] = 0.0


FAULTS: dict[str, Callable[[BarFrame], None]] = {
    "frozen": _frozen,
    "capped jump": _capped,
    "split": _split,
    "missing bars": _missing,
    "no trades": _untraded,
    "one venue": lambda _: None,
}
SILENCED = {"frozen", "capped jump", "split", "missing bars"}  # at some of the moments
DOUBTED = {"capped jump", "split", "missing bars", "no trades", "one venue"}


def claims(engine: Engine, now: ForecastInputs) -> Iterator[tuple[str, float]]:
    """Give how sure each claim of the first asset is: how far a chance is from its base rate, how narrow a range."""
    forecast = engine.forecasts(60, now)[0]
    assert forecast is not None
    said, usual = forecast.probabilities, forecast.base_rate
    yield "up", abs(said.up - usual.up)
    yield "small move", abs(said.neutral - usual.neutral)
    yield "down", abs(said.down - usual.down)

    part = engine.partitions(now)[0]
    assert part is not None
    yield "partition", abs(part.chances.neutral - part.base_rate.neutral)
    for horizon, (half, most) in zip(HORIZONS, engine.reach(now)[:, 0].tolist(), strict=True):
        yield f"half of {horizon}", -half
        yield f"nine tenths of {horizon}", -most

    week = ladders(engine.outlook.usual(engine.volatility), engine.ranges.laws())[0]
    for horizon, levels in engine.ladders(now)[0].items():
        for level, of_week in zip(levels, week[horizon], strict=True):
            yield f"beyond {level.level} in {horizon}", abs(level.end.either - of_week.end.either)
            yield f"touch of {level.level} in {horizon}", abs(level.touch.either - of_week.touch.either)


@pytest.fixture(scope="module")
def warm() -> tuple[BarFrame, bytes]:
    frame = market(WARM + 60, assets=NAMES)
    engine = Engine(WEIGHTS, NAMES)
    engine.advance(frame.rows(0, WARM))
    return frame, engine.dump()


@pytest.mark.parametrize("name", FAULTS)
def test_no_claim_gets_surer_by_a_fault(warm: tuple[BarFrame, bytes], name: str) -> None:
    frame, state = warm
    spoilt = dataclasses.replace(frame, fields={field: values.copy() for field, values in frame.fields.items()})
    FAULTS[name](spoilt)
    engine = Engine.load(WEIGHTS, NAMES, state)
    engine.one_venue = frozenset(NAMES[:1]) if name == "one venue" else frozenset()
    silent = doubtful = 0

    for begin, end in pairwise((0, *AFTER)):
        reading = engine.update(spoilt.rows(WARM + begin, WARM + end))
        assert reading is not None
        read, now = reading.assets[NAMES[0]], engine.now()
        assert len({read.forecast is None, read.ranges is None, read.ladder is None, read.partition is None}) == 1
        if read.forecast is None:
            silent += 1
            continue
        plain = dict(claims(engine, now._replace(doubt=np.zeros(len(NAMES)))))
        doubtful += bool(now.doubt[0])
        assert now.doubt[0] < SILENT
        for claim, sure in claims(engine, now):
            assert sure <= plain[claim] + 2e-4, claim

    assert (silent > 0) == (name in SILENCED)
    assert (doubtful > 0) == (name in DOUBTED)


def test_a_frozen_price_makes_no_move_likelier(warm: tuple[BarFrame, bytes]) -> None:
    frame, state = warm
    spoilt = dataclasses.replace(frame, fields={field: values.copy() for field, values in frame.fields.items()})
    _frozen(spoilt)
    engine = Engine.load(WEIGHTS, NAMES, state)
    said = []

    for bar in range(WARM, WARM + 40):
        reading = engine.update(spoilt.rows(bar, bar + 1))
        assert reading is not None
        said.append(reading.assets[NAMES[0]].forecast)

    assert said[0] is not None
    assert said[3:] == [None] * 37


def test_the_chances_to_move_beyond_a_level_go_to_those_of_the_week() -> None:
    engine = Engine(WEIGHTS, NAMES)
    engine.advance(market(WARM, assets=NAMES))
    sound = engine.ladders()[0]["1h"][1].end.either

    engine.volatility.idle = np.full(4, 50.0)
    doubted = engine.ladders()[0]["1h"][1].end.either
    engine.outlook.sigma = engine.outlook.usual(engine.volatility) / engine.ranges.correction()
    engine.volatility.idle = np.zeros(4)
    usual = engine.ladders()[0]["1h"][1].end.either

    assert doubted == pytest.approx(sound + 0.15 * (usual - sound), abs=0.005)


def test_half_a_doubt_is_silent_and_less_is_not() -> None:
    frame = market(RANGE_BARS + 10, assets=NAMES)
    engine = Engine(WEIGHTS, NAMES)
    engine.advance(frame)
    for capped, speaks in ((288.0, False), (287.0, True)):
        engine.volatility.capped = np.array([capped, 0.0, 0.0, 0.0])

        reading = engine.reading()

        assert reading is not None
        assert [asset.ranges is not None for asset in reading.assets.values()] == [speaks, True, True, True]
        assert [asset.forecast is not None for asset in reading.assets.values()] == [speaks, True, True, True]


def test_faults_add_up_as_chances_do_and_a_stuck_source_is_not_also_missing() -> None:
    [stuck, idle] = doubts(
        np.ones(2),
        np.array([9.0, 1.0]),
        np.zeros(2),
        np.array([[1.0, 0.0], [0.0, 99.0]]),
        np.zeros(2),
        lone=np.zeros(2),
    )

    assert (stuck.reasons, idle.reasons) == ((readings.FROZEN,), (readings.LAST_MISSING, readings.NO_TRADES))
    assert (stuck.share, idle.share) == pytest.approx((0.6, 1.0 - 0.85**2))
    assert stuck.share >= SILENT > idle.share


def test_ranges_begin_after_half_a_day_and_each_holds_the_shorter_ones() -> None:
    frame = market(RANGE_BARS + 30, assets=NAMES)
    engine = Engine(WEIGHTS, NAMES)

    early, late = engine.update(frame.rows(0, RANGE_BARS)), engine.update(frame.rows(RANGE_BARS, RANGE_BARS + 1))

    assert early is not None
    assert late is not None
    for asset in early.assets.values():
        assert (asset.ranges, asset.ladder, asset.partition) == (None, None, None)
    assert all(asset.outlook for asset in early.assets.values())
    assert all(asset.ranges and asset.ladder for asset in late.assets.values())


def test_a_longer_horizon_is_never_narrower_nor_less_likely_to_touch_a_level() -> None:
    engine = Engine(WEIGHTS, NAMES)
    engine.advance(market(RANGE_BARS + 30, assets=NAMES))
    engine.outlook.sigma = engine.outlook.sigma * np.array([[4.0], [3.0], [2.0], [0.5]])

    reading = engine.reading()

    assert reading is not None
    for asset in reading.assets.values():
        assert asset.ranges is not None
        assert asset.ladder is not None
        for shorter, longer in pairwise(HORIZONS):
            assert asset.ranges[shorter].high_90 <= asset.ranges[longer].high_90
            assert asset.ranges[shorter].low_50 >= asset.ranges[longer].low_50
            touched = {level.level: level.touch for level in asset.ladder[shorter]}
            for level in asset.ladder[longer]:
                if level.level in touched:
                    assert all(a <= b for a, b in zip(touched[level.level].three, level.touch.three, strict=True))
