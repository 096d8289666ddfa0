"""The paid paths on the wire: one request in, one of the outcomes out."""

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import PaymentInvalid
from gateway.http.answers import ALLOWED_METHODS, VARY, Problems, encoded, preflight
from gateway.http.limits import Clients, RateLimit
from gateway.http.metrics import Metrics
from gateway.ledger.thread import LedgerThread
from gateway.payments.challenge import Challenge
from gateway.payments.decide import (
    ALREADY_ON_CHAIN,
    HEADER_REPEATED,
    IDENTIFIER_REQUIRED,
    Delivered,
    Gone,
    Limited,
    Outcome,
    Pending,
    Refused,
    Unavailable,
    Withheld,
)
from gateway.payments.known_headers import KnownHeaders
from gateway.payments.parse import read_payment
from gateway.payments.purchase import Purchases, Step
from gateway.payments.quotes import RETRY_S, Absence, Quotes
from gateway.payments.receipts import extension_of
from gateway.payments.transfers import find_transfers
from gateway.settings import GatewaySettings
from gateway.values import Transfer
from gateway.vault.folder import VaultReader
from gateway.wire.networks import MAINNET
from gateway.wire.refusals import NOT_FOR_SALE

SIGNATURE: Final = b"payment-signature"
SIGNATURE_OF_V1: Final = b"x-payment"
NO_PRODUCT: Final = "No product is sold at this path."
LIMITED: Final = "Too many payment attempts from this address."
UNKNOWN: Final = "The outcome of this payment is not known yet. Send the same payment again; do not sign another."
CONSUMED: Final = "This payment was settled and its answer delivered; it is kept no longer. Do not pay again for it."
WITHHELD: Final = {
    ALREADY_ON_CHAIN: "A transfer in this request is on the chain or on its way there, or was settled here in another "
    "form. Do not pay again.",
    HEADER_REPEATED: "PAYMENT-SIGNATURE came more than once, with different values, and one of them holds a payment "
    "that was made before. Do not pay again: send that one alone.",
    IDENTIFIER_REQUIRED: "This payment is already settled; do not pay again. Its answer is repeated to whoever sends "
    "the payment identifier that it came with; one that came without is repeated for about an hour.",
}
ASK_OPERATOR: Final = " If its answer never reached you, write to {contact} and name the transaction {txid}."
PLAY_MONEY: Final = {"money": "play money, worth nothing"}
VARY_HEADER: Final = {"vary": VARY.decode()}


class PaidEndpoint:
    """Serve every paid path as a raw ASGI application; `step` as in `gateway.payments.purchase`."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        vault: VaultReader,
        quotes: Quotes,
        purchases: Purchases,
        ledger: LedgerThread,
        clients: Clients,
        rate: RateLimit,
        metrics: Metrics,
        problems: Problems,
        step: Step,
    ) -> None:
        self._network = settings.chain_network
        self._payee = settings.payee
        self._contact = settings.contact

        self._vault = vault
        self._quotes = quotes
        self._purchases = purchases
        self._ledger = ledger
        self._clients = clients
        self._rate = rate
        self._metrics = metrics
        self._problems = problems
        self._step = step
        self._known = KnownHeaders()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        outcome: Outcome | None = None
        headers = _sent(scope, SIGNATURE)

        if scope["method"] != "GET":
            answer = self._other_method(scope)
        elif not headers and not _sent(scope, SIGNATURE_OF_V1):
            answer = self._quote(scope)
        elif not self._is_product(scope["path"]):
            answer = self._problem(scope, 404, NO_PRODUCT)
        else:
            outcome = await (self._pay(scope, headers) if headers else self._refuse_v1(scope))
            answer = self._deliver(outcome) if isinstance(outcome, Delivered) else self._answer(scope, outcome)

        await answer(scope, receive, send)
        if isinstance(outcome, Delivered):
            self._step("delivered")

    def _other_method(self, scope: Scope) -> ASGIApp:
        if scope["method"] == "HEAD":
            # A HEAD never buys, whatever headers it carries.
            return self._quote(scope)
        if scope["method"] == "OPTIONS":
            answer = preflight()
            answer.headers["vary"] = VARY.decode()
            return answer
        return self._problem(scope, 405, "Use GET to buy, HEAD to look.", {"allow": ALLOWED_METHODS})

    def _quote(self, scope: Scope) -> ASGIApp:
        challenge = self._challenge(scope)
        return challenge.answer if isinstance(challenge, Challenge) else challenge

    def _challenge(self, scope: Scope) -> Challenge | ASGIApp:
        absence = self._quotes.absence(scope["path"])
        challenge = self._quotes.at(scope["path"])
        if absence is None and challenge is not None:
            return challenge

        if not self._is_product(scope["path"]):
            return self._problem(scope, 404, NO_PRODUCT)
        absence = absence or Absence("no quote can be made")
        members = {"reason": NOT_FOR_SALE} if absence.lasts else {}
        return self._unavailable(scope, absence.reason, absence.retry_s, **members)

    def _is_product(self, path: str) -> bool:
        vault = self._vault.current()
        return vault is None or path in vault.products

    async def _pay(self, scope: Scope, headers: Sequence[bytes]) -> Outcome:
        admit = self._admission(scope)
        path = scope["path"]

        # The very header that was delivered before need not be decoded again.
        known = self._known.find(headers[0], path) if len(headers) == 1 else None
        repeated = None if known is None else await self._purchases.repeated(path, known)
        if repeated is not None:
            self._metrics.known_headers.inc()
            self._step("decoded")
            return repeated

        try:
            if len(headers) > 1:
                raise PaymentInvalid("payment_header_repeated", "send PAYMENT-SIGNATURE once")
            payment = read_payment(headers[0].decode("latin-1"), self._network, self._payee)
        except PaymentInvalid as error:
            return await self._refuse_unread(Refused(error.code, error.text), scope, admit)

        self._step("decoded")
        outcome = await self._purchases.buy(path, payment, admit)
        if isinstance(outcome, Delivered):
            self._known.add(headers[0], path, payment)
        return outcome

    def _admission(self, scope: Scope) -> Callable[[], int | None]:
        """Return what counts an attempt of the client's address, and returns seconds to wait when too many came."""
        address = self._clients.address(scope)
        return lambda: self._rate.take(address)

    async def _refuse_v1(self, scope: Scope) -> Outcome:
        refusal = Refused("unsupported_x402_version", "send the payment in PAYMENT-SIGNATURE, as x402 version 2 does")
        return await self._refuse_unread(refusal, scope, self._admission(scope))

    async def _refuse_unread(self, refusal: Refused, scope: Scope, admit: Callable[[], int | None]) -> Outcome:
        """Refuse what cannot be taken as a payment, once the chain was asked about each transfer to our payee in it."""
        wait_s = admit()
        if wait_s is not None:
            return Limited(wait_s)

        transfers = self._transfers(scope)
        if not transfers:
            return refusal
        return await self._purchases.refuse(refusal, transfers, admit)

    def _transfers(self, scope: Scope) -> list[Transfer]:
        """Return every transfer to our payee in a request's payment headers, of either version."""
        return [
            transfer
            for value in (*_sent(scope, SIGNATURE), *_sent(scope, SIGNATURE_OF_V1))
            for transfer in find_transfers(value.decode("latin-1"), self._network, self._payee)
        ]

    def _deliver(self, outcome: Delivered) -> ASGIApp:
        record = outcome.record
        self._ledger.delivered(record.txid)
        receipt = _as_bytes(_receipt(record.network, record.txid, record.payer, signed=record.receipt))
        return encoded(200, outcome.content, [(b"cache-control", record.cache_control.encode()), receipt])

    def _answer(self, scope: Scope, outcome: Refused | Gone | Withheld | Pending | Unavailable | Limited) -> ASGIApp:
        """Answer a payment that is not delivered.

        A settled one gets no challenge: that makes its payer pay again.
        """
        match outcome:
            case Refused():
                return self._refuse(scope, outcome)

            case Gone(record):
                receipt = _receipt(record.network, record.txid, record.payer)
                return self._problem(scope, 410, CONSUMED, receipt, reason="payment_consumed")

            case Withheld():
                return self._withhold(scope, outcome)

            case Pending(txid, network, payer):
                receipt = _receipt(network, txid, payer, "settlement_pending")
                return self._problem(scope, 503, UNKNOWN, {"retry-after": str(RETRY_S), **receipt})

            case Limited(wait_s):
                return self._problem(scope, 429, LIMITED, {"retry-after": str(wait_s)})

            case Unavailable(reason, wait_s):
                return self._unavailable(scope, reason, wait_s)

    def _withhold(self, scope: Scope, outcome: Withheld) -> ASGIApp:
        ask = ASK_OPERATOR.format(contact=self._contact or "the operator of this service", txid=outcome.txid)
        members: dict[str, Any] = {"reason": outcome.reason, "txid": outcome.txid}
        if self._contact:
            members["contact"] = self._contact
        return self._problem(scope, 409, WITHHELD[outcome.reason] + ask, **members)

    def _refuse(self, scope: Scope, outcome: Refused) -> ASGIApp:
        challenge = self._challenge(scope)
        if not isinstance(challenge, Challenge):
            return challenge

        error = f"{outcome.code}: {outcome.text}" if outcome.text else outcome.code
        if outcome.network is None:
            return challenge.failed(error)
        receipt = _receipt(outcome.network, "", outcome.payer, outcome.code)
        return challenge.failed(error, _as_bytes(receipt))

    def _unavailable(self, scope: Scope, why: str, retry_s: int, **members: str) -> ASGIApp:
        detail = f"{why[:1].upper()}{why[1:]}."
        return self._problem(scope, 503, detail, {"retry-after": str(retry_s)}, **members)

    def _problem(
        self, scope: Scope, status: int, detail: str, headers: dict[str, str] | None = None, **members: Any
    ) -> ASGIApp:
        return self._problems.make(scope["path"], status, detail, {**VARY_HEADER, **(headers or {})}, **members)


def _sent(scope: Scope, header: bytes) -> list[bytes]:
    """Return the different values of a payment header; a proxy may have joined several with commas."""
    values = [part for name, value in scope["headers"] if name == header for part in value.split(b",")]
    return list(dict.fromkeys(value.strip() for value in values))


def _receipt(
    network: str, transaction: str, payer: str | None, reason: str | None = None, signed: str | None = None
) -> dict[str, str]:
    """Make the PAYMENT-RESPONSE header; the transaction is empty when nothing was or may have been broadcast."""
    # As x402's SettleResponse writes it, without the making of a model.
    members = {
        "success": reason is None,
        "errorReason": reason,
        "payer": payer,
        "transaction": transaction,
        "network": network,
        "extensions": None if signed is None else extension_of(signed),
        "extra": None if network in MAINNET.forms else PLAY_MONEY,
    }
    text = json.dumps({name: value for name, value in members.items() if value is not None})
    return {"payment-response": b64encode(text.encode()).decode()}


def _as_bytes(header: dict[str, str]) -> tuple[bytes, bytes]:
    [(name, value)] = header.items()
    return name.encode(), value.encode()
