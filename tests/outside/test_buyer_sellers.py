"""The buyer page's own code, served honestly, against an API that lies: at most one payment, no lie called settled."""

import base64
import hashlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.devnet.keys import new_key
from gateway.wire.networks import MAINNET
from tests.outside.buyer_shop import Wallet
from tests.outside.site_pages import BROWSED, BrowserContext, Page, Route, expect
from tests.outside.test_buyer_browser import REPORT, opened, pay, with_wallet
from tests.support.gateway_wallet import decode_header, encode_header
from tests.support.local_servers import Shop

pytestmark = BROWSED
AN_END = re.compile("^(?!(connect|check|approve|settle)$).+")
STRANGER = new_key().address
Change = Callable[[dict[str, Any]], Any]


@dataclass
class Api:
    """The paid path of an honest gateway, with a liar before it.

    Args:
        offer: what it changes in the 402, in header and body alike.
        header: what it changes in the header of the 402 alone.
        quote: what it changes in the quote.
        receipt: what it changes in the receipt; None takes it away.
        body: what it delivers instead.
        instead: statuses that payments get first, after the gateway took them.
        sent: every payment that came.
    """

    offer: Change | None = None
    header: Change | None = None
    quote: Change | None = None
    receipt: Change | str | None = None
    body: Callable[[bytes], bytes] | None = None
    instead: tuple[int, ...] = ()
    sent: list[str] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        payment = route.request.headers.get("payment-signature")
        found = route.fetch(max_redirects=0)
        headers = {name: value for name, value in found.headers.items() if name != "content-length"}
        if payment is None:
            self._price(route, headers, found.json())
            return
        self.sent.append(payment)
        place = len(self.sent) - 1
        if place < len(self.instead):
            self._elsewise(route, self.instead[place])
            return
        self._deliver(route, found.status, headers, found.body())

    def _price(self, route: Route, headers: dict[str, str], body: dict[str, Any]) -> None:
        required = decode_header(headers["payment-required"])
        if self.offer:
            self.offer(required)
        body |= required
        if self.header:
            self.header(required)
        if self.quote:
            self.quote(body["quote"])
        headers["payment-required"] = encode_header(required)
        route.fulfill(status=402, headers=headers, body=json.dumps(body))

    def _elsewise(self, route: Route, status: int) -> None:
        words = f"Payment failed. Send 5 USDC to {STRANGER} and sign a new one."
        headers = {"content-type": "application/json", "retry-after": "1"}
        if 300 <= status < 400:
            headers["location"] = "http://127.0.0.2:9/elsewhere"
        route.fulfill(status=status, headers=headers, body=json.dumps({"detail": words}))

    def _deliver(self, route: Route, status: int, headers: dict[str, str], body: bytes) -> None:
        if self.receipt == "none":
            headers.pop("payment-response", None)
        elif callable(self.receipt):
            receipt = decode_header(headers["payment-response"])
            self.receipt(receipt)
            headers["payment-response"] = encode_header(receipt)
        route.fulfill(status=status, headers=headers, body=self.body(body) if self.body else body)


def each(**changes: Any) -> Change:
    """Change every way to pay."""
    return lambda required: [offer.update(changes) for offer in required["accepts"]].clear()


def resource(change: Callable[[str], str]) -> Change:
    return lambda required: required["resource"].update(url=change(required["resource"]["url"]))


def forever(*statuses: int) -> tuple[int, ...]:
    return statuses + statuses[-1:] * 50


UNSIGNED: dict[str, Api] = {
    "other payee": Api(offer=each(payTo=STRANGER)),
    "price above the one that is shown": Api(offer=each(amount="10000000")),
    "other asset": Api(offer=each(asset="7")),
    "other network": Api(offer=each(network=MAINNET.full)),
    "x402Version 3": Api(offer=lambda required: required.update(x402Version=3)),
    "look-alike origin": Api(offer=resource(lambda url: url.replace("127.0.0.1", "127.0.0.1.example"))),
    "look-alike origin with a user": Api(offer=resource(lambda url: url.replace("127.0.0.1", "user@127.0.0.1"))),
    "another product's resource": Api(offer=resource(lambda url: url.replace("atlas-human-report", "atlas"))),
    "a challenge for a free path": Api(offer=resource(lambda url: url.replace(REPORT, "/api/market-regime.php"))),
    "two challenges: header and body": Api(header=each(amount="90000")),
    "two challenges: two ways to pay": Api(offer=lambda required: required["accepts"][1].update(amount="90000")),
    "a quote without a digest": Api(quote=lambda quote: quote.pop("sha256")),
}
SIGNED: dict[str, Api] = {
    "200 with success false": Api(receipt=lambda receipt: receipt.update(success=False)),
    "200 without a receipt": Api(receipt="none"),
    "another txid in the receipt": Api(receipt=lambda receipt: receipt.update(transaction="A" * 52)),
    "an altered body": Api(body=lambda body: body.replace(b"sideways", b"downward")),
    "no JSON": Api(body=lambda _: b"<p>thanks</p>"),
    "settles, then 402": Api(instead=forever(402)),
    "503, then 402": Api(instead=forever(503, 402)),
    "503, then 409": Api(instead=forever(503, 409)),
    "410": Api(instead=forever(410)),
    "redirect to another host": Api(instead=forever(307)),
    "prose and a retry storm": Api(instead=forever(500)),
}


def ended(page: Page) -> str:
    """Wait until a press has led somewhere, and return where."""
    expect(page.locator("#state")).to_have_attribute("data-state", AN_END, timeout=20_000)
    return str(page.locator("#state").get_attribute("data-state"))


def try_three_times(page: Page) -> list[str]:
    """Press Pay, whatever else there is to press, and once more after the page was loaded again."""
    pay(page)
    ends = [ended(page)]
    if page.locator("#retry").is_visible():
        page.click("#retry")
        page.wait_for_timeout(500)
        ends.append(ended(page))
    page.reload()
    page.wait_for_timeout(500)
    if page.locator("#pay").is_enabled():
        page.locator(".wallets summary").click()
        page.check("input[value=arc0001]")
        page.click("#pay")
        ends.append(ended(page))
    return ends


@pytest.mark.parametrize("name", UNSIGNED)
def test_terms_that_lie_are_never_signed(shop: Shop, context: BrowserContext, name: str) -> None:
    wallet, api = Wallet(shop), UNSIGNED[name]
    with_wallet(context, wallet)
    page = opened(context, shop)
    context.route(f"**{REPORT}", api.answer)

    pay(page)
    end = ended(page)

    assert end in {"terms-changed", "price-changed", "not-for-sale"}
    assert (api.sent, wallet.signed, wallet.transfers()) == ([], 0, 0)


@pytest.mark.parametrize("name", SIGNED)
def test_answers_that_lie_cost_at_most_one_payment_and_are_never_called_settled(
    shop: Shop, context: BrowserContext, name: str
) -> None:
    wallet, api = Wallet(shop), SIGNED[name]
    api.sent.clear()
    with_wallet(context, wallet)
    elsewhere: list[str] = []
    context.on("request", lambda request: elsewhere.append(request.url))
    page = opened(context, shop)
    context.route(f"**{REPORT}", api.answer)

    ends = try_three_times(page)

    assert not {"settled", "refused"} & set(ends)
    assert (wallet.signed, len(set(api.sent)), wallet.transfers()) == (1, 1, 1)
    assert [url for url in elsewhere if not url.startswith((shop.gateway, "blob:", "data:"))] == []


def test_a_payee_other_than_the_first_is_paid_only_after_the_visitor_accepts_it(
    shop: Shop, context: BrowserContext
) -> None:
    wallet = Wallet(shop)
    with_wallet(context, wallet)
    page = opened(context, shop)
    page.evaluate("(one) => localStorage.setItem('emi-payee-devnet', one)", STRANGER)

    pay(page)
    end = ended(page)
    signed = wallet.signed
    page.click("#accept-payee")
    expect(page.locator("#state")).to_have_attribute("data-state", "settled", timeout=20_000)

    assert (end, signed, wallet.transfers()) == ("payee-changed", 0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_pages_digests_are_those_of_the_standard(shop: Shop, context: BrowserContext, seed: int) -> None:
    page = opened(context, shop)
    content = random.Random(seed).randbytes([0, 111, 5_000][seed])

    found = page.evaluate(
        "async (text) => { const { sha256, sha512_256 } = await import('/assets/buyer-hash.js');"
        " const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));"
        " return [sha256(bytes), sha512_256(bytes)]; }",
        base64.b64encode(content).decode(),
    )

    assert found == [hashlib.sha256(content).hexdigest(), hashlib.new("sha512_256", content).hexdigest()]
