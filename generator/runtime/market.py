"""The market as one process holds it: the source, the history of bars, and the brain that has read them."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import structlog

from generator.brain.engine import Engine
from generator.brain.forecast import SideRule
from generator.brain.month import Month
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import SourceMode
from generator.errors import SourceError
from generator.market.bars import BAR_MS, BarFrame
from generator.market.history import History
from generator.market.observation import Observation
from generator.market.source import Progress, Source
from generator.memo import Memo

DAYS_OF_HISTORY: Final = 30
SOURCES_DEADLINE_S: Final = 22.0  # a source gives its venues 20 s, then returns what arrived; this ends one that hangs
ROWS_AT_ONCE: Final = 864  # three days of bars, a tenth of a second
BEFORE_ALL_MS: Final = -1
EARLIER_BRAINS: Final = 24  # one an hour, of 0.2 MB

log = structlog.get_logger("emi.tick")


def no_progress(_done: int, _total: int, _what: str) -> None:
    """Show no progress."""


def to_ms(at: datetime) -> int:
    """Return integer UTC milliseconds."""
    return round(at.timestamp() * 1000)


@dataclass
class MarketReader:
    """What is known of the market. `history` and `engine` are replaced between two ticks or before one reads.

    The brain as it was is kept for each of the last hours: a clock that is set back then costs no forecast but those
    that were sealed by the wrong time.
    """

    source: Source  # where observations come from
    weights: Weights  # of the brain
    engine: Engine  # the brain
    history: History  # of bars; the engine has read its 5-minute bars
    days: int = DAYS_OF_HISTORY  # of history to begin with
    sides: SideRule | None = None  # what opens a side to a call: nothing, unless the record or the market does
    # the brain as it was after a bar, by that bar's time, one an hour; the newest last
    _earlier: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=EARLIER_BRAINS))
    _stored: tuple[Engine, int | None] | None = None  # the brain whose state is stored, and the last bar that it had
    _kept: Memo[str] = field(default_factory=Memo)  # what five ticks in six have as the one before

    @property
    def mode(self) -> SourceMode:
        """Where the market data comes from."""
        return self.source.mode

    async def observe(self, at: datetime, within_s: float = SOURCES_DEADLINE_S) -> Observation:
        """Query the source and keep the new bars; after the clock was set back, rebuild history and brain first.

        SourceError: it did not return in time, or has nothing.
        """
        observation = await self._query(at, within_s)
        if self._is_ahead_of(observation):
            await self._rebuild(observation, to_ms(at))
            observation = await self._query(at, within_s)
        self.history.append(observation.new_bars)
        return observation

    def read(self, observation: Observation) -> BrainReading | None:
        """Let the brain read the new bars; it reads nothing but 5-minute bars, and nothing past a recording's end."""
        if not _is_read(observation):
            return None
        self.engine.sides = self.sides
        self.engine.one_venue = observation.one_venue
        reading = self.engine.update(observation.new_bars, observation.day_changes(self.engine.assets))
        self._keep_brain()
        return reading

    def read_each(self, observations: Sequence[Observation]) -> Iterator[BrainReading | None]:
        """Let the brain read the bars of several observations at once, and give the reading of each as `read` does.

        While one is given, the brain is as after its bars. It is not kept for a clock that is set back.
        """
        self.engine.sides = self.sides
        bars = [observation.new_bars for observation in observations if _is_read(observation)]
        rows = self.engine.replay(BarFrame.joined(bars)) if bars else iter(())
        row = -1
        last = -1

        for observation in observations:
            if not _is_read(observation):
                yield None
                continue
            last += len(observation.new_bars)
            while row < last:
                row = next(rows, last)  # a bar that is late is not given
            self.engine.one_venue = observation.one_venue
            yield self.engine.reading(observation.day_changes(self.engine.assets))

    def month(self) -> Month | None:
        """Return what the kept month says of the last bar; None where the brain has not read it."""
        bars = self.history.frame()
        return self._kept.get("month", (bars, self.engine, self.engine.t_ms), lambda: self.engine.month(bars))

    def state_to_store(self) -> bytes | None:
        """Return the brain's state; None where it is stored as it is, for it changes with a bar alone."""
        return None if self._stored == (self.engine, self.engine.t_ms) else self.engine.dump()

    def stored(self) -> None:
        """Note that the brain's state is stored; call it only when that is on disk."""
        self._stored = (self.engine, self.engine.t_ms)

    async def adopt(self, bars: BarFrame) -> None:
        """Begin with the history that a live start did not get, and the bars since; call it between two ticks."""
        history = History(ASSETS)
        history.append(bars)
        history.append(self.history.frame())
        self.history = history
        if not has_read(self.engine, len(history)):
            self.engine = await self.brain_of(history.frame())
            self._earlier.clear()  # they knew less

    async def brain_of(self, bars: BarFrame, engine: Engine | None = None, progress: Progress = no_progress) -> Engine:
        """Return a brain that has read these bars after what `engine` read; other tasks run meanwhile."""
        engine = engine or Engine(self.weights, ASSETS)
        engine.sides = self.sides
        total = len(bars)
        for begin in range(0, total, ROWS_AT_ONCE):
            engine.advance(bars.rows(begin, begin + ROWS_AT_ONCE))
            progress(min(begin + ROWS_AT_ONCE, total), total, "the brain reads history")
            await asyncio.sleep(0)
        return engine

    async def _query(self, at: datetime, within_s: float) -> Observation:
        since_ms = self.history.last_t_ms
        try:
            async with asyncio.timeout(within_s) as deadline:
                return await self.source.observe(to_ms(at), BEFORE_ALL_MS if since_ms is None else since_ms)
        except TimeoutError as error:
            if deadline.expired():
                raise SourceError(f"the market source did not respond within {within_s:g} s") from error
            raise

    def _is_ahead_of(self, observation: Observation) -> bool:
        """Return whether the history holds bars that close after the market time of an observation."""
        last_ms = self.history.last_t_ms
        return last_ms is not None and last_ms + observation.bar_interval_ms > observation.market_ms

    async def _rebuild(self, observation: Observation, now_ms: int) -> None:
        """Replace history and brain by those of market time now: both at once or, on a failure, neither.

        The history of a live market is cut off and not fetched again, which takes minutes.
        """
        held = self.history.frame()
        if self.mode == SourceMode.LIVE:
            bars = held.closed_by(observation.market_ms)
        else:
            bars = await self.source.backfill(now_ms, self.days, no_progress)
        history = History(ASSETS)
        history.append(bars)
        self.history, self.engine = history, await self._brain_at(observation, history.frame())
        log.warning("the clock was set back: history and brain begin again", bars_before=len(held), bars=len(history))

    def _keep_brain(self) -> None:
        """Keep the brain as it is, unless one of this hour is kept."""
        read_ms = self.engine.t_ms
        if read_ms is None or (self._earlier and self._earlier[-1][0] // HOUR_MS == read_ms // HOUR_MS):
            return
        self._earlier.append((read_ms, self.engine.dump()))

    async def _brain_at(self, observation: Observation, bars: BarFrame) -> Engine:
        """Return the brain as it would be had no later bar been read: an earlier one continued, else one of history."""
        while self._earlier and self._earlier[-1][0] + observation.bar_interval_ms > observation.market_ms:
            self._earlier.pop()
        if not self._earlier:
            return await self.brain_of(bars)
        read_ms, state = self._earlier[-1]
        return await self.brain_of(bars.after(read_ms), Engine.load(self.weights, ASSETS, state))


def _is_read(observation: Observation) -> bool:
    return observation.bar_interval_ms == BAR_MS and not observation.ended


def has_read(engine: Engine, bars: int) -> bool:
    """Return whether a brain has read at least half as many bars as there are."""
    return 2 * engine.counters.bars >= bars
