"""The bar at the foot of a phone: one button, never more than a strip of the screen, in every state of the page."""

from collections.abc import Iterator

import pytest

from gateway.wire.networks import TESTNET
from tests.outside.buyer_shop import Wallet, a_shop
from tests.outside.site_pages import BROWSED, Browser, BrowserContext, Page, expect
from tests.outside.test_buyer_browser import BUSY, PRICE_SHOWN, Sent, opened, pay, refusal, until, with_wallet
from tests.support.local_servers import Shop

pytestmark = BROWSED
HEIGHT = 844
MOST_PX = 84
WIDTHS = [320, 360, 390, 412, 430]


@pytest.fixture(scope="module")
def lent_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A gateway as `emi up --as testnet` starts it."""
    with a_shop(tmp_path_factory.mktemp("lent"), TESTNET) as running:
        yield running


@pytest.fixture(params=WIDTHS)
def phone(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": request.param, "height": HEIGHT}, is_mobile=True, has_touch=True)
    yield made
    made.close()


def bar(page: Page) -> list[str]:
    """Return the words of the buttons that are fixed to the foot, once they are found to leave the page free."""
    found: list[dict[str, float | str]] = page.evaluate(
        """() => [...document.querySelectorAll('.paybar, .ownbar')]
          .filter((bar) => getComputedStyle(bar).position === 'fixed')
          .map((bar) => ({
            height: bar.offsetHeight, bottom: bar.getBoundingClientRect().bottom, text: bar.innerText.trim(),
          }))"""
    )
    assert all(float(one["height"]) <= MOST_PX and one["bottom"] == HEIGHT for one in found), found
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    return [str(one["text"]) for one in found]


@pytest.mark.parametrize(("query", "name"), [("", "report"), ("?product=agent", "ATLAS")])
def test_before_and_after_a_purchase_the_bar_is_one_button(
    shop: Shop, phone: BrowserContext, query: str, name: str
) -> None:
    page = opened(phone, shop, query)
    price = page.inner_text("#pay")
    before = bar(page)
    page.click("#pay")
    until(page, "settled")
    during = bar(page)
    page.reload()
    expect(page.locator("#owned")).to_be_visible()
    after = bar(page)

    assert (before, during, after) == ([price], [], [f"Open your {name}"])


def test_what_is_owned_opens_from_the_bar_and_a_newer_one_can_still_be_bought(
    shop: Shop, phone: BrowserContext
) -> None:
    page = opened(phone, shop)
    page.click("#pay")
    until(page, "settled")
    page.reload()

    page.click("#owned")
    until(page, "kept")
    opened_bar = bar(page)
    page.click("#pay")
    asked = until(page, "bought-before")

    assert opened_bar == []
    assert f"Buy a newer one for {PRICE_SHOWN}?" in asked
    expect(page.locator("#newer")).to_be_visible()


def test_with_an_unfinished_payment_the_bar_sends_it_again(shop: Shop, phone: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(phone, wallet)
    Sent(phone, refusal("insufficient_funds"), BUSY)
    page = opened(phone, shop)
    pay(page)
    until(page, "held")

    page.reload()

    assert bar(page) == ["Send the signed payment again"]
    assert wallet.signed == 1


def test_on_a_devnet_under_the_test_networks_name_the_devnet_wallet_pays(
    lent_shop: Shop, context: BrowserContext
) -> None:
    page = opened(context, lent_shop)
    offered = page.inner_text(".till")

    page.click("#pay")
    until(page, "settled")

    kept = page.evaluate("JSON.parse(localStorage.getItem('emi-purchases-v1'))[0]")
    assert "under the test network's name" in offered
    assert (kept["network"], lent_shop.ledger.is_committed(kept["txid"])) == (TESTNET.full, True)
