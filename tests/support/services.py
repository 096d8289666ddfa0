"""A whole generator on a manual clock and a small history, for tests of the tick."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from generator.compose.context import Site, TickContext
from generator.lease import Fence, one_writer
from generator.release.disk import Disk
from generator.release.release import Releases
from generator.release.vault import Vault
from generator.runtime.app import App, build
from generator.runtime.market import no_progress
from generator.runtime.startup import open_market
from generator.settings import GeneratorSettings
from generator.site.beside import Beside, Bodies, Sidelong
from generator.site.standing import Standing
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


class NoStanding(Standing):
    """Leave OpenAPI and the other standing files out: its YAML takes most of a second."""

    assets: Mapping[str, bytes] = {}

    def files(self, site: Site, bodies: Mapping[str, Any], at: datetime) -> dict[str, bytes]:
        return {}


class NoBeside(Beside):
    """Leave feeds, pictures and downloads out: drawing takes half a second."""

    def now(self, context: TickContext, bodies: Bodies, rounds: Sequence[Mapping[str, Any]], at: datetime) -> Sidelong:
        return Sidelong({})

    def done(self, shown: Sidelong, context: TickContext, bodies: Bodies, at: datetime) -> None:
        pass


@contextlib.asynccontextmanager
async def opened(
    state: Path,
    clock: ManualClock,
    settings: GeneratorSettings | None = None,
    hours: int | None = 0,
    at: datetime | None = None,
    *,
    standing: bool = False,
    days: int = DAYS,
    fence: Fence = one_writer,
    wrap: Callable[[Any], Any] = lambda source: source,
) -> AsyncIterator[App]:
    """Open a generator on `state`, with its market source wrapped."""
    app = build(settings or GeneratorSettings(state_dir=state), clock, at, fence=fence, days=days)
    app.market.source = wrap(app.market.source)
    if not standing:
        app.publisher.standing.close()
        app.publisher.standing = NoStanding()
        app.publisher.beside.close()
        app.publisher.beside = NoBeside(app.record.memory)
    try:
        await open_market(app, clock.now(), no_progress, hours)
        yield app
    finally:
        await app.aclose()


def with_disk(app: App, disk: Disk) -> App:
    """Return the app with releases and vault on another disk."""
    releases = Releases(app.settings.site_path, disk)
    releases.open()
    vault = Vault(app.settings.vault_path, disk)
    vault.open()
    return replace(app, publisher=replace(app.publisher, releases=releases, vault=vault))
