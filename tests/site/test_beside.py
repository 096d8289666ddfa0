"""What a service publishes beside its answers: made between ticks, kept when it fails, whole at the first."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from generator.catalog.assets import ASSETS
from generator.errors import PublishError
from generator.release.last_good import Kind
from generator.runtime.app import App
from generator.runtime.tick import tick
from generator.site.beside import Beside
from generator.site.renewed import Renewed
from tests.support.clock import ManualClock
from tests.support.disks import FailingDisk
from tests.support.services import opened, with_disk

EVE = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)


def run(folder: Path, at: datetime, work: Callable[[App, ManualClock], object]) -> None:
    """Run ticks with everything beside them."""

    async def whole() -> None:
        clock = ManualClock(at)
        async with opened(folder, clock, hours=3) as app:
            app.publisher.beside = Beside(app.record.memory)
            await work(app, clock)  # type: ignore[misc]

    asyncio.run(whole())


async def turn(app: App, clock: ManualClock, minutes: int) -> None:
    """Tick each minute, and let what is made beside it end before the next."""
    for _ in range(minutes):
        await tick(app, clock.step(timedelta(minutes=1)))
        app.publisher.beside._pool.submit(int).result()


def site(folder: Path, path: str) -> bytes:
    return (folder / "site" / "current" / path).read_bytes()


def test_downloads_change_with_the_hour_and_stay_as_they_are_within_it(tmp_path: Path) -> None:
    seen: list[tuple[bytes, int]] = []

    async def work(app: App, clock: ManualClock) -> None:
        for _ in range(4):
            await turn(app, clock, 1)
            file = tmp_path / "site" / "current" / "track-record" / "hourly.csv"
            seen.append((file.read_bytes(), int(file.stat().st_mtime)))

    run(tmp_path, EVE.replace(hour=21, minute=57, second=30), work)  # 21:58, 21:59, 22:00, 22:01

    assert seen[0] == seen[1] == seen[2]
    assert seen[3][0].startswith(seen[0][0])
    assert len(seen[3][0].splitlines()) == len(seen[0][0].splitlines()) + len(ASSETS)
    assert seen[3][1] > seen[2][1]
    assert all(site(tmp_path, path) for path in ("feed.json", "feed.xml", "share/now.png"))
    page = site(tmp_path, "index.html").decode()
    assert '<meta property="og:image" content="http://127.0.0.1:8402/share/now.png">' in page
    assert '<link rel="alternate" type="application/atom+xml" href="/feed.xml"' in page


def test_a_month_that_ended_is_put_once_noted_and_linked(tmp_path: Path) -> None:
    async def work(app: App, clock: ManualClock) -> None:
        await turn(app, clock, 1)
        assert not list((tmp_path / "site" / "once").glob("files/track-record/*/*"))
        await turn(app, clock, 3)

    run(tmp_path, datetime(2026, 11, 30, 23, 58, tzinfo=UTC), work)

    once = sorted((tmp_path / "site" / "once" / "files" / "track-record" / "2026-11").iterdir())
    assert [path.name[:14] for path in once] == ["hourly-2026-11"] * 2 + ["rounds-2026-11"] * 2
    sums = site(tmp_path, "track-record/SHA256SUMS").decode()
    page = site(tmp_path, "track-record/index.html").decode()
    for path in once:
        assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" in sums
        assert f'href="/files/track-record/2026-11/{path.name}"' in page
    running = [json.loads(line) for line in site(tmp_path, "track-record/hourly.jsonl").splitlines() if line]
    assert not running  # of December nothing has ended yet


@pytest.mark.parametrize("done", [False, True], ids=["the pointer did not move", "it moved unanswered"])
def test_a_release_that_fails_puts_its_month_again_in_the_next(tmp_path: Path, done: bool) -> None:
    async def work(app: App, clock: ManualClock) -> None:
        await turn(app, clock, 2)
        disk = FailingDisk("point", done=done)
        failing = with_disk(app, disk)
        with pytest.raises(PublishError):
            await tick(failing, clock.step(timedelta(minutes=1)))
        assert not app.record.memory.exports().notes()
        disk.heal()
        await turn(failing, clock, 2)
        assert list(app.record.memory.exports().notes()) == ["2026-11"]

    run(tmp_path, datetime(2026, 11, 30, 23, 58, tzinfo=UTC), work)


def test_the_first_value_is_made_at_once_and_the_next_beside() -> None:
    with ThreadPoolExecutor(1) as pool:
        made: Renewed[int] = Renewed(Kind.DOWNLOAD, "downloads", pool)
        gate = threading.Event()

        def later() -> int:
            gate.wait(30)
            return 2

        assert made.take("a", lambda: 1) == 1
        made.renew("a", lambda: 9)  # of the same key: nothing to do
        made.renew("b", later)
        assert made.take("b", lambda: 9) == 1
        gate.set()
        pool.submit(int).result()
        assert made.take("b", lambda: 9) == 2


def test_a_failure_keeps_the_last_value_and_is_tried_again() -> None:
    def fails() -> int:
        raise RuntimeError("no font")

    with ThreadPoolExecutor(1) as pool:
        made: Renewed[int] = Renewed(Kind.DOWNLOAD, "downloads", pool)
        assert made.take("a", fails) is None
        for key, make, expected in (("a", lambda: 1, 1), ("b", fails, 1), ("b", lambda: 2, 2)):
            made.renew(key, make)
            pool.submit(int).result()
            assert made.take(key, fails) == expected


def test_a_renewal_that_hangs_holds_up_no_tick() -> None:
    with ThreadPoolExecutor(1) as pool:
        made: Renewed[int] = Renewed(Kind.DOWNLOAD, "downloads", pool)
        gate = threading.Event()
        made.take("a", lambda: 1)
        made.renew("b", lambda: int(gate.wait(30)) + 1)

        for key in "cde":
            made.renew(key, lambda: 9)
            assert made.take(key, lambda: 9) == 1
        gate.set()


def test_a_value_of_another_process_stands_until_the_next_is_made() -> None:
    with ThreadPoolExecutor(1) as pool:
        made: Renewed[int] = Renewed(Kind.DOWNLOAD, "downloads", pool)
        made.begin(7, needed=False)
        assert made.take("a", lambda: 9) == 7
        made.renew("a", lambda: 8)
        pool.submit(int).result()
        assert made.take("a", lambda: 9) == 8


def test_what_was_being_made_before_another_process_led_is_dropped() -> None:
    with ThreadPoolExecutor(1) as pool:
        made: Renewed[int] = Renewed(Kind.DOWNLOAD, "downloads", pool)
        made.take("a", lambda: 1)
        made.renew("b", lambda: 2)
        pool.submit(int).result()
        made.begin(7, needed=False)
        assert made.take("b", lambda: 9) == 7
        made.begin(None, needed=True)
        assert made.take("b", lambda: 9) == 9


SHOWN = ("share/now.png", "share/arena.png", "share/general.png", "track-record/hourly.csv", "track-record/SHA256SUMS")


def test_the_first_release_waits_for_no_picture_and_a_restart_goes_on_with_the_last(tmp_path: Path) -> None:
    def patient(app: App) -> None:
        app.publisher.beside.close()
        app.publisher.beside = Beside(app.record.memory, app.publisher.releases.shown, at_once=False)

    def shown() -> dict[str, bytes]:
        there = [path for path in SHOWN if (tmp_path / "site" / "current" / path).exists()]
        return {path: site(tmp_path, path) for path in there}

    def named() -> bool:
        return b"og:image" in site(tmp_path, "index.html")

    async def first(app: App, clock: ManualClock) -> None:
        patient(app)
        await turn(app, clock, 1)
        assert (set(shown()), named()) == (set(SHOWN[3:]), False)
        await turn(app, clock, 1)
        assert (set(shown()), named()) == (set(SHOWN), True)

    async def again(app: App, clock: ManualClock) -> None:
        patient(app)
        before = shown()
        await turn(app, clock, 1)
        assert (shown() == before, named()) == (True, True)

    run(tmp_path, EVE, first)
    run(tmp_path, EVE + timedelta(minutes=5), again)
