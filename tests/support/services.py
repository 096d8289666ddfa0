"""A whole generator on a stepped clock and a small history, for tests of the tick."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from generator.release.disk import Disk
from generator.release.release import Releases
from generator.release.vault import Vault
from generator.runtime.opening import open_market
from generator.runtime.service import Service, build
from generator.settings import GeneratorSettings
from generator.site.background import BackgroundFiles, BackgroundRelease, TickFiles
from generator.site.resources import Assets

DAYS = 1  # of history: as little as gives a reading, for the brain takes a second for three
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class SteppedClock:
    """A clock that tests move."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    def step(self, delta: timedelta) -> datetime:
        self.at += delta
        return self.at


class NoBackground(BackgroundFiles):
    """Make none of these files: drawing and OpenAPI's YAML take a second."""

    def files(self, tick: TickFiles, at: datetime) -> BackgroundRelease:
        return BackgroundRelease({})

    def published(self, release: BackgroundRelease, tick: TickFiles, at: datetime) -> None:
        pass


def without_background(service: Service) -> Service:
    """Leave out OpenAPI, discovery files, pictures, downloads and assets."""
    service.background.close()
    service.background = NoBackground(service.memory)
    service.assets = Assets({}, service.assets.version)
    return service


@contextlib.asynccontextmanager
async def opened(
    state: Path,
    clock: SteppedClock,
    settings: GeneratorSettings | None = None,
    hours: int = 0,
    at: datetime | None = None,
    *,
    background: bool = False,
    days: int = DAYS,
) -> AsyncIterator[Service]:
    """Open a generator on `state`."""
    service = build(settings or GeneratorSettings(state_dir=state), clock, at)
    if not background:
        without_background(service)
    try:
        await open_market(service, clock.now(), lambda *_: None, hours, days=days)
        yield service
    finally:
        await service.aclose()


def with_disk(service: Service, disk: Disk) -> Service:
    """Return the service with releases and vault on another disk."""
    releases = Releases(service.settings.site_path, disk)
    releases.open()
    vault = Vault(service.settings.vault_path, disk)
    vault.open()
    return replace(service, releases=releases, vault=vault)
