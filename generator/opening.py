"""What happens before the first tick: history, the brain's restored state, and the rehearsal of a simulated start."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from generator.brain.engine import Engine
from generator.brain.hourly import HOUR_MS
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.errors import GeneratorError, SourceError
from generator.market.source import Progress
from generator.market.values import BAR_MS, BarFrame
from generator.service import DAYS_OF_HISTORY, ORIGIN_KEY, Service
from generator.tick import observe, play, read, to_ms

REHEARSED_HOURS: Final = 48
HOURLY_MADE_AT_MINUTE: Final = 55

log = structlog.get_logger("emi.opening")


async def open_market(
    service: Service,
    at: datetime,
    progress: Progress,
    rehearse_hours: int | None = None,
    days: int = DAYS_OF_HISTORY,
) -> None:
    """Fill the history, bring the brain up to date and, on an empty simulated memory, play 48 hours first.

    What is played here is marked `warm_up`: it was made by a stepped clock, not lived through.

    Args:
        service: the rooms.
        at: aware UTC wall time of the first tick.
        progress: told about long work.
        rehearse_hours: hours to play first; None means 48 on an empty simulated memory, else 0.
        days: of history to begin with.

    Raises:
        GeneratorError: the source has nothing, or the memory holds another market's record.
    """
    fresh = service.memory.is_empty()
    _same_market(service)
    simulated = service.mode == SourceMode.SIMULATED
    hours = rehearse_hours if rehearse_hours is not None else (REHEARSED_HOURS if fresh and simulated else 0)
    start = at - timedelta(hours=hours)
    bars = await _history(service, start, days, progress)
    service.history.append(bars)
    if bars.interval_ms == HOUR_MS:
        service.arena = replace(service.arena, round_minutes=60)
    _restore(service, bars, progress)
    if hours:
        await _rehearse(service, start, at, progress)


async def _history(service: Service, start: datetime, days: int, progress: Progress) -> BarFrame:
    """Return the bars to begin with; a live market that cannot be reached now gives none, and ticks go on asking."""
    try:
        return await service.source.backfill(to_ms(start), days, progress)
    except SourceError as error:
        if service.mode != SourceMode.LIVE:
            raise
        log.warning("no history yet: readings are unknown until venues answer", reason=str(error))
        return BarFrame.empty(ASSETS)


def _same_market(service: Service) -> None:
    """Refuse a memory that another market wrote: its record would be mixed up with this one's."""
    origin = service.mode.value
    if service.mode == SourceMode.SIMULATED:
        origin += f" seed {service.settings.seed}"
    if service.mode == SourceMode.RECORDED:
        origin += " " + ", ".join(sorted(folder.resolve().name for folder in service.settings.data_dir))
    kept = service.memory.meta(ORIGIN_KEY)
    if kept is None:
        service.memory.set_meta(ORIGIN_KEY, origin)
    elif kept != origin:
        raise GeneratorError(
            f"state folder {service.settings.state_dir} holds the record of source {kept}, not {origin}; "
            "name another with EMI_STATE_DIR, or remove it for a full reset"
        )


def _restore(service: Service, bars: BarFrame, progress: Progress) -> None:
    """Restore the brain from memory and feed it what it has not seen."""
    if bars.interval_ms != BAR_MS or not len(bars):
        return
    kept = _kept_engine(service)
    if kept is not None and kept.t_ms is not None and int(bars.t[0]) <= kept.t_ms <= int(bars.t[-1]):
        service.engine = kept  # a state from the future is not used: it knows too much
        bars = bars.after(kept.t_ms)
    total = len(bars)
    for begin in range(0, total, 288):
        service.engine.advance(bars.rows(begin, begin + 288))
        progress(min(begin + 288, total), total, "the brain reads history")


def _kept_engine(service: Service) -> Engine | None:
    """Return the brain as the memory has it, None if it has none or one of other weights."""
    state = service.memory.brain_state()
    if state is None:
        return None
    try:
        return Engine.load(service.weights, ASSETS, state)
    except ValueError as error:
        log.warning("the brain's kept state is not used; it reads history anew", reason=str(error))
        return None


async def _rehearse(service: Service, start: datetime, end: datetime, progress: Progress) -> None:
    """Play from `start` to `end` at the minutes where something can happen."""
    moments = rehearsal(start, end, service.arena.round_minutes)
    with service.memory.batch():
        for done, moment in enumerate(moments, 1):
            observation = await observe(service, moment)
            play(service, observation, read(service, observation), moment, warm_up=True)
            progress(done, len(moments), "rounds played before the start (marked warm_up)")


def rehearsal(start: datetime, end: datetime, round_minutes: int) -> list[datetime]:
    """Return the full minutes in [start, end) at which rounds turn or hourly predictions are made."""
    minute = start.astimezone(UTC).replace(second=0, microsecond=0)
    moments = []
    while (minute := minute + timedelta(minutes=1)) < end:
        of_day = minute.hour * 60 + minute.minute
        if of_day % round_minutes == 0 or of_day % 60 in {0, HOURLY_MADE_AT_MINUTE}:
            moments.append(minute)
    return moments
