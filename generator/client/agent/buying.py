"""The tool that buys: one purchase id is one purchase, whoever asks for it, how often, and whatever dies in between."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gateway.devnet.errors import LedgerRefusal
from gateway.devnet.transactions import parse_item
from gateway.wire.foreign import ForeignBytesError
from gateway.wire.networks import USDC_DECIMALS
from gateway.wire.receipts import receipt_in_response
from gateway.wire.required import PAYMENT_REQUIRED, read_required
from generator.catalog.money import usdc_amount
from generator.catalog.products import PRODUCTS, Product
from generator.client.agent.answers import Purchased, ToolError
from generator.client.agent.spending import Spending, write_durably
from generator.client.buying.offer import origin_key
from generator.client.buying.proof import receipt_of
from generator.client.buying.purchase import Context, Order, purchase
from generator.client.buying.purchases import OPEN, Purchase, PurchaseFolder
from generator.client.buying.web import Unanswered, WebAnswer
from generator.errors import GeneratorError
from generator.lock import StateLock, StateLockTaken

if TYPE_CHECKING:
    from gateway.devnet.keys import Key

ID: Final = re.compile(r"[A-Za-z0-9_-]{4,64}")
PATIENCE_S: Final = 20.0
PAGE_BYTES: Final = 4_000
"""Of a bought body in one page of its resource: below 1,200 tokens of four bytes."""
SAME_ID: Final = (
    "Call buy again with the same purchase_id: the same payment is sent, and no other one is signed. A new id would be "
    "a second purchase"
)
NO_WALLET: Final = "this server has no wallet: pay the demand in structuredContent and send the payment in _meta"
NOT_SEEN: Final = "Send the same payment again, or call buy with the same purchase_id alone; sign no other"


@dataclass(frozen=True, slots=True)
class Wallet:
    """With what this server pays: a key, the node of its network, and the only payee."""

    key: Key
    node_url: str
    spending: Spending
    payee: str


class PaymentDemanded(Exception):
    """Whoever calls is to pay: the object of PAYMENT-REQUIRED, all of it the seller's, and why."""

    def __init__(self, required: Mapping[str, Any], why: str) -> None:
        super().__init__(why)
        self.required = required
        self.why = why


class Buyer:
    """Buys from one origin; what it signed and what it was handed lies below one folder.

    Args:
        origin: of the service.
        folder: for everything that must outlive this process.
        context: what a purchase touches; its folder is replaced for each purchase.
        wallet: None where whoever calls pays.
        now: gives the time of a day's cap.
    """

    def __init__(
        self, origin: str, folder: Path, context: Context, wallet: Wallet | None, now: Callable[[], datetime]
    ) -> None:
        self._origin = origin
        self._folder = folder
        self._context = context
        self._wallet = wallet
        self._now = now
        name = hashlib.sha256(origin_key(origin).encode()).hexdigest()[:16]
        self._place = folder / "purchases" / name

    async def buy(self, name: str, cap: str, purchase_id: str) -> Purchased:
        """Buy a product, or return what the same purchase bought before.

        Raises:
            ToolError: nothing was bought, or its outcome is not known; the text says what to do.
            PaymentDemanded: there is no wallet.
        """
        product = product_named(name)
        most = atomic_of(cap)
        if not ID.fullmatch(purchase_id):
            raise ToolError("purchase_id has 4 to 64 letters, digits, - or _: one id for one purchase")

        try:
            with StateLock(self._home(purchase_id), "purchase"):
                return await self._buy(product, most, purchase_id)
        except StateLockTaken:
            raise ToolError(f"purchase {purchase_id} is under way in another call. {SAME_ID}") from None

    async def _buy(self, product: Product, most: int, purchase_id: str) -> Purchased:
        purchases = PurchaseFolder(self._home(purchase_id) / "payments")
        done = _settled(purchases, self._home(purchase_id))

        # The same id again is the same purchase: its answer, and never a second payment.
        if done is not None:
            if done.product != product.id:
                raise ToolError(f"purchase {purchase_id} was for {done.product}; take another id for another product")
            return self._answer(done, purchase_id, paid_now=False)

        # Without a wallet the host pays: what it signed before is sent again, else it is asked.
        if self._wallet is None:
            _refuse_other_product(purchases, self._home(purchase_id), product)
            presented = purchases.unfinished(self._url(product))
            if presented is None:
                raise PaymentDemanded(await self._demand(product, most), NO_WALLET)
            return await self._send(presented, product, purchase_id, purchases)
        return await self._pay(product, most, purchase_id, purchases, self._wallet)

    async def _pay(
        self, product: Product, most: int, purchase_id: str, purchases: PurchaseFolder, wallet: Wallet
    ) -> Purchased:
        key = f"{origin_key(self._origin)} {purchase_id}"
        limit = min(most, product.price_atomic)
        is_open = purchases.unfinished(self._url(product)) is not None
        if not is_open:
            _refuse_other_product(purchases, self._home(purchase_id), product)
            if product.price_atomic > most:
                raise ToolError(
                    f"cap_exceeded: {product.buy_name} costs {usdc_amount(product.price_atomic)} USDC, and cap is "
                    f"{usdc_amount(most)}",
                    error="cap_exceeded",
                )
            wallet.spending.reserve(key, limit, self._now())

        try:
            order = Order(
                url=self._url(product),
                product=product.id,
                node_url=wallet.node_url,
                devnet_url=wallet.node_url,
                key=wallet.key,
                max_amount_atomic=limit,
                accept_payee=wallet.payee,
                patience_s=PATIENCE_S,
            )
            bought = await purchase(order, replace(self._context, purchases=purchases))
        except GeneratorError as error:
            if purchases.unfinished(self._url(product)) is not None:
                raise ToolError(f"not known yet: {error}. {SAME_ID}", error="unknown") from error
            # Nothing that was signed can be settled any more: the amount is free again.
            wallet.spending.release(key)
            raise ToolError(f"nothing was paid: {error}", error="refused") from error

        write_durably(self._body(bought.purchase.txid), bought.content)
        purchases.keep(bought.purchase)
        return self._answer(bought.purchase, purchase_id, paid_now=not is_open)

    async def _demand(self, product: Product, most: int) -> Mapping[str, Any]:
        """Return what PAYMENT-REQUIRED asks for a product."""
        answer = await self._asked(product)
        required = _required(answer, f"the service answered {answer.status} without readable terms")
        try:
            amounts = [int(option["amount"]) for option in required["accepts"]]
        except (ValueError, LookupError, TypeError):
            raise ToolError(f"the service answered {answer.status} without readable terms; {answer.reason()}") from None
        if max(amounts, default=0) > most:
            raise ToolError("cap_exceeded: the price is above cap; nothing was paid", error="cap_exceeded")
        return required

    async def present(self, name: str, cap: str, purchase_id: str, payload: Mapping[str, Any]) -> tuple[Purchased, Any]:
        """Send a payment that the caller signed; return what the purchase bought and its settlement.

        A purchase that is settled, or whose earlier payment may be, is not paid a second time: the earlier payment is
        sent again, and another one only once the seller has refused that.

        Raises:
            ToolError: it was not delivered; the text says whether it may be settled.
            PaymentDemanded: it was refused.
        """
        product = product_named(name)
        most = atomic_of(cap)
        signed = self._signed(product, payload)
        if signed.amount_atomic > most:
            raise ToolError(
                f"cap_exceeded: the payment is of {usdc_amount(signed.amount_atomic)} USDC, and cap is "
                f"{usdc_amount(most)}; it was not sent",
                error="cap_exceeded",
            )

        try:
            with StateLock(self._home(purchase_id), "purchase"):
                bought = await self._present(product, purchase_id, signed)
        except StateLockTaken:
            raise ToolError(f"purchase {purchase_id} is under way in another call. {SAME_ID}") from None
        receipt = next(done.receipt for name, done in self.bought() if name == purchase_id)
        return bought, receipt

    async def _present(self, product: Product, purchase_id: str, signed: Purchase) -> Purchased:
        home = self._home(purchase_id)
        purchases = PurchaseFolder(home / "payments")
        done = _settled(purchases, home)
        if done is not None and done.product == product.id:
            return self._answer(done, purchase_id, paid_now=False)
        if done is not None:
            raise ToolError(f"purchase {purchase_id} was for {done.product}; take another id for another product")

        _refuse_other_product(purchases, home, product)
        earlier = purchases.unfinished(self._url(product))
        if earlier is not None and earlier.txid != signed.txid:
            try:
                return await self._send(earlier, product, purchase_id, purchases)
            except PaymentDemanded:
                # Refused for good by the seller, and written down: the new payment takes its place.
                pass
        return await self._send(purchases.keep(signed), product, purchase_id, purchases)

    async def _send(self, signed: Purchase, product: Product, purchase_id: str, purchases: PurchaseFolder) -> Purchased:
        """Send a payment of the caller's, which is kept already, and keep what becomes of it."""
        try:
            answer = await self._context.web.get(self._url(product), {"PAYMENT-SIGNATURE": signed.header})
        except Unanswered as error:
            raise ToolError(f"not known yet: no answer ({error}). {NOT_SEEN}", error="unknown") from None

        receipt = receipt_of(answer)
        if answer.status == 402:
            required = _required(answer, "the service refused without readable terms")
            purchases.keep(replace(signed, status="refused", receipt=receipt))
            raise PaymentDemanded(required, f"the payment was refused; {answer.reason()}")
        body = answer.json()
        settled_as = (receipt or {}).get("success"), (receipt or {}).get("transaction")
        if answer.status != 200 or not isinstance(body, dict) or settled_as != (True, signed.txid):
            raise ToolError(
                f"not known yet: the service answered {answer.status}; {answer.reason()}. {NOT_SEEN}", error="unknown"
            )

        write_durably(self._body(signed.txid), answer.content)
        settled = replace(
            signed,
            status="settled",
            receipt=receipt,
            body=body,
            snapshot_id=str(body.get("snapshotId")),
            sha256=hashlib.sha256(answer.content).hexdigest(),
        )
        purchases.keep(settled)
        return self._answer(settled, purchase_id, paid_now=True)

    def _signed(self, product: Product, payload: Mapping[str, Any]) -> Purchase:
        """Return a payment of the caller's as it is kept; ToolError where it is none, and then nothing is sent."""
        # Built before anything is sent: a payment that cannot be kept is not made.
        try:
            group = payload["payload"]["paymentGroup"]
            item = parse_item(base64.b64decode(group[payload["payload"]["paymentIndex"]]))
            return Purchase(
                txid=item.txid,
                url=self._url(product),
                header=base64.b64encode(json.dumps(payload).encode()).decode(),
                network=str(payload["accepted"]["network"]),
                payer=item.sender,
                amount_atomic=int(item.fields["aamt"]),
                product=product.id,
            )
        except (LookupError, TypeError, ValueError, LedgerRefusal):
            raise ToolError(
                "_meta x402/payment holds no payment on Algorand that can be read; it was not sent"
            ) from None

    async def _asked(self, product: Product) -> WebAnswer:
        try:
            return await self._context.web.get(self._url(product))
        except Unanswered as error:
            raise ToolError(f"nothing was paid: {self._url(product)} cannot be reached ({error})") from None

    def bought(self) -> list[tuple[str, Purchase]]:
        """Return every settled purchase with its id."""
        if not self._place.is_dir():
            return []

        settled = []
        for home in sorted(path for path in self._place.iterdir() if path.is_dir()):
            done = _settled(PurchaseFolder(home / "payments"), home)
            if done is not None:
                settled.append((home.name, done))
        return settled

    def page(self, txid: str, number: int) -> str:
        """Return one page of a bought body; ToolError where there is none."""
        pages = self._pages(txid)
        if not 1 <= number <= len(pages):
            raise ToolError(f"there is no page {number} of {txid}; it has {len(pages)}")
        return pages[number - 1]

    def _pages(self, txid: str) -> list[str]:
        path = self._body(txid)
        if not path.is_file():
            return []
        text = path.read_text(encoding="utf-8")
        return list(pages_of(text))

    def _answer(self, done: Purchase, purchase_id: str, *, paid_now: bool) -> Purchased:
        path = self._body(done.txid)
        pages = len(self._pages(done.txid))
        body = done.body if isinstance(done.body, dict) else {}
        receipt = receipt_in_response(done.receipt)

        return Purchased(
            purchase_id=purchase_id,
            paid_now=paid_now,
            product=str(done.product),
            amount_usdc=usdc_amount(done.amount_atomic),
            transaction=done.txid,
            network=done.network,
            payer=done.payer,
            snapshot=str(done.snapshot_id),
            sha256=str(done.sha256),
            headline=str(body.get("headline", ""))[:600],
            receipt=receipt if receipt is not None and len(receipt) <= 2_000 else None,
            path=str(path) if pages else None,
            resource=f"emi://bought/{done.txid}/1" if pages else None,
            pages=pages,
        )

    def _home(self, purchase_id: str) -> Path:
        return self._place / purchase_id

    def _body(self, txid: str) -> Path:
        return self._folder / "bought" / f"{txid}.json"

    def _url(self, product: Product) -> str:
        return self._origin + product.path


def product_named(name: str) -> Product:
    """Return a product by its name; ToolError lists them."""
    for product in PRODUCTS:
        if name in {product.buy_name, product.id}:
            return product
    raise ToolError(f"products are {', '.join(product.buy_name for product in PRODUCTS)}")


def atomic_of(cap: str) -> int:
    """Return an amount of USDC in atomic units; ToolError for what is not one.

    >>> atomic_of("0.10")
    100000
    """
    try:
        amount = Decimal(cap)
    except InvalidOperation:
        amount = Decimal(-1)
    scaled = amount.scaleb(USDC_DECIMALS) if amount.is_finite() else Decimal(-1)
    if scaled < 0 or scaled != scaled.to_integral_value() or scaled > 10**12:
        raise ToolError("cap is an amount of USDC such as 0.10, at most six decimals")
    return int(scaled)


def pages_of(text: str) -> list[str]:
    """Cut a text into pages of a bounded number of bytes, none within a character.

    >>> [len(page) for page in pages_of("é" * 3_000)]
    [2000, 1000]
    """
    pages = [""]

    size = 0
    for letter in text:
        weight = len(letter.encode())
        if size + weight > PAGE_BYTES:
            pages.append("")
            size = 0
        pages[-1] += letter
        size += weight
    return pages


def _settled(purchases: PurchaseFolder, home: Path) -> Purchase | None:
    """Return the settled payment of a purchase, None while there is none."""
    for path in sorted((home / "payments").glob("*.json")):
        purchase = purchases.find(path.stem)
        if purchase is not None and purchase.status == "settled":
            return purchase
    return None


def _refuse_other_product(purchases: PurchaseFolder, home: Path, product: Product) -> None:
    """Refuse an id whose open payment is for another product: it could be paid twice under one name."""
    for path in (home / "payments").glob("*.json"):
        purchase = purchases.find(path.stem)
        if purchase is not None and purchase.status in OPEN and purchase.product != product.id:
            raise ToolError(
                f"this purchase_id has a payment for {purchase.product} that is not finished; ask for that one"
            )


def _required(answer: WebAnswer, problem: str) -> Mapping[str, Any]:
    """Return what PAYMENT-REQUIRED asks for; raise ToolError, which names the problem, where it cannot be read."""
    try:
        return read_required(answer.values(PAYMENT_REQUIRED)[0])
    except (ForeignBytesError, LookupError):
        raise ToolError(f"{problem}; {answer.reason()}") from None
