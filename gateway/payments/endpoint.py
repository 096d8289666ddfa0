"""The paid paths on the wire: one request in, one of the outcomes out."""

from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send
from x402.http.utils import encode_payment_response_header
from x402.schemas import SettleResponse

from gateway.app.answers import ALLOWED_METHODS, VARY, encoded, preflight
from gateway.app.state import GatewayState
from gateway.errors import PaymentInvalid
from gateway.payments.challenge import Challenge
from gateway.payments.decide import Delivered, Gone, Limited, Outcome, Pending, Refused, Unavailable, Withheld
from gateway.payments.parse import read_payment
from gateway.wire.networks import MAINNET

SIGNATURE: Final = b"payment-signature"
RETRY_S: Final = 5
NO_PRODUCT: Final = "No product is sold at this path."
LIMITED: Final = "Too many payment attempts from this address."
UNKNOWN: Final = "The outcome of this payment is not known yet. Send the same payment again; do not sign another."
CONSUMED: Final = "This payment was settled and its answer delivered; it is kept no longer. Do not pay again for it."
WITHHELD: Final = (
    "This payment is already settled; do not pay again. It came with a payment identifier: send the same identifier to "
    "get its answer again."
)
VARY_HEADER: Final = {"vary": VARY.decode()}


class PaidEndpoint:
    """Serve every paid path as a raw ASGI application."""

    def __init__(self, state: GatewayState) -> None:
        self._state = state
        self._network = state.settings.chain_network
        self._payee = state.settings.payee

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        outcome: Outcome | None = None
        headers = [value for name, value in scope["headers"] if name == SIGNATURE]
        if scope["method"] != "GET":
            answer = self._other_method(scope)
        elif not headers:
            answer = self._quote(scope)
        elif not self._is_product(scope["path"]):
            answer = self._problem(scope, 404, NO_PRODUCT)
        else:
            outcome = await self._pay(scope, headers)
            answer = self._deliver(outcome) if isinstance(outcome, Delivered) else self._answer(scope, outcome)
        await answer(scope, receive, send)
        if isinstance(outcome, Delivered):
            self._state.step("delivered")

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
        reason = self._state.no_quote_reason(scope["path"])
        challenge = self._state.challenges.get(scope["path"])
        if reason is None and challenge is not None:
            return challenge
        if not self._is_product(scope["path"]):
            return self._problem(scope, 404, NO_PRODUCT)
        return self._unavailable(scope, reason or "no quote can be made", RETRY_S)

    def _is_product(self, path: str) -> bool:
        vault = self._state.vault.current()
        return vault is None or path in vault.products

    async def _pay(self, scope: Scope, headers: list[bytes]) -> Outcome:
        address = self._state.clients.address(scope)
        try:
            if len(headers) > 1:
                raise PaymentInvalid("payment_header_repeated", "send PAYMENT-SIGNATURE once")
            payment = read_payment(headers[0].decode("latin-1"), self._network, self._payee)
        except PaymentInvalid as error:
            wait_s = self._state.rate.take(address)
            return Limited(wait_s) if wait_s is not None else Refused(error.code, error.text)
        self._state.step("decoded")
        return await self._state.purchases.buy(scope["path"], payment, lambda: self._state.rate.take(address))

    def _deliver(self, outcome: Delivered) -> ASGIApp:
        record = outcome.record
        self._state.ledger.delivered(record.txid)
        receipt = _as_bytes(_receipt(record.network, record.txid, record.payer))
        return encoded(200, outcome.content, [(b"cache-control", record.cache_control.encode()), receipt])

    def _answer(self, scope: Scope, outcome: Refused | Gone | Withheld | Pending | Unavailable | Limited) -> ASGIApp:
        """Answer a payment that is not delivered; a settled one without the challenge that makes its payer pay again."""
        match outcome:
            case Refused():
                return self._refuse(scope, outcome)
            case Gone(record):
                receipt = _receipt(record.network, record.txid, record.payer)
                return self._problem(scope, 410, CONSUMED, receipt, reason="payment_consumed")
            case Withheld():
                return self._problem(scope, 409, WITHHELD, reason="payment_identifier_required")
            case Pending(txid, network, payer):
                receipt = _receipt(network, txid, payer, "settlement_pending")
                return self._problem(scope, 503, UNKNOWN, {"retry-after": str(RETRY_S), **receipt})
            case Limited(wait_s):
                return self._problem(scope, 429, LIMITED, {"retry-after": str(wait_s)})
            case Unavailable(reason, wait_s):
                return self._unavailable(scope, reason, wait_s)

    def _refuse(self, scope: Scope, outcome: Refused) -> ASGIApp:
        challenge = self._challenge(scope)
        if not isinstance(challenge, Challenge):
            return challenge
        error = f"{outcome.code}: {outcome.text}" if outcome.text else outcome.code
        if outcome.network is None:
            return challenge.failed(error)
        return challenge.failed(error, _as_bytes(_receipt(outcome.network, "", outcome.payer, outcome.code)))

    def _unavailable(self, scope: Scope, reason: str, retry_s: int) -> ASGIApp:
        detail = f"{reason[:1].upper()}{reason[1:]}."
        return self._problem(scope, 503, detail, {"retry-after": str(retry_s)})

    def _problem(
        self, scope: Scope, status: int, detail: str, headers: dict[str, str] | None = None, **members: Any
    ) -> ASGIApp:
        return self._state.problem(scope["path"], status, detail, {**VARY_HEADER, **(headers or {})}, **members)


def _receipt(network: str, transaction: str, payer: str | None, reason: str | None = None) -> dict[str, str]:
    """Make the PAYMENT-RESPONSE header; the transaction is empty when nothing was or may have been broadcast."""
    answer = SettleResponse(
        success=reason is None,
        error_reason=reason,
        payer=payer,
        transaction=transaction,
        network=network,
        extra=None if network in MAINNET.forms else {"money": "play money, worth nothing"},
    )
    return {"payment-response": encode_payment_response_header(answer)}


def _as_bytes(header: dict[str, str]) -> tuple[bytes, bytes]:
    [(name, value)] = header.items()
    return name.encode(), value.encode()
