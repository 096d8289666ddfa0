"""Ten moments of a simulated market, after more than a month of it: what is sold is held to its promises at each."""

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS
from generator.catalog.words import SourceMode
from generator.compose.all import Composed, compose
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.market.history import CAPACITY_BARS
from generator.market.simulated.source import SimulatedSource
from tests.support.builders import NOW_MS, full_context
from tests.support.once import once

SEED: Final = 24
DAYS: Final = 46
FIRST_DAY: Final = 33  # of the first moment
MOMENTS: Final = 10
APART_BARS: Final = 373  # about 31 hours: another hour of the day each time
LAST_MS: Final = NOW_MS // BAR_MS * BAR_MS


T = TypeVar("T")


class Moment(NamedTuple):
    """One moment: the tick, the bars that were known, and when the market changed its state."""

    name: str
    ctx: Tick
    bars: BarFrame  # of the month
    past: BarFrame  # and of some days before
    changes: Mapping[str, FloatArray]  # of side and step: time and state, oldest first, NaN where there is none

    @property
    def composed(self) -> Composed:
        """Every body of the tick."""
        return _composed()[self.name]


@cache
def ten_moments() -> Mapping[str, Moment]:
    """Read the market once and stop at ten bars; by name."""
    source = SimulatedSource(SEED)
    frame = done(source.backfill(LAST_MS, DAYS, lambda *_: None))
    ticks = once("ten_moments", lambda: _ticks(source, frame))

    moments = {}
    for row, (ctx, changes) in zip(_rows(), ticks, strict=True):
        bars = _known(frame, row)
        name = f"bar {row}"
        moments[name] = Moment(name, replace(ctx, bars=bars), bars, past_of(frame, row + 1), changes)
    return moments


def _rows() -> list[int]:
    return [FIRST_DAY * DAY_MS // BAR_MS + place * APART_BARS for place in range(MOMENTS)]


def _known(frame: BarFrame, row: int) -> BarFrame:
    """Return the bars that are kept after this one."""
    return frame.rows(max(0, row + 1 - CAPACITY_BARS), row + 1)


def _ticks(source: SimulatedSource, frame: BarFrame) -> list[tuple[Tick, dict[str, FloatArray]]]:
    """Return the tick of each moment, without its bars, and the changes up to then."""
    engine = Engine(Weights.load(), ASSETS)
    ticks = []
    read = 0
    for row in _rows():
        engine.advance(frame.rows(read, row + 1))
        read = row + 1
        ticks.append((_tick(source, engine, _known(frame, row)), changes_of(engine)))
    return ticks


def past_of(frame: BarFrame, read: int) -> BarFrame:
    """Return the bars of the days that a usual day is of: two more than the month's."""
    return frame.rows(max(0, read - CAPACITY_BARS - 2 * DAY_MS // BAR_MS), read)


def changes_of(engine: Engine) -> dict[str, FloatArray]:
    """Return the changes of the market's side and of its step of volatility up to now."""
    return {"side": engine.spells.side.copy(), "step": engine.spells.step.copy()}


def _tick(source: SimulatedSource, engine: Engine, bars: BarFrame) -> Tick:
    now_ms = int(bars.t[-1]) + BAR_MS
    observation = done(source.observe(now_ms, now_ms))
    full = full_context(SourceMode.SIMULATED)
    return replace(
        full,
        observation=observation,
        reading=engine.reading(observation.day_changes(ASSETS)),
        bars=bars.rows(0, 0),
        month=engine.month(bars),
    )


def done(work: Coroutine[Any, Any, T]) -> T:
    """Run what awaits nothing, also where a browser's event loop runs."""
    try:
        work.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    raise AssertionError("it waits for something")


@cache
def _composed() -> Mapping[str, Composed]:
    """Return every body of each moment, by its name."""
    return once("ten_composed", lambda: {name: compose(moment.ctx) for name, moment in ten_moments().items()})


def names() -> Sequence[str]:
    """Return the names of the moments, without reading the market."""
    return [f"bar {row}" for row in _rows()]
