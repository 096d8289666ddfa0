"""The devnet's faucet and the page's throwaway wallet: play money out of thin air, on this machine only."""

import base64
from typing import Final

from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from gateway.devnet.errors import LedgerRefusal
from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.node import mounted, refusal
from gateway.devnet.transactions import parse_item, signed

GIFT_MICRO_ALGOS: Final = 10_000_000
GIFT_ASSET: Final = 5_000_000
"""5 USDC: fifty human reports."""


def wallet_routes(ledger: DevnetLedger, page_key: Key) -> Mount:
    """Return the routes below /wallet: the faucet, and the wallet of the buyer page with its key."""

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

    async def account(_request: Request) -> Response:
        ledger.fund(page_key.address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        return JSONResponse({"address": page_key.address})

    async def sign_prepared(request: Request) -> Response:
        try:
            item = parse_item(base64.b64decode(request.headers.get("x-unsigned", ""), validate=True))
        except (ValueError, LedgerRefusal):
            return refusal(400, "what is to be signed is not a transaction")
        if item.sender != page_key.address or item.fields.get("gh") != ledger.identity.genesis_hash_bytes:
            return refusal(400, "this wallet signs only its own transactions on the devnet")

        wire = signed(item, page_key.secret).wire
        return JSONResponse({"signed": base64.b64encode(wire).decode()})

    posts = (("/new", new), ("/account", account), ("/sign-prepared", sign_prepared))
    paths = [Route(path, answer, methods=["POST"]) for path, answer in posts]
    return mounted("/wallet", [Route("/fund", fund), *paths])
