"""Leader election: who holds the lease opens the market and makes ticks, who does not stands by.

    STARTING ──► LEADING      the lease is ours and the market is open
        │          │  ▲
        └──► STANDBY ─┘       another holds it: history is kept up to date, nothing is written
    any ──► STOPPING          on SIGINT or SIGTERM, or when the first opening fails

A new leader resumes from the last one's record with a tick at once.
"""

import asyncio
import enum
import signal
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import structlog

from gateway.wire.limits import STORE_REFUSALS
from gateway.wire.notify import ALIVE, FEED_EVERY_S, READY, STOPPING, notify_supervisor
from generator.catalog.words import SourceMode
from generator.errors import GeneratorError, LeadershipLost
from generator.market.source import Progress
from generator.runtime.app import App
from generator.runtime.bootstrap import ensure_bootstrap_in_store
from generator.runtime.health import HealthFile
from generator.runtime.leadership import Leadership
from generator.runtime.market import no_progress, to_ms
from generator.runtime.metrics import GeneratorMetrics
from generator.runtime.scheduler import OnReport, Scheduler
from generator.runtime.startup import open_market, preload

PRELOAD_AT_SECOND: Final = 25  # when the leader does not query the venues
REST_S: Final = 5.0  # after releasing the lease, for another to acquire it
STORE_REST_S: Final = 60.0  # likewise, by a leader whose object store takes nothing, which another may still reach
FIRST_RETRY_S: Final = 15.0
LONGEST_RETRY_S: Final = 600.0

log = structlog.get_logger("emi.leader")


class LeaderState(enum.Enum):
    """What a generator does now."""

    STARTING = "starting"
    STANDBY = "standby"
    LEADING = "leading"
    STOPPING = "stopping"


class Leader:
    """Make ticks while the lease is held, until a stop.

    The app is built with the fence of `leadership`, nothing opened yet; `run` starts and closes the leadership. History
    that could not be fetched is fetched again after `retry_s`, then after twice as long each time. `tell` is how a
    supervisor hears that this process is ready, alive or stopping.
    """

    def __init__(
        self,
        app: App,
        leadership: Leadership,
        on_report: OnReport = lambda _report, _seconds: None,
        *,
        metrics: GeneratorMetrics | None = None,
        progress: Callable[[], AbstractContextManager[Progress]] = lambda: nullcontext(no_progress),
        retry_s: float = FIRST_RETRY_S,
        tell: Callable[[str], object] = notify_supervisor,
        health: HealthFile | None = None,
    ) -> None:
        self._app = app
        self._leadership = leadership
        self._progress = progress
        self._retry_s = retry_s
        self._tell = tell
        self._health = health or HealthFile()
        self._is_ready = False  # whether a standby has said so since it last led
        self._changed = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._epoch: int | None = None  # under which the market is open; None unless LEADING
        self._resigned_until_s = 0.0
        self.state = LeaderState.STARTING

        self.metrics = metrics or GeneratorMetrics()
        self.scheduler = Scheduler(
            app,
            on_report,
            self.metrics,
            may_tick=self.may_tick,
            on_alive=self._is_alive,
            on_fenced=self._fenced_off,
            on_ended=self._tick_ended,
        )
        self.scheduler.every_minute(PRELOAD_AT_SECOND, self._refresh)
        self.metrics.leading.set_function(lambda: float(self.may_tick()))
        self.metrics.epoch.set_function(lambda: float(self._epoch or 0))
        self.metrics.lease_taken.counted = lambda: leadership.taken
        self.metrics.lease_lost.counted = lambda: leadership.lost
        self.metrics.lease_unreached.counted = lambda: leadership.unreached

    async def run(self) -> None:
        """Lead or stand by until SIGINT or SIGTERM; return after the running tick, with the lease released.

        GeneratorError: this process leads from the start and cannot open the market.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        self._leadership.floor = self._app.record.memory.epoch()
        self._leadership.healthy = self._is_healthy
        self._leadership.on_change = lambda: loop.call_soon_threadsafe(self._changed.set)

        self.scheduler.start()
        self._leadership.start()
        self._spawn("alive", self._say_alive())
        self._tell(READY)
        try:
            while not self._is_stopping():
                await self._changed.wait()
                self._changed.clear()
                await self._follow()
        finally:
            self.state = LeaderState.STOPPING
            self._tell(STOPPING)
            await self.scheduler.drain()
            for name in tuple(self._tasks):
                await self._cancel(name)
            self._leadership.on_change = lambda: None  # the loop may be closed by then
            await asyncio.to_thread(self._leadership.close)

    def stop(self) -> None:
        """Make `run` return after the running tick."""
        self.state = LeaderState.STOPPING
        self._changed.set()
        if opening := self._tasks.get("open"):  # it may take minutes
            opening.cancel()

    def may_tick(self) -> bool:
        """Return whether the lease is held, and the market open under it."""
        lease = self._leadership.state()
        return self.state is LeaderState.LEADING and lease is not None and lease.epoch == self._epoch

    def _is_alive(self) -> None:
        self._tell(ALIVE)

    async def _say_alive(self) -> None:
        """Say so while no tick does: an opening of minutes and a standby are well."""
        while True:
            if not self.may_tick():
                self._is_alive()
            await asyncio.sleep(FEED_EVERY_S)

    async def _follow(self) -> None:
        """Act on what the lease says now."""
        lease = self._leadership.state()
        if lease is None or self._is_stopping():
            return

        if lease.epoch is None:
            if self._epoch is None:  # else the loss was logged
                log.info("standing by", leader=lease.holder)
            self._stand_by()
            self.scheduler.forget_last()
            self._spawn("preload", self._preload())
        elif lease.epoch != self._epoch:
            await self._lead(lease.epoch)

    def _stand_by(self) -> None:
        self._epoch = None
        self.state = LeaderState.STANDBY
        self._is_ready = False

    async def _lead(self, epoch: int) -> None:
        """Resume from where the last leader's record ends, and publish at once."""
        began_s = self._app.clock.monotonic()
        alone = self.state is LeaderState.STARTING and not self._app.settings.lease_url
        await self._cancel("preload")
        async with self.scheduler.one:
            if not await self._opened(epoch):
                return
            self._epoch = epoch
            self.state = LeaderState.LEADING

        if not alone:
            opened_in_s = self._app.clock.monotonic() - began_s
            log.info("leading", epoch=epoch, opened_in_s=round(opened_in_s, 2))
        self._backfill_if_empty()
        self.scheduler.forget_last()
        await self.scheduler.fire()

    async def _opened(self, epoch: int) -> bool:
        """Open the market; where that fails after the start, release the lease and stand by."""
        try:
            await self._spawn("open", self._open())
        except asyncio.CancelledError:
            if not self._is_stopping():
                raise
        except LeadershipLost as error:
            log.warning("the lease was not kept while opening; standing by", epoch=epoch, reason=str(error))
            # Where another instance wrote under a higher epoch, the lease is acquired only above that.
            self._leadership.floor = max(self._leadership.floor, error.epoch)
            self._resign()
        except GeneratorError as error:
            self._health.note_refusal(self._app, error)
            if self.state is LeaderState.STARTING:
                raise
            log.warning("unable to lead; standing by", epoch=epoch, reason=str(error))
            self._resign()
        else:
            return not self._is_stopping()
        return False

    async def _open(self) -> None:
        app = self._app
        now = app.clock.now()

        app.record.memory.claim()
        app.record.published.check()  # first: a start takes seconds, a live one minutes
        ensure_bootstrap_in_store(app, now)
        with self._progress() as progress:
            await open_market(app, now, progress)
        app.record.published.begin(to_ms(now))

    async def _refresh(self) -> None:
        if self.state is LeaderState.STANDBY:
            self._spawn("preload", self._preload())

    async def _preload(self) -> None:
        """Hold a history as new as the leader's; a failure is retried in a minute, as a standby without it can wait."""
        market = self._app.market
        now = self._app.clock.now()
        try:
            if not len(market.history):
                await preload(self._app, now)
                self._backfill_if_empty()

            await market.observe(now)
            if not self._is_ready and self.state is LeaderState.STANDBY:
                self._is_ready = True
                log.info("standby ready", bars=len(market.history))
            self._health.note_standby(self._app)
        except Exception as error:  # nothing that happens to a standby may end it
            expected = isinstance(error, GeneratorError | OSError)
            log.warning("standby not ready", reason=str(error), exc_info=None if expected else error)

    def _backfill_if_empty(self) -> None:
        """Fetch the history that a live start without venues could not get, while ticks are made."""
        if self._app.market.mode == SourceMode.LIVE and not len(self._app.market.history):
            self._spawn("backfill", self._backfill())

    async def _backfill(self) -> None:
        pause_s = self._retry_s
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_RETRY_S)

            market = self._app.market
            try:
                bars = await market.source.backfill(to_ms(self._app.clock.now()), market.days, no_progress)
            except Exception as error:  # noqa: BLE001  the next try may do better
                log.warning("backfill failed", reason=str(error), retry_in_s=pause_s)
                continue

            async with self.scheduler.one:
                await market.adopt(bars)
            log.info("backfill done", bars=len(market.history))
            return

    def _fenced_off(self, error: LeadershipLost) -> None:
        """Handle a tick that the fence refused. Where the lease is ours, another has written: acquire a new epoch."""
        self.metrics.ticks_by_outcome["failed"].inc()
        log.warning("the tick was not published", reason=str(error))
        if error.epoch or self._holds():
            self._leadership.floor = max(self._leadership.floor, error.epoch, self._epoch or 0)
            self._resign()

    def _tick_ended(self, error: Exception | None) -> None:
        """Note how a tick went; where the object store refused several and others may lead, let one of them try."""
        self._health.note_tick(self._app, error)
        refusals = self._health.health.store_refusals
        if error is None or refusals < STORE_REFUSALS or not self._app.settings.lease_url:
            return
        log.warning("the object store takes no release from here: the lease is released", ticks=refusals)
        self._resign(STORE_REST_S)

    def _resign(self, rest_s: float = REST_S) -> None:
        """Stand by, and let the lease's thread release the lease for a while."""
        self._resigned_until_s = self._app.clock.monotonic() + rest_s
        if not self._is_stopping():
            self._stand_by()

    def _holds(self) -> bool:
        try:
            self._leadership.fence()
        except LeadershipLost:
            return False
        return True

    def _is_healthy(self) -> bool:
        """Return whether this process can lead; called from the lease's thread."""
        return not self.scheduler.is_stuck() and self._app.clock.monotonic() >= self._resigned_until_s

    def _is_stopping(self) -> bool:
        return self.state is LeaderState.STOPPING

    def _spawn(self, name: str, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start background work, unless work of this name is running."""
        running = self._tasks.get(name)
        if running is not None and not running.done():
            work.close()
            return running
        self._tasks[name] = asyncio.get_running_loop().create_task(work)
        return self._tasks[name]

    async def _cancel(self, name: str) -> None:
        """Cancel background work and wait until it is over."""
        if task := self._tasks.get(name):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
