"""Feeds read by a feed reader's parser, and every file next to the answers served as what it is by the edges."""

import importlib
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.discovery import FEEDS, SHARE_PICTURES
from generator.catalog.downloads import DOWNLOADS
from generator.catalog.words import SourceMode
from generator.release.release import Releases
from generator.release.variants import Variants
from generator.site.files.feeds import feeds
from tests.journeys.edges import caddy, missing, nginx
from tests.site.test_feeds import changes
from tests.support.page_view import SITE, rounds

pytestmark = [pytest.mark.outside, pytest.mark.timeout(120)]
AT = datetime(2026, 11, 20, 9, 53, tzinfo=UTC)
ONCE = "/files/track-record/2026-10/hourly-2026-10-0123456789ab"
TYPES = {
    **{feed.path: feed.media_type for feed in FEEDS},
    **{file.path: file.media_type for file in DOWNLOADS},
    **{row.path: "image/png" for row in SHARE_PICTURES.values()},
    f"{ONCE}.csv": "text/csv",
    f"{ONCE}.jsonl": "application/jsonl",
    "/log/checkpoint": "text/plain",
    "/status.json": "application/json",
    "/sitemap.xml": "application/xml",
}


def test_a_feed_reader_finds_nothing_to_complain_about() -> None:
    try:
        parser: Any = importlib.import_module("feedparser")
    except ImportError:
        pytest.skip("feedparser: pip install feedparser")
    files = feeds(SITE, SourceMode.SIMULATED, rounds(30), changes(), AT)

    feed = parser.parse(files["/feed.xml"])

    assert (feed.bozo, feed.version) == (0, "atom10")
    assert len(feed.entries) == len({entry.id for entry in feed.entries}) == 31
    assert all(entry.updated_parsed == entry.published_parsed for entry in feed.entries)
    assert all(entry.link.startswith(SITE.base_url) for entry in feed.entries)
    assert {entry.content[0].type for entry in feed.entries} == {"text/html"}
    assert feed.feed.updated_parsed == max(entry.updated_parsed for entry in feed.entries)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    releases = Releases(folder)
    releases.open()
    content = b"x" * 2_000
    once = {path: content for path in TYPES if path.startswith("/files/")}
    files = {path: content for path in TYPES if path not in once}
    releases.publish("000000000001", Variants().add(files), AT.timestamp(), once)
    return folder


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_an_edge_states_the_type_of_every_file_next_to_the_answers(name: str, site: Path, tmp_path: Path) -> None:
    if lacking := missing(name):
        pytest.skip(lacking)

    with (nginx if name == "nginx" else caddy)(tmp_path / name, site) as edge:
        found = {path: kind(edge.origin + path) for path in TYPES}
        pinned = {path: kind(f"{edge.origin}/g/000000000001{path}") for path in ("/feed.json", "/feed.xml")}

    assert found == {path: media_type.partition(";")[0] for path, media_type in TYPES.items()}
    assert pinned == {path: TYPES[path] for path in pinned}


def kind(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert len(answer.read()) == 2_000
        found: str = answer.headers["content-type"].partition(";")[0]
        return found
