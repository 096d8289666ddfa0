"""The devnet's faucet and the page's throwaway wallets: play money out of thin air, on this machine only."""

import base64
import hmac
import time
from collections.abc import Callable
from typing import Final

from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from gateway.devnet.errors import LedgerRefusal
from gateway.devnet.keys import Key, key_of_seed, new_key
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.node import mounted, refusal
from gateway.devnet.transactions import parse_item, signed

GIFT_MICRO_ALGOS: Final = 10_000_000
GIFT_ASSET: Final = 5_000_000
"""5 USDC: fifty human reports."""
VISITOR: Final = "x-visitor"
NEW_VISITORS_A_DAY: Final = 10_000
"""Wallets made for visitors a day at most: the ledger keeps each."""
DAY_S: Final = 86_400


class VisitorWallets:
    """Wallets that are derived from the page's key by a visitor's name: nothing of them is kept but their balance.

    Each is funded once. Visitors are named by the gateway, which alone reaches the devnet.
    """

    def __init__(self, ledger: DevnetLedger, page_key: Key, now: Callable[[], float] = time.time) -> None:
        self._ledger = ledger
        self._secret = page_key.secret.encode()
        self._now = now
        self._day = -1
        self._new_today = 0

    def key_of(self, visitor: str) -> Key:
        """Return a visitor's key, always the same."""
        return key_of_seed(hmac.digest(self._secret, visitor.encode(), "sha256"))

    def fund(self, key: Key) -> bool:
        """Fund a wallet that no one had before; return False where too many were made today."""
        if self._ledger.holding(key.address) is not None:
            return True

        day = int(self._now() // DAY_S)
        if day != self._day:
            self._day = day
            self._new_today = 0
        if self._new_today >= NEW_VISITORS_A_DAY:
            return False
        self._new_today += 1
        self._ledger.fund(key.address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        return True


def wallet_routes(ledger: DevnetLedger, page_key: Key) -> Mount:
    """Return the routes below /wallet: the faucet, and the wallets of the buyer page with their keys."""
    visitors = VisitorWallets(ledger, page_key)

    async def fund(request: Request) -> Response:
        address = request.query_params.get("address", "")
        if not encoding.is_valid_address(address):
            return refusal(400, "address: 58 characters of an Algorand address are needed, as ?address=..")
        ledger.fund(address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        content = {"micro_algos": ledger.micro_algos(address), "usdc_atomic": ledger.holding(address)}
        return JSONResponse({"address": address, **content, "asset": ledger.identity.asset_id})

    async def new(_request: Request) -> Response:
        key = new_key()
        ledger.fund(key.address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        return PlainTextResponse(f"{key.secret}\n", headers={"cache-control": "no-store"})

    async def account(request: Request) -> Response:
        visitor = request.headers.get(VISITOR)
        if visitor is None:
            ledger.fund(page_key.address, GIFT_MICRO_ALGOS, GIFT_ASSET)
            return JSONResponse({"address": page_key.address})

        key = visitors.key_of(visitor)
        if not visitors.fund(key):
            return refusal(503, "too many wallets were made today")
        return JSONResponse({"address": key.address, "usdc_atomic": ledger.holding(key.address)})

    async def sign_prepared(request: Request) -> Response:
        try:
            item = parse_item(base64.b64decode(request.headers.get("x-unsigned", ""), validate=True))
        except (ValueError, LedgerRefusal):
            return refusal(400, "what is to be signed is not a transaction")

        names = request.headers.get(VISITOR)
        keys = [page_key] if names is None else [visitors.key_of(name) for name in names.split(",")]
        key = next((key for key in keys if key.address == item.sender), None)
        if key is None or item.fields.get("gh") != ledger.identity.genesis_hash_bytes:
            return refusal(400, "this wallet signs only its own transactions on the devnet")

        wire = signed(item, key.secret).wire
        return JSONResponse({"signed": base64.b64encode(wire).decode()})

    posts = (("/new", new), ("/account", account), ("/sign-prepared", sign_prepared))
    paths = [Route(path, answer, methods=["POST"]) for path, answer in posts]
    return mounted("/wallet", [Route("/fund", fund), *paths])
