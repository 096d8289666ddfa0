"""Prepare the unsigned group of one purchase, so that a browser only has to ask the wallet to sign.

Nothing here is secret or binding: the group is what any x402 client would build from the challenge, and the payment
is judged later from its own bytes. The fee payer's part stays unsigned; the facilitator signs it when it settles.
"""

import asyncio
import base64
import hashlib
import re
import secrets
from dataclasses import asdict
from typing import Any, Final

from algosdk import encoding
from algosdk.encoding import is_valid_address
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.buyer.account import Account, NodeUnusable, Params, look_up
from gateway.buyer.products import FLOW_BY_NAME, FLOWS
from gateway.clock import Clock
from gateway.http.answers import Problems, preflight
from gateway.http.limits import Clients, RateLimit
from gateway.payments.challenge import Challenge
from gateway.payments.quotes import Absence, Quotes
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.wire.algorand import VALID_ROUNDS
from gateway.wire.groups import payment_group
from gateway.wire.networks import Network

PREPARE_PATH: Final = "/x402-buyer/prepare"
PER_MINUTE: Final = 30
MAX_AT_ONCE: Final = 32
RETRY_S: Final = 5
PAYMENT_INDEX: Final = 1
ATTEMPT: Final = re.compile(r"(?:[A-Za-z0-9_-]{16,64})?")


class Prepare:
    """Answer GET /x402-buyer/prepare."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        clock: Clock,
        chain: Chain,
        quotes: Quotes,
        clients: Clients,
        problems: Problems,
    ) -> None:
        self._network = settings.chain_network
        self._chain = chain
        self._quotes = quotes
        self._clients = clients
        self._problems = problems
        self._rate = RateLimit(min(PER_MINUTE, settings.rate_limit_per_minute), clock)
        self._running = 0

    async def show(self, request: Request) -> Response:
        """Show what an account can do, and the group that it has to sign for the newest quote."""
        if request.method == "OPTIONS":
            return preflight()
        asked = request.query_params
        flow = asked.get("product", "")
        payer = asked.get("address", "")
        attempt = asked.get("attempt", "")
        complaint = _complaint(flow, payer, attempt)
        if complaint:
            return self._problems.make(request.url.path, 400, complaint)

        wait_s = self._rate.take(self._clients.address(request.scope))
        if wait_s is not None:
            text = "Too many payments were prepared from this address."
            return self._problems.make(request.url.path, 429, text, retry_s=wait_s)

        product = FLOW_BY_NAME[flow].product
        quotes = self._quotes.current().values()
        quote = next((quote for quote in quotes if quote.product.id == product), None)
        if quote is None:
            absence = self._quotes.absence(f"/api/{product}.php") or Absence("this product is not for sale")
            text = f"There is no quote now: {absence.reason}."
            return self._problems.make(request.url.path, 503, text, retry_s=absence.retry_s)
        return await self._prepared(request, quote, payer, _lease(product, payer, attempt))

    async def _prepared(self, request: Request, quote: Challenge, payer: str, lease: bytes | None) -> Response:
        if self._running >= MAX_AT_ONCE:
            text = "Too many payments are being prepared; nothing was signed."
            return self._problems.make(request.url.path, 503, text, retry_s=RETRY_S)

        self._running += 1
        try:
            account, params = await look_up(self._chain, payer, self._network)
        except NodeUnusable as error:
            text = f"The account cannot be checked: {error}. Nothing was signed."
            return self._problems.make(request.url.path, 503, text, retry_s=RETRY_S)
        finally:
            self._running -= 1

        content = _answer(quote, payer, account, self._network)
        if content["obstacle"] is None:
            content["payment"] = await asyncio.to_thread(_payment, quote, payer, params, self._network, lease)
        return JSONResponse(content, headers={"cache-control": "no-store", "x-content-type-options": "nosniff"})


def _complaint(flow: str, payer: str, attempt: str) -> str:
    if flow not in FLOW_BY_NAME:
        return f"product: one of {', '.join(row.name for row in FLOWS)}."
    if not is_valid_address(payer):
        return "address: the 58 characters of an Algorand address."
    if not ATTEMPT.fullmatch(attempt):
        return "attempt: 16 to 64 of A-Z a-z 0-9 - _, or nothing."
    return ""


def _lease(product: str, payer: str, attempt: str) -> bytes | None:
    """Return under what the chain takes one payment only: two tabs with one attempt cannot both pay."""
    if not attempt:
        return None
    return hashlib.sha256(f"{product}\n{payer}\n{attempt}".encode()).digest()


def _answer(quote: Challenge, payer: str, account: Account, network: Network) -> dict[str, Any]:
    accepted = quote.required["accepts"][0]
    price = int(accepted["amount"])

    return {
        "product": quote.product.id,
        "path": quote.product.path,
        "address": payer,
        "network": {"name": network.name, "genesis_id": network.genesis_id, "genesis_hash": network.genesis_hash},
        "price_atomic": price,
        "asset": int(accepted["asset"]),
        "pay_to": accepted["payTo"],
        "account": asdict(account),
        "obstacle": account.obstacle(price),
        "accepted": accepted,
        "payment": None,
    }


def _payment(quote: Challenge, payer: str, params: Params, network: Network, lease: bytes | None) -> dict[str, Any]:
    """Build the group that pays a quote: the fee payer's part, then the payment, whose txid no signature changes."""
    rounds = (params.last_round, params.last_round + VALID_ROUNDS)
    note = f"x402 {quote.product.id} {secrets.token_hex(8)}".encode()
    group = payment_group(quote.required["accepts"][0], payer, network, rounds, params.min_fee, note, lease)

    # Decoded and encoded once more: standard padded base64 without line breaks, as wallets and clients send it.
    wire = [base64.b64decode(encoding.msgpack_encode(transaction)) for transaction in group]
    return {
        "group": [base64.b64encode(part).decode() for part in wire],
        "sign": [PAYMENT_INDEX],
        "index": PAYMENT_INDEX,
        "txid": group[PAYMENT_INDEX].get_txid(),
        "first_valid": rounds[0],
        "last_valid": rounds[1],
    }
