"""The engine: causal, streaming, restartable, unharmed by bad input."""

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.smoothing import DAY_BARS
from generator.brain.weights import Weights
from generator.catalog.words import DerivativesState, LiquidityContext, RegimeLabel
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from tests.support.markets import ASSETS, NASTY, START_MS, floats, market

WEIGHTS = Weights.load()
AUDITED_FROM = 400


def read_all(frame: BarFrame, assets: tuple[str, ...] = ASSETS) -> BrainReading:
    reading = Engine(WEIGHTS, assets).update(frame)
    assert reading is not None
    return reading


def sane(reading: BrainReading) -> None:
    assert all(np.isfinite(list(floats(reading))))
    assert sum(reading.regime.holding.values()) == pytest.approx(1.0)
    assert reading.regime.confidence is None or 0.0 <= reading.regime.confidence <= 1.0
    for asset in reading.assets.values():
        if asset.forecast:
            chance = asset.forecast.probabilities
            assert chance.down + chance.neutral + chance.up == pytest.approx(1.0)


def test_streaming_equals_batch_at_every_prefix() -> None:
    frame = market(60)  # test_blocks.py compares a day
    engine = Engine(WEIGHTS, ASSETS)

    for prefix in range(1, 61):
        engine.advance(frame.rows(prefix - 1, prefix))
        if prefix <= 20 or prefix == 60:
            assert read_all(frame.rows(0, prefix)) == engine.reading(), prefix


def test_the_look_ahead_audit_has_no_mismatch_at_any_prefix() -> None:
    frame = market(AUDITED_FROM + 12)
    garbage = {name: values * 3.0 for name, values in frame.fields.items()}
    engine = Engine(WEIGHTS, ASSETS)
    engine.advance(frame.rows(0, AUDITED_FROM))
    start, mismatches = engine.dump(), 0

    for prefix in range(1, 13):
        streamed = engine.update(frame.rows(AUDITED_FROM + prefix - 1, AUDITED_FROM + prefix))
        truncated = Engine.load(WEIGHTS, ASSETS, start).update(frame.rows(AUDITED_FROM, AUDITED_FROM + prefix))
        other = {name: values.copy() for name, values in frame.fields.items()}
        for name, values in other.items():
            values[AUDITED_FROM + prefix :] = garbage[name][AUDITED_FROM + prefix :]
        changed = dataclasses.replace(frame, fields=other).rows(AUDITED_FROM, AUDITED_FROM + prefix)
        mismatches += streamed != truncated
        mismatches += streamed != Engine.load(WEIGHTS, ASSETS, start).update(changed)

    assert mismatches == 0


@pytest.mark.parametrize("cut", [1, 13, 300])
def test_a_restart_gives_the_same_next_readings(cut: int) -> None:
    frame = market(320)
    engine = Engine(WEIGHTS, ASSETS)
    engine.update(frame.rows(0, cut))

    again = Engine.load(WEIGHTS, ASSETS, engine.dump())

    assert again.t_ms == engine.t_ms
    assert again.reading() == engine.reading()
    for row in range(cut, cut + 8):
        assert again.update(frame.rows(row, row + 1)) == engine.update(frame.rows(row, row + 1))
    assert again.dump() == engine.dump()


def test_a_restart_within_a_quarter_hour_knows_the_same_week() -> None:
    frame = market(3 * 288 + 4)
    engine = Engine(WEIGHTS, ASSETS)
    engine.update(frame.rows(0, len(frame) - 1))
    engine.advance(frame.rows(len(frame) - 1, len(frame)))

    assert Engine.load(WEIGHTS, ASSETS, engine.dump()).reading() == engine.reading()


def test_the_state_of_seven_assets_stays_under_120_kb() -> None:
    seven = tuple("ABCDEFG")
    engine = Engine(WEIGHTS, seven)
    engine.update(market(600, assets=seven))

    assert len(engine.dump()) < 120_000


@pytest.mark.parametrize("spoil", [lambda d: d[:0], lambda d: d[:-9], lambda d: b"x" + d])
def test_a_damaged_state_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    engine = Engine(WEIGHTS, ASSETS)
    engine.update(market(30))

    with pytest.raises(ValueError, match="brain state"):
        Engine.load(WEIGHTS, ASSETS, spoil(engine.dump()))


def test_a_state_of_other_assets_or_weights_is_refused() -> None:
    engine = Engine(WEIGHTS, ASSETS)
    engine.update(market(30))

    with pytest.raises(ValueError, match="other assets"):
        Engine.load(WEIGHTS, ("BTC", "ETH", "SOL"), engine.dump())
    with pytest.raises(ValueError, match="brain state"):
        Engine.load(WEIGHTS, ("BTC",), engine.dump())
    with pytest.raises(ValueError, match="other weights"):
        Engine.load(dataclasses.replace(WEIGHTS, digest="0"), ASSETS, engine.dump())


def test_late_double_and_off_grid_bars_are_counted_and_change_nothing() -> None:
    frame = market(100)
    engine = Engine(WEIGHTS, ASSETS)
    before = engine.update(frame)
    off = dataclasses.replace(frame.rows(99, 100), t=np.array([int(frame.t[99]) + 1000]))

    after = engine.update(frame.rows(40, 60))
    engine.update(off)

    assert after == before
    assert engine.counters.late == 21
    assert engine.counters.bars == 100


def test_hourly_bars_are_not_read() -> None:
    hourly = dataclasses.replace(market(5), interval_ms=3_600_000)

    assert Engine(WEIGHTS, ASSETS).update(hourly) is None


def test_columns_are_found_by_name() -> None:
    frame = market(200)
    order = [2, 0, 1]
    shuffled = BarFrame(
        tuple(ASSETS[i] for i in order), frame.t, {name: values[:, order] for name, values in frame.fields.items()}
    )

    assert read_all(shuffled) == read_all(frame)


def test_a_gap_in_time_is_counted_and_leaves_no_label() -> None:
    frame = market(4 * DAY_BARS)
    engine = Engine(WEIGHTS, ASSETS)
    before = engine.update(frame.rows(0, 4 * DAY_BARS - 1))
    assert before is not None
    late = dataclasses.replace(frame.rows(len(frame) - 1), t=frame.t[-1:] + 200 * BAR_MS)

    reading = engine.update(late)

    assert reading is not None
    assert engine.counters.gaps == 200
    assert before.regime.confidence is not None
    assert (reading.regime.label, reading.regime.confidence) == (RegimeLabel.TRANSITION, None)


def test_without_books_and_futures_both_are_unknown_with_a_reason() -> None:
    frame = market(300)
    for name in ("depth_usd", "spread_bps", "imbalance", "funding", "open_interest"):
        frame.fields[name][:] = np.nan

    asset = read_all(frame).assets["BTC"]

    assert asset.liquidity is LiquidityContext.UNKNOWN
    assert asset.derivatives is DerivativesState.UNAVAILABLE
    assert asset.pressure.rank is None
    assert asset.coverage == pytest.approx(3 / 8)  # the hours, the day and breadth: a day of bars has no week
    assert len(asset.limitations) == 2


def test_an_asset_that_no_frame_carries_is_unknown_and_does_not_change_the_market() -> None:
    frame = market(200)

    with_ghost, without = read_all(frame, (*ASSETS, "SOL")), read_all(frame)

    sane(with_ghost)
    missing = with_ghost.assets["SOL"]
    assert (missing.forecast, missing.regime) == (None, RegimeLabel.UNKNOWN)
    assert "no price bars for this asset yet" in missing.limitations
    assert with_ghost.regime.label is without.regime.label
    assert with_ghost.regime.holding == pytest.approx(without.regime.holding)
    assert with_ghost.regime.risk_score == pytest.approx(without.regime.risk_score)


@cache
def ready() -> bytes:
    engine = Engine(WEIGHTS, ("BTC",))
    engine.advance(market(200, assets=("BTC",)))
    return engine.dump()


@settings(max_examples=25)
@given(rows=st.lists(st.tuples(st.integers(1, 5), st.lists(NASTY, min_size=12, max_size=12)), min_size=1, max_size=40))
def test_arbitrary_bars_never_raise_and_never_give_nan(rows: list[tuple[int, list[float]]]) -> None:
    engine = Engine.load(WEIGHTS, ("BTC",), ready())
    t_ms = START_MS + 200 * BAR_MS
    for steps, values in rows:
        t_ms += steps * BAR_MS
        fields = {name: np.array([[value]]) for name, value in zip(BAR_FIELDS, values, strict=True)}
        reading = engine.update(BarFrame(("BTC",), np.array([t_ms]), fields))
        assert reading is not None
        sane(reading)
    sane_again = Engine.load(WEIGHTS, ("BTC",), engine.dump()).reading()
    assert sane_again == engine.reading()
