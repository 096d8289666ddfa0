"""What every page says of itself, and what is kept from one tick to the next."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from generator.catalog.discovery import CATALOG_VERSION, PAGES
from generator.catalog.links import NOT_FOUND
from generator.catalog.measured import HELD, HELD_LABELS, MOVE_SKILL, MOVE_SKILL_BY_HOUR
from generator.catalog.pages import SitePage
from generator.catalog.text.figures import MINUS
from generator.catalog.words import SourceMode
from generator.compose.context import TickTimes
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from generator.site.resources import Resources
from generator.site.words.changelog import Version, versions
from tests.support.builders import HOUR_MS
from tests.support.page_view import Rendered, rendered, view

BASE = "http://127.0.0.1:8402"
OF_NOW = {"/", "/arena/"}


@pytest.fixture(scope="module")
def files() -> Mapping[str, bytes]:
    return rendered()


def _linked(html: str) -> list[dict[str, Any]]:
    block = html.split('<script type="application/ld+json">')[1].split("</script>", maxsplit=1)[0]
    graph: list[dict[str, Any]] = json.loads(block)["@graph"]
    return graph


@pytest.mark.parametrize("page", [page for page in PAGES if page.path != NOT_FOUND], ids=lambda page: page.path)
def test_every_page_names_its_twin_its_address_and_what_it_is(files: Mapping[str, bytes], page: SitePage) -> None:
    html = files[page.file].decode()

    assert f'<link rel="alternate" type="text/markdown" href="{page.path}index.md"' in html
    assert f'<link rel="canonical" href="{BASE}{page.path}">' in html
    assert f'<meta property="og:url" content="{BASE}{page.path}">' in html
    data_set = ["Dataset"] if page.path in {"/", "/track-record/"} else []
    assert [node["@type"] for node in _linked(html)] == ["WebSite", *data_set]
    assert page.twin in files


def test_linked_data_carries_the_time_of_the_tick_and_can_not_end_its_block() -> None:
    base = view()
    site = replace(base.ctx.site, project="</script><b>")

    html = Rendered(replace(base, ctx=replace(base.ctx, site=site)))["/index.html"].decode()

    nodes = _linked(html)
    assert nodes[0]["name"] == "</script><b>"
    assert {node.get("dateModified") for node in nodes} == {None, "2026-11-20T09:53:00Z"}


def test_pages_that_show_this_minute_tell_the_times_of_their_tick() -> None:
    pages, base = Pages(), view()
    pages.render(base)

    files = pages.render(replace(base, ctx=replace(base.ctx, freshness=a_minute_later(base))))

    for page in (page for page in PAGES if page.path in OF_NOW):
        html = files[page.file].decode()
        assert "As of 20 Nov 2026, 09:54 UTC, valid until" in re.sub(r"<[^>]+>", "", html), page.path
        assert "data-valid-until" in html
        assert "As of 20 Nov 2026, 09:54 UTC" in files[page.twin].decode(), page.path


def test_other_pages_stay_byte_for_byte_and_ask_the_status_file_for_freshness() -> None:
    pages, base = Pages(), view()
    before = pages.render(base)

    after = pages.render(replace(base, ctx=replace(base.ctx, freshness=a_minute_later(base))))

    for page in PAGES:
        if page.path not in OF_NOW:
            assert (after[page.file], after[page.twin]) == (before[page.file], before[page.twin]), page.path
            assert b'data-status="/status.json"' in after[page.file]
            assert b"data-valid-until" not in after[page.file]
            assert "As of 20 Nov 2026, 09:53 UTC" in re.sub(r"<[^>]+>", "", after[page.file].decode())


def a_minute_later(base: PageView) -> TickTimes:
    return replace(base.ctx.freshness, generated_ms=base.ctx.freshness.generated_ms + 60_000)


def test_what_did_not_change_is_kept_and_what_did_is_made_again() -> None:
    pages, base = Pages(), view()
    before = pages.render(base)
    arena = replace(base.ctx.arena, lessons=base.ctx.arena.lessons[1:])

    after = pages.render(replace(base, ctx=replace(base.ctx, arena=arena)))

    changed = {page.path for page in PAGES if after[page.file] is not before[page.file]}
    assert changed == {"/learn/", *OF_NOW}


def test_a_kind_of_day_and_a_chapter_have_their_picture_where_there_is_one() -> None:
    figures = {
        "day-up-and-down": Markup('<figure id="chart-day"></figure>'),
        "btc-funding": Markup('<figure id="chart-paid"></figure>'),
    }

    without, shown = (Rendered(replace(view(), figures=drawn)) for drawn in ({}, figures))

    assert b"Up and down: no day of the last month did." in without["/learn/index.html"]
    assert b"Up and down: no day" not in shown["/learn/index.html"]
    assert b"chart-day" in shown["/learn/index.html"]
    assert b"chart-paid" in shown["/learn/funding/index.html"]


def test_a_kept_page_changes_with_the_kind_of_data() -> None:
    pages, base = Pages(), view()
    before = Rendered(base, pages)["/methodology/index.html"]
    live = replace(base.ctx, observation=replace(base.ctx.observation, mode=SourceMode.LIVE))

    after = Rendered(replace(base, ctx=live), pages)["/methodology/index.html"]

    assert b"<strong>live</strong> data" in after
    assert b"<strong>live</strong> data" not in before


def test_a_new_outcome_reaches_the_track_record_at_once() -> None:
    pages, base = Pages(), view()
    before = Rendered(base, pages)["/track-record/index.html"]
    newest = replace(base.predictions[0], start_ms=base.predictions[0].start_ms + HOUR_MS)

    after = Rendered(replace(base, predictions=(newest, *base.predictions)), pages)["/track-record/index.html"]

    assert before != after


def test_the_changelog_page_shows_what_the_file_lists(files: Mapping[str, bytes]) -> None:
    written = versions((Path(__file__).parents[2] / "CHANGELOG.md").read_text())
    html = files["/docs/index.html"].decode()

    assert written[0].number == CATALOG_VERSION
    assert all(f'<details id="v{version.number}">' in html for version in written)
    assert all(version.summary and version.changes for version in written)


def test_the_changelog_joins_lines_and_leaves_other_sections_out() -> None:
    text = "# Changelog\n\n## 2.0.0\n\nOne\nline.\n\n### Added\n\n- `a`\n  b\n- c\n\n### In detail\n\n- d\n"

    assert versions(text) == (Version("2.0.0", "One line.", (("added", "a b"), ("added", "c"))),)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_a_twin_holds_no_tag_and_no_mark_left_open(files: Mapping[str, bytes], page: SitePage) -> None:
    twin = files[page.twin].decode()

    assert "<" not in twin.replace("<=", "")
    assert "@@" not in twin
    assert b"@@" not in files[page.file]
    assert twin.count("\n# ") == 1


def test_the_methodology_shows_what_the_regimes_confidence_was_worth(files: Mapping[str, bytes]) -> None:
    text = files["/methodology/index.md"].decode()

    for held in HELD_LABELS:
        for figure in (
            f"{held.said}%",
            f"{held.came}%",
            f"{held.low} to {held.high} points".replace("-", MINUS),
            f"{held.hours:,}",
        ):
            assert figure in text, held.market


def test_the_methodology_names_all_four_horizons_as_they_were_measured(files: dict[str, bytes]) -> None:
    text = files["/methodology/index.md"].decode()

    for held in HELD:
        assert held.interval in text, (held.horizon, held.stated)
        assert f"{held.moves:,}" in text
    assert MOVE_SKILL.words in text
    assert MOVE_SKILL_BY_HOUR.words in text


TEMPLATES = Resources.locate().templates


@pytest.mark.parametrize("empty", [False, True])
def test_every_link_leads_somewhere_and_says_where(empty: bool) -> None:
    pages = {path: html.decode() for path, html in rendered(empty=empty).items() if path.endswith(".html")}
    # The gateway fills these in; their links stand in the template.
    pages |= {str(path): path.read_text() for path in TEMPLATES.rglob("*.html")}

    for path, html in pages.items():
        for attributes, words in re.findall(r"<a\b([^>]*)>(.*?)</a>", html, re.DOTALL):
            assert re.search(r'\bhref="[^"]', attributes), (path, attributes)
            assert re.sub(r"<[^>]*>", "", words).strip() or "aria-label=" in attributes, (path, attributes)
