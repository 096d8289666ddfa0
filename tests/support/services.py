"""A whole generator on a manual clock and a small history, for tests of the tick."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from generator.compose.context import Site, TickContext
from generator.release.disk import Disk
from generator.release.release import Releases
from generator.release.vault import Vault
from generator.runtime.app import App, build
from generator.runtime.opening import open_market
from generator.settings import GeneratorSettings
from generator.site.beside import Beside, Bodies, Sidelong
from generator.site.standing import Standing
from tests.support.clock import ManualClock

DAYS = 1  # of history: as little as gives a reading, for the brain takes a second for three


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
    hours: int = 0,
    at: datetime | None = None,
    *,
    standing: bool = False,
    days: int = DAYS,
) -> AsyncIterator[App]:
    """Open a generator on `state`."""
    app = build(settings or GeneratorSettings(state_dir=state), clock, at)
    if not standing:
        app.publisher.standing.close()
        app.publisher.standing = NoStanding()
        app.publisher.beside.close()
        app.publisher.beside = NoBeside(app.record.memory)
    try:
        await open_market(app, clock.now(), lambda *_: None, hours, days=days)
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
