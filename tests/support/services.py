"""A whole generator on a manual clock and a small history, for tests of the tick."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from generator.catalog.pages import SitePage
from generator.market.observation import Observation
from generator.release.disk import LocalDisk
from generator.release.release import Releases
from generator.release.variants import Variants
from generator.release.vault import VaultFolder
from generator.runtime.app import App, build
from generator.runtime.lease import Fence, no_fence
from generator.runtime.market import no_progress
from generator.runtime.startup import open_market
from generator.settings import GeneratorSettings
from generator.site.files.background import BackgroundFiles, BackgroundRelease, TickFiles
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from generator.site.resources import Assets
from tests.support.clock import ManualClock

DAYS = 1  # of history: as little as gives a reading, for the brain takes a second for three
MINUTE = timedelta(minutes=1)


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run a test's coroutine, and end one that hangs."""

    async def inner() -> None:
        await asyncio.wait_for(work(), 100)

    asyncio.run(inner())


def body(state: Path, path: str) -> Any:
    """Return a JSON body of the release that readers see."""
    return json.loads((state / "site" / "current" / path.lstrip("/")).read_bytes())


class NoBackground(BackgroundFiles):
    """Make none of these files: drawing and OpenAPI's YAML take a second."""

    def files(self, tick: TickFiles, at: datetime, *, waits: bool = True) -> BackgroundRelease:
        return BackgroundRelease({})

    def published(self, release: BackgroundRelease, tick: TickFiles, at: datetime) -> None:
        pass


class NoVariants(Variants):
    """Compress nothing, which is a twentieth of a tick."""

    def add(self, files: Mapping[str, bytes], lasting: Collection[str] = ()) -> dict[str, bytes]:
        return dict(files)


def without_background(app: App) -> App:
    """Leave out OpenAPI, discovery files, pictures, downloads, assets and compressed forms."""
    app.publisher.background.close()
    app.publisher.background = NoBackground(app.record.memory)
    app.publisher.assets = Assets({}, app.publisher.assets.version)
    app.publisher.variants = NoVariants()
    return app


@cache
def shared_pages() -> Pages:
    """Return one renderer for all tests: its templates take a tenth of a second to compile."""
    return Pages()


class LandingPage(Pages):
    """The page that shows this minute, alone: all of them take a sixth of a tick."""

    def each(self, view: PageView) -> Iterator[tuple[SitePage, Callable[[], dict[str, bytes]]]]:
        return ((page, make) for page, make in super().each(view) if page.path == "/")


@cache
def landing_page() -> LandingPage:
    """Return one renderer of it for all tests."""
    return LandingPage()


class SourceWith:
    """A market source that first does what a test says: wait, block the thread, or fail."""

    def __init__(self, source: Any, first: Callable[[], Awaitable[None]]) -> None:
        self.source, self.mode, self._first = source, source.mode, first

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        await self._first()
        found: Observation = await self.source.observe(now_ms, since_ms)
        return found

    async def aclose(self) -> None:
        await self.source.aclose()


@contextlib.asynccontextmanager
async def opened(
    state: Path,
    clock: ManualClock,
    settings: GeneratorSettings | None = None,
    hours: int | None = 0,
    at: datetime | None = None,
    *,
    background: bool = False,
    every_page: bool = False,
    days: int = DAYS,
    fence: Fence = no_fence,
    wrap: Callable[[Any], Any] = lambda source: source,
    new_record: bool = False,
) -> AsyncIterator[App]:
    """Open a generator on `state`, its source wrapped; with the files of the background it renders every page."""
    app = build(settings or GeneratorSettings(state_dir=state), clock, at, fence=fence, days=days)
    app.market.source = wrap(app.market.source)
    app.publisher.pages = shared_pages() if background or every_page else landing_page()
    if not background:
        without_background(app)
    try:
        await open_market(app, clock.now(), no_progress, hours, new_record=new_record)
        yield app
    finally:
        await app.aclose()


def with_disk(app: App, disk: LocalDisk) -> App:
    """Return the app with releases and vault on another disk."""
    releases = Releases(app.settings.site_path, disk)
    releases.open()
    vault = VaultFolder(app.settings.vault_path, disk)
    vault.open()
    return replace(app, publisher=replace(app.publisher, releases=releases, vault=vault))
