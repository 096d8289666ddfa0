"""The generator's process: production's rooms on the virtual clock, one tick for each command."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog

from generator.errors import SourceError
from generator.market.observation import Observation
from generator.runtime.app import App, build
from generator.runtime.leadership import Leadership, open_lease
from generator.runtime.market import no_progress, to_ms
from generator.runtime.startup import open_market
from generator.runtime.tick import _lock_ms, play_arena, tick
from generator.settings import GeneratorSettings
from tests.support.services import landing_page, without_background
from tests.year.clock import YearClock
from tests.year.process import Commands, full_disk, killed_after, resident_mb

HOUR_S: Final = 3_600


@dataclass(frozen=True)
class Tick:
    """What a tick shall do, and what befalls it.

    Args:
        publishes: whether its release is written; else it is only noted.
        kill_s: processor time after which the process is killed.
        limit: bytes that a file may have at most: the disk is full.
        venues: that respond; None for all, 0 for a market that cannot be read.
        lasts: where it fails, another try would too.
    """

    publishes: bool = True
    kill_s: float | None = None
    limit: int | None = None
    venues: int | None = None
    lasts: bool = False


@dataclass(frozen=True)
class Started:
    """What a start cost."""

    cpu_s: float
    memory_mb: float


class Venues:
    """The simulated market, some of whose venues do not respond."""

    def __init__(self, source: Any) -> None:
        self.source, self.mode = source, source.mode
        self.responding: int | None = None

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        if self.responding == 0:
            raise SourceError("no venue responded")
        found: Observation = await self.source.observe(now_ms, since_ms)
        if self.responding is None:
            return found
        assets = {name: replace(seen, venues=seen.venues[: self.responding]) for name, seen in found.assets.items()}
        return replace(found, assets=assets)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


def generator(
    settings: GeneratorSettings, clock: YearClock, seed: int, kill_s: float | None = None
) -> Callable[[Commands], None]:
    """Return the work of a generator.

    Args:
        settings: of the state.
        clock: of the year.
        seed: of the salts.
        kill_s: processor time of the start after which it is killed.
    """

    def work(commands: Commands) -> None:
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
        asyncio.run(_serve(commands, settings, clock, seed, kill_s))

    return work


async def _serve(
    commands: Commands, settings: GeneratorSettings, clock: YearClock, seed: int, kill_s: float | None
) -> None:
    leadership = Leadership(open_lease(settings))
    with killed_after(kill_s):
        app = build(settings, clock, fence=leadership.fence)
        app.market.source = Venues(app.market.source)
        app.publisher.pages = landing_page()
        without_background(app)
        leadership.floor = app.record.memory.epoch()
        held = leadership.held(wait_s=0)
        held.__enter__()
        app.record.memory.claim()
        app.record.published.check()
        await open_market(app, clock.now(), no_progress, hours=0)
        app.record.salt = lambda: salt_at(seed, clock.now().timestamp())
        await _tick(app, Tick())
    commands.done(Started(time.process_time(), resident_mb()))

    for _, what in commands:
        began = time.process_time()
        try:
            with full_disk(what.limit), killed_after(what.kill_s):
                await _tick(app, what)
        except Exception as error:  # noqa: BLE001  as the scheduler: one bad tick does not end the process
            _note_failed(app, str(error))
            commands.refused(f"{type(error).__name__}: {error}")
        else:
            commands.done(Started(time.process_time() - began, resident_mb()))

    await app.aclose()
    held.__exit__(None, None, None)


def salt_at(seed: int, unix_s: float) -> str:
    """Return the secret of what is sealed in an hour."""
    return hashlib.sha256(f"salt of {seed} {int(unix_s) // HOUR_S}".encode()).hexdigest()[:32]


async def _tick(app: App, what: Tick) -> None:
    source = app.market.source
    assert isinstance(source, Venues)
    source.responding = what.venues
    if what.publishes:
        await tick(app, app.clock.now())
    else:
        await _play(app)


async def _play(app: App) -> None:
    """Make a tick up to the release, and note that as out."""
    at = app.clock.now()
    try:
        observation = await app.market.observe(at)
        ballots = await app.record.box.collect(_lock_ms(app, at))
        _, number = play_arena(app, observation, app.market.read(observation), at, ballots)
    except BaseException:
        app.record.box.requeue()
        raise
    app.record.memory.tick_done(_name(app), f"{number:012d}", to_ms(at), ok=True, reason=None)


def _note_failed(app: App, reason: str) -> None:
    at = app.clock.now()
    try:
        app.record.memory.tick_done(_name(app), None, to_ms(at), ok=False, reason=reason)
    except Exception:  # noqa: BLE001  the disk may be full
        return


def _name(app: App) -> str:
    return app.clock.now().strftime("%Y%m%dT%H%M%SZ")
