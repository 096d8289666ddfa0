"""Bad days: whatever fails, readers keep the last good release, the fault is seen, and publishing resumes by itself."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.release.release import Releases
from generator.release.vault import VaultFolder
from generator.runtime.app import App
from generator.runtime.scheduler import Scheduler
from generator.site.resources import Assets
from tests.support.clock import ManualClock
from tests.support.disks import FailingDisk
from tests.support.services import opened

MINUTE = timedelta(minutes=1)


class GeneratorHarness:
    """One generator for all tests, which publish one after the other: each begins with what the one before left."""

    def __init__(self, app: App, clock: ManualClock, runner: asyncio.Runner, folder: Path) -> None:
        self.app, self.clock, self.runner, self.folder = app, clock, runner, folder
        self.scheduler = Scheduler(app)
        self.failed_before = 0.0
        self.tick()

    def publish_on(self, disk: FailingDisk) -> None:
        """Publish on another disk from now on."""
        disk.heal()
        self.app.publisher.releases = Releases(self.folder / "site", disk)
        self.app.publisher.vault = VaultFolder(self.folder / "vault", disk)
        self.app.publisher.releases.open()
        self.app.publisher.vault.open()
        disk.armed = True
        self.failed_before = self.failed()

    def tick(self) -> None:
        """Make the tick of the next minute."""
        self.clock.step(MINUTE)
        self.runner.run(self.scheduler.fire())

    def failed(self) -> float:
        """Return the failed ticks as the metrics tell them."""
        return self.scheduler.metrics.registry.get_sample_value("emi_ticks_total", {"outcome": "failed"}) or 0.0

    def failures(self) -> float:
        """Return the ticks that failed in this test."""
        return self.failed() - self.failed_before

    def shown(self) -> dict[str, Any]:
        """Return /status.json, of a release whose every body is of its generation."""
        current = self.folder / "site" / "current"
        status: dict[str, Any] = json.loads((current / "status.json").read_text())
        bodies = [json.loads(path.read_text()) for path in current.glob("a*/*.php")]
        assert len(bodies) == len(ENDPOINTS)
        assert (
            {body["freshness"]["generation"] for body in bodies} == {status["generation"]} == {current.readlink().name}
        )
        return status

    def sold(self) -> list[str]:
        """Return the snapshots that can be paid, newest first; every body is there."""
        manifest = json.loads((self.folder / "vault" / "manifest.json").read_text())
        for row in (body for snapshot in manifest["snapshots"] for body in snapshot["bodies"].values()):
            assert (self.folder / "vault" / row["path"]).stat().st_size == row["bytes"]
        return [snapshot["snapshot_id"] for snapshot in manifest["snapshots"]]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GeneratorHarness]:
    clock = ManualClock()
    with asyncio.Runner() as runner:
        folder = tmp_path_factory.mktemp("state")
        opening = opened(folder, clock)
        app = runner.run(opening.__aenter__())
        yield GeneratorHarness(app, clock, runner, folder)
        runner.run(opening.__aexit__(None, None, None))


@pytest.mark.parametrize("done", [False, True], ids=["before", "done but raised"])
@pytest.mark.parametrize(
    ("step", "uses"),
    [("write", 0), ("write", 3), ("sync", 0), ("sync", 1), ("replace", 0), ("move", 0), ("point", 0)],
)
def test_whatever_step_fails_the_next_tick_publishes_and_reports_it(
    harness: GeneratorHarness, step: str, uses: int, done: bool
) -> None:
    disk = FailingDisk(step, uses, done=done)
    harness.publish_on(disk)
    first = harness.shown()

    harness.tick()
    between, sold = harness.shown(), harness.sold()
    disk.heal()
    harness.tick()

    status = harness.shown()
    assert harness.failures() == 1
    assert between == first or (step, done) == ("point", True)
    assert status["ticks"]["failed_24h"] == first["ticks"]["failed_24h"] + 1
    assert int(status["generation"]) == int(first["generation"]) + 2
    assert status["tick_id"] == harness.clock.now().strftime("%Y%m%dT%H%M%SZ")
    newest, *others = harness.sold()
    assert newest == status["generation"]
    assert others in (sold, sold[:-1])  # the oldest goes when its time is over


def test_bytes_that_must_not_be_published_fail_the_tick_before_anything_is_sold(harness: GeneratorHarness) -> None:
    disk = FailingDisk("write")
    harness.publish_on(disk)
    disk.heal()
    first, before, assets = harness.shown(), harness.sold(), harness.app.publisher.assets

    harness.app.publisher.assets = Assets({"/assets/site.css": b""}, assets.version)
    harness.tick()
    between = harness.shown(), harness.sold()
    harness.app.publisher.assets = assets
    harness.tick()

    assert between == (first, before)
    assert harness.failures() == 1
    assert harness.shown()["ticks"]["failed_24h"] == first["ticks"]["failed_24h"] + 1
