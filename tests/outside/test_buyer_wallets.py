"""The bundle of Pera's and Defly's own code: built from its lock file, and loaded by the page under its policy."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.cli._buyer_wallets import FOLDER, make
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
SOURCES = Path(__file__).resolve().parents[2] / "generator" / "cli" / "wallets"
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
    lock = (SOURCES / "package-lock.json").read_text()

    assert "resolved" not in lock
    assert lock.count('"integrity": "sha512-') > 50


STUBS = {
    "algosdk": "export const decodeUnsignedTransaction = (bytes) => bytes.length;",
    "@perawallet/connect": (
        "export class PeraWalletConnect { signTransaction(groups) { asked.push(groups); return [1]; } }"
    ),
    "@blockshake/defly-connect": "export class DeflyWalletConnect {}",
}
SIGNS = """
globalThis.asked = [];
const { pera } = await import("./entry.js");
await pera("testnet").sign(["AAAA", "AAAAAAAA"], 1, "PAYER", process.argv[2]);
console.log(JSON.stringify(asked));
"""


@pytest.mark.parametrize(("auth", "own"), [("", {}), ("PAYER", {}), ("OTHER", {"authAddr": "OTHER"})])
def test_a_wallet_is_asked_for_the_key_that_signs_for_a_rekeyed_account(
    auth: str, own: dict[str, str], tmp_path: Path
) -> None:
    shutil.copy(SOURCES / "entry.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(SIGNS)
    for name, code in STUBS.items():
        folder = tmp_path / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"type": "module", "main": "index.js"}')
        (folder / "index.js").write_text(code)

    done = subprocess.run(["node", "run.js", auth], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == [[[{"txn": 3, "signers": []}, {"txn": 6, "signers": ["PAYER"], **own}]]]
