"""Readings without 5-minute bars: side and trend of the last 24 hours by their hourly closes, and futures pressure."""

from typing import Final, NamedTuple

import numpy as np

from generator.brain import swings
from generator.brain.bars import clean_fields
from generator.brain.derivatives import Derivatives, Pressure
from generator.brain.highlights import Highlights
from generator.brain.market_facts import Followed, market_facts
from generator.brain.moves import Moves, prices_of
from generator.brain.part import Part, Times
from generator.brain.record import DAY_MOVE, Record
from generator.brain.side import SIDES, Side
from generator.brain.situation import Situations
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.happened import MarketFacts
from generator.catalog.words import MarketSide, Trend, VolatilityWord
from generator.market.bars import BarFrame, FloatArray

FUTURES_HOURS: Final = 30 * 24
OLD_MS: Final = 2 * HOUR_MS  # since the last full hour: nothing is said of the 24 hours up to it then


class HourlyState(NamedTuple):
    """What is read from hourly closes."""

    side: MarketSide  # of the market
    trends: dict[str, Trend]  # of each asset
    market: MarketFacts | None  # what happened; None of no bars


class Hours:
    """The parts that follow the closes at full hours of bars of any length, by the rules of 5-minute bars."""

    def __init__(self, frame: BarFrame) -> None:
        """Take bars, oldest first."""
        self._assets = frame.assets
        self.full = np.flatnonzero((frame.t + frame.interval_ms) % HOUR_MS == 0)  # rows that end an hour
        self.t_ms = frame.t[self.full] + frame.interval_ms - HOUR_MS  # when each of these hours began
        coins = len(frame.assets)

        self._moves = Moves(coins, HOUR_MS)
        self._record = Record(coins + 1, HOUR_MS)
        self._side = Side(coins + 1, bars_an_hour=1)
        self._highlights = Highlights(coins, HOUR_MS)
        self._situations = Situations(HOUR_MS)

        if len(self.full):
            self._follow(frame)

    def at(self, hour: int) -> HourlyState:
        """Return what is read after one of these hours."""
        for part in self._parts:
            part.at(hour)
        *trends, _ = self._side.trends()
        shown = SIDES[int(self._side.side[-1])]
        followed = Followed(self._moves, self._record, self._highlights, self._situations)
        now_ms = int(self.t_ms[hour]) + HOUR_MS
        facts = market_facts(self._assets, now_ms, followed, shown, VolatilityWord.UNKNOWN)
        return HourlyState(shown, dict(zip(self._assets, trends, strict=True)), facts)

    @property
    def _parts(self) -> tuple[Part, ...]:
        return self._moves, self._record, self._side, self._highlights, self._situations

    def _follow(self, frame: BarFrame) -> None:
        """Let every part take all hours as one block; an hour's high and low are those of all its bars."""
        hours = len(self.t_ms)
        columns = len(self._assets) + 1
        bars = clean_fields(frame.fields)
        first = np.searchsorted(frame.t // HOUR_MS, frame.t[self.full] // HOUR_MS)  # bar of each hour
        top = _over(np.fmax, bars.top, first, self.full)
        bottom = _over(np.fmin, bars.bottom, first, self.full)

        self._moves.update(self.t_ms, bars.log_close[self.full])
        self._record.update(self.t_ms, self._moves, np.full((hours, columns), np.nan))
        self._side.update(self._moves, self._record.usual[DAY_MOVE])
        unrated = np.full(hours, float(swings.UNKNOWN))
        edges = prices_of(np.stack((top, bottom), axis=1))
        self._highlights.update(self.t_ms, self._moves, edges, np.full(hours, np.nan), unrated)
        self._situations.update(self._moves, self._record, self._highlights, self._side.side[:, -1], unrated)
        for part in self._parts:
            part.keep()


def _over(pick: np.ufunc, values: FloatArray, first: Times, last: Times) -> FloatArray:
    """Return the highest or lowest known value from a first to a last bar each, (m, assets)."""
    padded = np.concatenate((values, np.full((1, values.shape[1]), np.nan)))
    ends = np.column_stack((first, last + 1)).ravel()
    picked: FloatArray = pick.reduceat(padded, ends)[::2]
    return picked


def state_of(frame: BarFrame, now_ms: int) -> HourlyState:
    """Return side, trends and what happened by the last full hour; nothing is known from bars that are too old."""
    hours = Hours(frame)
    if not len(hours.full) or now_ms - int(hours.t_ms[-1]) - HOUR_MS >= OLD_MS:
        return HourlyState(MarketSide.UNKNOWN, dict.fromkeys(frame.assets, Trend.UNKNOWN), None)
    return hours.at(-1)


def futures(frame: BarFrame) -> dict[str, Pressure]:
    """Return the derivatives words from funding and open contracts as known at each closed hour of the last 30 days."""
    recent = frame.rows(max(len(frame) - FUTURES_HOURS, 0))
    measure = Derivatives(len(frame.assets), bars_an_hour=1)
    if len(recent):
        measure.update(recent.t, recent.fields["funding"], recent.fields["open_interest"], np.ones(len(recent)))
        measure.settle()
    return dict(zip(frame.assets, measure.readings(), strict=True))
