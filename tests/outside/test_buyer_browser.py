"""The buyer page in a browser: both purchases, every way in which one can fail, recovery, tabs, wallets, access."""

import base64
import gzip
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.settings import DEMO_PAYEE
from generator.catalog.links import BUYER_PAGES
from generator.catalog.money import usdc_amount
from tests.buyer.test_page import page_of, selling
from tests.outside.buyer_shop import ARC0001, ARC0027, LUTE_PAGE, MAINNET, Wallet, provider
from tests.outside.site_pages import BROWSED, MODULES, Browser, BrowserContext, Page, Route, expect
from tests.support.gateway_wallet import decode_header
from tests.support.local_servers import Shop
from tests.support.vaults import PRICES, SHOWN

pytestmark = BROWSED
PAGE = "/x402-buyer/"
REPORT = "/api/x402-atlas-human-report.php"
SOON_MS = 20_000
PRICE = PRICES["x402-atlas-human-report"]
PRICE_SHOWN = SHOWN["x402-atlas-human-report"]


def opened(context: BrowserContext, shop: Shop, query: str = "") -> Page:
    page = context.new_page()
    page.set_default_timeout(SOON_MS)
    page.goto(shop.gateway + PAGE + query)
    return page


def until(page: Page, state: str) -> str:
    """Wait until the page is in a state by its name, and return the words that a visitor reads."""
    expect(page.locator("#state")).to_have_attribute("data-state", state, timeout=SOON_MS)
    return page.inner_text("#state")


def with_wallet(
    context: BrowserContext,
    wallet: Wallet,
    script: str = ARC0001,
    signer: Callable[[str], str] | None = None,
    **plan: Any,
) -> None:
    context.expose_function("signWith", signer or wallet.sign)
    context.add_init_script(provider(script, wallet.key.address, **plan))


def pay(page: Page, wallet: str = "arc0001") -> None:
    page.locator(".wallets summary").click()
    page.check(f"input[value={wallet}]")
    page.click("#pay")


class Sent:
    """What went over the wire with a payment in it; the first ones may be answered by the test instead."""

    def __init__(self, context: BrowserContext, *instead: Any) -> None:
        self.headers: list[str] = []
        self._instead = list(instead)
        context.route(f"**{REPORT}", self._route)

    def _route(self, route: Route) -> None:
        payment = route.request.headers.get("payment-signature")
        if payment is None:
            route.continue_()
            return
        self.headers.append(payment)
        answer = self._instead.pop(0) if self._instead else None
        if answer is None:
            route.continue_()
        elif answer == "cut":
            route.abort()
        elif answer == "lost":  # the service took it, and its answer never came
            route.fetch()
            route.abort()
        else:
            route.fulfill(**answer)

    def wait_for(self, page: Page, count: int) -> None:
        """Wait until that many went out: the state that a press leaves can be the one it finds."""
        for _ in range(SOON_MS // 50):
            if len(self.headers) >= count:
                return
            page.wait_for_timeout(50)
        raise AssertionError(f"{len(self.headers)} of {count} payments went out")


def refusal(reason: str) -> dict[str, Any]:
    receipt = base64.b64encode(json.dumps({"success": False, "errorReason": reason}).encode()).decode()
    return {"status": 402, "headers": {"PAYMENT-RESPONSE": receipt}, "json": {"error": f"{reason}: words"}}


BUSY = {"status": 503, "headers": {"Retry-After": "1"}, "json": {"detail": "The outcome is not known yet."}}


@pytest.mark.parametrize(
    ("product", "words"),
    [
        ("x402-atlas-human-report", "sideways & calm"),
        ("x402-atlas", "Regime"),
        ("x402-market-regime", "x402 Market Regime"),
        ("x402-main-brain", "x402 Main Brain"),
    ],
)
def test_a_purchase_goes_from_the_button_to_the_report_on_the_devnet(
    shop: Shop, context: BrowserContext, product: str, words: str
) -> None:
    had = shop.ledger.holding(DEMO_PAYEE) or 0
    page = opened(context, shop, BUYER_PAGES[product].removeprefix(PAGE))

    page.click("#pay")
    until(page, "settled")

    assert (shop.ledger.holding(DEMO_PAYEE) or 0) - had == PRICES[product]
    article = page.inner_text("#report")
    kept = page.evaluate("JSON.parse(localStorage.getItem('emi-purchases-v1'))[0]")
    assert words in article
    assert kept["txid"] in article
    assert "The bytes are the ones that were quoted" in article
    assert shop.ledger.is_committed(kept["txid"])
    assert len(decode_header(kept["header"])["extensions"]["payment-identifier"]["info"]["id"]) >= 32
    with page.expect_download() as saved:
        page.click("#as-json")
    assert json.loads(saved.value.path().read_text())["endpoint"] == product
    with page.expect_download() as saved:
        page.click("#as-markdown")
    assert kept["txid"] in saved.value.path().read_text()
    with page.expect_download() as saved:
        page.click("#as-receipt")
    assert json.loads(saved.value.path().read_text())["paymentResponse"]["transaction"] == kept["txid"]


def test_a_payment_whose_answer_expired_was_paid_before_and_is_not_paid_again(
    shop: Shop, context: BrowserContext
) -> None:
    receipt = base64.b64encode(json.dumps({"success": True, "transaction": "T"}).encode()).decode()
    gone = {"status": 410, "headers": {"PAYMENT-RESPONSE": receipt}, "json": {"detail": "Do not pay again for it."}}
    sent = Sent(context, gone)
    page = opened(context, shop)

    page.click("#pay")

    assert "Do not pay again for it." in until(page, "paid-before")
    kept = page.evaluate("JSON.parse(localStorage.getItem('emi-purchases-v1'))[0]")
    assert (kept["status"], kept["header"], len(sent.headers)) == ("paid", sent.headers[0], 1)


def test_opening_the_page_asks_for_no_challenge_and_no_one_else(shop: Shop, context: BrowserContext) -> None:
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    page.goto(shop.gateway + PAGE, wait_until="networkidle")
    before = [url.removeprefix(shop.gateway) for url in asked]
    page.click("#pay")
    until(page, "settled")

    assert [path for path in before if "/api/" in path or "prepare" in path or "sign" in path] == []
    assert [url for url in asked if not url.startswith((shop.gateway + "/", "blob:"))] == []
    assert [text for text in complaints if "402" not in text] == []


@pytest.mark.parametrize(
    ("holds", "state", "words"),
    [
        ("nothing", "no-account", "not on the network yet"),
        (None, "not-opted-in", "has not opted in to USDC"),
        (PRICE - 1, "too-little", f"has {usdc_amount(PRICE - 1)} USDC, and the price is {PRICE_SHOWN}"),
        (5, "too-little", "has 0.000005 USDC"),
    ],
)
def test_an_account_that_cannot_pay_learns_why_before_the_wallet_is_asked(
    shop: Shop, context: BrowserContext, holds: Any, state: str, words: str
) -> None:
    wallet = Wallet(shop, None, funded=False) if holds == "nothing" else Wallet(shop, holds)
    with_wallet(context, wallet)
    page = opened(context, shop)

    pay(page)

    stated = until(page, state)
    assert words in stated
    assert "Nothing was paid." in stated
    assert wallet.signed == 0


@pytest.mark.parametrize(
    ("kind", "plan", "outcome"),
    [
        ("arc0001", {"connect": "decline"}, ("declined", "You declined in the wallet.")),
        ("arc0001", {"sign": "decline"}, ("declined", "You declined in the wallet.")),
        ("arc0001", {"hash": MAINNET.genesis_hash}, ("wrong-network", "another network")),
        ("arc0001", {"accounts": []}, ("wallet", "named no account")),
        ("arc0027", {"sign": "decline"}, ("declined", "You declined in the wallet.")),
        ("arc0027", {"hash": MAINNET.genesis_hash}, ("wrong-network", "another network")),
    ],
)
def test_what_a_wallet_refuses_has_its_own_words_and_pays_nothing(
    shop: Shop, context: BrowserContext, kind: str, plan: dict[str, Any], outcome: tuple[str, str]
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, ARC0001 if kind == "arc0001" else ARC0027, **plan)
    sent = Sent(context)
    page = opened(context, shop)

    pay(page, kind)

    stated = until(page, outcome[0])
    assert outcome[1] in stated
    assert "Nothing was paid." in stated
    assert (sent.headers, wallet.spent()) == ([], 0)
    expect(page.locator("#pay")).to_be_enabled()


@pytest.mark.parametrize("kind", ["arc0001", "arc0027"])
def test_without_such_a_wallet_in_the_browser_the_page_says_so(shop: Shop, context: BrowserContext, kind: str) -> None:
    page = opened(context, shop)

    pay(page, kind)

    assert "This browser has no wallet of this kind." in until(page, "missing")
    assert page.locator("#purchase a:visible, #purchase button:visible").all_inner_texts() == [
        "Lute",
        "Pera",
        "Defly",
        "Kibisis",
    ]


def test_an_installed_wallet_is_listed_first_with_a_word_about_it(shop: Shop, context: BrowserContext) -> None:
    with_wallet(context, Wallet(shop))
    page = opened(context, shop)
    page.locator(".wallets summary").click()

    expect(page.locator("#wallets label").first).to_contain_text("found in this browser")
    assert page.locator("#wallets input").first.get_attribute("value") == "arc0001"
    expect(page.locator("input[value=devnet]")).to_be_checked()


def test_who_owns_one_is_asked_before_a_second_one_is_paid(shop: Shop, context: BrowserContext) -> None:
    page = opened(context, shop)
    page.click("#pay")
    until(page, "settled")
    page.reload()
    sent = Sent(context)
    first = page.locator("#saved-list button").first.bounding_box()

    page.click("#pay")
    asked = until(page, "bought-before")
    page.click("#mine")

    assert first is not None
    assert first["y"] < 844
    assert re.fullmatch(rf"You bought this .* ago. Buy a newer one for {re.escape(PRICE_SHOWN)}\?", asked)
    expect(page.locator("#report")).to_contain_text("sideways & calm")
    assert sent.headers == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800)])
def test_the_pay_button_is_in_view_and_so_is_the_document_once_paid(
    shop: Shop, browser: Browser, width: int, height: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": height})
    page = opened(context, shop)
    expect(page.locator("#pay")).to_be_in_viewport(ratio=1)
    page.mouse.wheel(0, 600)
    expect(page.locator("#pay")).to_be_in_viewport(ratio=1)

    page.click("#pay")
    until(page, "settled")

    expect(page.locator("#report h2").first).to_be_in_viewport(ratio=1)
    context.close()


def test_a_wallet_that_signs_something_else_is_found_out_and_nothing_is_sent(
    shop: Shop, context: BrowserContext
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, signer=wallet.sign_other)
    sent = Sent(context)
    page = opened(context, shop)

    pay(page)

    assert "signed something other" in until(page, "altered")
    assert (sent.headers, wallet.spent()) == ([], 0)


def test_a_signature_that_is_none_is_refused_by_the_service_in_its_own_words(
    shop: Shop, context: BrowserContext
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, signer=wallet.sign_badly)
    page = opened(context, shop)

    pay(page)

    stated = until(page, "held")
    assert "ignature invalid" in stated
    assert "no other one is signed for this product" in stated
    assert wallet.spent() == 0


@pytest.mark.parametrize(
    ("reason", "state", "words"),
    [
        ("quote_expired", "held", "came too late"),
        ("invalid_exact_avm_simulation_failed", "held", "nvalid exact avm simulation failed"),
        ("insufficient_funds", "held", "too little USDC"),
        ("payment_already_on_chain", "paid-before", "Do not pay again"),
    ],
)
def test_a_refusal_after_sending_is_shown_by_its_reason_and_not_sent_again_by_itself(
    shop: Shop, context: BrowserContext, reason: str, state: str, words: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    sent = Sent(context, refusal(reason))
    page = opened(context, shop)

    pay(page)

    stated = until(page, state)
    assert words in stated
    assert "Nothing was paid." not in stated
    assert "no other one is signed for this product" in stated
    page.reload()
    page.wait_for_timeout(500)
    assert len(sent.headers) == 1


def test_after_a_refusal_no_other_payment_is_signed_for_1010_rounds(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    sent = Sent(context, *[refusal("insufficient_funds")] * 2)
    page = opened(context, shop)
    pay(page)
    until(page, "held")

    page.click("#retry")
    sent.wait_for(page, 2)
    until(page, "held")
    passed = datetime.now(UTC) - timedelta(seconds=1010 * 2.8 + 1)
    change_newest(page, at=passed.isoformat())
    page.click("#retry")
    expect(page.locator("#state")).to_contain_text("could still take an earlier payment")
    change_newest(page, lastValid="1")
    page.click("#retry")
    until(page, "settled")

    assert (wallet.signed, len(set(sent.headers)), len(sent.headers)) == (2, 2, 3)


def change_newest(page: Page, **changes: str) -> None:
    """Change what the browser keeps of the newest purchase."""
    page.evaluate(
        """(changes) => {
          const list = JSON.parse(localStorage.getItem('emi-purchases-v1'));
          Object.assign(list[0], changes);
          localStorage.setItem('emi-purchases-v1', JSON.stringify(list));
        }""",
        changes,
    )


def test_an_approval_that_comes_too_late_is_not_sent(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, sign="wait")
    sent = Sent(context)
    page = context.new_page()
    page.clock.install()
    page.goto(shop.gateway + PAGE)
    pay(page)
    until(page, "approve")
    page.wait_for_function("globalThis.letSign !== undefined")

    page.clock.fast_forward(239_000)
    page.evaluate("Date.now = ((real) => () => real() + 5000)(Date.now)")
    page.evaluate("globalThis.letSign()")

    assert "came too late" in until(page, "expired")
    assert sent.headers == []


def test_a_wallet_that_never_answers_ends_by_itself_or_by_the_visitor(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, sign="wait")
    page = context.new_page()
    page.clock.install()
    page.goto(shop.gateway + PAGE)
    pay(page)
    until(page, "approve")

    page.click("#cancel")
    stopped = until(page, "declined")
    page.click("#pay")
    until(page, "approve")
    page.clock.fast_forward(241_000)

    assert "stopped waiting" in stopped
    assert "did not answer in time" in until(page, "wallet")
    assert wallet.spent() == 0


def test_the_digest_on_an_old_page_is_the_one_of_what_is_bought(shop: Shop, context: BrowserContext) -> None:
    page = opened(context, shop)
    page.evaluate("document.querySelector('[data-quote=sha256]').textContent = 'of an older snapshot'")

    page.click("#pay")
    until(page, "settled")

    kept = page.evaluate("JSON.parse(localStorage.getItem('emi-purchases-v1'))[0]")
    assert page.text_content("[data-quote=sha256]") == kept["sha256"]
    assert page.text_content("[data-quote=snapshotId]") == kept["snapshot"]


def test_that_nothing_is_for_sale_is_shown_with_the_reason(shop: Shop, context: BrowserContext) -> None:
    page = opened(context, shop)
    page.route(f"**{REPORT}", lambda route: route.fulfill(status=503, json={"detail": "The data is too old to sell."}))

    page.click("#pay")

    assert "too old to sell" in until(page, "not-for-sale")


@pytest.mark.parametrize("kind", ["arc0001", "devnet"])
def test_offline_before_paying_is_shown_and_pays_nothing(shop: Shop, context: BrowserContext, kind: str) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    context.set_offline(True)

    pay(page, kind)

    assert until(page, "offline") == "You are offline. Try again when the connection is back. Nothing was paid."
    assert wallet.signed == 0


def test_offline_while_paying_keeps_the_payment_and_sends_the_same_one_later(
    shop: Shop, context: BrowserContext
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, sign="wait")
    sent = Sent(context)
    page = opened(context, shop)
    pay(page)
    until(page, "approve")
    page.wait_for_function("globalThis.letSign !== undefined")
    context.set_offline(True)
    page.evaluate("globalThis.letSign()")

    stated = until(page, "offline-paying")
    context.set_offline(False)
    until(page, "settled")

    assert "Nothing new is signed." in stated
    assert (len(set(sent.headers)), wallet.signed, wallet.transfers()) == (1, 1, 1)


def test_an_unknown_outcome_is_asked_again_with_the_same_payment_until_it_is_known(
    shop: Shop, context: BrowserContext
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    sent = Sent(context, BUSY, "cut", "lost")
    page = opened(context, shop)

    pay(page)
    stated = until(page, "unknown")
    until(page, "settled")

    assert "Whether the payment settled is not known yet." in stated
    assert (len(sent.headers), len(set(sent.headers))) == (4, 1)
    assert (wallet.signed, wallet.transfers()) == (1, 1)


@pytest.mark.parametrize("fault", ["lost", "cut"], ids=["its answer was lost", "it was never sent"])
def test_a_tab_closed_after_paying_gets_its_report_when_opened_again(
    shop: Shop, context: BrowserContext, fault: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    sent = Sent(context, fault)
    page = opened(context, shop)
    pay(page)
    until(page, "unknown")
    page.close()

    again = opened(context, shop)
    until(again, "settled")

    assert "sideways & calm" in again.inner_text("#report")
    assert (len(sent.headers), len(set(sent.headers))) == (2, 1)
    assert (wallet.signed, wallet.transfers()) == (1, 1)
    again.reload()
    again.locator("#saved-list button").first.click()
    until(again, "kept")
    assert "sideways & calm" in again.inner_text("#report")
    assert len(sent.headers) == 2


def test_a_payment_that_the_browser_cannot_keep_is_never_sent(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    context.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    sent = Sent(context)
    page = opened(context, shop)

    pay(page)

    assert "was not sent" in until(page, "unkept")
    assert (sent.headers, wallet.spent()) == ([], 0)


@pytest.mark.parametrize("lost", ["indexedDB.deleteDatabase('emi-purchases')", "0"])
def test_what_was_bought_stays_after_a_reload_also_when_its_text_was_lost(
    shop: Shop, context: BrowserContext, lost: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    pay(page)
    until(page, "settled")
    article = page.inner_text("#report")

    page.evaluate(lost)
    page.reload()
    page.locator("#saved-list button").first.click()

    expect(page.locator("#report")).to_be_visible()
    assert page.inner_text("#report") == article
    assert wallet.transfers() == 1


def test_where_nothing_is_for_sale_a_payment_on_its_way_is_finished_and_read(
    shop: Shop, context: BrowserContext, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(1) as apart:  # the browser's own loop runs in this thread
        closed = apart.submit(lambda: page_of(selling(tmp_path, vault=False)).get(PAGE)).result()
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    sent = Sent(context, "lost")
    page = opened(context, shop)
    pay(page)
    until(page, "unknown")

    page.route(f"**{PAGE}", lambda route: route.fulfill(status=503, body=closed.text, content_type="text/html"))
    page.reload()
    until(page, "settled")

    assert "Quotes are temporarily unavailable" in page.inner_text("h1")
    assert "sideways & calm" in page.inner_text("#report")
    assert (len(set(sent.headers)), wallet.transfers()) == (1, 1)


def test_an_old_purchase_whose_text_was_lost_says_so_and_sends_nothing(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    pay(page)
    until(page, "settled")
    page.evaluate("""() => {
      const list = JSON.parse(localStorage.getItem('emi-purchases-v1'));
      list[0].at = '2020-01-01T00:00:00Z'; list[0].header = '';
      localStorage.setItem('emi-purchases-v1', JSON.stringify(list));
      indexedDB.deleteDatabase('emi-purchases');
    }""")
    sent = Sent(context)

    page.reload()
    page.locator("#saved-list button").first.click()

    assert "too long ago" in until(page, "lost")
    assert sent.headers == []


def test_after_a_failure_the_focus_is_where_the_next_try_is(shop: Shop, context: BrowserContext) -> None:
    with_wallet(context, Wallet(shop), connect="decline")
    page = opened(context, shop)
    page.locator(".wallets summary").click()
    page.check("input[value=arc0001]")
    page.focus("#pay")

    page.keyboard.press("Enter")
    until(page, "declined")

    expect(page.locator("#retry")).to_be_focused()


@pytest.mark.parametrize("locks", ["0", "Object.defineProperty(navigator, 'locks', { value: undefined })"])
def test_two_tabs_pay_once_and_the_one_that_waited_shows_it_too(
    shop: Shop, context: BrowserContext, locks: str
) -> None:
    wallet = Wallet(shop)
    context.add_init_script(locks)
    with_wallet(context, wallet, sign="wait")
    first, second = opened(context, shop), opened(context, shop)
    pay(first)
    until(first, "approve")
    first.wait_for_function("globalThis.letSign !== undefined")

    pay(second)
    stated = until(second, "other-tab")
    first.evaluate("globalThis.letSign()")
    until(first, "settled")
    expect(second.locator("#saved-list button")).to_contain_text("Open your report of")
    second.click("#pay")
    until(second, "bought-before")
    second.click("#newer")

    assert "nothing is paid twice" in stated
    assert "nothing was paid again" in until(second, "owned")
    assert wallet.transfers() == 1


def test_two_tabs_that_both_got_past_the_lock_are_stopped_by_the_network(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    context.add_init_script("navigator.locks.request = (name, options, work) => (work || options)({});")
    with_wallet(context, wallet, sign="wait")
    tabs = [opened(context, shop) for _ in range(2)]
    for tab in tabs:
        pay(tab)
        until(tab, "approve")
        tab.wait_for_function("globalThis.letSign !== undefined")

    for tab, end in zip(tabs, ("settled", "held"), strict=True):
        tab.evaluate("globalThis.letSign()")
        until(tab, end)

    assert wallet.transfers() == 1


def test_a_wallet_with_several_accounts_lets_the_visitor_choose(shop: Shop, context: BrowserContext) -> None:
    poor, rich = Wallet(shop, 1), Wallet(shop)
    with_wallet(context, rich, accounts=[poor.key.address, rich.key.address])
    page = opened(context, shop)

    pay(page)
    until(page, "choose")
    page.select_option("#account", rich.key.address)
    page.click("#use-account")
    until(page, "settled")

    assert rich.transfers() == 1


def test_an_extension_that_speaks_arc_0027_pays(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, ARC0027)
    page = opened(context, shop)

    pay(page, "arc0027")
    until(page, "settled")

    assert wallet.transfers() == 1


@pytest.mark.parametrize(("plan", "state"), [("sign", "settled"), ("decline", "closed")])
def test_lute_pays_in_a_window_of_its_own_and_closing_it_pays_nothing(
    shop: Shop, context: BrowserContext, plan: str, state: str
) -> None:
    wallet = Wallet(shop)
    context.expose_function("signWith", wallet.sign)
    html = LUTE_PAGE.replace("ADDRESS", json.dumps(wallet.key.address)).replace("PLAN", json.dumps(plan))
    context.route("https://lute.app/**", lambda route: route.fulfill(body=html, content_type="text/html"))
    page = opened(context, shop)

    pay(page, "lute")
    expect(page.locator("#approve")).to_be_visible()
    page.click("#approve")

    until(page, state)
    assert wallet.transfers() == (1 if state == "settled" else 0)


def test_a_bundle_of_the_operator_is_loaded_only_when_its_wallet_is_used(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    context.expose_function("signWith", wallet.sign)
    folder = shop.state / "buyer-wallets"
    folder.mkdir()
    script = (
        f"export const pera = () => ({{ connect: async () => ['{wallet.key.address}'], sign: async (group, place) => "
        "Uint8Array.from(atob(await globalThis.signWith(group[place])), (one) => one.charCodeAt(0)) });"
    )
    (folder / "wallets.js.gz").write_bytes(gzip.compress(script.encode()))
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    try:
        page = opened(context, shop)
        before = [url for url in asked if "wallets.js" in url and "/assets/" not in url]
        pay(page, "pera")
        until(page, "settled")
    finally:
        (folder / "wallets.js.gz").unlink()
        folder.rmdir()

    assert before == []
    assert wallet.transfers() == 1


def test_the_keyboard_alone_buys_and_the_focus_is_always_seen(shop: Shop, context: BrowserContext) -> None:
    page = opened(context, shop)
    unmarked = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.id || document.activeElement.value,"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        unmarked += [name] if outline == "none" else []
        if name == "pay":
            break

    page.keyboard.press("Enter")
    until(page, "settled")

    assert unmarked == []
    assert page.evaluate("document.activeElement.id") == "report"
    assert page.locator("#state").get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("query", ["", "?product=agent"])
@pytest.mark.parametrize("width", [320, 390, 768, 1920])
def test_no_step_is_wider_than_the_screen(shop: Shop, browser: Browser, width: int, query: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = opened(context, shop, query)
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    before = page.evaluate(over)
    page.click("#pay")
    until(page, "settled")

    assert (before, page.evaluate(over)) == (0, 0)
    context.close()


def test_paper_holds_the_report_and_its_receipt_and_no_buttons(shop: Shop, context: BrowserContext) -> None:
    page = opened(context, shop)
    page.click("#pay")
    until(page, "settled")

    page.emulate_media(media="print")

    assert page.locator("#report").is_visible()
    assert not page.locator("#pay").is_visible()
    assert not page.locator("#files").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF-")


def test_without_script_the_terms_are_read_and_the_shell_is_shown(shop: Shop, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = opened(context, shop)

    text = page.inner_text("main")

    for stated in (
        PRICE_SHOWN,
        "Play money",
        "The button needs JavaScript",
        "emi buy atlas-human-report",
        "Payee",
        "SHA-256",
    ):
        assert stated in text + str(page.locator("#terms").text_content())
    assert not page.locator("#pay").is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_before_paying_and_nothing_in_the_report(
    shop: Shop, browser: Browser, scheme: Any, width: int
) -> None:
    script = MODULES / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("missing: OFFICIAL_SITE, a folder with the packages of tests/peers/site (npm ci --ignore-scripts)")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    found: list[str] = []

    for query in ("", "?product=agent"):
        page = opened(context, shop, query)
        page.add_script_tag(content=script.read_text())
        if not query:
            page.click("#show-sample")
            expect(page.locator("#sample-report figure.chart").first).to_be_visible()
        page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
        found += _violations(page)
        page.click("#pay")
        until(page, "settled")
        found += _violations(page)
        for mood in ("bad", "wait"):  # the colours of what went wrong
            page.evaluate("(mood) => { document.getElementById('state').className = mood; }", mood)
            found += _violations(page)

    assert found == []
    context.close()


def _violations(page: Page) -> list[str]:
    violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations)")
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in violations]
