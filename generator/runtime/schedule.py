"""The clockwork: one tick at every full minute while this process leads, one at a time, drained on a stop."""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Final

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from generator.clock import JumpWatch
from generator.errors import GeneratorError, LeadershipLost
from generator.runtime.app import App
from generator.runtime.metrics import Metrics
from generator.runtime.publication import Report
from generator.runtime.tick import tick, to_ms

TICK_DEADLINE_S: Final = 50.0
STUCK_S: Final = 70.0  # a tick that asyncio could not end by now blocks its thread: somebody else should lead
MISFIRE_GRACE_S: Final = 30
KEPT_FAILURES: Final = 1440  # of a day, which is what readers are told
LOOK_EVERY_S: Final = 1.0
MINUTE_S: Final = 60.0

Told = Callable[[Report, float], None]

log = structlog.get_logger("emi.schedule")


def ignore(_report: Report, _seconds: float) -> None:
    """Tell nobody."""


class Clockwork:
    """Make ticks until told to stop; who runs it decides when the first is made.

    Args:
        app: the rooms, with the market opened.
        told: called with the report and the seconds of every published tick.
        metrics: counted in.
        deadline_s: of a whole tick.
    """

    def __init__(
        self, app: App, told: Told = ignore, metrics: Metrics | None = None, deadline_s: float = TICK_DEADLINE_S
    ) -> None:
        self._app = app
        self._told = told
        self._deadline_s = deadline_s
        self._stop = asyncio.Event()
        self._jumps = JumpWatch(app.clock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._began_s: float | None = None  # monotonic, of the running tick
        self._unrecorded: deque[tuple[datetime, str]] = deque(maxlen=KEPT_FAILURES)
        self._last_s: float | None = None  # monotonic, of the last tick begun
        self.one = asyncio.Lock()  # held by whoever makes a tick, or changes what a tick works with
        self.metrics = metrics or Metrics()
        self.metrics.running.set_function(self.running_s)
        self.metrics.ballots_refused.counts = lambda: app.record.box.refused
        self.metrics.publish_failures.counts = lambda: app.publisher.last_good.failures
        self.scheduler = AsyncIOScheduler(timezone=UTC)
        self.job = self.scheduler.add_job(
            self._on_time,
            CronTrigger(second=0, timezone=UTC),
            max_instances=1,
            coalesce=True,
            misfire_grace_time=MISFIRE_GRACE_S,
        )

    def listen(self) -> None:
        """Stop on SIGINT and SIGTERM."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)

    def start(self) -> None:
        """Begin to keep time."""
        self.scheduler.start()
        self.spawn(self._watch())

    async def drain(self) -> None:
        """Begin no further tick, and return after the running one."""
        self.scheduler.pause()
        async with self.one:  # shutdown() would cancel a running tick; wait for it first
            self.scheduler.shutdown(wait=False)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        """Begin no further tick."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop.is_set()

    def spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run `work` beside the ticks until it ends or the clockwork does."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def running_s(self) -> float:
        """Return how long the running tick has been at work, 0.0 without one; asked from other threads too."""
        began_s = self._began_s
        return 0.0 if began_s is None else self._app.clock.monotonic() - began_s

    def is_stuck(self) -> bool:
        """Return whether a tick blocks its thread far past its deadline; asked from the lease's thread."""
        return self.running_s() > STUCK_S

    async def fire(self) -> None:
        """Make one tick; a failure is recorded and told, and the last release stands."""
        async with self.one:
            if self._stop.is_set() or not self.may_tick():
                return
            at = self._app.clock.now()
            self._began_s = self._app.clock.monotonic()
            self._count_missed(self._began_s)
            try:
                await self._make(at, self._began_s)
            finally:
                self._began_s = None

    def may_tick(self) -> bool:
        """Return whether ticks may be made now; a standby makes none."""
        return True

    def lost(self, error: LeadershipLost) -> None:
        """Hear that the fence refused a tick; alone, nobody can have taken anything over."""
        log.error("tick not published", reason=str(error))

    def forget_last(self) -> None:
        """Count no minute before now as missed, nor as failed."""
        self._last_s = None
        self._unrecorded.clear()

    async def _make(self, at: datetime, began_s: float) -> None:
        self._note_failures()  # before the tick, so that it tells them
        try:
            async with asyncio.timeout(self._deadline_s) as deadline:
                report = await tick(self._app, at)
        except LeadershipLost as error:
            self.lost(error)
        except Exception as error:  # noqa: BLE001  one bad tick must not end the clockwork
            late = deadline.expired()
            self._failed(at, f"the tick did not end within {self._deadline_s:g} s" if late else _reason(error), error)
        else:
            self._published(report, at, self._app.clock.monotonic() - began_s)

    def _published(self, report: Report, at: datetime, seconds: float) -> None:
        self.metrics.ticks_by_outcome["published"].inc()
        self.metrics.seconds.observe(seconds)
        self.metrics.published_at.set(at.timestamp())
        self.metrics.generation.set(int(report.generation))
        self.metrics.history_bars.set(len(self._app.market.history))
        self._told(report, seconds)

    def _failed(self, at: datetime, reason: str, error: Exception) -> None:
        self.metrics.ticks_by_outcome["failed"].inc()
        expected = isinstance(error, GeneratorError | TimeoutError | OSError)
        log.error("tick failed; the last release stands", reason=reason, exc_info=None if expected else error)
        self._unrecorded.append((at, reason))
        lost = self._note_failures()
        if lost is not None:
            self.lost(lost)

    def _note_failures(self) -> LeadershipLost | None:
        """Record the ticks that failed; what cannot be recorded now (a disk that is full for all) waits for the next.

        Only a restart loses them: their minutes then show as missed.

        Returns:
            The fence's refusal: the record is another's now, and none of them stands in it.
        """
        while self._unrecorded:
            at, reason = self._unrecorded[0]
            try:
                name = at.strftime("%Y%m%dT%H%M%SZ")
                self._app.record.memory.tick_done(name, None, to_ms(at), ok=False, reason=reason)
            except LeadershipLost as lost:
                self._unrecorded.clear()
                return lost
            except Exception as error:  # noqa: BLE001  whatever it is, the next tick tries again
                log.warning("failed ticks wait to be recorded", ticks=len(self._unrecorded), reason=str(error))
                return None
            self._unrecorded.popleft()
        return None

    def _count_missed(self, now_s: float) -> None:
        """Count the minutes that went by without a tick since the last; not those that a set clock left out.

        APScheduler's own events say less: those that it folds into one after a pause are not told.
        """
        if self._last_s is not None:
            missed = round((now_s - self._last_s) / MINUTE_S) - 1
            if missed > 0:
                self.metrics.ticks_by_outcome["missed"].inc(missed)
                log.warning("ticks missed", minutes=missed)
        self._last_s = now_s

    async def _on_time(self) -> None:
        """Tick, unless one is at work already, which then stands for this minute too or makes it a missed one."""
        if not self.one.locked():
            await self.fire()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """See whether the clock was set, and keep time by what it shows now.

        APScheduler sleeps until a wall time: set back by an hour, it would sleep for an hour more.
        """
        jump_s = self._jumps.look()
        if not jump_s:
            return
        forward = jump_s > 0
        self.metrics.jumps_by_direction["forward" if forward else "back"].inc()
        log.warning("the clock was set", by_seconds=round(jump_s, 1))
        self.job.reschedule(CronTrigger(second=0, timezone=UTC))
        if forward:  # what is published may have run out on the way
            await self._on_time()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
