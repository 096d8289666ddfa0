"""The bundle of Pera's and Defly's own code: built from its lock file, and loaded by the page under its policy."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.cli.buyer_wallets import FOLDER, make
from tests.outside.buyer_shop import a_shop
from tests.outside.site_pages import CHROMIUM, Browser, Route, expect
from tests.support.local_servers import Shop

MISSING = (
    "missing: chromium (apt install chromium)"
    if not CHROMIUM.exists()
    else "missing: npm (apt install npm)"
    if shutil.which("npm") is None
    else ""
)
pytestmark = [pytest.mark.outside, pytest.mark.timeout(600), pytest.mark.skipif(bool(MISSING), reason=MISSING)]
BRIDGES = ["wss://a.bridge.walletconnect.org"]
ANSWERS = {
    "https://wc.perawallet.app/config.json": {"web_wallet": False, "servers": BRIDGES, "use_sound": False},
    "https://static.defly.app/wc-bridge-servers.json": {"servers": BRIDGES},
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with a_shop(tmp_path_factory.mktemp("wallets")) as open_shop:
        make(open_shop.state / FOLDER, "npm", os.environ)
        yield open_shop


@pytest.mark.parametrize("wallet", ["pera", "defly"])
def test_the_wallets_own_dialog_opens_and_closing_it_pays_nothing(shop: Shop, browser: Browser, wallet: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    asked: list[str] = []

    def route(one: Route) -> None:
        asked.append(one.request.url)
        if one.request.url in ANSWERS:
            one.fulfill(json=ANSWERS[one.request.url], headers={"access-control-allow-origin": "*"})
        elif one.request.url.startswith(shop.gateway):
            one.continue_()
        else:
            one.abort()

    context.route("**/*", route)
    page = context.new_page()
    page.goto(f"{shop.gateway}/x402-buyer/")
    page.locator(".wallets summary").click()
    page.check(f"input[value={wallet}]")
    before = [url for url in asked if not url.startswith(shop.gateway + "/")]
    page.click("#pay")

    expect(page.locator(f"{wallet}-wallet-connect-modal")).to_be_attached(timeout=20_000)
    page.locator("[class*=header__close-button]:visible, [class*=header-close-button]:visible").first.click()

    expect(page.locator("#state")).to_have_attribute("data-state", "closed")
    assert "Nothing was paid." in page.inner_text("#state")
    assert before == []
    assert {url for url in asked if not url.startswith((shop.gateway, "data:", "blob:"))} <= set(ANSWERS)
    context.close()


def test_the_lock_file_names_no_registry_and_pins_every_package() -> None:
    lock = (Path(__file__).resolve().parents[2] / "generator" / "cli" / "wallets" / "package-lock.json").read_text()

    assert "resolved" not in lock
    assert lock.count('"integrity": "sha512-') > 50
