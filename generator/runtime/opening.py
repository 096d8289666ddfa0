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
from generator.runtime.headstart import DAYS_OF_HISTORY, REHEARSED_HOURS
from generator.runtime.publication import rehearse
from generator.runtime.rewind import ROWS_AT_ONCE, brain_of
from generator.runtime.service import ORIGIN_KEY, Service
from generator.runtime.tick import DAY_MS, breathe, describe, observe, play, read, to_ms

HOURLY_MADE_AT_MINUTE: Final = 55

log = structlog.get_logger("emi.opening")


async def open_market(
    service: Service,
    at: datetime,
    progress: Progress,
    rehearse_hours: int | None = None,
    days: int = DAYS_OF_HISTORY,
) -> None:
    """Begin to lead: go on from what is published, fill the history, bring the brain up to date.

    On an empty memory 48 hours are played first, of a recording as many of them as can have forecasts.

    What is played here is marked `warm_up`: it was made by a stepped clock, not lived through.

    Args:
        service: the rooms.
        at: aware UTC wall time of the first tick.
        progress: told about long work.
        rehearse_hours: hours to play first; None means those 48 on an empty memory, else 0.
        days: of history to begin with.

    Raises:
        GeneratorError: the source has nothing, the memory holds another market's record, or where releases go cannot
            be written.
    """
    service.days = days
    service.releases.open()
    service.vault.open()
    _go_on(service)
    fresh = service.memory.is_empty()
    _same_market(service, note=True)
    hours = rehearse_hours
    if hours is None:
        hours = await _hours_before(service, at, days) if fresh else 0
    start = at - timedelta(hours=hours)
    if hours:
        service.history = History(ASSETS)  # what a standby knows is later than where the rehearsal begins
    await _fill(service, start, days, progress)
    await _restore(service, start, progress)
    if hours:
        await _rehearse(service, start, at, progress)


async def _hours_before(service: Service, at: datetime, days: int) -> int:
    """Return how many hours a first start plays: none of a live market, of a recording those that can have forecasts."""
    if service.mode == SourceMode.SIMULATED:
        return REHEARSED_HOURS
    if service.mode == SourceMode.LIVE:
        return 0
    bars = await service.source.backfill(to_ms(at), days, lambda *_: None)  # the first call says when the replay is
    span_ms = BAR_MS * max(0, len(bars) - MIN_BARS) if bars.interval_ms == BAR_MS else 0
    return min(REHEARSED_HOURS, span_ms // HOUR_MS)


def _go_on(service: Service) -> None:
    """Go on from the release that readers see: the log's head, and all that was made by whoever led before."""
    head = service.releases.shown((CHECKPOINT,)).get(CHECKPOINT)
    service.logbook.resume(head)
    if head is None:
        service.polls.put_again()
    service.background.reset()
    service.last_good.doubt()


async def warm_up(service: Service, at: datetime, progress: Progress, days: int = DAYS_OF_HISTORY) -> None:
    """Read what a leader needs, as a standby: history, and the brain as of the leader's last tick. Nothing is written.

    Raises:
        GeneratorError: the source has nothing, or the memory holds another market's record.
    """
    service.days = days
    _same_market(service, note=False)
    await _fill(service, at, days, progress)
    await _restore(service, at, progress)


async def keep_warm(service: Service, at: datetime) -> None:
    """Make a whole tick as a standby does every minute: all but recording and publishing it.

    The newest bars come with it, and with the first one all that makes a process's first tick slow: templates compiled,
    OpenAPI read from what is published, connections opened. What fails now is tried again in a minute.
    """
    observation = await observe(service, at)
    await _make_dry(service, observation, read(service, observation), at)


async def _make_dry(service: Service, observation: Observation, reading: BrainReading | None, at: datetime) -> None:
    """Make what a tick would publish, and publish none of it."""
    await breathe()
    number = int(service.memory.meta(GENERATION_KEY) or 0)
    context = describe(service, observation, reading, service.memory.view(to_ms(at)), at, number)
    composed = compose(context)
    await breathe()
    rehearse(service, context, composed, at)


async def fill_later(service: Service, now_ms: int, days: int, progress: Progress) -> tuple[History, Engine | None]:
    """Ask again for the history that a live start did not get, and let a new brain read it.

    It is made beside the one that is at work; `adopt` puts it in its place between two ticks.

    Returns:
        The history, and a brain that read it; None where the one at work has read as much.

    Raises:
        SourceError: no venue answered again.
    """
    bars = await service.source.backfill(now_ms, days, progress)
    history = History(ASSETS)
    history.append(bars)
    if _has_read(service.engine, len(bars)):
        return history, None
    return history, await brain_of(service, bars)


def adopt(service: Service, history: History, engine: Engine | None) -> None:
    """Put a history and its brain in the place of those at work, with the bars that came meanwhile."""
    history.append(service.history.frame())
    service.history = history
    if engine is not None and not _has_read(service.engine, len(history)):
        engine.advance(history.frame().after(engine.t_ms if engine.t_ms is not None else -1))
        service.engine = engine


async def _fill(service: Service, start: datetime, days: int, progress: Progress) -> None:
    """Get the bars to begin with, unless a standby has them; a live market out of reach gives none now."""
    if len(service.history):
        return
    try:
        bars = await service.source.backfill(to_ms(start), days, progress)
    except SourceError as error:
        if service.mode != SourceMode.LIVE:
            raise
        log.warning("no history yet: readings are unknown until venues answer", reason=str(error))
        return
    service.history.append(bars)
    if bars.interval_ms == HOUR_MS:
        service.arena = replace(service.arena, round_minutes=60)


def _same_market(service: Service, *, note: bool) -> None:
    """Refuse a memory that another market wrote: its record would be mixed up with this one's."""
    origin = service.mode.value
    if service.mode == SourceMode.SIMULATED:
        origin += f" seed {service.settings.seed}"
    if service.mode == SourceMode.RECORDED:
        origin += " " + ", ".join(sorted(folder.resolve().name for folder in service.settings.data_dir))
    kept = service.memory.meta(ORIGIN_KEY)
    if kept is None:
        if note:
            service.memory.set_meta(ORIGIN_KEY, origin)
    elif kept != origin:
        raise GeneratorError(
            f"state folder {service.settings.state_dir} holds the record of source {kept}, not {origin}; "
            "name another with EMI_STATE_DIR, or remove it for a full reset"
        )


async def _restore(service: Service, at: datetime, progress: Progress) -> None:
    """Restore the brain from memory and feed it what it has not seen."""
    bars = service.history.frame()
    if bars.interval_ms != BAR_MS:
        return
    kept = _kept_engine(service) or await _read_ahead(service, at)
    if kept is not None and kept.t_ms is not None and _fits(service, kept, kept.t_ms, bars, to_ms(at)):
        service.engine = kept
        bars = bars.after(kept.t_ms)
    else:
        service.engine = Engine(service.weights, ASSETS)
    total = len(bars)
    for begin in range(0, total, ROWS_AT_ONCE):
        service.engine.advance(bars.rows(begin, begin + ROWS_AT_ONCE))
        progress(min(begin + ROWS_AT_ONCE, total), total, "the brain reads history")
        await asyncio.sleep(0)  # a stop is heard here


def _fits(service: Service, kept: Engine, kept_ms: int, bars: BarFrame, now_ms: int) -> bool:
    """Return whether a kept brain goes on from here.

    Not one from the future: it knows too much. But a leader's last bar may be newer than what a standby has. And not
    one that began without history, once there is some.
    """
    if service.mode == SourceMode.RECORDED:  # its time is not the wall's
        return len(bars) > 0 and int(bars.t[0]) <= kept_ms <= int(bars.t[-1])
    if kept_ms + BAR_MS > now_ms:
        return False
    if not len(bars):
        return now_ms - kept_ms <= DAYS_OF_HISTORY * DAY_MS
    return int(bars.t[0]) <= kept_ms and _has_read(kept, len(bars) - len(bars.after(kept_ms)))


def _has_read(engine: Engine, bars: int) -> bool:
    """Return whether a brain has read at least half as many bars as there are."""
    return 2 * engine.counters.bars >= bars


def _kept_engine(service: Service) -> Engine | None:
    """Return the brain as the memory has it, None if it has none or one of other weights."""
    return _loaded(service, service.memory.brain_state())


async def _read_ahead(service: Service, at: datetime) -> Engine | None:
    """Return the brain that another process let read the history since this one started, None if there is none."""
    if service.head_start is None:
        return None
    state = asyncio.create_task(service.head_start.state())
    try:
        # That takes seconds, in which this process has nothing else to do: the first tick will be the faster for it.
        await _make_dry(service, await observe(service, at), None, at)
    except Exception as error:  # noqa: BLE001  the tick itself will tell
        log.debug("not warm", reason=str(error))
    return _loaded(service, await state)


def _loaded(service: Service, state: bytes | None) -> Engine | None:
    if state is None:
        return None
    try:
        return Engine.load(service.weights, ASSETS, state)
    except ValueError as error:
        log.warning("the brain's kept state is not used; it reads history again", reason=str(error))
        return None


async def _rehearse(service: Service, start: datetime, end: datetime, progress: Progress) -> None:
    """Play from `start` to `end` at the minutes where something can happen."""
    moments = rehearsal(start, end, service.arena.round_minutes)
    with service.memory.batch():
        for done, moment in enumerate(moments, 1):
            observation = await observe(service, moment)
            play(service, observation, read(service, observation), moment, warm_up=True)
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
