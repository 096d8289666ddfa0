"""How many pages there are, what leads to them, and what is left where a page was."""

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from typing import Final

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.discovery import FOOT, MENU, PAGES
from generator.catalog.links import NOT_FOUND
from generator.catalog.moved import MOVED
from generator.site.files.discovery import discovery
from generator.site.pages.render import Pages
from tests.support.page_view import SITE, rendered

MOST_PAGES: Final = 23 + len(ASSETS)
# Every address that was a page once, typed by hand: none may be forgotten.
OLD: Final = (
    *("/archive/", "/changelog/", "/embed/", "/glossary/", "/status/", "/learn/week/", "/learn/practice/class/"),
    *("/history/24h/", "/history/7d/", "/history/30d/"),
    *(f"/docs/{name}/" for name in ("quickstart", "try", "paying", "freshness", "errors", "discovery", "types")),
    *(f"/docs/{name}/" for name in ("market-regime", "main-brain", "liquidity-lite", "derivatives")),
    *(f"/docs/{name}/" for name in ("human-consensus", "teacher-lessons", "reasoning", "statistics")),
    "/docs/shared-intelligence/",
    *(f"/docs/x402-{name}/" for name in ("market-regime", "main-brain", "atlas", "atlas-human-report")),
)
STUBS: Final = Pages().stubs(SITE)


def test_there_are_at_most_thirty_pages_with_seven_assets_and_each_has_one_address() -> None:
    paths = [page.path for page in PAGES]

    assert len(paths) == len(set(paths)) <= MOST_PAGES


def test_the_menu_has_five_and_the_foot_six_and_both_are_on_every_page() -> None:
    assert [label for label, _ in MENU] == ["Now", "Learn", "Practice", "Record", "API"]
    assert len(FOOT) == 6

    for page in PAGES:
        html = rendered()[page.file].decode()
        for name, links in (("Pages", MENU), ("More", FOOT)):
            nav = html.split(f'<nav aria-label="{name}">')[1].split("</nav>")[0]
            assert re.findall(r'href="([^"]+)"', nav) == [path for _, path in links], page.path


def test_the_sitemap_has_every_page_and_no_stub() -> None:
    root = ET.fromstring(discovery(SITE, datetime(2026, 11, 20, tzinfo=UTC), {})["/sitemap.xml"])
    listed = {str(place.text).removeprefix(SITE.base_url) for place in root.findall(".//{*}loc")}

    assert {page.path for page in PAGES} - listed == {NOT_FOUND}
    assert not listed & set(OLD)


def test_every_old_address_is_in_the_table_and_not_a_page() -> None:
    assert set(MOVED) == set(OLD)
    assert not {page.path for page in PAGES} & set(OLD)


@pytest.mark.parametrize("old", OLD)
def test_a_stub_leads_on_names_the_page_and_is_not_indexed(old: str) -> None:
    stub = STUBS[f"{old}index.html"].decode()
    path, _, place = MOVED[old].partition("#")

    assert '<meta name="robots" content="noindex">' in stub
    assert f'<link rel="canonical" href="{SITE.base_url}{path}">' in stub
    assert f'<a href="{MOVED[old]}">' in stub
    assert f'content="0; url={MOVED[old]}"' in stub
    # Windows of a chart are there once there is a chart.
    assert f'id="{place}"' in rendered()[f"{path}index.html"].decode() or re.fullmatch(r"\d+[hd]", place)
