"""Properties of the stream: no look-ahead, restarts, named reasons."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.json_lines import JsonLinesReader
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.text import readings
from generator.catalog.words import READ_BIAS
from generator.market.values import BAR_MS, BarFrame
from tests.brain.test_read import lines
from tests.support.markets import ASSETS, floats, market, with_field

WEIGHTS = Weights.load()
WARM = 600


def test_the_look_ahead_audit_has_no_mismatch_at_any_prefix() -> None:
    frame = market(WARM + 24)
    garbage = {name: values * 3.0 for name, values in frame.fields.items()}
    engine = Engine(WEIGHTS, ASSETS)
    engine.advance(frame.rows(0, WARM))
    start, mismatches = engine.dump(), 0

    for prefix in range(1, 25):
        streamed = engine.update(frame.rows(WARM + prefix - 1, WARM + prefix))
        truncated = Engine.load(WEIGHTS, ASSETS, start).update(frame.rows(WARM, WARM + prefix))
        other = {name: values.copy() for name, values in frame.fields.items()}
        for name, values in other.items():
            values[WARM + prefix :] = garbage[name][WARM + prefix :]
        changed = dataclasses.replace(frame, fields=other).rows(WARM, WARM + prefix)
        mismatches += streamed != truncated
        mismatches += streamed != Engine.load(WEIGHTS, ASSETS, start).update(changed)

    assert mismatches == 0


def test_emi_read_on_a_long_stream_equals_the_batch_result() -> None:
    frame = market(800, seed=5)
    reader, batch = JsonLinesReader(WEIGHTS), Engine(WEIGHTS, ASSETS)

    for row, line in enumerate(lines(frame)):
        answer = reader.answer(json.loads(line))
        if (row + 1) % 200:
            continue
        reading = batch.update(frame.rows(row - 199, row + 1))
        assert reading is not None
        assert reading.outlook is not None
        assert answer["regime"] == reading.regime.label.value
        assert answer["bias"] == READ_BIAS[reading.direction]
        assert answer["volatility_outlook"]["4h"] == pytest.approx(reading.outlook.h4, rel=1e-9)
        expected = [reading.regime.posterior[label] for label in reading.regime.posterior]
        assert list(answer["probs"].values()) == pytest.approx(expected, abs=1e-9)


def test_a_restart_at_any_bar_changes_no_number_of_the_next_output() -> None:
    frame = market(WARM + 24)
    engine = Engine(WEIGHTS, ASSETS)
    engine.advance(frame.rows(0, WARM))

    for row in range(WARM, len(frame)):
        again = Engine.load(WEIGHTS, ASSETS, engine.dump())
        one, other = (each.update(frame.rows(row, row + 1)) for each in (engine, again))
        assert list(floats(one)) == pytest.approx(list(floats(other)), abs=1e-9)


def _frozen(frame: BarFrame) -> BarFrame:
    for name in ("open", "high", "low", "close"):
        frame.fields[name][WARM:] = frame.fields["close"][WARM - 1]
    return frame


def _vanished(frame: BarFrame) -> BarFrame:
    for name in ("open", "high", "low", "close"):
        frame.fields[name][WARM:] = np.nan
    return frame


def _negative(frame: BarFrame) -> BarFrame:
    frame.fields["close"][WARM:] *= -1.0
    return frame


def _idle(frame: BarFrame) -> BarFrame:
    frame.fields["volume"][WARM:] = 0.0
    return frame


def _crash(frame: BarFrame) -> BarFrame:
    for name in ("open", "high", "low", "close"):
        frame.fields[name][-1:] *= 0.4
    return frame


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_frozen, readings.FROZEN),
        (_vanished, readings.STALE),
        (_negative, readings.STALE),
        (_idle, readings.NO_TRADES),
        (_crash, readings.CAPPED),
        (lambda frame: with_field(frame, "funding", 0.05), readings.WILD_FUNDING),
    ],
    ids=["constant prices", "no prices", "negative prices", "no volume", "a crash of 60 %", "funding of 5 %"],
)
def test_bad_input_is_named_for_each_asset_and_no_number_is_lost(
    spoil: Callable[[BarFrame], BarFrame], reason: str
) -> None:
    reading = Engine(WEIGHTS, ASSETS).update(spoil(market(WARM + 60)))

    assert reading is not None
    assert all(np.isfinite(list(floats(reading))))
    assert all(reason in asset.limitations for asset in reading.assets.values())


def sure(reading: BrainReading | None) -> float:
    assert reading is not None
    return max(reading.regime.posterior.values())


@pytest.mark.parametrize("spoil", [_frozen, _vanished, _negative])
def test_confidence_falls_where_prices_say_nothing(spoil: Callable[[BarFrame], BarFrame]) -> None:
    frame = spoil(market(WARM + 300))
    engine = Engine(WEIGHTS, ASSETS)

    before = sure(engine.update(frame.rows(0, WARM)))
    later = [sure(engine.update(frame.rows(WARM + at, WARM + at + 100))) for at in (0, 100, 200)]

    assert later[1] > later[2]
    assert later[2] < min(before, 0.35)


def test_bars_late_twice_out_of_order_and_missing_are_counted_and_no_exception() -> None:
    frame = market(60)
    order = [0, 1, 2, 2, 1, 5, 4, 6, 10]
    engine = Engine(WEIGHTS, ASSETS)

    for row in order:
        engine.advance(frame.rows(row, row + 1))

    assert engine.t_ms == int(frame.t[0]) + 10 * BAR_MS
    assert (engine.counters.bars, engine.counters.late, engine.counters.gaps) == (6, 3, 5)
