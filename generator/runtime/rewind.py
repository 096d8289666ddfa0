"""After the clock was set back: history and brain as a start at that time would have them."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from generator.brain.engine import Engine
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.market.history import History
from generator.market.values import BarFrame, Observation
from generator.runtime.app import App

ROWS_AT_ONCE: Final = 288

log = structlog.get_logger("emi.tick")


def is_ahead(history: History, observation: Observation) -> bool:
    """Return whether the history holds bars that close after the market time of an observation."""
    last_ms = history.last_t_ms
    return last_ms is not None and last_ms + observation.bar_interval_ms > observation.market_ms


async def start_over(app: App, observation: Observation, now_ms: int) -> None:
    """Replace history and brain by those of market time now; both change at once, or, on a failure, neither.

    A live market is not asked again: what is held of it is cut off, for its history takes minutes to fetch.

    Raises:
        SourceError: the source has nothing.
    """
    held = app.market.history.frame()
    if app.market.mode == SourceMode.LIVE:
        bars = held.closed_by(observation.market_ms)
    else:
        bars = await app.market.source.backfill(now_ms, app.market.days, lambda *_: None)
    history = History(ASSETS)
    history.append(bars)
    engine = await brain_of(app, history.frame())
    app.market.history, app.market.engine = history, engine
    log.warning("the clock was set back: history and brain begin again", bars_before=len(held), bars=len(history))


async def brain_of(app: App, bars: BarFrame) -> Engine:
    """Return a new brain that has read these bars; other tasks go on meanwhile."""
    engine = Engine(app.market.weights, ASSETS)
    for begin in range(0, len(bars), ROWS_AT_ONCE):
        engine.advance(bars.rows(begin, begin + ROWS_AT_ONCE))
        await asyncio.sleep(0)
    return engine
