"""The scheduler: one tick at every full minute, one at a time, with a deadline; a stop lets the running one end."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from generator.catalog.durations import MINUTE_S
from generator.clock import JumpWatch
from generator.errors import GeneratorError, LeadershipLost
from generator.runtime.app import App
from generator.runtime.market import to_ms
from generator.runtime.metrics import GeneratorMetrics
from generator.runtime.publication import Report
from generator.runtime.tick import tick

TICK_DEADLINE_S: Final = 50.0
STUCK_S: Final = 70.0  # a tick that asyncio could not end by now blocks its thread: another process should lead
MISFIRE_GRACE_S: Final = 30
CHECK_CLOCK_EVERY_S: Final = 1.0

_SHORTEST: Final = timedelta(microseconds=1)

OnReport: TypeAlias = Callable[[Report, float], None]

log = structlog.get_logger("emi.schedule")


class NextMinute(CronTrigger):
    """A second of every minute, never of one that is past.

    APScheduler asks for every time since the last, which are millions after a clock that began in 1970 was set.
    """

    def get_next_fire_time(self, previous_fire_time: Any, now: Any) -> Any:
        """Return the next time after now, whatever the last one was."""
        after = now if previous_fire_time is None else now + _SHORTEST
        return super().get_next_fire_time(None, after)  # type: ignore[no-untyped-call]


class Scheduler:
    """Make ticks; whoever runs it decides when the first is made.

    `on_alive` is called when a tick begins and when it has ended, well or badly: at least once in a minute. A failed
    tick counts, since a restart makes neither room on a disk nor a venue; `emi watch` reads the age of what is
    published. `on_fenced` is called when the fence refused a tick, or the record of a failed one, `on_ended` with the
    error of a tick that failed otherwise, and with None for one that was published.
    """

    def __init__(
        self,
        app: App,
        on_report: OnReport = lambda _report, _seconds: None,
        metrics: GeneratorMetrics | None = None,
        deadline_s: float = TICK_DEADLINE_S,
        *,
        may_tick: Callable[[], bool] = lambda: True,
        on_alive: Callable[[], None] = lambda: None,
        on_fenced: Callable[[LeadershipLost], None] = lambda error: log.error("tick not published", reason=str(error)),
        on_ended: Callable[[Exception | None], None] = lambda _error: None,
    ) -> None:
        self._app = app
        self._on_report = on_report
        self._deadline_s = deadline_s
        self._may_tick = may_tick
        self._on_alive = on_alive
        self._on_fenced = on_fenced
        self._on_ended = on_ended
        self._jumps = JumpWatch(app.clock)
        self._watch: asyncio.Task[None] | None = None
        self._began_s: float | None = None  # monotonic, of the running tick
        self._last_s: float | None = None  # monotonic, of the last tick begun
        self.one = asyncio.Lock()  # held by whoever makes a tick, or changes what a tick works with

        self.metrics = metrics or GeneratorMetrics()
        self.metrics.running.set_function(self.running_s)
        self.metrics.ballots_refused.counts = lambda: app.record.box.refused
        self.metrics.ballots_quarantined.counted = lambda: app.record.box.quarantined
        self.metrics.publish_failures.counts = lambda: app.publisher.last_good.failures
        self._timer = AsyncIOScheduler(timezone=UTC)
        self.job = self.every_minute(0, self.on_minute)

    def every_minute(self, second: int, work: Callable[[], Awaitable[None]]) -> Any:
        """Run `work` at a second of every minute, one at a time."""
        return self._timer.add_job(
            work,
            NextMinute(second=second, timezone=UTC),  # type: ignore[no-untyped-call]
            max_instances=1,
            coalesce=True,
            misfire_grace_time=MISFIRE_GRACE_S,
        )

    def start(self) -> None:
        """Begin to keep time."""
        self._timer.start()
        self._watch = asyncio.get_running_loop().create_task(self._watch_clock())

    async def drain(self) -> None:
        """Begin no further tick, and return after the running one."""
        self._may_tick = lambda: False
        self._timer.pause()
        async with self.one:  # shutdown() would cancel a running tick; wait for it first
            self._timer.shutdown(wait=False)
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)

    def running_s(self) -> float:
        """Return how long the running tick has been at work, 0.0 without one; called from other threads too."""
        began_s = self._began_s
        return 0.0 if began_s is None else self._app.clock.monotonic() - began_s

    def is_stuck(self) -> bool:
        """Return whether a tick blocks its thread far past its deadline; called from the lease's thread."""
        return self.running_s() > STUCK_S

    async def fire(self) -> None:
        """Make one tick; a failure is logged and recorded, and readers keep the last release."""
        async with self.one:
            if not self._may_tick():
                return

            at = self._app.clock.now()
            self._began_s = self._app.clock.monotonic()
            self._count_missed(self._began_s)
            self._on_alive()
            try:
                await self._make(at, self._began_s)
            finally:
                self._began_s = None
                self._on_alive()

    async def on_minute(self) -> None:
        """Tick, unless one is at work already, which then counts for this minute too or makes it a missed one."""
        if not self.one.locked():
            await self.fire()

    def forget_last(self) -> None:
        """Count no minute before now as missed."""
        self._last_s = None

    async def _make(self, at: datetime, began_s: float) -> None:
        try:
            async with asyncio.timeout(self._deadline_s) as deadline:
                report = await tick(self._app, at)
        except LeadershipLost as error:
            self._on_fenced(error)
        except Exception as error:  # noqa: BLE001  one bad tick must not end the process
            reason = str(error) or type(error).__name__
            if deadline.expired():
                reason = f"the tick did not end within {self._deadline_s:g} s"
            self._failed(at, reason, error)
            self._on_ended(error)
        else:
            self._published(report, at, self._app.clock.monotonic() - began_s)
            self._on_ended(None)

    def _published(self, report: Report, at: datetime, seconds: float) -> None:
        self.metrics.ticks_by_outcome["published"].inc()
        self.metrics.seconds.observe(seconds)
        self.metrics.published_at.set(at.timestamp())
        self.metrics.generation.set(int(report.generation))
        self.metrics.history_bars.set(len(self._app.market.history))
        self._on_report(report, seconds)

    def _failed(self, at: datetime, reason: str, error: Exception) -> None:
        """Log a failed tick and record it; one that cannot be recorded (the disk may be full) counts as missed."""
        self.metrics.ticks_by_outcome["failed"].inc()
        expected = isinstance(error, GeneratorError | TimeoutError | OSError)
        log.error("tick failed; readers keep the last release", reason=reason, exc_info=None if expected else error)

        try:
            name = at.strftime("%Y%m%dT%H%M%SZ")
            self._app.record.memory.tick_done(name, None, to_ms(at), ok=False, reason=reason)
        except LeadershipLost as refusal:
            self._on_fenced(refusal)
        except Exception as unrecorded:  # noqa: BLE001  whatever it is, the next tick is made
            log.warning("the failed tick was not recorded", reason=str(unrecorded))

    def _count_missed(self, now_s: float) -> None:
        """Count the minutes that passed without a tick since the last; not those that a set clock left out.

        APScheduler's own events do not suffice: it folds those of a pause into one.
        """
        if self._last_s is not None:
            missed = round((now_s - self._last_s) / MINUTE_S) - 1
            if missed > 0:
                self.metrics.ticks_by_outcome["missed"].inc(missed)
                log.warning("ticks missed", minutes=missed)
        self._last_s = now_s

    async def _watch_clock(self) -> None:
        while True:
            await asyncio.sleep(CHECK_CLOCK_EVERY_S)
            await self.check_clock()

    async def check_clock(self) -> None:
        """Check whether the clock was set, and keep time by what it shows now.

        APScheduler sleeps until a wall time: set back by an hour, it would sleep for an hour more.
        """
        jump_s = self._jumps.jump_s()
        if not jump_s:
            return

        forward = jump_s > 0
        self.metrics.jumps_by_direction["forward" if forward else "back"].inc()
        log.warning("the clock was set", by_seconds=round(jump_s, 1))
        for job in self._timer.get_jobs():
            job.reschedule(job.trigger)

        # What is published may have expired meanwhile.
        if forward:
            await self.on_minute()
