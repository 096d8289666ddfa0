"""Readings without 5-minute bars: side and trend of the last 24 hours by their hourly closes, and futures pressure."""

from typing import Final, NamedTuple

import numpy as np

from generator.brain import swings
from generator.brain.bars import clean_fields
from generator.brain.derivatives import Derivatives, Pressure
from generator.brain.highlights import Highlights
from generator.brain.market_facts import Followed, market_facts
from generator.brain.moves import Moves, prices_of
from generator.brain.record import DAY_MOVE, Record
from generator.brain.side import SIDES, Side
from generator.brain.situation import Situations
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.happened import MarketFacts
from generator.catalog.words import MarketSide, Trend, VolatilityWord
from generator.market.bars import BarFrame

FUTURES_HOURS: Final = 30 * 24
OLD_MS: Final = 2 * HOUR_MS  # since the last full hour: nothing is said of the 24 hours up to it then


class HourlyState(NamedTuple):
    """What is read from hourly closes."""

    side: MarketSide  # of the market
    trends: dict[str, Trend]  # of each asset
    market: MarketFacts | None  # what happened; None of no bars


def state_of(frame: BarFrame, now_ms: int) -> HourlyState:
    """Return side and trends by the rules of 5-minute bars, from the closes at full hours of bars of any length."""
    full = np.flatnonzero((frame.t + frame.interval_ms) % HOUR_MS == 0)
    unknown = HourlyState(MarketSide.UNKNOWN, dict.fromkeys(frame.assets, Trend.UNKNOWN), None)
    if not len(full):
        return unknown
    t_ms = frame.t[full] + frame.interval_ms - HOUR_MS
    if now_ms - int(t_ms[-1]) - HOUR_MS >= OLD_MS:
        return unknown

    bars = clean_fields({name: values[full] for name, values in frame.fields.items()})
    columns = len(frame.assets) + 1
    moves = Moves(len(frame.assets), HOUR_MS)
    record = Record(columns, HOUR_MS)
    side = Side(columns, bars_an_hour=1)
    highlights = Highlights(len(frame.assets), HOUR_MS)
    situations = Situations(HOUR_MS)
    moves.update(t_ms, bars.log_close)
    record.update(t_ms, moves, np.full((len(t_ms), columns), np.nan))
    side.update(moves, record.usual[DAY_MOVE])
    unrated = np.full(len(t_ms), float(swings.UNKNOWN))
    edges = prices_of(np.stack((bars.top, bars.bottom), axis=1))
    highlights.update(t_ms, moves, edges, np.full(len(t_ms), np.nan), unrated)
    situations.update(moves, record, highlights, side.side[:, -1], unrated)
    for part in (moves, record, side, highlights, situations):
        part.settle()

    *trends, _ = side.trends()
    shown = SIDES[int(side.side[-1])]
    followed = Followed(moves, record, highlights, situations)
    facts = market_facts(frame.assets, int(t_ms[-1]) + HOUR_MS, followed, shown, VolatilityWord.UNKNOWN)
    return HourlyState(shown, dict(zip(frame.assets, trends, strict=True)), facts)


def futures(frame: BarFrame) -> dict[str, Pressure]:
    """Return the derivatives words from funding and open contracts as known at each closed hour of the last 30 days."""
    recent = frame.rows(max(len(frame) - FUTURES_HOURS, 0))
    measure = Derivatives(len(frame.assets), bars_an_hour=1)
    if len(recent):
        measure.update(recent.t, recent.fields["funding"], recent.fields["open_interest"], np.ones(len(recent)))
        measure.settle()
    return dict(zip(frame.assets, measure.readings(), strict=True))
