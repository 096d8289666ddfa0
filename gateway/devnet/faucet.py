"""The devnet's faucet and the page's throwaway wallet: play money out of thin air, on this machine only."""

import base64
from typing import Final

from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from gateway.devnet.errors import LedgerRefusal, WalletError
from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import MIN_FEE, Ledger
from gateway.devnet.node import mounted, refusal
from gateway.devnet.transactions import Item, parse_item, signed
from gateway.wire.networks import Network

GIFT_MICRO_ALGOS: Final = 10_000_000
GIFT_ASSET: Final = 5_000_000
"""5 USDC: fifty human reports."""
PAGE_LIMIT: Final = 1_000_000
"""The page's wallet pays at most 1 USDC for anything."""
BALLOT_NOTE: Final = b"emi-arena/v1:j"
RISKY: Final = frozenset({"rekey", "aclose", "asnd", "close"})


def wallet_routes(ledger: Ledger, page_key: Key | None) -> Mount:
    """Return the routes below /wallet; without a key of the page's wallet (lent ids) it has no routes."""

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

    paths = [Route("/fund", fund), Route("/new", new, methods=["POST"])]
    if page_key is None:
        return mounted("/wallet", paths)

    async def account(_request: Request) -> Response:
        ledger.fund(page_key.address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        return JSONResponse({"address": page_key.address})

    async def sign_prepared(request: Request) -> Response:
        try:
            item = prepared(request.headers.get("x-unsigned", ""), page_key.address, ledger.identity)
        except WalletError as problem:
            return refusal(400, str(problem))
        return JSONResponse({"signed": base64.b64encode(signed(item, page_key.secret).wire).decode()})

    posts = (("/account", account), ("/sign-prepared", sign_prepared))
    return mounted("/wallet", [*paths, *(Route(path, answer, methods=["POST"]) for path, answer in posts)])


def prepared(unsigned: str, address: str, identity: Network) -> Item:
    """Read a payment, or a ballot of the Arena, that somebody else prepared, if this wallet may sign it.

    Raises:
        WalletError: it is not a transaction, not from this wallet, not on this network, or pays more than the limit.
    """
    try:
        item = parse_item(base64.b64decode(unsigned, validate=True))
    except (ValueError, LedgerRefusal) as problem:
        raise WalletError("what is to be signed is not a transaction") from problem
    fields = item.fields
    harmless = item.sender == address and fields.keys().isdisjoint(RISKY)
    here = fields.get("gh") == identity.genesis_hash_bytes and fields.get("fee", 0) <= MIN_FEE
    is_ballot = fields["type"] == "pay" and fields.keys().isdisjoint({"amt", "grp"})
    if harmless and here and is_ballot and fields.get("note", b"").startswith(BALLOT_NOTE):
        return item
    if fields["type"] != "axfer" or not harmless:
        raise WalletError("this wallet signs only its own plain payments in USDC")
    if fields.get("gh") != identity.genesis_hash_bytes or fields.get("xaid") != identity.asset_id:
        raise WalletError(f"this wallet pays only in asset {identity.asset_id} on {identity.full}")
    if fields.get("aamt", 0) > PAGE_LIMIT or fields.get("fee", 0) > MIN_FEE:
        raise WalletError(f"this wallet pays at most {PAGE_LIMIT} atomic units and {MIN_FEE} micro-ALGO of fee")
    return item
