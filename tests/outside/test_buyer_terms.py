"""What the buyer page says will be signed is what is signed: other prices, other terms, other bytes, other words."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from algosdk import encoding, transaction

from gateway.wire.networks import DEVNET, MAINNET
from tests.outside.buyer_shop import DEMO_PAYEE, Wallet
from tests.outside.site_pages import BROWSED, Browser, BrowserContext, Page, Route, expect
from tests.outside.test_buyer_browser import PRICE, PRICE_SHOWN, REPORT, Sent, opened, pay, until, with_wallet
from tests.support.local_servers import Shop

pytestmark = BROWSED
OTHER = "A7NMWS3NT3IUDMLVO26ULGXGIIOUQ3ND2TXSER6EBGRZNOBOUIQXHIBGDE"


def rewritten(page: Page, change: Callable[[dict[str, Any]], Any]) -> None:
    """Let a challenge reach the page with other terms than the service's."""

    def answer(route: Route) -> None:
        found = route.fetch()
        headers = dict(found.headers)
        required = json.loads(base64.b64decode(headers["payment-required"]))
        change(required)
        headers["payment-required"] = base64.b64encode(json.dumps(required).encode()).decode()
        route.fulfill(status=402, headers=headers, body=json.dumps(found.json() | required))

    page.route(f"**{REPORT}", answer)


def costs(amount: str) -> Callable[[dict[str, Any]], None]:
    return lambda required: [offer.update(amount=amount) for offer in required["accepts"]].clear()


def prepared(page: Page, change: Callable[[dict[str, Any]], Any]) -> None:
    """Let a prepared payment reach the page other than the service made it."""

    def answer(route: Route) -> None:
        found = route.fetch().json()
        change(found)
        route.fulfill(status=200, json=found)

    page.route("**/x402-buyer/prepare?**", answer)


def forget(page: Page) -> None:
    """Blank the state, so that the next one is seen also when it has the same name."""
    page.evaluate("document.getElementById('state').dataset.state = ''")


def test_a_changed_price_is_shown_everywhere_before_the_second_press(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    rewritten(page, costs("250000"))

    pay(page)
    found = until(page, "price-changed")

    seen = (page.inner_text(".offer") + page.inner_text("#purchase .actions")).replace(f"it was {PRICE_SHOWN}", "")
    assert PRICE_SHOWN not in seen
    assert f"{PRICE:,}" not in seen
    assert seen.count("0.25 USDC") == 3  # the number, the button, the button next to the words
    assert seen.count("250,000 atomic units") == 1
    assert page.get_by_role("button", name="Pay 0.25 USDC", exact=True).count() == 1
    assert page.get_by_role("button", name="Agree and pay 0.25 USDC", exact=True).count() == 1
    assert f"The price is now 0.25 USDC; it was {PRICE_SHOWN}." in found
    assert wallet.signed == 0


@pytest.mark.parametrize("button", ["#pay", "#retry"])
def test_the_second_press_signs_exactly_the_price_that_is_shown(
    shop: Shop, context: BrowserContext, button: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    page.evaluate("document.getElementById('pay').dataset.price = '250000'")  # the service asks for less by now
    pay(page)
    until(page, "price-changed")
    shown = page.inner_text("#price")

    page.click(button)
    until(page, "settled")

    assert (shown, wallet.spent(), wallet.transfers()) == (PRICE_SHOWN, PRICE, 1)
    assert f"{PRICE_SHOWN} ({PRICE:,} atomic units)" in page.inner_text("#report")


def test_a_price_that_changes_again_is_shown_again_and_never_signed_unseen(shop: Shop, context: BrowserContext) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    amounts = iter(["250000", "300000", "300000"])

    def dearer(required: dict[str, Any]) -> None:
        costs(next(amounts))(required)

    rewritten(page, dearer)

    pay(page)
    until(page, "price-changed")
    page.click("#retry")
    expect(page.locator("#state")).to_contain_text("The price is now 0.30 USDC; it was 0.25 USDC.")

    assert page.inner_text("#pay") == "Pay 0.30 USDC"
    assert wallet.signed == 0


@pytest.mark.parametrize("amount", ["0", "-1", "1e5", "100000.5", " ", "9" * 30])
def test_a_price_that_is_not_an_amount_of_money_is_neither_shown_nor_signed(
    shop: Shop, context: BrowserContext, amount: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    rewritten(page, costs(amount))

    pay(page)

    assert "not an amount of money" in until(page, "not-for-sale")
    assert page.inner_text("#price") == PRICE_SHOWN
    assert wallet.signed == 0


def _offers(**changes: str) -> Callable[[dict[str, Any]], None]:
    return lambda required: [offer.update(changes) for offer in required["accepts"]].clear()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_offers(payTo=OTHER), f"the payee is now {OTHER}, and this page shows {DEMO_PAYEE}"),
        (_offers(asset="7"), "the asset is now 7, and this page shows 31566704"),
        (_offers(network=MAINNET.full), f"the network is now {MAINNET.full}, and this page shows {DEVNET.full}"),
        (_offers(scheme="upto"), "the scheme is now upto"),
        (
            lambda found: found["resource"].update(url="https://x/api/x402-atlas.php"),
            "product is now /api/x402-atlas.php",
        ),
        (lambda found: found.pop("resource"), "the product is now"),
        (lambda found: found.update(x402Version=3), "the version of x402 is now 3"),
    ],
)
def test_other_terms_are_shown_with_both_values_and_wait_for_a_reload(
    shop: Shop, context: BrowserContext, change: Callable[[dict[str, Any]], Any], words: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    rewritten(page, change)

    pay(page)
    found = until(page, "terms-changed")
    forget(page)
    page.click("#pay")  # a stale page keeps refusing
    again = until(page, "terms-changed")

    assert words in found
    assert words in again
    assert wallet.signed == 0
    expect(page.locator("#retry")).to_be_hidden()
    page.unroute(f"**{REPORT}")
    page.click("#reload")
    pay(page)
    until(page, "settled")


def _payment(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of the prepared payment's own bytes, all the rest of the answer left as it was."""

    def change(found: dict[str, Any]) -> None:
        terms = transaction.SuggestedParams(
            changes.get("fee", 0), 10, 110, changes.get("gh", DEVNET.genesis_hash), DEVNET.genesis_id, flat_fee=True
        )
        wanted = {"receiver": DEMO_PAYEE, "amt": PRICE, "index": DEVNET.asset_id, "sender": found["address"]}
        wanted |= {name: value for name, value in changes.items() if name not in {"fee", "gh"}}
        item = transaction.AssetTransferTxn(sp=terms, **wanted)
        found["payment"]["group"][found["payment"]["index"]] = encoding.msgpack_encode(item)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_payment(amt=100_001), "another amount"),
        (_payment(receiver=OTHER), "another payee"),
        (_payment(index=7), "another asset"),
        (_payment(sender=OTHER), "another payer"),
        (_payment(gh=MAINNET.genesis_hash), "another network"),
        (_payment(fee=1000), "a fee"),
        (_payment(close_assets_to=OTHER), "an extra part (aclose)"),
        (_payment(rekey_to=OTHER), "an extra part (rekey)"),
        (_payment(revocation_target=OTHER), "an extra part (asnd)"),
        (lambda found: found["payment"].update(index=0), "another kind"),
        (lambda found: found["payment"].update(index=5), "no payment that can be read"),
        (lambda found: found["payment"]["group"].__setitem__(1, "gqNnYXM="), "no payment that can be read"),
    ],
)
def test_a_prepared_payment_is_read_byte_by_byte_before_a_wallet_sees_it(
    shop: Shop, context: BrowserContext, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    prepared(page, change)

    pay(page)
    found = until(page, "terms-changed")

    assert words in found
    assert "The wallet was not asked to sign it. Nothing was paid." in found
    assert wallet.signed == 0


def test_after_a_purchase_the_button_says_what_the_next_press_would_sign(shop: Shop, context: BrowserContext) -> None:
    with_wallet(context, Wallet(shop))
    page = opened(context, shop)

    pay(page)
    until(page, "settled")
    first = page.inner_text("#pay")
    page.reload()

    assert (first, page.inner_text("#pay")) == (f"Buy the newest one for {PRICE_SHOWN}",) * 2


@pytest.mark.parametrize(
    ("thrown", "state", "words"),
    [
        ("undefined.x", "wallet", "The wallet says: Cannot read properties of undefined"),
        ("({}).genesisHash.x", "wallet", "The wallet says: Cannot read properties of undefined"),
        ("(() => { throw new Error('Network request failed') })()", "wallet", "Network request failed. Nothing"),
        ("(() => { throw new Error('Genesis hash mismatch') })()", "wrong-network", "Genesis hash mismatch. Nothing"),
        ("(() => { throw new Error('Wrong network.') })()", "wrong-network", "Wrong network. Nothing"),
        ("(() => { throw new Error('This network is not supported') })()", "wrong-network", "not supported. Nothing"),
        ("(() => { throw { code: 4004, message: 'x' } })()", "wrong-network", "The wallet says: x. Nothing"),
        ("undefined", "wallet", "no answer that can be read. Nothing"),
        ("'yes'", "wallet", "no answer that can be read. Nothing"),
    ],
)
def test_only_what_a_wallet_says_of_the_network_is_shown_as_a_wrong_network(
    shop: Shop, context: BrowserContext, thrown: str, state: str, words: str
) -> None:
    context.add_init_script(f"globalThis.algorand = {{ async enable() {{ return {thrown}; }} }};")
    page = opened(context, shop)

    pay(page)

    assert words in until(page, state)


@pytest.mark.parametrize("address", ["hello", OTHER[:-1] + "A", "undefined"])
def test_a_wallet_that_names_no_address_is_answered_in_a_persons_words(
    shop: Shop, context: BrowserContext, address: str
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet, accounts=[address])
    page = opened(context, shop)

    pay(page)

    wanted = "The wallet named an invalid Algorand address. Nothing was paid."
    assert until(page, "wallet") == wanted
    assert wallet.signed == 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            {"status": 503, "json": {"detail": "the node does not answer"}},
            "The node does not answer. Nothing was paid.",
        ),
        ({"status": 502, "body": "<h1>bad</h1>"}, "with an error (HTTP 502) and no reason. Nothing was paid."),
        ({"status": 429, "json": {"detail": "Too many!"}}, "Too many! Nothing was paid."),
    ],
)
def test_reasons_of_others_end_as_sentences_do(
    shop: Shop, context: BrowserContext, answer: dict[str, Any], words: str
) -> None:
    page = opened(context, shop)
    page.route("**/x402-buyer/prepare?**", lambda route: route.fulfill(**answer))

    page.click("#pay")

    assert words in until(page, "not-ready")


def in_sight(page: Page, name: str) -> bool:
    """Return whether all of an element is on the screen now."""
    return bool(
        page.wait_for_function(
            "(name) => { const box = document.querySelector(name).getBoundingClientRect();"
            " return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight; }",
            arg=name,
        )
    )


def test_on_a_phone_words_and_their_buttons_are_on_the_screen(shop: Shop, browser: Browser) -> None:
    phone = browser.new_context(viewport={"width": 390, "height": 844})
    wallet = Wallet(shop)
    with_wallet(phone, wallet)
    page = opened(phone, shop)
    rewritten(page, costs("250000"))

    pay(page)
    until(page, "price-changed")
    assert in_sight(page, "#state")
    assert in_sight(page, "#retry")

    page.unroute(f"**{REPORT}")
    forget(page)
    page.click("#retry")
    until(page, "price-changed")
    sent = Sent(phone, "lost", "cut", "cut", "cut", "cut")
    page.click("#retry")
    until(page, "unknown")
    assert in_sight(page, "#state")
    assert in_sight(page, "#again")
    assert len(set(sent.headers)) == 1
    phone.close()
