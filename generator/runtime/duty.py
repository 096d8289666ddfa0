"""Lead or stand by: the clockwork of a generator that may have rivals.

Who holds the lease opens the market and makes ticks. Who does not keeps history and brain warm and writes nothing; when
the lease comes, it goes on from the last leader's record with a tick at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import structlog
from apscheduler.triggers.cron import CronTrigger

from generator.catalog.words import SourceMode
from generator.errors import GeneratorError, LeadershipLost
from generator.market.source import Progress
from generator.runtime.app import App
from generator.runtime.bootstrap import ensure_in_store
from generator.runtime.headstart import DAYS_OF_HISTORY
from generator.runtime.lease.leadership import Leadership
from generator.runtime.metrics import Metrics
from generator.runtime.opening import adopt, fill_later, keep_warm, open_market, warm_up
from generator.runtime.schedule import MISFIRE_GRACE_S, Clockwork, Told, ignore
from generator.runtime.tick import to_ms

WARM_AT_SECOND: Final = 25  # when the leader is not asking the venues
REST_S: Final = 5.0  # after giving the lease back, for another to have it
FIRST_RETRY_S: Final = 15.0
LONGEST_RETRY_S: Final = 600.0

log = structlog.get_logger("emi.duty")


def quiet(_done: int, _total: int, _what: str) -> None:
    """Show no progress."""


class Duty(Clockwork):
    """Make ticks while the lease is held, until told to stop.

    Args:
        app: the rooms, made with the fence of `leadership`, nothing opened yet.
        leadership: not started yet; it is closed when `run` ends.
        told: called with the report and the seconds of every published tick.
        metrics: counted in.
        progress: shows long work before the first tick.
        days: of history to begin with.
        retry_s: seconds after which history that did not come is asked for again; then twice as long each time.
    """

    def __init__(
        self,
        app: App,
        leadership: Leadership,
        told: Told = ignore,
        *,
        metrics: Metrics | None = None,
        progress: Callable[[], AbstractContextManager[Progress]] = lambda: nullcontext(quiet),
        days: int = DAYS_OF_HISTORY,
        retry_s: float = FIRST_RETRY_S,
    ) -> None:
        super().__init__(app, told, metrics)
        self._app = app
        self._leadership = leadership
        self._progress = progress
        self._days = days
        self._retry_s = retry_s
        self._turned = asyncio.Event()
        self._leading: int | None = None  # the epoch under which the market is open
        self._stood_by = False
        self._opening: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._filling: asyncio.Task[None] | None = None
        self._unfit_until_s = 0.0
        self.scheduler.add_job(
            self._refresh,
            CronTrigger(second=WARM_AT_SECOND, timezone="UTC"),
            coalesce=True,
            misfire_grace_time=MISFIRE_GRACE_S,
        )
        self._watch_leadership()

    async def run(self) -> None:
        """Lead or stand by until SIGINT or SIGTERM; return after the running tick, with the lease given back.

        Raises:
            GeneratorError: this process leads from the start and cannot open the market.
        """
        self.listen()
        loop = asyncio.get_running_loop()
        self._leadership.floor = self._app.record.memory.epoch()
        self._leadership.healthy = self._healthy

        def turned() -> None:
            loop.call_soon_threadsafe(self._turned.set)

        self._leadership.changed = turned
        self.start()
        self._leadership.start()
        try:
            while not self.stopping:
                await self._turned.wait()
                self._turned.clear()
                await self._follow()
        finally:
            await self.drain()
            self._leadership.changed = lambda: None  # the loop may be closed by then
            await asyncio.to_thread(self._leadership.close)

    def stop(self) -> None:
        """Ask `run` to return after the running tick."""
        super().stop()
        self._turned.set()
        if self._opening is not None:  # it may take minutes
            self._opening.cancel()

    def may_tick(self) -> bool:
        """Return whether the lease is held, and the market open under it."""
        standing = self._leadership.standing()
        return self._leading is not None and standing is not None and standing.epoch == self._leading

    def lost(self, error: LeadershipLost) -> None:
        """Hear that a fence refused a tick. Where it was not our own, somebody else has written: ask for a new lease."""
        self.metrics.ticks_by_outcome["failed"].inc()
        log.warning("the tick was not published", reason=str(error))
        if error.epoch or self._holds():
            self._leadership.floor = max(self._leadership.floor, error.epoch, self._leading or 0)
            self._leading = None
            self._resign()

    def _holds(self) -> bool:
        try:
            self._leadership.fence()
        except LeadershipLost:
            return False
        return True

    def _resign(self) -> None:
        self._unfit_until_s = self._app.clock.monotonic() + REST_S

    def _healthy(self) -> bool:
        """Tell the lease's thread whether this process can do a leader's work."""
        return not self.is_stuck() and self._app.clock.monotonic() >= self._unfit_until_s

    async def _follow(self) -> None:
        """Do what the lease says now."""
        standing = self._leadership.standing()
        if standing is None or self.stopping:
            return
        if standing.epoch is None:
            self._stand_by(standing.holder)
        elif standing.epoch != self._leading:
            await self._take_over(standing.epoch)

    def _stand_by(self, holder: str) -> None:
        if self._leading is None:  # else the loss was told
            log.info("standing by", leader=holder)
        self._leading, self._stood_by = None, True
        self.forget_last()
        self._warm()

    async def _take_over(self, epoch: int) -> None:
        """Go on from where the last leader's record ends, and publish at once."""
        began_s = self._app.clock.monotonic()
        await _cancelled(self._warming)
        async with self.one:
            try:
                self._opening = self.spawn(self._open())
                await self._opening
            except asyncio.CancelledError:
                if self.stopping:
                    return
                raise
            except LeadershipLost as error:
                log.warning("the lease was not kept while opening; standing by", epoch=epoch, reason=str(error))
                self._leadership.floor = max(self._leadership.floor, error.epoch)
                self._resign()
                return
            except GeneratorError as error:
                if not self._stood_by:
                    raise
                log.warning("unable to lead; standing by", epoch=epoch, reason=str(error))
                self._resign()
                return
            self._leading = epoch
        if self._stood_by or self._app.settings.lease_url:  # alone on a machine, it goes without saying
            log.info("leading", epoch=epoch, opened_in_s=round(self._app.clock.monotonic() - began_s, 2))
        self._ask_again_for_history()
        self.forget_last()
        await self.fire()
        self._stood_by = True  # from here on trouble is waited out

    async def _open(self) -> None:
        app, now = self._app, self._app.clock.now()
        app.record.memory.claim()
        app.record.logbook.check()  # at once: a first start takes seconds, a live one minutes
        ensure_in_store(app, now)
        with self._progress() as progress:
            await open_market(app, now, progress, days=self._days)
        app.record.logbook.begin(to_ms(now))

    async def _refresh(self) -> None:
        if self._stood_by and not self.may_tick():
            self._warm()

    def _warm(self) -> None:
        if self._warming is None or self._warming.done():
            self._warming = self.spawn(self._keep_warm())

    async def _keep_warm(self) -> None:
        """Have history and brain ready. What fails is tried again in a minute: a standby that cannot read is no harm."""
        now = self._app.clock.now()
        try:
            cold = not len(self._app.market.history)
            if cold:
                await warm_up(self._app, now, quiet, self._days)
                self._ask_again_for_history()
            await keep_warm(self._app, now)
            if cold:
                log.info("warm", bars=len(self._app.market.history))
        except Exception as error:  # nothing that happens to a standby may end it
            expected = isinstance(error, GeneratorError | OSError)
            log.warning("not warm", reason=str(error), exc_info=None if expected else error)

    def _ask_again_for_history(self) -> None:
        """A live start without venues has no history: go on asking, beside the ticks."""
        lacking = self._app.market.mode == SourceMode.LIVE and not len(self._app.market.history)
        if lacking and (self._filling is None or self._filling.done()):
            self._filling = self.spawn(self._fill_history())

    async def _fill_history(self) -> None:
        pause_s = self._retry_s
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_RETRY_S)
            try:
                now_ms = to_ms(self._app.clock.now())
                history, engine = await fill_later(self._app, now_ms, self._days, quiet)
            except Exception as error:  # noqa: BLE001  the next try may do better
                log.warning("still no history", reason=str(error), again_in_s=pause_s)
                continue
            async with self.one:
                adopt(self._app, history, engine)
            log.info("the history came", bars=len(history))
            return

    def _watch_leadership(self) -> None:
        """Let the metrics read what only the lease's thread counts."""
        metrics, counts = self.metrics, self._leadership.counts
        metrics.leading.set_function(lambda: float(self.may_tick()))
        metrics.epoch.set_function(lambda: float(self._leading or 0))
        metrics.lease_taken.set_function(lambda: float(counts.taken))
        metrics.lease_lost.set_function(lambda: float(counts.lost))
        metrics.lease_unreached.set_function(lambda: float(counts.unreached))
        metrics.copy_failures.set_function(lambda: float(self._app.publisher.releases.copy_failures))


async def _cancelled(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task and wait until it is over."""
    if task is not None and not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
