import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from ruamel.yaml import YAML

from gateway.wire.media_types import content_type
from generator.catalog.contact import contact_of
from generator.catalog.discovery import DISCOVERY_FILES, FEEDS, PAGES, Feed
from generator.catalog.downloads import DOWNLOADS, PublicFile
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS, RECOMMENDED_ORDER
from generator.catalog.links import DICTIONARY, SECURITY_TXT
from generator.catalog.products import PRODUCTS
from generator.catalog.text.answers import CAPACITY_NOTICE, CLIENT_ADVICE, DISCLAIMER, VERSION_ADVICE
from generator.compose.all import compose
from generator.site.files.discovery import discovery, security_txt
from tests.support.builders import full_context
from tests.support.page_view import SITE, Rendered, view

AT = datetime(2026, 11, 20, 9, 53, tzinfo=UTC)
BASE = SITE.base_url
PATHS = [row.path for row in ENDPOINTS] + [row.path for row in PRODUCTS]
LISTED = tuple(page for page in PAGES if page.label)  # all but the page for paths that lead nowhere


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return discovery(SITE, AT, {})


def test_every_discovery_file_but_openapi_is_made(files: dict[str, bytes]) -> None:
    assert set(files) == {file.path for file in DISCOVERY_FILES if "openapi" not in file.path}


@pytest.mark.parametrize(("name", "most"), [("/llms.txt", 2_000), ("/SKILL.md", 1_500)])
def test_a_guide_for_agents_is_short(name: str, most: int) -> None:
    site = replace(SITE, base_url="https://market-intelligence.example.org")

    assert len(discovery(site, AT, {})[name]) / 4 <= most


def test_a_skill_begins_with_its_name_and_what_it_is_for(files: dict[str, bytes]) -> None:
    _, header, text = files["/SKILL.md"].decode().split("---\n", 2)

    fields = YAML(typ="safe").load(header)
    assert fields["name"] == "educational-market-intelligence"
    assert len(fields["description"]) <= 1_024
    assert "Not for trading decisions." in fields["description"]
    assert all(product.price_display in text for product in PRODUCTS)
    assert "{{" not in text


def test_what_agents_may_search_for_is_named_as_ard_asks(files: dict[str, bytes]) -> None:
    manifest = json.loads(files["/.well-known/ard.json"])

    assert files["/.well-known/ai-catalog.json"] == files["/.well-known/ard.json"]
    assert set(manifest) == {"specVersion", "host", "entries"}
    for entry in manifest["entries"]:
        assert re.fullmatch(r"urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+", entry["identifier"])
        assert entry["displayName"]
        assert "url" in entry
        assert "data" not in entry
        assert 2 <= len(entry["representativeQueries"]) <= 5
    assert [(entry["url"], entry["type"]) for entry in manifest["entries"]] == [
        (f"{BASE}/SKILL.md", 'text/markdown; profile="urn:air:agent-skills"')
    ]


def test_every_twin_that_the_guide_names_is_published(files: dict[str, bytes]) -> None:
    twins = re.findall(rf"\]\({re.escape(BASE)}(/\S*?)index\.md\)", files["/llms.txt"].decode())

    assert len(twins) >= 4
    assert set(twins) <= {page.path for page in PAGES}


@pytest.mark.parametrize("name", ["/llms.txt", "/llms-full.txt"])
def test_llms_has_its_known_form(files: dict[str, bytes], name: str) -> None:
    lines = files[name].decode().splitlines()

    assert lines[0] == f"# {SITE.project}"
    assert lines[2].startswith("> ")
    assert sum(line.startswith("# ") for line in lines) == 1
    chapters = [line for line in lines if line.startswith("## ")]
    assert chapters[:2] == ["## Free endpoints", "## Paid endpoints (x402)"]


def test_below_every_heading_of_the_guide_stand_links_alone(files: dict[str, bytes]) -> None:
    prose, *sections = re.split(r"^## .*$", files["/llms.txt"].decode(), flags=re.MULTILINE)

    lines = [line for section in sections for line in section.splitlines() if line]
    assert [line for line in lines if not re.fullmatch(r"- \[[^]]+\]\([^)\s]+\): .+", line)] == []
    assert len(sections) == 3
    assert "Never sign a second one." in prose


def test_llms_lists_every_endpoint_and_every_price(files: dict[str, bytes]) -> None:
    text = files["/llms.txt"].decode()

    assert all(f"]({BASE}{path}): " in text for path in PATHS)
    assert all(f"{product.price_display} ({product.price_atomic} atomic units" in text for product in PRODUCTS)


@pytest.mark.parametrize("sentence", [DISCLAIMER, CLIENT_ADVICE, CAPACITY_NOTICE, VERSION_ADVICE])
@pytest.mark.parametrize("name", ["/llms.txt", "/llms-full.txt"])
def test_llms_gives_notice_advice_limits_and_version_rules(files: dict[str, bytes], name: str, sentence: str) -> None:
    assert sentence in files[name].decode()


def test_llms_gives_the_recommended_order(files: dict[str, bytes]) -> None:
    line = re.search(r"^Recommended order: (.*)$", files["/llms.txt"].decode(), re.MULTILINE)

    assert line is not None
    names = ", ".join(ENDPOINT_BY_ID[name].name for name in RECOMMENDED_ORDER)
    assert line[1] == f"{names}, then the paid endpoints where they help."


def test_full_guide_says_when_not_to_use_each_endpoint(files: dict[str, bytes]) -> None:
    text = files["/llms-full.txt"].decode()

    assert all(f"- When not to use: {endpoint.when_not_to_use}\n" in text for endpoint in ENDPOINTS)
    assert all(f"- From the command line: emi buy {product.buy_name} --url {BASE}\n" in text for product in PRODUCTS)
    assert "Query: `asset`" in text


def test_the_full_guide_lists_every_page_download_and_feed(files: dict[str, bytes]) -> None:
    text = files["/llms-full.txt"].decode()

    assert all(f"]({BASE}{page.path}): " in text for page in LISTED)
    assert all(f"- [{file.path}]({BASE}{file.path}): {file.purpose}\n" in text for file in DOWNLOADS)
    assert all(f"- [{feed.path}]({BASE}{feed.path}): {feed.title}\n" in text for feed in FEEDS)


def test_the_full_guide_shows_a_short_real_answer_of_every_endpoint() -> None:
    bodies = {path: body.as_json() for path, body in compose(full_context()).free.items()}

    text = discovery(SITE, AT, bodies)["/llms-full.txt"].decode()

    shown = [
        json.loads(line.split("`")[1]) for line in text.splitlines() if line.startswith("- Example of a real tick")
    ]
    assert len(shown) == len(ENDPOINTS)
    assert all(one["headline"] and "disclaimer" not in one for one in shown)
    assert list(shown[1]["coins"]) == ["BTC"]


def test_robots_lets_everyone_in_and_names_the_sitemap(files: dict[str, bytes]) -> None:
    lines = files["/robots.txt"].decode().splitlines()

    assert "User-agent: *" in lines
    assert not [line for line in lines if line.startswith("Disallow")]
    assert lines[-1] == f"Sitemap: {BASE}/sitemap.xml"


def test_sitemap_lists_pages_and_free_answers_with_their_last_change(files: dict[str, bytes]) -> None:
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"

    urls = ET.fromstring(files["/sitemap.xml"])

    places = [entry.findtext(f"{space}loc") for entry in urls]
    assert {BASE + page.path for page in LISTED} | {BASE + row.path for row in ENDPOINTS} | {
        f"{BASE}/x402-buyer/",
        BASE + DICTIONARY,
        f"{BASE}/now.json",
    } == set(places)
    assert {entry.findtext(f"{space}lastmod") for entry in urls} == {"2026-11-20T09:53:00Z"}


def test_sitemap_time_is_utc_whatever_zone_it_is_given_in() -> None:
    east = AT.astimezone(timezone(timedelta(hours=9)))

    assert discovery(SITE, east, {}) == discovery(SITE, AT, {})


def test_api_catalog_is_a_linkset_of_every_endpoint(files: dict[str, bytes]) -> None:
    catalog, described = json.loads(files["/.well-known/api-catalog"])["linkset"]

    assert catalog["anchor"] == f"{BASE}/.well-known/api-catalog"
    assert [item["href"] for item in catalog["item"]] == [BASE + path for path in PATHS]
    assert described["service-desc"][0]["href"] == f"{BASE}/openapi.json"
    assert described["status"][0]["href"] == f"{BASE}/status.json"
    assert [(row["href"], row["type"]) for row in described["alternate"]] == [
        (BASE + feed.path, feed.media_type) for feed in FEEDS
    ]


@pytest.mark.parametrize("file", [*DOWNLOADS, *FEEDS, *DISCOVERY_FILES], ids=lambda file: file.path)
def test_a_listed_file_is_served_as_the_type_that_the_catalog_names(file: PublicFile | Feed) -> None:
    assert content_type(file.path).partition(";")[0] == file.media_type.partition(";")[0]


def test_x402_document_gives_the_exact_terms_of_every_product(files: dict[str, bytes]) -> None:
    document = json.loads(files["/.well-known/x402"])

    assert document["x402Version"] == 2
    rows = [(row["url"], row["amount"], row["price"], row["asset"]) for row in document["resources"]]
    assert rows == [(BASE + row.path, str(row.price_atomic), row.price_display, str(SITE.asset_id)) for row in PRODUCTS]


def test_mainnet_is_named_by_its_genesis_hash_first() -> None:
    site = replace(SITE, network="mainnet")

    rows = json.loads(discovery(site, AT, {})["/.well-known/x402"])["resources"]

    assert {tuple(row["networks"]) for row in rows} == {
        (
            "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=",
            "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
        )
    }


def test_a_project_name_with_markup_cannot_break_the_sitemap() -> None:
    site = replace(SITE, base_url="https://x.test/a&b")

    urls = ET.fromstring(discovery(site, AT, {})["/sitemap.xml"])

    assert len(urls) == len(LISTED) + len(ENDPOINTS) + 3


def test_security_txt_names_the_contact_and_ends_within_a_year(files: dict[str, bytes]) -> None:
    lines = dict(line.split(": ", 1) for line in files[SECURITY_TXT].decode().splitlines())

    assert lines["Canonical"] == BASE + SECURITY_TXT
    assert lines["Contact"] in {contact_of(SITE.contact).url, f"mailto:{contact_of(SITE.contact).email}"}
    assert timedelta(days=300) < datetime.fromisoformat(lines["Expires"]) - AT < timedelta(days=365)


def test_without_a_contact_no_file_or_page_names_one_or_leads_to_it() -> None:
    site = replace(SITE, contact="")

    files = discovery(site, AT, {}) | dict(Rendered(replace(view(), ctx=replace(view().ctx, site=site))))

    assert SECURITY_TXT not in files
    assert not [path for path, data in files.items() if SECURITY_TXT.encode() in data or b"example.invalid" in data]


def test_pages_and_security_txt_say_where_the_source_is_if_it_is_set() -> None:
    source = "https://example.org/source"
    site = replace(SITE, source_url=source)

    named, silent = (Rendered(replace(view(), ctx=replace(view().ctx, site=one))) for one in (site, SITE))

    assert all(
        f'<a href="{source}">Source</a>'.encode() in named[page] for page in ("/index.html", "/arena/index.html")
    )
    assert f'<a href="{source}">the source of this service</a>'.encode() in named["/docs/paid/index.html"]
    assert security_txt(site, AT).startswith(f"# Source of this service: {source}\nContact: ")
    assert b">Source</a>" not in silent["/index.html"]
    assert "Source" not in security_txt(SITE, AT)


@pytest.mark.parametrize(("day", "expires"), [("2026-01-31", "2026-12-01"), ("2026-02-01", "2027-01-01")])
def test_security_txt_changes_once_a_month(day: str, expires: str) -> None:
    first = datetime.fromisoformat(f"{day}T23:00:00Z")

    assert f"Expires: {expires}T00:00:00Z" in security_txt(SITE, first)
    assert security_txt(SITE, first.replace(day=1)) == security_txt(SITE, first)
