"""One devnet as an application: facilitator, algod, indexer and wallet on one origin."""

import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import structlog
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from x402.schemas import PaymentPayload, PaymentRequirements

from gateway.devnet.algod import algod_routes
from gateway.devnet.facilitator import Facilitator
from gateway.devnet.faucet import wallet_routes
from gateway.devnet.indexer import indexer_routes
from gateway.devnet.keys import load_or_make
from gateway.devnet.ledger import Ledger
from gateway.devnet.routing import Guard, mounted
from gateway.devnet.settings import DevnetSettings
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET

FEE_PAYER_MICRO_ALGOS: Final = 1_000_000_000_000

log = structlog.get_logger("emi.devnet")


def build_devnet(settings: DevnetSettings, *, now: Callable[[], float] = time.time) -> Starlette:
    """Open the ledger and the keys and return the application; its shutdown closes the ledger.

    Args:
        settings: where the state is and which network it says it is.
        now: Unix time in seconds, from which rounds are counted.

    Raises:
        DevnetError: the state or a key file cannot be used.
    """
    fee_key = load_or_make(settings.keys / "facilitator.key")
    # With lent ids a signature would be one of the real test network: there is no page wallet then.
    page_key = load_or_make(settings.keys / "page-wallet.key") if settings.identity == DEVNET else None
    ledger = Ledger(settings.state_path, settings.identity, now)
    ledger.fund(fee_key.address, FEE_PAYER_MICRO_ALGOS, 0)
    for payee in (DEMO_PAYEE, *settings.payees):
        ledger.fund(payee, 1_000_000, 0)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        ledger.close()

    facilitator = facilitator_routes(Facilitator(ledger, fee_key))
    routes = [facilitator, indexer_routes(ledger), wallet_routes(ledger, page_key), *algod_routes(ledger)]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard)],
        lifespan=lifespan,
        exception_handlers={sqlite3.Error: _state_failed},
    )
    app.router.redirect_slashes = False
    app.state.ledger = ledger
    app.state.fee_payer = fee_key.address
    return app


async def _state_failed(_request: Request, problem: Exception) -> Response:
    """Say that the ledger cannot write, e.g. on a full disk; nothing of the group was committed."""
    log.warning("the devnet's state cannot be used", reason=str(problem))
    return JSONResponse({"error": "unavailable", "message": f"the devnet's state: {problem}"}, status_code=503)


def facilitator_routes(facilitator: Facilitator) -> Mount:
    """Return the routes below /facilitator."""

    async def supported(_request: Request) -> Response:
        return JSONResponse(facilitator.supported())

    async def verify(request: Request) -> Response:
        return await _answer(request, facilitator.verify)

    async def settle(request: Request) -> Response:
        return await _answer(request, facilitator.settle)

    posts = [Route("/verify", verify, methods=["POST"]), Route("/settle", settle, methods=["POST"])]
    return mounted("/facilitator", [Route("/supported", supported), *posts])


class _Asked(BaseModel):
    """What /verify and /settle are asked."""

    x402Version: int  # noqa: N815  the wire's name
    paymentPayload: PaymentPayload  # noqa: N815
    paymentRequirements: PaymentRequirements  # noqa: N815


async def _answer(
    request: Request, judge: Callable[[PaymentPayload, PaymentRequirements], Mapping[str, Any]]
) -> Response:
    try:
        asked = _Asked.model_validate(json.loads(await request.body()))
    except (ValidationError, ValueError, RecursionError) as problem:
        return JSONResponse({"error": "invalid_request", "message": str(problem)[:500]}, status_code=400)
    if asked.x402Version != 2:
        return JSONResponse({"error": "invalid_x402_version"}, status_code=400)
    return JSONResponse(judge(asked.paymentPayload, asked.paymentRequirements))
