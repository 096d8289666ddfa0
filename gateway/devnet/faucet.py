"""The devnet's faucet and the page's throwaway wallet: toy money out of thin air, on this machine only."""

from __future__ import annotations

from typing import Final

from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from gateway.devnet.errors import WalletError
from gateway.devnet.keys import Key
from gateway.devnet.ledger import Ledger
from gateway.devnet.wallet import choose_offer, read_challenge, sign_payment

GIFT_MICRO_ALGOS: Final = 10_000_000
GIFT_ASSET: Final = 5_000_000
"""5 USDC: fifty human reports."""
PAGE_LIMIT: Final = 1_000_000
"""The page's wallet pays at most 1 USDC for anything."""


def wallet_routes(ledger: Ledger, page_key: Key | None) -> Mount:
    """Return the routes below /wallet.

    Args:
        ledger: where the money appears.
        page_key: key of the page's wallet; None where there is none (the test network's ids are lent).
    """

    async def fund(request: Request) -> Response:
        address = request.query_params.get("address", "")
        if not encoding.is_valid_address(address):
            return _problem("address: 58 characters of an Algorand address are needed, as ?address=..")
        account = ledger.fund(address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        told = {"address": address, "micro_algos": account.micro_algos, "usdc_atomic": account.asset_amount}
        return JSONResponse({**told, "asset": ledger.identity.asset_id, "network": ledger.identity.full})

    async def sign(request: Request) -> Response:
        assert page_key is not None
        identity = ledger.identity
        try:
            challenge = read_challenge(request.headers.get("payment-required", ""))
            offer = choose_offer(challenge, identity, PAGE_LIMIT)
        except WalletError as refusal:
            return _problem(str(refusal))
        ledger.fund(page_key.address, GIFT_MICRO_ALGOS, GIFT_ASSET)
        payment = sign_payment(challenge, offer, page_key, identity, ledger.rounds.current())
        told = {"payment_signature": payment.header, "txid": payment.txid, "payer": payment.payer}
        return JSONResponse({**told, "network": payment.network, "last_valid": payment.last_valid})

    paths = [Route("/fund", fund, methods=["GET", "POST"])]
    if page_key is not None:
        paths.append(Route("/sign", sign, methods=["POST"]))
    return Mount("/wallet", routes=paths)


def _problem(detail: str) -> Response:
    return JSONResponse({"message": detail}, status_code=400)
