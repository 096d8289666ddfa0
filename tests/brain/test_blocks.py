"""Bars read together give the numbers that they give one by one, and leave the same state, to the bit."""

import dataclasses

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.smoothing import DAY_BARS
from generator.brain.weights import Weights
from generator.market.bars import BarFrame
from tests.support.markets import market

WEIGHTS = Weights.load()
SEVEN = tuple("ABCDEFG")
BARS = 320
STEP = 5  # no part of a quarter hour or an hour: each place in them is looked at


def troubled() -> BarFrame:
    """Return a market of seven with what sources get wrong: holes, gaps, a late bar, a bad print, a frozen price."""
    frame = market(BARS, assets=SEVEN, seed=22)
    fields = frame.fields
    for values in fields.values():
        values[60:75, 1] = np.nan
        values[:, 6] = np.nan
    for name in ("funding", "open_interest", "depth_usd"):
        fields[name][:30] = np.nan
    for name in ("high", "close"):
        fields[name][150, 0] *= 1.5
    for name in ("open", "high", "low", "close"):
        fields[name][200:230, 2] = fields[name][200, 2]
    fields["funding"][100:, 3] = 0.0008

    rows = np.delete(np.arange(BARS), [90, 91, *range(180, 186), *range(240, 264)])
    rows = np.insert(rows, 120, 30)
    return dataclasses.replace(frame, t=frame.t[rows], fields={name: values[rows] for name, values in fields.items()})


FRAME = troubled()


@dataclasses.dataclass(frozen=True)
class Read:
    """The state after every fifth row of `FRAME` and after the last, and the reading of every tenth."""

    states: dict[int, bytes]
    readings: dict[int, BrainReading | None]

    def note(self, row: int, engine: Engine) -> None:
        if row % STEP == 0 or row == len(FRAME) - 1:
            self.states[row] = engine.dump()
        if row % (2 * STEP) == 0:
            self.readings[row] = engine.reading()


@pytest.fixture(scope="module")
def streamed() -> Read:
    """Read `FRAME` row by row."""
    engine, stream = Engine(WEIGHTS, SEVEN), Read({}, {})
    for row in range(len(FRAME)):
        engine.advance(FRAME.rows(row, row + 1))
        stream.note(row, engine)
    return stream


@pytest.fixture(scope="module")
def block() -> Read:
    """Read it at once."""
    engine, at_once = Engine(WEIGHTS, SEVEN), Read({}, {})
    for row in engine.replay(FRAME):
        at_once.note(row, engine)
    return at_once


def test_the_state_within_a_block_is_that_of_the_stream(streamed: Read, block: Read) -> None:
    assert len(block.states) > 50
    assert [row for row, state in block.states.items() if state != streamed.states[row]] == []


@pytest.mark.parametrize("size", [7, 100, BARS])
def test_the_size_of_the_blocks_changes_no_bit_of_the_state(streamed: Read, size: int) -> None:
    engine = Engine(WEIGHTS, SEVEN)

    for begin in range(0, len(FRAME), size):
        engine.advance(FRAME.rows(begin, begin + size))

    assert engine.dump() == streamed.states[len(FRAME) - 1]


def test_a_reading_within_a_block_is_that_of_the_stream(streamed: Read, block: Read) -> None:
    assert len(block.readings) > 25
    for row, reading in block.readings.items():
        assert reading == streamed.readings[row], row


def test_a_block_over_days_says_no_more_of_an_early_bar_than_the_stream() -> None:
    frame = market(4 * DAY_BARS, seed=3)
    stream, block = Engine(WEIGHTS, frame.assets), Engine(WEIGHTS, frame.assets)
    states = {}
    for row in range(len(frame)):
        stream.advance(frame.rows(row, row + 1))
        if row % 100 == 0:
            states[row] = stream.dump()

    differs = [row for row in block.replay(frame) if row in states and block.dump() != states[row]]

    assert differs == []


def test_what_is_said_of_an_asset_is_the_same_when_it_is_asked_for_later() -> None:
    engine = Engine(WEIGHTS, SEVEN)
    engine.advance(FRAME.rows(0, 290))
    reading = engine.reading()
    at_once = engine.reading()
    assert reading is not None
    assert at_once is not None
    said = dict(at_once.assets)

    for row in range(290, len(FRAME)):
        engine.advance(FRAME.rows(row, row + 1))
        engine.reading()

    assert dict(reading.assets) == said
