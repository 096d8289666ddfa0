"""Files too slow for a tick: whole in the first release, renewed between ticks, kept when they fail."""

import asyncio
import hashlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.downloads import SUMS
from generator.catalog.words import SourceMode
from generator.compose.all import compose
from generator.compose.body import Body
from generator.compose.free import FreeBodies
from generator.errors import PublishError
from generator.release.last_good import Kind, LastGoodFiles
from generator.release.values import FIRST_GENERATION
from generator.runtime.app import App
from generator.runtime.tick import tick
from generator.site.files.background import BackgroundFiles, Renewed, StaticFiles, TickFiles
from generator.site.files.downloads import no_downloads, published_downloads
from generator.site.files.pictures import PICTURES, Drawing, Pictures
from tests.support.builders import full_context
from tests.support.clock import ManualClock
from tests.support.disks import FailingDisk
from tests.support.services import opened, with_disk

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
BEFORE_MIDNIGHT = datetime(2026, 11, 30, 23, 57, tzinfo=UTC)


def two_pictures(drawings: Mapping[str, Drawing]) -> Pictures:
    """Name two pictures, each a few bytes: to draw one takes a tenth of a second."""
    shown = {"/", "/arena/"} & drawings.keys()
    shares = {page: replace(PICTURES[page], alt=drawings[page].alt()) for page in shown}
    return Pictures({picture.path: PNG for picture in shares.values()}, shares)


@asynccontextmanager
async def generator(
    folder: Path, draw: Callable[..., Pictures] = two_pictures, *, every_page: bool = False
) -> AsyncIterator[tuple[App, ManualClock]]:
    """Open a generator with everything but OpenAPI and most pictures: YAML takes a second, a picture a tenth."""
    clock = ManualClock(BEFORE_MIDNIGHT)
    async with opened(folder, clock, hours=3, every_page=every_page) as app:
        app.publisher.background = BackgroundFiles(app.record.memory, static=no_openapi, draw=draw)
        yield app, clock


def no_openapi(*_: object) -> StaticFiles:
    return StaticFiles({})


async def minutes(app: App, clock: ManualClock, number: int) -> None:
    """Tick each minute, and let what is made in the background end before the next."""
    for _ in range(number):
        await tick(app, clock.step(timedelta(minutes=1)))
        app.publisher.background._pool.submit(int).result()


def site(folder: Path, path: str) -> bytes:
    return (folder / "site" / "current" / path).read_bytes()


def test_the_first_release_is_whole_and_a_month_that_ends_is_written_once(tmp_path: Path) -> None:
    seen: list[tuple[bytes, int]] = []
    closed: list[bool] = []

    async def work() -> None:
        async with generator(tmp_path, every_page=True) as (app, clock):
            for later in (1, 1, 1, 1440, 1):  # 23:58, 23:59, 00:00, a day later when the last range has ended, 00:01
                clock.step(timedelta(minutes=later - 1))
                await minutes(app, clock, 1)
                file = tmp_path / "site" / "current" / "track-record" / "hourly.csv"
                seen.append((file.read_bytes(), int(file.stat().st_mtime)))
                closed.append(list((tmp_path / "site" / "once").glob("files/track-record/*/*")) != [])
            await minutes(app, clock, 1)

    asyncio.run(work())

    assert closed == [False, False, False, False, True]
    assert seen[0] == seen[1] == seen[2]  # within an hour it stays as it is
    assert seen[3][0].startswith(seen[0][0])
    assert len(seen[3][0].splitlines()) == len(seen[0][0].splitlines()) + len(ASSETS)
    assert seen[3][1] > seen[2][1]
    assert all(site(tmp_path, path) for path in ("feed.json", "feed.xml", "share/now.png"))
    page = site(tmp_path, "index.html").decode()
    assert '<meta property="og:image" content="http://127.0.0.1:8402/share/now.png">' in page
    assert 'content="http://127.0.0.1:8402/share/arena.png"' in site(tmp_path, "arena/index.html").decode()
    assert '<link rel="alternate" type="application/atom+xml" href="/feed.xml"' in page
    once = sorted((tmp_path / "site" / "once" / "files" / "track-record" / "2026-11").iterdir())
    assert [path.name[:14] for path in once] == [
        f"{name}-2026-11" for name in ("hourly", "ranges", "rounds") for _ in "12"
    ]
    sums = site(tmp_path, "track-record/SHA256SUMS").decode()
    page = site(tmp_path, "track-record/index.html").decode()
    for path in once:
        assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" in sums
        assert f'href="/files/track-record/2026-11/{path.name}"' in page
    running = [json.loads(line) for line in site(tmp_path, "track-record/hourly.jsonl").splitlines() if line]
    assert {row["start"] for row in running} == {"2026-12-01T00:00:00Z"}


def test_after_the_bootstrap_a_reading_comes_first_and_what_takes_long_next(tmp_path: Path) -> None:
    nothing = no_downloads(SourceMode.SIMULATED).files
    drawn: list[bool] = []
    sums: list[bytes] = []

    async def work() -> None:
        async with generator(tmp_path) as (app, clock):
            last_good = app.publisher.last_good
            app.publisher.background = BackgroundFiles(
                app.record.memory, last_good, static=no_openapi, draw=two_pictures
            )
            before = {"/index.html": b"<html></html>", **nothing}
            app.publisher.releases.publish(FIRST_GENERATION, before, clock.now().timestamp())
            for _ in range(2):
                await minutes(app, clock, 1)
                drawn.append((tmp_path / "site" / "current" / "share" / "now.png").exists())
                sums.append(site(tmp_path, "track-record/SHA256SUMS"))
                assert site(tmp_path, "api/market-regime.php")

    asyncio.run(work())

    assert drawn == [False, True]
    assert nothing[SUMS] not in sums


def test_a_start_takes_the_published_record_and_the_next_release_reads_it_again(tmp_path: Path) -> None:
    seen: list[tuple[bytes, bytes]] = []

    def of_record() -> tuple[bytes, bytes]:
        return site(tmp_path, "track-record/hourly.csv"), site(tmp_path, "track-record/SHA256SUMS")

    async def work() -> None:
        async with generator(tmp_path) as (app, clock):
            await minutes(app, clock, 2)
            seen.append(of_record())
        later = ManualClock(clock.now() + timedelta(hours=2))
        async with opened(tmp_path, later, hours=0) as app:
            app.publisher.background = BackgroundFiles(
                app.record.memory, app.publisher.last_good, static=no_openapi, draw=two_pictures
            )
            for _ in range(2):
                await minutes(app, later, 1)
                seen.append(of_record())

    asyncio.run(work())

    before, first, second = seen
    assert first == before
    assert second != before
    assert len(second[0]) > 0
    assert f"{hashlib.sha256(second[0]).hexdigest()}  hourly.csv" in second[1].decode()


def test_without_one_published_file_the_record_is_read_at_the_start(tmp_path: Path) -> None:
    async def work() -> None:
        async with generator(tmp_path) as (app, clock):
            await minutes(app, clock, 2)
            exports = app.record.memory.exports()
            shown = app.publisher.releases.shown

            whole = published_downloads(exports, SourceMode.SIMULATED, shown)
            assert whole is not None
            assert whole.files["/track-record/hourly.csv"] == site(tmp_path, "track-record/hourly.csv")
            less = published_downloads(
                exports, SourceMode.SIMULATED, lambda paths: shown(set(paths) - {"/track-record/hourly.csv"})
            )
            assert less is None

    asyncio.run(work())


def test_the_first_tick_after_an_outage_over_a_month_s_end_closes_no_month(tmp_path: Path) -> None:
    in_time: list[bool] = []

    async def work() -> None:
        async with generator(tmp_path) as (app, clock):
            await minutes(app, clock, 1)
        later = ManualClock(BEFORE_MIDNIGHT + timedelta(days=2))
        async with opened(tmp_path, later, hours=0) as app:
            app.publisher.background = BackgroundFiles(app.record.memory, static=no_openapi, draw=two_pictures)
            for _ in range(2):
                await minutes(app, later, 1)
                in_time.append(bool(list((tmp_path / "site" / "once").glob("files/track-record/*/*"))))
            assert list(app.record.memory.exports().notes()) == ["2026-11"]

    asyncio.run(work())

    assert in_time == [False, True]


@pytest.mark.parametrize("done", [False, True], ids=["the pointer did not move", "it moved unanswered"])
def test_a_release_that_fails_has_its_month_again_in_the_next(tmp_path: Path, done: bool) -> None:
    async def work() -> None:
        async with generator(tmp_path, draw=lambda _: Pictures({}, {})) as (app, clock):
            clock.step(timedelta(minutes=2))
            await minutes(app, clock, 1)  # the first of the next month
            clock.step(timedelta(days=1))  # the last range of the month has ended
            await minutes(app, clock, 1)
            disk = FailingDisk("point", done=done)
            failing = with_disk(app, disk)
            with pytest.raises(PublishError):
                await tick(failing, clock.step(timedelta(minutes=1)))
            assert not app.record.memory.exports().notes()
            disk.heal()
            await minutes(failing, clock, 2)
            assert list(app.record.memory.exports().notes()) == ["2026-11"]

    asyncio.run(work())


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def renewed(pool: ThreadPoolExecutor, last_good: LastGoodFiles | None = None) -> Renewed[int]:
    return Renewed(Kind.DOWNLOAD, "downloads", pool, last_good or LastGoodFiles())


def fails() -> int:
    raise RuntimeError("no font")


def test_the_first_value_is_made_at_once_and_the_next_in_the_thread(pool: ThreadPoolExecutor) -> None:
    value = renewed(pool)
    gate = threading.Event()

    def later() -> int:
        gate.wait(30)
        return 2

    assert value.get("a", lambda: 1) == 1
    value.renew("a", lambda: 9)  # of the same key: nothing to do
    value.renew("b", later)
    assert value.get("b", lambda: 9) == 1
    gate.set()
    pool.submit(int).result()
    assert value.get("b", lambda: 9) == 2


@pytest.mark.parametrize("first", [lambda: 1, fails])
def test_a_failure_keeps_the_last_value_and_is_tried_again(pool: ThreadPoolExecutor, first: Callable[[], int]) -> None:
    last_good = LastGoodFiles()
    value = renewed(pool, last_good)

    before = value.get("a", first)
    value.renew("b", fails)
    pool.submit(int).result()
    after = value.get("b", fails)
    value.renew("b", lambda: 3)
    pool.submit(int).result()

    assert before == after
    assert value.get("b", fails) == 3
    assert last_good.failures[Kind.DOWNLOAD] == (2 if first is fails else 1)


def test_what_is_made_while_another_process_published_is_dropped(pool: ThreadPoolExecutor) -> None:
    value = renewed(pool)
    value.get("a", lambda: 1)
    value.renew("b", lambda: 2)
    pool.submit(int).result()

    value.reset()

    assert value.get("b", lambda: 7) == 7


def test_examples_are_those_of_the_first_tick_of_a_day() -> None:
    made: list[dict[str, Any]] = []

    def static(_site: object, examples: Any, *_: object) -> StaticFiles:
        made.append(examples)
        return StaticFiles({})

    context = full_context()
    done = compose(context)
    files = BackgroundFiles(FakeMemory(), static=static)  # type: ignore[arg-type]
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)

    for at in (noon, noon + timedelta(minutes=1), noon + timedelta(days=1)):
        made_of = TickFiles(context, FreeBodies({**done.free, "/at": At(at=f"{at:%H:%M on %d}")}), done.paid)
        files.published(files.files(made_of, at), made_of, at)
    files._pool.submit(int).result()
    files.close()

    assert [examples["/at"]["at"] for examples in made] == ["12:00 on 20", "12:00 on 21"]
    assert made[0].keys() == {*done.free, "/at"}


class At(Body):
    """A body that says when it was made."""

    at: str


class FakeMemory:
    """A memory without a record."""

    def exports(self) -> Any:
        raise RuntimeError("no record")
