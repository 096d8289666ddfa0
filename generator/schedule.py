"""The clockwork: one tick at every full minute, one at once, one at a time, drained on a stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import structlog
from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from generator.errors import GeneratorError
from generator.publication import Report
from generator.service import Service
from generator.tick import tick, to_ms

TICK_DEADLINE_S: Final = 50
MISFIRE_GRACE_S: Final = 30

log = structlog.get_logger("emi.schedule")


class Clockwork:
    """Run ticks until told to stop."""

    def __init__(self, service: Service, told: Callable[[Report, float], None]) -> None:
        self._service = service
        self._told = told
        self._one = asyncio.Lock()
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Tick at once, then at every full minute; return after the running tick when SIGINT or SIGTERM comes."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop.set)
        scheduler = AsyncIOScheduler(timezone=UTC)
        scheduler.add_listener(self._missed, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
        await self.fire()
        scheduler.add_job(
            self.fire,
            CronTrigger(second=0, timezone=UTC),
            max_instances=1,
            coalesce=True,
            misfire_grace_time=MISFIRE_GRACE_S,
        )
        scheduler.start()
        await self._stop.wait()
        scheduler.pause()
        async with self._one:  # shutdown() would cancel a running tick; wait for it first
            scheduler.shutdown(wait=False)

    def stop(self) -> None:
        """Ask `run` to return after the running tick."""
        self._stop.set()

    async def fire(self) -> None:
        """Make one tick; a failure is recorded and told, and the last release stands."""
        async with self._one:
            if self._stop.is_set():
                return
            at = self._service.clock.now()
            began = self._service.clock.monotonic()
            try:
                async with asyncio.timeout(TICK_DEADLINE_S):
                    report = await tick(self._service, at)
            except Exception as error:  # noqa: BLE001  one bad tick must not end the clockwork
                self._failed(at, error)
            else:
                self._told(report, self._service.clock.monotonic() - began)

    def _failed(self, at: datetime, error: Exception) -> None:
        expected = isinstance(error, GeneratorError | TimeoutError | OSError)
        reason = str(error) or type(error).__name__
        log.error("tick failed; the last release stands", reason=reason, exc_info=None if expected else error)
        try:
            name = at.strftime("%Y%m%dT%H%M%SZ")
            self._service.memory.tick_done(name, None, to_ms(at), ok=False, reason=reason)
        except Exception as again:  # noqa: BLE001  the disk may be full for the memory too
            log.warning("the failed tick could not be recorded", reason=str(again))

    def _missed(self, event: JobEvent) -> None:
        log.warning("tick missed", job=event.job_id)
