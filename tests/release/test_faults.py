"""Bad days: whatever fails, readers keep the last good release, the fault is seen, and publishing resumes by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from generator.release.release import Releases
from generator.release.vault import Vault
from generator.runtime.schedule import Clockwork
from generator.runtime.service import Service
from generator.site.resources import Assets
from tests.support.disks import FailingDisk
from tests.support.services import SteppedClock, opened

MINUTE = timedelta(minutes=1)


class House:
    """One generator for all tests, which each publish into folders of their own: only its opening takes long."""

    def __init__(self, service: Service, clock: SteppedClock, runner: asyncio.Runner) -> None:
        self.service, self.clock, self.runner = service, clock, runner
        self.clockwork = Clockwork(service)
        self.folder = Path()
        self.failed_before = 0.0

    def move(self, folder: Path, disk: FailingDisk) -> None:
        """Publish into another folder from now on, on a disk that is whole for one tick."""
        self.folder = folder
        self.service.releases = Releases(folder / "site", disk)
        self.service.vault = Vault(folder / "vault", disk)
        disk.heal()
        self.service.releases.open()
        self.service.vault.open()
        self.tick()
        disk.armed = True
        self.failed_before = self.failed()

    def tick(self, step: timedelta = MINUTE) -> None:
        """Make the tick of the next minute."""
        self.clock.step(step)
        self.runner.run(self.clockwork.fire())

    def failed(self) -> float:
        """Return the failed ticks as the metrics tell them."""
        return self.clockwork.metrics.registry.get_sample_value("emi_ticks_total", {"outcome": "failed"}) or 0.0

    def failures(self) -> float:
        """Return the ticks that failed in this test."""
        return self.failed() - self.failed_before

    def shown(self) -> dict[str, Any]:
        """Return /status.json, of a release whose every body is of its generation."""
        current = self.folder / "site" / "current"
        status: dict[str, Any] = json.loads((current / "status.json").read_text())
        bodies = [json.loads(path.read_text()) for path in current.glob("a*/*.php")]
        assert len(bodies) == 9
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
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    clock = SteppedClock()
    with asyncio.Runner() as runner:
        opening = opened(tmp_path_factory.mktemp("state"), clock)
        service = runner.run(opening.__aenter__())
        yield House(service, clock, runner)
        runner.run(opening.__aexit__(None, None, None))


@pytest.mark.parametrize("done", [False, True], ids=["before", "done but raised"])
@pytest.mark.parametrize(
    ("step", "uses"),
    [("write", 0), ("write", 3), ("sync", 0), ("sync", 1), ("replace", 0), ("move", 0), ("point", 0)],
)
def test_whatever_step_fails_the_next_tick_publishes_and_tells_of_it(
    house: House, tmp_path: Path, step: str, uses: int, done: bool
) -> None:
    disk = FailingDisk(step, uses, done=done)
    house.move(tmp_path, disk)
    first = house.shown()

    house.tick()
    between, sold = house.shown(), house.sold()
    disk.heal()
    house.tick()

    status = house.shown()
    assert house.failures() == 1
    assert between == first or (step, done) == ("point", True)
    assert status["ticks"]["failed_24h"] == first["ticks"]["failed_24h"] + 1
    assert int(status["generation"]) == int(first["generation"]) + 2
    assert status["tick_id"] == house.clock.now().strftime("%Y%m%dT%H%M%SZ")
    assert house.sold() == [status["generation"], *sold]


def test_a_store_that_is_away_for_ten_ticks_is_told_of_and_waited_for(house: House, tmp_path: Path) -> None:
    disk = FailingDisk("write")
    house.move(tmp_path, disk)
    first = house.shown()

    for _ in range(10):
        house.tick()
        assert house.shown() == first
    failures = house.failures()
    disk.heal()
    house.tick()

    status = house.shown()
    assert failures == house.failures() == 10
    assert status["ticks"]["failed_24h"] == first["ticks"]["failed_24h"] + 10
    assert status["valid_until"] > first["valid_until"]
    assert int(status["generation"]) > int(first["generation"])


def test_with_the_clock_set_back_an_hour_every_changed_file_has_another_date_that_is_not_ahead(
    house: House, tmp_path: Path
) -> None:
    disk = FailingDisk("write")
    house.move(tmp_path, disk)
    disk.heal()
    before = stamps(tmp_path)

    house.tick(-timedelta(hours=1))
    after = stamps(tmp_path)
    house.tick(timedelta(hours=1, minutes=1))

    changed = {path for path in after if after[path][1] != before.get(path, (0, 0))[1]}
    assert "/api/market-regime.php" in changed
    assert {after[path][0] for path in changed}.isdisjoint(stamp for stamp, _ in before.values())
    assert max(stamp for stamp, _ in after.values()) < min(stamp for stamp, _ in before.values())


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Return mtime in whole seconds and inode by path."""
    current = folder / "site" / "current"
    found = {path: path.stat() for path in current.rglob("*") if path.is_file()}
    return {f"/{path.relative_to(current)}": (int(stat.st_mtime), stat.st_ino) for path, stat in found.items()}


def test_bytes_that_must_not_be_published_fail_the_tick_before_anything_is_sold(house: House, tmp_path: Path) -> None:
    disk = FailingDisk("write")
    house.move(tmp_path, disk)
    disk.heal()
    first, before, assets = house.shown(), house.sold(), house.service.assets

    house.service.assets = Assets({"/assets/site.css": b""}, assets.version)
    house.tick()
    between = house.shown(), house.sold()
    house.service.assets = assets
    house.tick()

    assert between == (first, before)
    assert house.failures() == 1
    assert house.shown()["ticks"]["failed_24h"] == first["ticks"]["failed_24h"] + 1


def test_two_generators_on_one_site_never_take_it_back_and_one_is_told(house: House, tmp_path: Path) -> None:
    disk = FailingDisk("write")
    house.move(tmp_path, disk)
    disk.heal()
    rival = Releases(tmp_path / "site")
    rival.open()
    rival.publish(f"{rival.generation() + 5:012d}", {"/index.html": b"rival"}, 0)

    house.tick()
    pointed = (tmp_path / "site" / "current").readlink().name
    house.tick()

    assert house.failures() == 1
    assert house.shown()["generation"] > pointed
