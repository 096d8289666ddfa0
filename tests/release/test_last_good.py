"""No page, picture, feed, download or discovery file stops a release: its last good bytes stay."""

import asyncio
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from structlog.testing import capture_logs

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.words import SourceMode
from generator.compose.free import FreeBodies
from generator.errors import LeadershipLost
from generator.record.memory.store import Memory
from generator.release.last_good import Kind, LastGoodFiles
from generator.runtime.app import App
from generator.runtime.bootstrap import bootstrap_files
from generator.runtime.metrics import GeneratorMetrics
from generator.runtime.tick import tick
from generator.site.files.background import BackgroundFiles, StaticFiles, TickFiles
from generator.site.files.pictures import PICTURES, Pictures
from generator.site.files.sample import Samples
from generator.site.pages.render import Pages
from generator.site.resources import Resources
from tests.support.clock import NOON, ManualClock
from tests.support.page_view import SITE, context
from tests.support.services import opened

# One file of each kind, and a page that does not fail.
OF_KIND = {
    Kind.PAGE: "index.html",
    Kind.FEED: "feed.json",
    Kind.DOWNLOAD: "track-record/hourly.csv",
    Kind.DISCOVERY: "openapi.json",
}
OTHER_PAGE = "arena/index.html"
SAMPLE = "sample-report.json"
MINUTE = timedelta(minutes=1)


def fails(*_: object) -> NoReturn:
    raise ZeroDivisionError("division by zero")


class Deaf:
    """A memory of which some questions fail."""

    def __init__(self, memory: Memory, *questions: str) -> None:
        self._memory, self._questions = memory, questions

    def __getattr__(self, name: str) -> Any:
        return fails if name in self._questions else getattr(self._memory, name)


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    """Templates of which that of the landing page divides by zero; they are compiled once."""
    there = Resources.locate()
    folder = tmp_path_factory.mktemp("torn") / "templates"
    shutil.copytree(there.templates, folder)
    (folder / "pages" / "index.html").write_text("{{ 1 // 0 }}")
    (folder.parent / "CHANGELOG.md").write_text(there.changelog)
    return Resources(folder, there.site)


def broken(app: App, torn: Resources) -> App:
    """Return the app with a fault in every kind of file but the answers."""
    deaf: Any = Deaf(app.record.memory, "exports", "meta")
    no_changes: Any = Deaf(app.record.memory, "regime_changes")
    publisher = replace(
        app.publisher,
        pages=Pages(torn),
        background=BackgroundFiles(deaf, app.publisher.last_good, static=lambda *_: fails()),
        samples=Samples(deaf),
    )
    return replace(app, publisher=publisher, record=replace(app.record, memory=no_changes))


def site(state: Path) -> dict[str, bytes | None]:
    current = state / "site" / "current"
    paths = [*OF_KIND.values(), OTHER_PAGE, SAMPLE]
    return {path: (current / path).read_bytes() if (current / path).exists() else None for path in paths}


def quick_openapi(*_: Any) -> StaticFiles:
    return StaticFiles({"/openapi.json": b"{}"})


def run(state: Path, work: Callable[[App, ManualClock], Any]) -> None:
    async def whole() -> None:
        clock = ManualClock()
        async with opened(state, clock, background=True) as app:
            publisher = app.publisher
            publisher.background = BackgroundFiles(
                app.record.memory, publisher.last_good, static=quick_openapi, draw=lambda _: Pictures()
            )
            await work(app, clock)

    asyncio.run(whole())


def test_the_release_comes_and_what_cannot_be_made_stays_as_it_was(tmp_path: Path, torn: Resources) -> None:
    async def work(app: App, clock: ManualClock) -> None:
        await tick(app, clock.now())
        before = site(tmp_path)
        app.publisher.last_good.invalidate()  # as after a restart: only what is published is known
        await tick(broken(app, torn), clock.step(MINUTE))
        after = site(tmp_path)
        assert None not in before.values()
        assert {path for path in after if after[path] != before[path]} == {OTHER_PAGE}
        assert b"000000000002" in (tmp_path / "site/current/api/market-regime.php").read_bytes()
        assert all(app.publisher.last_good.failures[kind] for kind in OF_KIND)

    run(tmp_path, work)


def test_without_an_earlier_release_what_cannot_be_made_is_left_out(tmp_path: Path, torn: Resources) -> None:
    async def work(app: App, clock: ManualClock) -> None:
        await tick(broken(app, torn), clock.now())

    run(tmp_path, work)

    assert {path for path, content in site(tmp_path).items() if content is not None} == {OTHER_PAGE}
    assert all((tmp_path / "site" / "current" / row.path.lstrip("/")).exists() for row in ENDPOINTS)


def test_pictures_that_cannot_be_drawn_stay_as_published() -> None:
    deaf: Any = Deaf(None)  # type: ignore[arg-type]
    paths = [row.path for row in PICTURES.values()]
    last_good = LastGoodFiles(shown=lambda asked: {path: b"as published" for path in asked if path in paths})

    found = BackgroundFiles(deaf, last_good).files(
        TickFiles(context(), FreeBodies({}), {}), NOON
    )  # no bodies: nothing to draw

    assert {path: found.files.get(path) for path in paths} == dict.fromkeys(paths, b"as published")
    assert last_good.failures[Kind.PICTURE] == 2  # the share pictures and those of the history


def test_the_first_pages_are_published_without_the_one_that_fails(torn: Resources) -> None:
    files = bootstrap_files(SITE, SourceMode.LIVE, NOON, Pages(torn))

    assert ("/index.html" in files, "/arena/index.html" in files, "/openapi.json" in files) == (False, True, True)


@pytest.mark.parametrize("content", [b"", b"<html>half", b"\xff</html>"], ids=["empty", "cut", "not UTF-8"])
def test_a_page_that_is_not_one_is_a_failure_too(content: bytes) -> None:
    last_good = LastGoodFiles()
    last_good.make(Kind.PAGE, ("/index.html",), lambda: {"/index.html": b"<html></html>"})

    files = last_good.make(Kind.PAGE, ("/index.html",), lambda: {"/index.html": content})

    assert files == {"/index.html": b"<html></html>"}


def test_each_failure_is_counted_and_logged_once_until_it_is_well_again() -> None:
    last_good = LastGoodFiles()
    metrics = GeneratorMetrics()
    metrics.publish_failures.counts = lambda: last_good.failures

    def make(made: Callable[[], Mapping[str, bytes]]) -> None:
        last_good.make(Kind.FEED, ("/feed.json",), made)

    with capture_logs() as logged:
        for made in (fails, fails, lambda: {"/feed.json": b"{}"}, fails):
            make(made)

    assert [row["reason"] for row in logged] == ["ZeroDivisionError: division by zero"] * 2
    assert metrics.registry.get_sample_value("emi_publish_failures_total", {"kind": "feed"}) == 3
    assert metrics.registry.get_sample_value("emi_publish_failures_total", {"kind": "page"}) == 0


def test_a_chart_that_fails_each_minute_is_logged_once_though_others_are_drawn() -> None:
    last_good = LastGoodFiles()

    def attempt(name: str, draw: Callable[[], Any]) -> Any:
        return last_good.attempt(Kind.PICTURE, fails if "what_changed" in name else draw, name)

    with capture_logs() as logged:
        charts = [[attempt(name, lambda: "drawn") for name in ("verdict", "what_changed")] for _ in range(2)]

    assert charts == [["drawn", None], ["drawn", None]]
    assert [row["file"] for row in logged] == ["what_changed"]


def test_a_lost_lease_is_not_a_failure_of_a_file() -> None:
    def lost() -> dict[str, bytes]:
        raise LeadershipLost("another leads")

    with pytest.raises(LeadershipLost):
        LastGoodFiles().make(Kind.DOWNLOAD, ("/sample.json",), lost)


def test_a_failure_is_logged_with_its_kind_its_reason_and_its_place() -> None:
    with capture_logs() as logs:
        LastGoodFiles().attempt(Kind.DOWNLOAD, lambda: json.loads("no JSON"), "a file")

    (line,) = logs
    assert [*Kind] == ["page", "picture", "feed", "download", "discovery"]
    assert (line["kind"], line["file"]) == ("download", "a file")
    assert line["reason"] == "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    assert line["at"].startswith("decoder.py:")
