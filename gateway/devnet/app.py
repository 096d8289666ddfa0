"""One devnet as an application on loopback: facilitator, algod, indexer and wallet on one origin."""

import errno
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.app.loops import running, say_alive_forever
from gateway.app.server import http_server, listen
from gateway.devnet.errors import DevnetError
from gateway.devnet.facilitator import DevnetFacilitator
from gateway.devnet.faucet import wallet_routes
from gateway.devnet.keys import load_or_make
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.node import node_routes
from gateway.devnet.settings import DevnetSettings, announced
from gateway.http.limits import is_foreign, misses_host
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from gateway.wire.notify import READY, STOPPING, notify_supervisor

FEE_PAYER_MICRO_ALGOS: Final = 1_000_000_000_000
HOST: Final = "127.0.0.1"
GRACE_S: Final = 3

log = structlog.get_logger("emi.devnet")


def serve(settings: DevnetSettings, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; the port is taken before the state is opened.

    Raises:
        DevnetError: the port is in use or may not be taken, or the state cannot be used.
    """
    try:
        listener = listen(HOST, settings.port)
    except OSError as problem:
        in_use = problem.errno == errno.EADDRINUSE
        why = "is in use; choose another with --port" if in_use else f"cannot be taken: {problem}"
        raise DevnetError(f"port {settings.port} on {HOST} {why}") from problem

    origin = f"http://{HOST}:{settings.port}"
    network = settings.identity
    try:
        app = build_devnet(settings)
        with announced(settings.state_path.parent, origin):
            say(f"devnet {origin}: play money only, network {network.full} ({network.genesis_id})")
            http_server(app, GRACE_S).run(sockets=[listener])
    finally:
        listener.close()


def build_devnet(settings: DevnetSettings, *, now: Callable[[], float] = time.time) -> Starlette:
    """Open the ledger and the keys and return the application; its shutdown closes the ledger.

    Rounds are counted from `now`, Unix time in seconds. DevnetError: the state or a key file cannot be used.
    """
    keys = settings.state_path.parent / "keys"
    fee_key = load_or_make(keys / "facilitator.key")
    # With lent ids a signature is one of the real test network too, of an account that holds nothing there. Each
    # identity has its own key, so that no account of the devnet's own network is ever known on another.
    suffix = "" if settings.identity == DEVNET else f"-{settings.identity.name}"
    page_key = load_or_make(keys / f"page-wallet{suffix}.key")

    ledger = DevnetLedger(settings.state_path, settings.identity, now)
    ledger.fund(fee_key.address, FEE_PAYER_MICRO_ALGOS, 0)
    for payee in (DEMO_PAYEE, *settings.payees):
        ledger.fund(payee, 1_000_000, 0)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with running([say_alive_forever()]):
            notify_supervisor(READY)
            yield
            notify_supervisor(STOPPING)
        ledger.close()

    routes = [DevnetFacilitator(ledger, fee_key).routes(), wallet_routes(ledger, page_key), *node_routes(ledger)]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(LoopbackGuard)],
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


class LoopbackGuard:
    """Refuse a Host that is not loopback, and whatever a browser sends for a page of another origin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 400, 403 or 421."""
        refusal = _refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return

        status, message = refusal
        await JSONResponse({"error": "refused", "message": message}, status)(scope, receive, send)


def _refusal(scope: Scope) -> tuple[int, str] | None:
    if misses_host(scope.get("http_version", ""), scope["headers"]):
        return 400, "an HTTP/1.1 request names exactly one Host"
    if is_foreign(scope["headers"], ()):
        return 421, "ask the devnet by a loopback name, such as localhost"

    headers = Headers(scope=scope)
    own_origin = f"http://{headers.get('host')}"
    if headers.get("origin") not in {None, own_origin} or headers.get("sec-fetch-site") == "cross-site":
        return 403, "the devnet takes nothing from pages of other sites"
    return None
