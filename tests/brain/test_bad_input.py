"""Bad input, case by case: no exception, no NaN, confidence falls, the reason is named, and it passes."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from generator.brain.bars import clean
from generator.brain.engine import Engine
from generator.brain.outcomes import split
from generator.brain.outlook import EDGES
from generator.brain.reading import AssetReading, BrainReading
from generator.brain.smoothing import DAY_BARS
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.text import readings
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.simulated.market import SimulatedMarket
from tests.support.markets import floats

PRICES = ("open", "high", "low", "close")
WEIGHTS = Weights.load()
WARM = 1150
HOURS_LATER = 36  # bars
_START_MS = 20_700 * 86_400_000  # a midnight


@dataclass(frozen=True)
class Case:
    """One fault.

    Args:
        spoil: changes bars in place; bars: how many it lasts; heals: how many until its reason is gone.
        observed: after how many the reading is compared, if not at its last.
        reason: in the limitations of every asset that has it; only: the column that has it, None for all.
        keeps: whether prices can still be read, so that a regime is still given; forecasts: and a forecast.
    """

    spoil: Callable[[BarFrame, slice], None]
    bars: int
    reason: str
    heals: int = 1
    only: int | None = None
    observed: int | None = None
    keeps: bool = True
    forecasts: bool = True

    @property
    def compared_at(self) -> int:
        """How many bars of the market are read when the fault shows."""
        return WARM + (self.observed or self.bars)

    @property
    def healed_at(self) -> int:
        """How many are read when its reason is gone."""
        return WARM + self.bars + self.heals


def _prices(value: float, column: int | None = None) -> Callable[[BarFrame, slice], None]:
    def spoil(frame: BarFrame, rows: slice) -> None:
        for name in PRICES:
            frame.fields[name][rows, slice(None) if column is None else column] = value

    return spoil


def _times(factor: float) -> Callable[[BarFrame, slice], None]:
    def spoil(frame: BarFrame, rows: slice) -> None:
        for name in PRICES:
            frame.fields[name][rows] *= factor

    return spoil


def _filled(name: str, value: float) -> Callable[[BarFrame, slice], None]:
    def spoil(frame: BarFrame, rows: slice) -> None:
        frame.fields[name][rows] = value

    return spoil


def _frozen(frame: BarFrame, rows: slice) -> None:
    for name in PRICES:
        frame.fields[name][rows] = frame.fields["close"][rows.start - 1]


def _false_close(frame: BarFrame, rows: slice) -> None:
    for name in ("low", "close"):
        frame.fields[name][rows, 2] *= 0.4  # and the next bar is back


CASES = {
    "prices that are NaN": Case(_prices(np.nan), 2, readings.LAST_MISSING),
    "prices of zero": Case(_prices(0.0), 2, readings.LAST_MISSING),
    "negative prices": Case(_times(-1.0), 2, readings.LAST_MISSING),
    "no prices for two hours": Case(_prices(np.nan), 24, readings.STALE, keeps=False, forecasts=False),
    "an asset that vanishes for a day": Case(
        _prices(np.nan, 1), DAY_BARS, readings.STALE, only=1, observed=30, keeps=False, forecasts=False
    ),
    "a close that is 60 % too low in one bar": Case(
        _false_close, 1, readings.CAPPED, heals=DAY_BARS + 1, only=2, forecasts=False
    ),
    "constant prices": Case(_frozen, 8, readings.FROZEN, forecasts=False),
    "volumes of zero": Case(_filled("volume", 0.0), 30, readings.NO_TRADES),
    "funding of 5 %": Case(_filled("funding", 0.05), 1, readings.WILD_FUNDING),
}


def copied(frame: BarFrame) -> BarFrame:
    return dataclasses.replace(frame, fields={name: values.copy() for name, values in frame.fields.items()})


def read(engine: Engine, frame: BarFrame) -> BrainReading:
    reading = engine.update(frame)
    assert reading is not None
    assert np.isfinite(list(floats(reading))).all()
    return reading


def sure(asset: AssetReading) -> float:
    return asset.regime_confidence or 0.0


def held(reading: BrainReading) -> float:
    """Return the chance that the market's label still stands, 0 where there is none."""
    return reading.regime.confidence or 0.0


def claim(reading: AssetReading) -> float:
    """Return how far the chance of a small move is from its base rate, 0 where nothing is forecast."""
    forecast = reading.forecast
    return abs(forecast.probabilities.neutral - forecast.base_rate.neutral) if forecast else 0.0


def width(reading: AssetReading) -> float:
    """Return how far the hour's wide range reaches, without end where there is none."""
    return reading.ranges["1h"].high_90 if reading.ranges else np.inf


@pytest.fixture(scope="module")
def shown() -> tuple[BarFrame, bytes]:
    """Return the market that the service shows, and an engine's state in the middle of a regime that is clear."""
    frame = SimulatedMarket(2026).bars(_START_MS, _START_MS + (WARM + 4 * DAY_BARS + 60) * BAR_MS)
    engine = Engine(WEIGHTS, ASSETS)
    engine.advance(frame.rows(0, WARM))
    return frame, engine.dump()


@pytest.fixture(scope="module")
def undisturbed(shown: tuple[BarFrame, bytes]) -> dict[int, BrainReading]:
    """Return what is read of the market as it is, by how many of its bars are read: wherever a case compares."""
    frame, state = shown
    engine, at = Engine.load(WEIGHTS, ASSETS, state), WARM
    found = {}
    for rows in sorted({row for case in CASES.values() for row in (case.compared_at, case.healed_at + HOURS_LATER)}):
        found[rows] = read(engine, frame.rows(at, rows))
        at = rows
    return found


@pytest.mark.parametrize("name", CASES)
def test_confidence_falls_with_a_named_reason_and_comes_back(
    shown: tuple[BarFrame, bytes], undisturbed: dict[int, BrainReading], name: str
) -> None:
    clean, state = shown
    case, frame = CASES[name], copied(clean)
    case.spoil(frame, slice(WARM, WARM + case.bars))
    spoilt = Engine.load(WEIGHTS, ASSETS, state)

    before, now = undisturbed[case.compared_at], read(spoilt, frame.rows(WARM, case.compared_at))

    for column, asset in enumerate(ASSETS):
        said, other, bad = now.assets[asset], before.assets[asset], case.only in {None, column}
        assert (case.reason in said.limitations) == bad
        assert case.reason not in other.limitations
        if bad:
            assert sure(said) < sure(other)
            assert claim(said) <= claim(other)
            assert width(said) > width(other)
            assert (said.forecast is not None) == (said.ranges is not None) == case.forecasts
            assert (said.regime is not RegimeLabel.UNKNOWN) == case.keeps
    assert held(now) < held(before)
    assert set(now.limitations) > set(before.limitations)

    healed = read(spoilt, frame.rows(case.compared_at, case.healed_at))
    rest = case.healed_at + HOURS_LATER
    later, same = read(spoilt, frame.rows(case.healed_at, rest)), undisturbed[rest]

    for asset in ASSETS:
        assert case.reason not in healed.assets[asset].limitations
        forecasts = [one.assets[asset].forecast for one in (later, same)]
        chances = [one.probabilities.up + one.probabilities.down for one in forecasts if one]
        assert len(chances) == 2
        assert later.assets[asset].limitations == same.assets[asset].limitations
        if case.bars < DAY_BARS:  # an asset that was away for a day has no day to look back on
            assert sure(later.assets[asset]) > 0.5 * sure(same.assets[asset])
        assert chances[0] == pytest.approx(chances[1], rel=0.3)
    assert later.limitations == same.limitations
    assert later.outlook is not None
    assert same.outlook is not None
    assert later.outlook.h1 < 4.0 * same.outlook.h1
    assert held(later) > 0.75 * held(same)


def test_a_stream_that_starts_with_ten_bars_is_less_sure_than_one_with_a_past(shown: tuple[BarFrame, bytes]) -> None:
    frame, state = shown
    old, young = Engine.load(WEIGHTS, ASSETS, state), Engine(WEIGHTS, ASSETS)

    before, now = (read(engine, frame.rows(WARM, WARM + 10)) for engine in (old, young))
    later = read(young, frame.rows(WARM + 10, WARM + 4 * DAY_BARS + 10))

    assert held(now) == 0.0 < held(before)
    assert now.confidence is None
    assert readings.SHORT_REGIME in now.limitations
    for asset in ASSETS:
        assert sure(now.assets[asset]) < sure(before.assets[asset])
        assert now.assets[asset].forecast is None
        assert readings.SHORT in now.assets[asset].limitations
        assert later.assets[asset].limitations == ()
    assert later.limitations == ()
    assert held(later) > held(now)
    assert all(later.assets[asset].forecast for asset in ASSETS)


def test_a_day_without_volume_does_not_rule_the_outlook_after_it(shown: tuple[BarFrame, bytes]) -> None:
    clean, state = shown
    frame = copied(clean)
    frame.fields["volume"][WARM : WARM + DAY_BARS] = 0.0
    usual, spoilt = (Engine.load(WEIGHTS, ASSETS, state) for _ in range(2))

    one, other = (read(engine, bars.rows(WARM, WARM + DAY_BARS + HOURS_LATER)) for engine, bars in (
        (usual, clean), (spoilt, frame)
    ))  # fmt: skip

    assert one.outlook is not None
    assert other.outlook is not None
    assert other.outlook.h1 == pytest.approx(one.outlook.h1, rel=0.03)


def test_a_fault_of_one_asset_is_named_with_its_name_for_the_market(shown: tuple[BarFrame, bytes]) -> None:
    clean, state = shown
    frame = copied(clean)
    frame.fields["volume"][WARM:, [0, 3]] = 0.0

    reading = read(Engine.load(WEIGHTS, ASSETS, state), frame.rows(WARM, WARM + 20))

    assert reading.limitations == (f"BTC, SOL: {readings.NO_TRADES}",)


def test_data_without_a_fault_is_published_as_the_models_say_it(shown: tuple[BarFrame, bytes]) -> None:
    frame, state = shown
    engine = Engine.load(WEIGHTS, ASSETS, state)

    for row in range(WARM, WARM + 60):
        reading = read(engine, frame.rows(row, row + 1))

        ages = engine.label.ages(np.array([frame.t[row]]))[0]
        held = engine.holds.chances(engine.label.label, ages)[:, -1]
        assert list(reading.regime.holding.values()) == held.tolist()
        sigma, laws, _ = engine.now()
        within = np.interp(engine.past().band(60) / sigma[1], EDGES, laws[1, 0])
        chances = split(within, engine.outcomes.rates(1)).T.tolist()
        for asset, expected in zip(reading.assets.values(), chances, strict=True):
            assert asset.forecast is not None
            said = asset.forecast.probabilities
            assert [said.down, said.neutral, said.up] == expected


@pytest.mark.parametrize("field", BAR_FIELDS)
@pytest.mark.parametrize("value", [1.7976931348623157e308, -1.7e308, np.inf, -np.inf, 5e-324])
def test_an_extreme_value_is_cleaned_without_overflow(field: str, value: float) -> None:
    fields = {name: np.full((3, 1), 1.0) for name in BAR_FIELDS}
    fields[field][1] = value

    bars = clean(BarFrame(("BTC",), np.arange(3, dtype=np.int64) * BAR_MS, fields), ("BTC",))

    for values in (bars.log_close, bars.range_variance, *bars.extra.values()):
        known = values[np.isfinite(values)]
        assert not np.isinf(values).any()
        assert (np.abs(known) <= 1e18).all()
