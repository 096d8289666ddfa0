"""What happens before the first tick: history, the brain's restored state, and the rehearsal of a simulated start.

A leader opens the market, and so may write. A standby warms up: the same reading, and no writing.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from generator.brain.direction import MIN_BARS
from generator.brain.engine import Engine
from generator.brain.hourly import HOUR_MS
from generator.brain.values import BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.compose.all import compose
from generator.errors import GeneratorError, SourceError
from generator.market.history import History
from generator.market.source import Progress
from generator.market.values import BAR_MS, BarFrame, Observation
from generator.record.logbook import CHECKPOINT
from generator.record.memory.fencing import GENERATION_KEY
from generator.runtime.app import ORIGIN_KEY, App
from generator.runtime.headstart import DAYS_OF_HISTORY, REHEARSED_HOURS
from generator.runtime.publication import rehearse
from generator.runtime.rewind import ROWS_AT_ONCE, brain_of
from generator.runtime.tick import DAY_MS, breathe, describe, observe, play, read, to_ms

HOURLY_MADE_AT_MINUTE: Final = 55

log = structlog.get_logger("emi.opening")


async def open_market(
    app: App,
    at: datetime,
    progress: Progress,
    rehearse_hours: int | None = None,
    days: int = DAYS_OF_HISTORY,
) -> None:
    """Begin to lead: go on from what is published, fill the history, bring the brain up to date.

    On an empty memory 48 hours are played first, of a recording as many of them as can have forecasts.

    What is played here is marked `warm_up`: it was made by a stepped clock, not lived through.

    Args:
        app: the rooms.
        at: aware UTC wall time of the first tick.
        progress: told about long work.
        rehearse_hours: hours to play first; None means those 48 on an empty memory, else 0.
        days: of history to begin with.

    Raises:
        GeneratorError: the source has nothing, the memory holds another market's record, or where releases go cannot
            be written.
    """
    app.market.days = days
    app.publisher.releases.open()
    app.publisher.vault.open()
    _go_on(app)
    fresh = app.record.memory.is_empty()
    _same_market(app, note=True)
    hours = rehearse_hours
    if hours is None:
        hours = await _hours_before(app, at, days) if fresh else 0
    start = at - timedelta(hours=hours)
    if hours:
        app.market.history = History(ASSETS)  # what a standby knows is later than where the rehearsal begins
    await _fill(app, start, days, progress)
    await _restore(app, start, progress)
    if hours:
        await _rehearse(app, start, at, progress)


async def _hours_before(app: App, at: datetime, days: int) -> int:
    """Return how many hours a first start plays: none of a live market, of a recording those that can have forecasts."""
    if app.market.mode == SourceMode.SIMULATED:
        return REHEARSED_HOURS
    if app.market.mode == SourceMode.LIVE:
        return 0
    bars = await app.market.source.backfill(to_ms(at), days, lambda *_: None)  # the first call says when the replay is
    span_ms = BAR_MS * max(0, len(bars) - MIN_BARS) if bars.interval_ms == BAR_MS else 0
    return min(REHEARSED_HOURS, span_ms // HOUR_MS)


def _go_on(app: App) -> None:
    """Go on from the release that readers see: the log's head, and all that was made by whoever led before."""
    head = app.publisher.releases.shown((CHECKPOINT,)).get(CHECKPOINT)
    app.record.logbook.resume(head)
    if head is None:
        app.record.polls.put_again()
    app.publisher.background.reset()
    app.publisher.last_good.doubt()


async def warm_up(app: App, at: datetime, progress: Progress, days: int = DAYS_OF_HISTORY) -> None:
    """Read what a leader needs, as a standby: history, and the brain as of the leader's last tick. Nothing is written.

    Raises:
        GeneratorError: the source has nothing, or the memory holds another market's record.
    """
    app.market.days = days
    _same_market(app, note=False)
    await _fill(app, at, days, progress)
    await _restore(app, at, progress)


async def keep_warm(app: App, at: datetime) -> None:
    """Make a whole tick as a standby does every minute: all but recording and publishing it.

    The newest bars come with it, and with the first one all that makes a process's first tick slow: templates compiled,
    OpenAPI read from what is published, connections opened. What fails now is tried again in a minute.
    """
    observation = await observe(app, at)
    await _make_dry(app, observation, read(app, observation), at)


async def _make_dry(app: App, observation: Observation, reading: BrainReading | None, at: datetime) -> None:
    """Make what a tick would publish, and publish none of it."""
    await breathe()
    number = int(app.record.memory.meta(GENERATION_KEY) or 0)
    context = describe(app, observation, reading, app.record.memory.view(to_ms(at)), at, number)
    composed = compose(context)
    await breathe()
    rehearse(app, context, composed, at)


async def fill_later(app: App, now_ms: int, days: int, progress: Progress) -> tuple[History, Engine | None]:
    """Ask again for the history that a live start did not get, and let a new brain read it.

    It is made beside the one that is at work; `adopt` puts it in its place between two ticks.

    Returns:
        The history, and a brain that read it; None where the one at work has read as much.

    Raises:
        SourceError: no venue answered again.
    """
    bars = await app.market.source.backfill(now_ms, days, progress)
    history = History(ASSETS)
    history.append(bars)
    if _has_read(app.market.engine, len(bars)):
        return history, None
    return history, await brain_of(app, bars)


def adopt(app: App, history: History, engine: Engine | None) -> None:
    """Put a history and its brain in the place of those at work, with the bars that came meanwhile."""
    history.append(app.market.history.frame())
    app.market.history = history
    if engine is not None and not _has_read(app.market.engine, len(history)):
        engine.advance(history.frame().after(engine.t_ms if engine.t_ms is not None else -1))
        app.market.engine = engine


async def _fill(app: App, start: datetime, days: int, progress: Progress) -> None:
    """Get the bars to begin with, unless a standby has them; a live market out of reach gives none now."""
    if len(app.market.history):
        return
    try:
        bars = await app.market.source.backfill(to_ms(start), days, progress)
    except SourceError as error:
        if app.market.mode != SourceMode.LIVE:
            raise
        log.warning("no history yet: readings are unknown until venues answer", reason=str(error))
        return
    app.market.history.append(bars)
    if bars.interval_ms == HOUR_MS:
        app.record.arena = replace(app.record.arena, round_minutes=60)


def _same_market(app: App, *, note: bool) -> None:
    """Refuse a memory that another market wrote: its record would be mixed up with this one's."""
    origin = app.market.mode.value
    if app.market.mode == SourceMode.SIMULATED:
        origin += f" seed {app.settings.seed}"
    if app.market.mode == SourceMode.RECORDED:
        origin += " " + ", ".join(sorted(folder.resolve().name for folder in app.settings.data_dir))
    kept = app.record.memory.meta(ORIGIN_KEY)
    if kept is None:
        if note:
            app.record.memory.set_meta(ORIGIN_KEY, origin)
    elif kept != origin:
        raise GeneratorError(
            f"state folder {app.settings.state_dir} holds the record of source {kept}, not {origin}; "
            "name another with EMI_STATE_DIR, or remove it for a full reset"
        )


async def _restore(app: App, at: datetime, progress: Progress) -> None:
    """Restore the brain from memory and feed it what it has not seen."""
    bars = app.market.history.frame()
    if bars.interval_ms != BAR_MS:
        return
    kept = _kept_engine(app) or await _read_ahead(app, at)
    if kept is not None and kept.t_ms is not None and _fits(app, kept, kept.t_ms, bars, to_ms(at)):
        app.market.engine = kept
        bars = bars.after(kept.t_ms)
    else:
        app.market.engine = Engine(app.market.weights, ASSETS)
    total = len(bars)
    for begin in range(0, total, ROWS_AT_ONCE):
        app.market.engine.advance(bars.rows(begin, begin + ROWS_AT_ONCE))
        progress(min(begin + ROWS_AT_ONCE, total), total, "the brain reads history")
        await asyncio.sleep(0)  # a stop is heard here


def _fits(app: App, kept: Engine, kept_ms: int, bars: BarFrame, now_ms: int) -> bool:
    """Return whether a kept brain goes on from here.

    Not one from the future: it knows too much. But a leader's last bar may be newer than what a standby has. And not
    one that began without history, once there is some.
    """
    if app.market.mode == SourceMode.RECORDED:  # its time is not the wall's
        return len(bars) > 0 and int(bars.t[0]) <= kept_ms <= int(bars.t[-1])
    if kept_ms + BAR_MS > now_ms:
        return False
    if not len(bars):
        return now_ms - kept_ms <= DAYS_OF_HISTORY * DAY_MS
    return int(bars.t[0]) <= kept_ms and _has_read(kept, len(bars) - len(bars.after(kept_ms)))


def _has_read(engine: Engine, bars: int) -> bool:
    """Return whether a brain has read at least half as many bars as there are."""
    return 2 * engine.counters.bars >= bars


def _kept_engine(app: App) -> Engine | None:
    """Return the brain as the memory has it, None if it has none or one of other weights."""
    return _loaded(app, app.record.memory.brain_state())


async def _read_ahead(app: App, at: datetime) -> Engine | None:
    """Return the brain that another process let read the history since this one started, None if there is none."""
    if app.head_start is None:
        return None
    state = asyncio.create_task(app.head_start.state())
    try:
        # That takes seconds, in which this process has nothing else to do: the first tick will be the faster for it.
        await _make_dry(app, await observe(app, at), None, at)
    except Exception as error:  # noqa: BLE001  the tick itself will tell
        log.debug("not warm", reason=str(error))
    return _loaded(app, await state)


def _loaded(app: App, state: bytes | None) -> Engine | None:
    if state is None:
        return None
    try:
        return Engine.load(app.market.weights, ASSETS, state)
    except ValueError as error:
        log.warning("the brain's kept state is not used; it reads history again", reason=str(error))
        return None


async def _rehearse(app: App, start: datetime, end: datetime, progress: Progress) -> None:
    """Play from `start` to `end` at the minutes where something can happen."""
    moments = rehearsal(start, end, app.record.arena.round_minutes)
    with app.record.memory.batch():
        for done, moment in enumerate(moments, 1):
            observation = await observe(app, moment)
            play(app, observation, read(app, observation), moment, warm_up=True)
            progress(done, len(moments), "steps of the rehearsal before the start (its rounds are marked warm_up)")
            await asyncio.sleep(0)


def rehearsal(start: datetime, end: datetime, round_minutes: int) -> list[datetime]:
    """Return the full minutes in [start, end) at which rounds turn or hourly predictions are made."""
    minute = start.astimezone(UTC).replace(second=0, microsecond=0)
    moments = []
    while (minute := minute + timedelta(minutes=1)) < end:
        of_day = minute.hour * 60 + minute.minute
        if of_day % round_minutes == 0 or of_day % 60 in {0, HOURLY_MADE_AT_MINUTE}:
            moments.append(minute)
    return moments
