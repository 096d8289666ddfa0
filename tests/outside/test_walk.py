"""From the first page to an answer, a vote, a chapter and a purchase, by keyboard and by touch, in few activations."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.outside.site_pages import BROWSED, Browser, Page, a_market, expect
from tests.support.processes import get

pytestmark = BROWSED
# What is activated, one after the other, and what then shows that it was of use.
WALKS: Final = {
    "answer": (("#daily-form button",), "#daily-state", "Your answer counts at"),
    "vote": (("footer a[href='/arena/']", "#vote-even"), "#vote-state", "You said"),
    "chapter": (
        ("header a[href='/learn/']", ".chapters a[href='/learn/base-rates/']", ".asked > details > summary"),
        ".asked > details[open]",
        "%",
    ),
    "purchase": (("footer a[href='/pricing/']", "main a[href^='/x402-buyer/']", "#pay"), "main", "Settled."),
}
MOST_TABS: Final = 80


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_market(tmp_path_factory.mktemp("walk")) as at:
        # The chapters have no question before the second release.
        for _ in range(180):
            _, _, body = get(f"{at}/learn/base-rates/")
            if b"Show the answer" in body:
                break
            time.sleep(1)
        yield at


def press(page: Page, selector: str) -> None:
    """Tab to an element and press Enter; fail where it is not among the next ones."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            page.keyboard.press("Enter")
            return
    pytest.fail(f"{selector} is not reached by {MOST_TABS} presses of Tab")


@pytest.mark.parametrize("hand", ["keyboard", "touch"])
@pytest.mark.parametrize("walk", WALKS)
def test_the_first_page_leads_there_in_at_most_three_activations(
    origin: str, browser: Browser, walk: str, hand: str
) -> None:
    steps, place, words = WALKS[walk]
    is_phone = hand == "touch"
    width = 390 if is_phone else 1280
    page = browser.new_context(
        viewport={"width": width, "height": 844}, has_touch=is_phone, is_mobile=is_phone
    ).new_page()
    page.goto(f"{origin}/")

    for step in steps:
        expect(page.locator(step).first).to_be_enabled(timeout=30_000)
        if is_phone:
            page.locator(step).first.tap()
        else:
            press(page, step)
        page.wait_for_load_state("load")

    expect(page.locator(place).first).to_contain_text(words, timeout=30_000)
    assert len(steps) <= 3
