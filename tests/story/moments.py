"""Moments of recordings at which a report is sold: the tick as the generator would compose it, and the bars before."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.products import HUMAN_REPORT
from generator.catalog.words import SourceMode
from generator.compose.challenge import unavailable
from generator.compose.inputs import ENOUGH_BARS
from generator.market.bars import BAR_MS, BarFrame
from generator.market.history import CAPACITY_BARS
from generator.market.recorded.recording import load_recording
from generator.market.recorded.source import RecordedSource
from tests.support.builders import full_context
from tests.support.ten_moments import Moment, changes_of, done, past_of

_MONTH_MS: Final = CAPACITY_BARS * BAR_MS


def recordings(data: Path) -> list[Path]:
    """Return the folders of 5-minute candles that are long enough for a report."""
    folders = sorted(data.glob("candles/*")) if data.is_dir() else []
    return [folder for folder in folders if len(_frame(folder)) > ENOUGH_BARS]


def moments_of(folder: Path, count: int) -> Iterator[Moment]:
    """Read a recording once and stop at so many moments, from the first that has a month of bars to the last bar."""
    frame = _frame(folder)
    source = RecordedSource([folder], offset_ms=0)
    engine = Engine(Weights.load(), ASSETS)
    read = 0
    for row in np.unique(np.linspace(ENOUGH_BARS, _last_whole(frame), count).astype(int)).tolist():
        engine.advance(frame.rows(read, row + 1))
        read = row + 1
        bars = _month(frame, read)
        moment = _moment(folder, source, engine, bars, past_of(frame, read))
        if HUMAN_REPORT not in unavailable(moment.ctx):
            yield moment


def _frame(folder: Path) -> BarFrame:
    frame = load_recording([folder], ASSETS).frame
    return frame if frame.interval_ms == BAR_MS else frame.rows(0, 0)


def _last_whole(frame: BarFrame) -> int:
    """Return the last bar that every asset has which the recording holds at all."""
    known = np.isfinite(frame.fields["close"])
    return int(np.flatnonzero(known[:, known.any(axis=0)].all(axis=1))[-1])


def _month(frame: BarFrame, read: int) -> BarFrame:
    """Return the bars that a service keeps: as many as a month has."""
    return frame.rows(max(0, read - CAPACITY_BARS), read)


def _moment(folder: Path, source: RecordedSource, engine: Engine, bars: BarFrame, past: BarFrame) -> Moment:
    now_ms = int(bars.t[-1]) + BAR_MS
    observation = done(source.observe(now_ms, now_ms))
    ctx = replace(
        full_context(SourceMode.RECORDED),
        observation=observation,
        reading=engine.reading(observation.day_changes(ASSETS)),
        bars=bars,
        month=engine.month(bars),
    )
    name = f"{folder.name} {np.datetime64(now_ms, 'ms')}"
    return Moment(name, ctx, bars, past, changes_of(engine))
