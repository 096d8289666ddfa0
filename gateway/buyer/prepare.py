"""Prepare the unsigned group of one purchase, so that a browser only has to ask the wallet to sign.

Nothing here is secret or binding: the group is what any x402 client would build from the challenge, and the payment
is judged later from its own bytes. The fee payer's part stays unsigned; the facilitator signs it when it settles.
"""

import asyncio
import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from algosdk import encoding
from algosdk.encoding import is_valid_address
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.app.answers import preflight
from gateway.app.limits import RateLimit
from gateway.app.state import GatewayState
from gateway.buyer.account import Account, NodeUnusable, Params, look_up
from gateway.buyer.products import PRODUCTS
from gateway.payments.challenge import Challenge
from gateway.wire.groups import payment_group
from gateway.wire.networks import Network

PREPARE_PATH: Final = "/x402-buyer/prepare"
VALID_ROUNDS: Final = 100
"""About five minutes: time to approve on a phone, and an end after which an unsettled payment is refused for good."""
PER_MINUTE: Final = 30
MAX_AT_ONCE: Final = 32
RETRY_S: Final = 5
PAYMENT_INDEX: Final = 1
ATTEMPT: Final = re.compile(r"(?:[A-Za-z0-9_-]{16,64})?")


@dataclass(frozen=True, slots=True)
class Group:
    """An unsigned payment.

    Args:
        items: canonical msgpack of each transaction in its order, base64.
        txid: the payment's, which its signature does not change.
        first_valid: first round at which it can land.
        last_valid: last round at which it can land.
    """

    items: tuple[str, str]
    txid: str
    first_valid: int
    last_valid: int


@dataclass(frozen=True, slots=True)
class Order:
    """Who wants to buy what.

    Args:
        product: the product's id.
        payer: a valid address.
        attempt: the browser's word for this one purchase, empty when it has none.
    """

    product: str
    payer: str
    attempt: str

    @property
    def lease(self) -> bytes | None:
        """Under which the chain takes one payment only: two tabs with one attempt cannot both pay."""
        if not self.attempt:
            return None
        return hashlib.sha256(f"{self.product}\n{self.payer}\n{self.attempt}".encode()).digest()


def unsigned_group(accepted: Mapping[str, Any], order: Order, params: Params, network: Network) -> Group:
    """Build the group that pays one entry of `accepts`: the fee payer's part first, then the payment.

    Args:
        accepted: the entry.
        order: who buys what.
        params: from the node.
        network: ours.
    """
    first_valid, last_valid = params.last_round, params.last_round + VALID_ROUNDS
    note = f"x402 {order.product} {secrets.token_hex(8)}".encode()
    first, second = payment_group(
        accepted, order.payer, network, (first_valid, last_valid), params.min_fee, note, order.lease
    )
    return Group(
        items=(_packed(first), _packed(second)),
        txid=second.get_txid(),
        first_valid=first_valid,
        last_valid=last_valid,
    )


def _packed(item: Any) -> str:
    # Decoded and encoded once more: standard padded base64 without line breaks, as wallets and clients send it.
    return base64.b64encode(base64.b64decode(encoding.msgpack_encode(item))).decode()


class Prepare:
    """Answer GET /x402-buyer/prepare.

    Args:
        state: the gateway's parts; read again with each request.
    """

    def __init__(self, state: GatewayState) -> None:
        self._state = state
        self._rate = RateLimit(min(PER_MINUTE, state.settings.rate_limit_per_minute), state.clock)
        self._running = 0

    async def show(self, request: Request) -> Response:
        """Tell what an account can do, and the group that it has to sign for the newest quote."""
        if request.method == "OPTIONS":
            return preflight()
        asked = request.query_params
        flow, payer, attempt = asked.get("product", ""), asked.get("address", ""), asked.get("attempt", "")
        complaint = _complaint(flow, payer, attempt)
        if complaint:
            return self._state.problem(request.url.path, 400, complaint)
        wait_s = self._rate.take(self._state.clients.address(request.scope))
        if wait_s is not None:
            return self._state.problem(
                request.url.path, 429, "Too many payments were prepared from this address.", retry_s=wait_s
            )
        quote = next((one for one in self._state.quotes().values() if one.product.id == PRODUCTS[flow]), None)
        if quote is None:
            return self._state.problem(request.url.path, 503, "Quotes are temporarily unavailable.", retry_s=RETRY_S)
        return await self._prepared(request, quote, Order(quote.product.id, payer, attempt))

    async def _prepared(self, request: Request, quote: Challenge, order: Order) -> Response:
        if self._running >= MAX_AT_ONCE:
            return self._state.problem(
                request.url.path, 503, "Too many payments are being prepared; nothing was signed.", retry_s=RETRY_S
            )
        self._running += 1
        try:
            network = self._state.settings.chain_network
            account, params = await look_up(self._state.chain, order.payer, network)
            content = await asyncio.to_thread(_answer, quote, order, account, params, network)
        except NodeUnusable as error:
            text = f"The account cannot be checked: {error}. Nothing was signed."
            return self._state.problem(request.url.path, 503, text, retry_s=RETRY_S)
        finally:
            self._running -= 1
        return JSONResponse(content, headers={"cache-control": "no-store", "x-content-type-options": "nosniff"})


def _complaint(flow: str, payer: str, attempt: str) -> str:
    if flow not in PRODUCTS:
        return f"product: one of {', '.join(PRODUCTS)}."
    if not is_valid_address(payer):
        return "address: the 58 characters of an Algorand address."
    return "" if ATTEMPT.fullmatch(attempt) else "attempt: 16 to 64 of A-Z a-z 0-9 - _, or nothing."


def _answer(quote: Challenge, order: Order, account: Account, params: Params, network: Network) -> dict[str, Any]:
    accepted = quote.required["accepts"][0]
    obstacle = account.obstacle(int(accepted["amount"]))
    content = {
        "product": quote.product.id,
        "path": quote.product.path,
        "address": order.payer,
        "network": {"name": network.name, "genesis_id": network.genesis_id, "genesis_hash": network.genesis_hash},
        "price_atomic": int(accepted["amount"]),
        "asset": int(accepted["asset"]),
        "pay_to": accepted["payTo"],
        "account": asdict(account),
        "obstacle": obstacle,
        "accepted": accepted,
        "payment": None,
    }
    if obstacle is not None:
        return content
    group = unsigned_group(accepted, order, params, network)
    return content | {
        "payment": {
            "group": list(group.items),
            "sign": [PAYMENT_INDEX],
            "index": PAYMENT_INDEX,
            "txid": group.txid,
            "first_valid": group.first_valid,
            "last_valid": group.last_valid,
        }
    }
