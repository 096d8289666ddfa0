"""Nothing on a page moves by itself: scripts come late, its visitor has answered before, its data is out of date."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from generator.catalog.links import DAILY
from tests.outside.site_pages import BROWSED, ONE_OF_EACH, WITHOUT_DATE, Browser, Page, a_market

pytestmark = BROWSED
WIDTHS: Final = (390, 1440)
PAGES: Final = (*ONE_OF_EACH, "/x402-buyer/")
LEAST: Final = 0.002  # of a shift; late scripts move nothing at all, an Arena an hour past its time .0012
SHIFTS: Final = """
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) window.shifts.push([entry.value, entry.sources.map((one) => one.node?.id || "")]);
    }
  }).observe({type: 'layout-shift', buffered: true});
"""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_market(tmp_path_factory.mktemp("shift")) as at:
        yield at


def opened(browser: Browser, width: int) -> Page:
    page = browser.new_context(viewport={"width": width, "height": 844}).new_page()
    page.add_init_script(SHIFTS)
    return page


def shifted(page: Page, url: str) -> list[Any]:
    """Open a page, let its scripts come only once it is painted, and return what moved."""
    held: list[Any] = []
    is_held = True

    def later(route: Any) -> None:
        if is_held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/*.js*", later)
    page.goto(url, wait_until="commit")
    page.wait_for_selector("footer")
    page.wait_for_timeout(150)

    is_held = False
    for route in held:
        route.continue_()
    page.wait_for_load_state("load")
    page.wait_for_timeout(350)
    moved: list[Any] = page.evaluate("window.shifts")
    return moved if sum(value for value, _ in moved) > LEAST else []


@pytest.mark.parametrize("width", WIDTHS)
def test_late_scripts_move_nothing_on_any_page(origin: str, browser: Browser, width: int) -> None:
    moved = {path: shifted(opened(browser, width), origin + path) for path in PAGES}

    assert {path: shifts for path, shifts in moved.items() if shifts} == {}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", ["/", DAILY])
def test_an_answer_of_before_moves_nothing(origin: str, browser: Browser, path: str, width: int) -> None:
    first = opened(browser, width)
    first.goto(origin + DAILY)
    question = first.locator("#day-part").get_attribute("data-question")
    ends = {"low_90": -120, "low_50": -40, "high_50": 35, "high_90": 110}
    kept = [{"question": question, "ends": ends, "change": 0, "txid": "A"}]
    page = opened(browser, width)
    page.add_init_script(f"localStorage.setItem('emi-daily', JSON.stringify({json.dumps(kept)}))")

    assert shifted(page, origin + path) == []
    if question:
        page.locator(".daily-band.brain").first.wait_for(state="attached")
        assert "Your answer counts at" in page.locator("#daily-state").inner_text()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_that_is_out_of_date_says_so_and_moves_nothing(origin: str, browser: Browser, width: int) -> None:
    for path in ("/", "/arena/", "/docs/"):
        page = opened(browser, width)
        page.clock.set_fixed_time(datetime.now(UTC) + timedelta(hours=1))
        page.add_init_script(WITHOUT_DATE)

        assert shifted(page, origin + path) == [], path
        page.locator("#stale").wait_for(state="visible")
