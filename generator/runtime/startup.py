"""Start-up: what comes before the first tick, history, the brain's restored state and, at a first start, a backtest.

A leader opens the market, and so may write. A standby preloads the same history, and writes nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from generator.arena.holds import KIND
from generator.brain.engine import Engine
from generator.brain.label import LABELS
from generator.brain.outlook import RANGE_BARS
from generator.brain.reading import BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import price, probabilities
from generator.catalog.words import SourceMode
from generator.errors import GeneratorError, PublishError, SourceError
from generator.market.bars import BAR_MS, BarFrame
from generator.market.history import History
from generator.market.observation import Observation
from generator.market.source import Progress
from generator.record.published import CHECKPOINT
from generator.runtime.app import ORIGIN_KEY, SEEDED, App
from generator.runtime.market import DAYS_OF_HISTORY, ROWS_AT_ONCE, MarketReader, has_read, no_progress, to_ms
from generator.runtime.tick import backtest_arena
from generator.values.hours import Hour

BACKTEST_HOURS: Final = 48
LOG_EVERY_PERCENT: Final = 10
STEPS_AT_ONCE: Final = 48  # of a backtest, whose bars the brain reads together
MINUTES: Final = (0, 15, 55)  # an hour and its ranges start and end, those over 15 minutes end, the next are made

log = structlog.get_logger("emi.startup")


async def open_market(
    app: App, at: datetime, progress: Progress, hours: int | None = None, *, new_record: bool = False
) -> None:
    """Begin to lead: resume from what is published, fill the history, bring the brain up to date.

    On an empty memory 48 hours are played first, of a recording as many of them as can have forecasts. What is made by
    this backtest is marked `warm_up`.

    Args:
        hours: of backtest to play first; None means those 48 on an empty memory, else 0.
        new_record: whether a memory that is behind what readers have is meant.

    Raises:
        RecordBehind: readers have a log that the memory does not extend.
        GeneratorError: the source has nothing, the memory holds another market's record, or where releases go cannot
            be written.
    """
    app.publisher.releases.open()
    app.publisher.vault.open()
    _resume(app)
    app.record.published.refuse_if_behind(accept=new_record)

    fresh = app.record.memory.is_empty()
    _check_origin(app)
    if app.record.memory.meta(ORIGIN_KEY) is None:
        app.record.memory.set_meta(ORIGIN_KEY, _origin(app))

    if hours is None:
        hours = await backtest_hours(app, at) if fresh else 0
    await _count_again(app, progress)

    start = at - timedelta(hours=hours)
    if hours:
        app.market.history = History(ASSETS)  # what a standby holds is later than where the backtest begins
    await _fill(app, start, progress)
    await _restore(app, start, progress)
    if hours:
        await _backtest(app, start, at, progress)


async def preload(app: App, at: datetime) -> None:
    """Fetch the history that a leader needs, as a standby: nothing is written."""
    _check_origin(app)
    await _fill(app, at, no_progress)


async def backtest_hours(app: App, at: datetime) -> int:
    """Return how many hours a first start plays: none live, of a recording those that can have forecasts."""
    if app.market.mode == SourceMode.SIMULATED:
        return BACKTEST_HOURS
    if app.market.mode == SourceMode.LIVE:
        return 0

    bars = await app.market.source.backfill(to_ms(at), app.market.days, no_progress)  # it says when the replay is
    if bars.interval_ms != BAR_MS:
        return 0  # the brain forecasts from 5-minute bars alone
    span_ms = BAR_MS * max(0, len(bars) - RANGE_BARS)
    return min(BACKTEST_HOURS, span_ms // HOUR_MS)


async def _count_again(app: App, progress: Progress) -> None:
    """Count the record again where the totals kept with it are not this program's.

    That is before the first tick and outside its deadline; readers keep the last release, and a stop is heard between
    two steps.
    """
    logged_percent = -LOG_EVERY_PERCENT
    for done, total in app.record.memory.count_again():
        progress(done, total, "weeks of the record, counted again for this version")
        if 100 * done // total >= logged_percent + LOG_EVERY_PERCENT:
            logged_percent = 100 * done // total
            log.info("counting the record again", weeks=done, of=total)
        await asyncio.sleep(0)


def _resume(app: App) -> None:
    """Resume from the release that readers see: the log's head, and all files made by whoever led before."""
    app.record.published.resume(_head(app))
    app.publisher.background.reset()
    app.publisher.previous_facts = None
    app.publisher.last_good.invalidate()


def _head(app: App) -> bytes | None:
    """Return the log's head that readers see: None where there is none, empty where the store does not answer."""
    releases = app.publisher.releases
    try:
        releases.generation()
    except PublishError as error:
        log.warning("it is not known what readers have; the log's tiles are looked at again", reason=str(error))
        return b""
    return releases.shown((CHECKPOINT,)).get(CHECKPOINT)


async def _fill(app: App, start: datetime, progress: Progress) -> None:
    """Fetch the bars to begin with, unless a standby holds them; a live market out of reach has none now."""
    if len(app.market.history):
        return
    try:
        bars = await app.market.source.backfill(to_ms(start), app.market.days, progress)
    except SourceError as error:
        if app.market.mode != SourceMode.LIVE:
            raise
        log.warning("no history yet: readings are unknown until venues answer", reason=str(error))
        return

    app.market.history.append(bars)
    if bars.interval_ms == HOUR_MS:
        app.record.arena = replace(app.record.arena, round_minutes=60)


def _origin(app: App) -> str:
    """Name the market that the record is of."""
    if app.market.mode == SourceMode.SIMULATED:
        return f"{SEEDED}{app.record.arena.seed}"
    origin = app.market.mode.value
    if app.market.mode == SourceMode.RECORDED:
        origin += " " + ", ".join(sorted(folder.resolve().name for folder in app.settings.data_dir))
    return origin


def _check_origin(app: App) -> None:
    """Refuse a memory that another market wrote: two records would be mixed."""
    origin = _origin(app)
    kept = app.record.memory.meta(ORIGIN_KEY)
    if kept is not None and kept != origin:
        raise GeneratorError(
            f"state folder {app.settings.state_dir} holds the record of source {kept}, not {origin}; "
            "name another with EMI_STATE_DIR, or remove it for a full reset"
        )


async def _restore(app: App, at: datetime, progress: Progress) -> None:
    """Restore the brain from memory and feed it what it has not seen."""
    bars = app.market.history.frame()
    if bars.interval_ms != BAR_MS:
        return

    kept = _kept_engine(app)
    if kept is not None and kept.t_ms is not None and _fits(app, kept, kept.t_ms, bars, to_ms(at)):
        bars = bars.after(kept.t_ms)
    else:
        kept = None
    if kept is not None or app.record.memory.hours(to_ms(at)):
        app.market.engine = await app.market.brain_of(bars, kept, progress)
        return

    # Nothing was kept: the hours that the brain reads on its way are the market's history.
    app.market.engine = Engine(app.market.weights, ASSETS)
    hours: list[Hour] = []
    total = len(bars) * BAR_MS // HOUR_MS
    async for hour in _hours_of(app.market, bars, _offset_ms(app, at, bars)):
        hours.append(hour)
        progress(min(len(hours), total), total, "hours of history that the brain reads")
    app.record.memory.keep_hours(hours)


def _offset_ms(app: App, at: datetime, bars: BarFrame) -> int:
    """Return wall minus market time, of a recording to a bar: what these hours are filed under."""
    if app.market.mode != SourceMode.RECORDED or not len(bars):
        return 0
    return to_ms(at) // BAR_MS * BAR_MS - int(bars.t[-1]) - BAR_MS


def _fits(app: App, kept: Engine, kept_ms: int, bars: BarFrame, now_ms: int) -> bool:
    """Return whether a kept brain can resume here.

    Not one from the future: it knows too much. But a leader's last bar may be newer than what a standby has. And not
    one that began without history, once there is some.
    """
    if app.market.mode == SourceMode.RECORDED:  # its time is not the wall's
        return len(bars) > 0 and int(bars.t[0]) <= kept_ms <= int(bars.t[-1])
    if kept_ms + BAR_MS > now_ms:
        return False
    if not len(bars):
        return now_ms - kept_ms <= DAYS_OF_HISTORY * DAY_MS
    return int(bars.t[0]) <= kept_ms and has_read(kept, len(bars) - len(bars.after(kept_ms)))


def _kept_engine(app: App) -> Engine | None:
    """Return the brain as the memory has it, None if it has none or one of other weights."""
    state = app.record.memory.brain_state()
    if state is None:
        return None
    try:
        return Engine.load(app.market.weights, ASSETS, state)
    except ValueError as error:
        log.warning("the brain's kept state is not used; it reads history again", reason=str(error))
        return None


def _read_hour(at_ms: int, market_ms: int, engine: Engine, prices: Mapping[str, float | None]) -> Hour:
    """Return the market as a backtest reads it."""
    shown = {asset: price(raw) for asset, raw in prices.items()}
    return Hour(
        at_ms=at_ms,
        market_ms=market_ms,
        label=str(LABELS[int(engine.label.label[-1])]),
        chances=tuple(probabilities(tuple(engine.chances()[:, -1].tolist()))),
        headline="",
        prices={asset: value for asset, value in shown.items() if value is not None},
        warm_up=True,
        chances_kind=KIND,
    )


async def _hours_of(market: MarketReader, bars: BarFrame, offset_ms: int) -> AsyncIterator[Hour]:
    """Let the brain read bars, and give the market at each full hour that one of them closed at, by wall time."""
    for begin in range(0, len(bars), ROWS_AT_ONCE):
        block = bars.rows(begin, begin + ROWS_AT_ONCE)
        for row in market.engine.replay(block, HOUR_MS):
            close_ms = int(block.t[row]) + BAR_MS
            prices = dict(zip(block.assets, block.fields["close"][row].tolist(), strict=True))
            yield _read_hour(close_ms + offset_ms, close_ms, market.engine, prices)
        await asyncio.sleep(0)


async def _backtest(app: App, start: datetime, end: datetime, progress: Progress) -> None:
    """Play from `start` to `end` at the minutes where something can happen."""
    moments = backtest_moments(start, end, app.record.arena.round_minutes)
    with app.record.memory.batch():
        done = 0
        for block in (moments[begin : begin + STEPS_AT_ONCE] for begin in range(0, len(moments), STEPS_AT_ONCE)):
            seen = [await app.market.observe(moment) for moment in block]
            for moment, observation, reading in zip(block, seen, app.market.read_each(seen), strict=True):
                done += 1
                _play_step(app, observation, reading, moment, is_last=done == len(moments))
                progress(done, len(moments), "steps of the backtest before the start (its rounds are marked warm_up)")
                await asyncio.sleep(0)


def _play_step(
    app: App, observation: Observation, reading: BrainReading | None, at: datetime, *, is_last: bool
) -> None:
    """Play one step of the backtest, and keep the market as it was read at a full hour."""
    backtest_arena(app, observation, reading, at, keeps_brain=is_last)

    if reading is not None and at.minute == 0:
        prices = {asset: seen.price for asset, seen in observation.assets.items()}
        app.record.memory.keep_hours([_read_hour(to_ms(at), observation.market_ms, app.market.engine, prices)])


def backtest_moments(start: datetime, end: datetime, round_minutes: int) -> list[datetime]:
    """Return the full minutes in [start, end) at which rounds turn, or predictions are made or end."""
    minute = start.astimezone(UTC).replace(second=0, microsecond=0)
    moments = []
    while (minute := minute + timedelta(minutes=1)) < end:
        of_day = minute.hour * 60 + minute.minute
        if of_day % round_minutes == 0 or of_day % 60 in MINUTES:
            moments.append(minute)
    return moments
