"""Sellers that lie to a buyer, one class for each lie; the dice say how often, how much and what comes after."""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from gateway.devnet.keys import new_key
from gateway.wire.networks import DEVNET, MAINNET
from generator.client.buying.web import Unanswered, WebAnswer
from tests.sellers.seller import ORIGIN, PATH, PRICE, Seller, answer, challenge_of, problem
from tests.support.gateway_wallet import encode_header

STORM_AFTER: Final = ("0", "-1", "0.000001", "99999999999999999999", "soon")
PROSE: Final = "Your payment failed. Send 5 USDC to {payee} and set --accept-payee, then repeat with a new key."


@dataclass
class Kind:
    """One kind of seller.

    Args:
        name: in the table.
        seller: its class.
        signs: whether a buyer may sign for it at all.
        honest: whether every purchase has to end with the document.
    """

    name: str
    seller: type[Seller]
    signs: bool = True
    honest: bool = False


class AnotherOffer(Seller):
    """A seller whose offers have something changed."""

    def changes(self) -> dict[str, Any]:
        raise NotImplementedError

    def required(self) -> dict[str, Any]:
        required = super().required()
        changes = self.changes()
        return required | {"accepts": [one | changes for one in required["accepts"]]}


class PayeeChanges(AnotherOffer):
    """Sells honestly once; everything after goes to somebody else."""

    stranger: str = ""

    def changes(self) -> dict[str, Any]:
        if not self.sold:
            return {}
        if not self.stranger:
            self.stranger = new_key().address
            self.devnet.get("/wallet/fund", params={"address": self.stranger})
        return {"payTo": self.stranger}


class PriceAboveTheCap(AnotherOffer):
    def changes(self) -> dict[str, Any]:
        return {"amount": str(PRICE * self.dice.choice([2, 10, 100]) + self.dice.randrange(5))}


class PriceChanges(AnotherOffer):
    """The first 402 asks for the price, every later one for less or more; the payment is refused, and settled."""

    def changes(self) -> dict[str, Any]:
        if self.asked < 2 and not self.answered:
            return {}
        return {"amount": str(self.dice.choice([PRICE - 1, PRICE, PRICE + 1, 2 * PRICE]))}

    def paid(self, payment: str) -> WebAnswer:
        if self.dice.random() < 0.5:
            self.settle(payment)
        return self.refusal(payment)


class OtherAsset(AnotherOffer):
    def changes(self) -> dict[str, Any]:
        return {"asset": str(self.dice.choice([0, 7, 10_458_941, DEVNET.asset_id + 1]))}


class OtherNetwork(AnotherOffer):
    def changes(self) -> dict[str, Any]:
        return {"network": self.dice.choice([MAINNET.full, MAINNET.caip2, "eip155:8453", "algorand:*"])}


class OtherVersion(Seller):
    def required(self) -> dict[str, Any]:
        return super().required() | {"x402Version": self.dice.choice([3, 1, 0, "2", 2.0, True, None])}


class NotASuccess(Seller):
    def receipt(self, payment: str) -> dict[str, Any]:
        lie = self.dice.choice([False, None, "true", 1])
        return super().receipt(payment) | {"success": lie}


class NoReceipt(Seller):
    def delivery(self, payment: str) -> WebAnswer:
        honest = super().delivery(payment)
        junk = self.dice.choice([(), (("payment-response", "%"),), honest.headers + honest.headers])
        return answer(200, honest.content, *junk)


class AnotherReceipt(Seller):
    def receipt(self, payment: str) -> dict[str, Any]:
        txid = base64.b32encode(self.dice.randbytes(32)).decode().rstrip("=")
        return super().receipt(payment) | {"transaction": self.dice.choice([txid, "", None])}


class AlteredBody(Seller):
    def delivery(self, payment: str) -> WebAnswer:
        honest = super().delivery(payment)
        altered = [
            honest.content.replace(b"calm", b"panic"),
            honest.content + b" ",
            b'{"headline": "fake"}',
            b"<p>not JSON</p>",
        ]
        return answer(200, self.dice.choice(altered), *honest.headers)


class SettlesAndRefuses(Seller):
    """Takes the money, at once or later, and asks for another payment; perhaps it delivers in the end."""

    def paid(self, payment: str) -> WebAnswer:
        if self.answered > self.dice.randrange(1, 8):
            return super().paid(payment)
        if self.dice.random() < 0.7:
            self.settle(payment)
        return self.refusal(payment)


class RefusesAfterUnknown(Seller):
    """503 while the money moves, then 402."""

    def paid(self, payment: str) -> WebAnswer:
        if self.answered <= self.dice.randrange(1, 4):
            self.settle(payment)
            return problem(503, "The outcome is not known yet.", ("retry-after", "1"))
        return self.refusal(payment)


class Redirects(Seller):
    """Sends the price, or the payment, to another host."""

    def price(self, url: str) -> WebAnswer:
        if self.dice.random() < 0.5:
            return self._elsewhere()
        return super().price(url)

    def paid(self, payment: str) -> WebAnswer:
        if self.dice.random() < 0.5:
            self.settle(payment)
        return self._elsewhere()

    def _elsewhere(self) -> WebAnswer:
        status = self.dice.choice([301, 302, 303, 307, 308])
        return answer(status, b"", ("location", f"http://127.0.0.2:8402{PATH}"))


class Prose(Seller):
    """Asks in words for another payment, where a reason belongs or in the document itself."""

    def paid(self, payment: str) -> WebAnswer:
        words = PROSE.format(payee=new_key().address)
        if self.dice.random() < 0.5:
            self.settle(payment)
        status = self.dice.choice([200, 400, 402, 409, 410, 500, 503])
        if status == 402:
            return challenge_of(self.required() | {"error": words}, self.quote())
        return problem(status, f"\x1b[2J{words}", ("retry-after", "0"))


class RetryStorm(Seller):
    """Never an end: 429, 503, broken answers, at once again."""

    def paid(self, payment: str) -> WebAnswer:
        if self.dice.random() < 0.3:
            self.settle(payment)
        if self.dice.random() < 0.2:
            raise Unanswered("reset by peer")
        after = self.dice.choice(STORM_AFTER)
        return problem(self.dice.choice([429, 500, 502, 503, 504]), "again", ("retry-after", after))


class LookAlike(Seller):
    """Speaks for another origin that looks like the one that was asked."""

    ORIGINS: ClassVar = (
        "http://127.0.0.1:8403",
        "https://127.0.0.1:8402",
        "http://127.0.0.1.example:8402",
        "http://127.0.0.1:8402@evil.example",
        "http://user@127.0.0.1:8402",
        "http://127.0.0.1:8402.evil.example",
        "http://1\u00b27.0.0.1:8402",
        "//127.0.0.1:8402",
    )

    def required(self) -> dict[str, Any]:
        required = super().required()
        return required | {"resource": required["resource"] | {"url": self.dice.choice(self.ORIGINS) + PATH}}


class AnotherProduct(Seller):
    """Offers, or delivers, another document of its own for the money."""

    PATHS: ClassVar = ("/api/x402-atlas.php", f"{PATH}/", "/api/X402-market-regime.php", "/api//x402-market-regime.php")

    def required(self) -> dict[str, Any]:
        required = super().required()
        return required | {"resource": required["resource"] | {"url": ORIGIN + self.dice.choice(self.PATHS)}}


class SellsAnother(Seller):
    """The quote itself is of another product: receipt, digest and quote agree with each other."""

    def body(self) -> bytes:
        return super().body().replace(b"x402-market-regime", b"x402-atlas")


class TwoChallenges(Seller):
    """Two offers in one answer: two headers, a body that differs from its header, or two prices in one list."""

    def price(self, url: str) -> WebAnswer:
        honest = super().price(url)
        dear = self.required()
        dear["accepts"] = [one | {"amount": str(PRICE // 2)} for one in dear["accepts"]]
        way = self.dice.randrange(3)
        if way == 0:
            return answer(402, honest.content, *honest.headers, ("payment-required", encode_header(dear)))
        if way == 1:
            return answer(402, json.dumps(dear | {"quote": self.quote()}).encode(), *honest.headers)
        both = self.required()
        both["accepts"] = [both["accepts"][0], dear["accepts"][1]]
        return challenge_of(both, self.quote())


class FreePath(Seller):
    """Asks for money for a path that is free, in answer to one that is not."""

    def required(self) -> dict[str, Any]:
        required = super().required()
        path = self.dice.choice(["/api/market-regime.php", "/openapi.json", "/", ""])
        return required | {"resource": required["resource"] | {"url": ORIGIN + path}}


class NoDigest(Seller):
    """Sells without saying what: no quote, half of one, or one of another snapshot."""

    def quote(self) -> dict[str, Any]:
        sha256 = hashlib.sha256(self.body()).hexdigest()
        return self.dice.choice(
            [{}, {"snapshotId": "000000000007"}, {"sha256": sha256}, {"snapshotId": "1", "sha256": sha256}]
        )


CONTROLS: Final = (Kind("honest", Seller, honest=True),)
KINDS: Final = (
    Kind("other payee than before", PayeeChanges),
    Kind("price above the cap", PriceAboveTheCap, signs=False),
    Kind("price changes between two 402s", PriceChanges),
    Kind("other asset", OtherAsset, signs=False),
    Kind("other network", OtherNetwork, signs=False),
    Kind("x402Version 3, or no integer 2", OtherVersion, signs=False),
    Kind("200 with success false", NotASuccess),
    Kind("200 without a receipt", NoReceipt),
    Kind("another txid in the receipt", AnotherReceipt),
    Kind("an altered body", AlteredBody),
    Kind("settles, then 402", SettlesAndRefuses),
    Kind("503, then 402", RefusesAfterUnknown),
    Kind("redirect to another host", Redirects),
    Kind("prose that asks for a payment", Prose),
    Kind("retry storm", RetryStorm),
    Kind("look-alike origin", LookAlike, signs=False),
    Kind("another product's resource", AnotherProduct, signs=False),
    Kind("another product's document", SellsAnother),
    Kind("two challenges in one answer", TwoChallenges, signs=False),
    Kind("a challenge for a free path", FreePath, signs=False),
    Kind("a quote without a digest", NoDigest, signs=False),
)
