"""The pages in a browser: phone, dark, paper, no script, keyboard only, a dead generator, and no one else asked."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from generator.catalog.links import asset_path
from generator.catalog.text.answers import DISCLAIMER
from tests.outside.site_pages import BROWSED, ONE_OF_EACH, Browser, Page, a_market, expect

pytestmark = BROWSED


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_market(tmp_path_factory.mktemp("browser")) as at:
        yield at


def _page(browser: Browser, **options: Any) -> Page:
    return browser.new_context(**options).new_page()


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
def test_no_page_is_wider_than_the_screen(origin: str, browser: Browser, width: int) -> None:
    page = _page(browser, viewport={"width": width, "height": 844})
    wide = {}

    for path in ONE_OF_EACH:
        page.goto(origin + path)
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        wide[path] = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    assert {path: over for path, over in wide.items() if over > 0} == {}


def test_lines_of_prose_are_at_most_seventy_characters_wide(origin: str, browser: Browser) -> None:
    page = _page(browser, viewport={"width": 1920, "height": 1080})
    page.goto(origin + "/learn/")

    too_long = page.evaluate("""() => {
      const ruler = document.createElement('p');
      ruler.textContent = '0'; ruler.hidden = false;
      ruler.style.display = 'inline-block';
      document.querySelector('main').append(ruler);
      const one = ruler.getBoundingClientRect().width;
      const widest = 70.5 * one;
      return [...document.querySelectorAll('main p')].filter((p) => p.getBoundingClientRect().width > widest)
            .map((p) => p.textContent);
    }""")

    assert too_long == []


def test_dark_is_dark_and_light_is_light(origin: str, browser: Browser) -> None:
    grounds = {}

    for scheme in ("light", "dark"):
        page = _page(browser, color_scheme=scheme)
        page.goto(origin + "/")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds[scheme] = sum(int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(",")) / 3

    assert grounds["light"] > 230
    assert grounds["dark"] < 50


@pytest.mark.parametrize("path", ["/", "/track-record/", "/learn/"])
def test_a_page_prints_whole_with_its_notice_and_without_its_navigation(
    origin: str, browser: Browser, path: str
) -> None:
    page = _page(browser)
    page.goto(origin + path)
    page.emulate_media(media="print")

    assert page.pdf(format="A4").startswith(b"%PDF-")
    assert not page.locator("header nav").is_visible()
    assert page.locator("body > .notice, main .notice, footer .notice").first.is_visible()
    assert page.locator("[data-mode-banner]").is_visible()


def test_without_script_every_page_reads_whole_and_shows_its_times(origin: str, browser: Browser) -> None:
    page = _page(browser, java_script_enabled=False)

    for path in ONE_OF_EACH:
        page.goto(origin + path)
        assert page.locator("h1").is_visible(), path
        assert DISCLAIMER in page.locator("body").inner_text(), path
        stamp = page.locator("#stamp").inner_text()
        assert stamp.startswith("As of "), path
        assert "valid until" in stamp or "Is it fresh?" in stamp, path
        assert page.locator("[data-mode-banner]").is_visible(), path


def test_the_keyboard_alone_reaches_the_content_and_every_link_with_a_visible_mark(
    origin: str, browser: Browser
) -> None:
    page = _page(browser, viewport={"width": 1280, "height": 900})
    page.goto(origin + "/")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    wanted = page.evaluate("document.querySelectorAll('main a[href], main summary, main [tabindex=\"0\"]').length")
    seen, unmarked = set(), []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        name, outline = page.evaluate("""() => {
          const at = document.activeElement;
          return [[...document.querySelectorAll('*')].indexOf(at), getComputedStyle(at).outlineStyle];
        }""")
        seen.add(name)
        unmarked += [name] if outline == "none" else []

    assert len(seen) == wanted
    assert unmarked == []


def test_a_chart_shows_its_number_to_a_pointer(origin: str, browser: Browser) -> None:
    page = _page(browser, viewport={"width": 1280, "height": 900})
    page.goto(f"{origin}{asset_path('BTC')}#7d")
    bar = page.locator("#chart-btc-7d [data-tip]").nth(80)

    for _ in range(5):  # a release that comes in just now takes the pointer's mark away
        bar.hover()
        page.mouse.move(0, 0)
        bar.hover()
        if page.locator(".tip").is_visible():
            break

    assert page.locator(".tip").is_visible()
    assert page.locator(".tip").inner_text() == bar.get_attribute("data-tip")


def test_past_its_time_a_page_says_stale_and_before_it_does_not(origin: str, browser: Browser) -> None:
    page = _page(browser)
    page.clock.install(time=datetime.now(UTC))
    page.goto(origin + "/")
    assert not page.locator("#stale").is_visible()
    page.route("**/*", lambda route: route.abort())  # the service is gone

    page.clock.fast_forward(240_000)

    assert page.locator("#stale").is_visible()
    assert "Stale." in page.locator("#stale").inner_text()
    assert page.title().startswith("STALE")


def test_the_countdown_counts(origin: str, browser: Browser) -> None:
    page = _page(browser)
    page.clock.install(time=datetime.now(UTC))
    page.goto(origin + "/arena/")
    count = page.locator("#vote-part [data-countdown]")
    before = count.inner_text()

    page.clock.run_for(3_000)

    assert count.inner_text() != before


def test_the_next_release_comes_into_an_open_page_by_itself(origin: str, browser: Browser) -> None:
    page = _page(browser)
    page.goto(origin + "/")
    page.locator("#day-numbers summary").click()
    before = page.evaluate("document.body.dataset.generatedAt")

    page.wait_for_function("(old) => document.body.dataset.generatedAt !== old", arg=before, timeout=150_000)

    assert page.locator("#day-numbers details").get_attribute("open") is not None
    assert page.locator("#stamp time").first.get_attribute("datetime") == page.evaluate(
        "document.body.dataset.generatedAt"
    )


def test_no_page_asks_anybody_but_its_own_origin_or_breaks_its_policy(origin: str, browser: Browser) -> None:
    page = _page(browser)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    for path in ONE_OF_EACH:
        page.goto(origin + path, wait_until="networkidle")

    assert [url for url in asked if not url.startswith((origin + "/", "data:"))] == []
    assert complaints == []


def test_the_first_paint_needs_the_page_and_its_style_sheet_only(origin: str, browser: Browser) -> None:
    page = _page(browser)
    page.goto(origin + "/")

    blocking = page.evaluate("""() => performance.getEntriesByType('resource')
      .filter((one) => one.renderBlockingStatus === 'blocking').map((one) => new URL(one.name).pathname)""")

    assert blocking == ["/assets/site.css"]


SHIFTS = """
  window.shifted = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shifted += entry.value; })
    .observe({type: 'layout-shift', buffered: true});
"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", ["/docs/", "/docs/free/", "/docs/paid/"])
def test_a_late_script_moves_nothing_of_the_documentation(origin: str, browser: Browser, path: str, width: int) -> None:
    page = _page(browser, viewport={"width": width, "height": 900})
    page.add_init_script(SHIFTS)
    held: list[Any] = []
    page.route("**/docs.js*", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks its handlers)
    page.goto(origin + path, wait_until="commit")
    page.wait_for_selector("footer")
    page.wait_for_timeout(200)  # painted without the script

    held[0].continue_()
    page.wait_for_selector("#docs-search:visible")
    page.wait_for_timeout(200)

    assert page.evaluate("window.shifted") < 0.01


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("/docs/free/#main-brain", "#object-coin-snapshot.price"),
        ("/docs/paid/#x402-market-regime", "#x402-market-regime.confidence"),
    ],
)
def test_a_key_of_an_example_answer_has_its_meaning_and_leads_to_its_row(
    origin: str, browser: Browser, address: str, key: str
) -> None:
    page = _page(browser, viewport={"width": 1280, "height": 900})
    page.goto(origin + address)
    section = page.locator(f'section[aria-labelledby="{address.partition("#")[2]}"]')
    section.locator("details").first.evaluate("(fold) => (fold.open = true)")
    link = section.locator(f'.code a[href$="{key}"]').first

    meaning = link.get_attribute("title")
    link.click()

    row = page.locator(f"[id='{key[1:]}']")
    expect(row).to_be_visible()  # what it is folded in was opened
    assert meaning
    assert meaning in row.inner_text()


def test_a_switch_without_scripts_shows_one_window_of_the_chart(origin: str, browser: Browser) -> None:
    page = _page(browser, java_script_enabled=False)
    page.goto(origin + "/asset/btc/")
    shown = page.locator(".window:visible")

    before = shown.get_attribute("id")
    page.locator('.switch a[href="#24h"]').click()

    assert (before, shown.count(), shown.get_attribute("id")) == ("7d", 1, "24h")


def test_an_old_address_leads_a_browser_to_the_page_it_is_a_part_of(origin: str, browser: Browser) -> None:
    page = _page(browser)
    page.goto(origin + "/glossary/")

    page.wait_for_url(f"{origin}/methodology/#terms")

    assert page.locator("h1").inner_text() == "How the service reads, forecasts and scores"


def test_times_say_the_readers_own_where_it_is_another(origin: str, browser: Browser) -> None:
    page = _page(browser, timezone_id="Asia/Kolkata", locale="en-GB")
    page.goto(origin + "/arena/")
    stamp = page.locator("#stamp time").first

    written = datetime.fromisoformat(stamp.get_attribute("datetime") or "")
    own = written.astimezone(timezone(timedelta(hours=5, minutes=30)))

    assert f"{own:%H:%M}" in (stamp.get_attribute("title") or "")
    assert re.fullmatch(r"Votes close at \d\d:30 your time\.", page.locator("[data-what='Votes close']").inner_text())


def test_the_docs_search_send_requests_and_show_one_language_at_a_time(origin: str, browser: Browser) -> None:
    page = _page(browser, viewport={"width": 1280, "height": 900})
    page.goto(origin + "/docs/free/#reasoning")

    section = page.locator('section[aria-labelledby="reasoning"]')
    section.locator("summary", has_text="Programs").click()
    section.get_by_role("tab", name="Python").click()
    page.select_option("select[name=path]", "/api/reasoning.php")
    page.select_option("select[name=asset]", "SOL")
    page.get_by_role("button", name="Send").click()
    page.locator(".try pre").wait_for()
    page.fill("#docs-search", "liquidations")
    page.locator("#docs-found a").first.wait_for()

    assert page.locator("[data-tab]:visible").evaluate_all("(all) => all.map((one) => one.dataset.tab)") == ["Python"]
    assert page.locator(".try output").inner_text().startswith("HTTP 200 in ")
    assert '"asset": "SOL"' in page.locator(".try pre").inner_text()
    assert (page.locator("#docs-found a").first.get_attribute("href") or "").startswith("/docs/")
