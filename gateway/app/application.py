"""The composition root: settings in, a Starlette application or a running server out."""

import contextlib
import socket
import sys
from collections.abc import AsyncIterator
from typing import Final

import structlog
from prometheus_client import start_http_server
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from gateway.app.preview import Preview
from gateway.app.server import http_server, listen
from gateway.app.state import GatewayState
from gateway.buyer.page import buyer_routes
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.http.answers import ALLOWED_METHODS, PROBLEMS, VARY, preflight
from gateway.http.limits import Guard, own_names
from gateway.ledger.store import Ledger
from gateway.payments.endpoint import PaidEndpoint
from gateway.payments.purchase import Step, no_step
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import Http
from gateway.wire.loopback import is_loopback

PAID_PATH: Final = "/api/x402-{name}.php"
log = structlog.get_logger("gateway")


def build_app(
    settings: GatewaySettings,
    *,
    clock: Clock | None = None,
    http: Http | None = None,
    preview: bool = False,
    step: Step = no_step,
) -> Starlette:
    """Build the gateway, whose `state.gateway` is the `GatewayState`; nothing is opened before its lifespan starts.

    Args:
        settings: checked settings.
        clock: for tests; the machine's clock by default.
        http: the client of every outgoing call; opened and closed by the lifespan by default.
        preview: also serve the published site; GatewayError beyond loopback.
        step: for tests; called at each step of a purchase, see `gateway.payments.purchase`.
    """
    if preview and not is_loopback(settings.host):
        raise GatewayError(f"--preview serves loopback only; HOST is {settings.host}")
    state = GatewayState(settings, clock or Clock(), step)
    site = Preview(settings.site_path, settings.project) if preview else None
    app = Starlette(
        routes=_routes(state, site),
        middleware=[
            Middleware(
                Guard, project=settings.project, names=own_names(settings.host, settings.origin) if preview else None
            )
        ],
        exception_handlers={HTTPException: _http_error, Exception: _internal_error},
        lifespan=lambda _app: _lifespan(state, http),
    )
    # A redirect would name whatever Host the request did.
    app.router.redirect_slashes = False
    app.state.gateway = state
    return app


def _routes(state: GatewayState, site: Preview | None) -> list[BaseRoute]:
    async def healthz(_request: Request) -> Response:
        vault = state.vault.current()
        content = {"status": "ok", "generation": vault.generation if vault else None}
        return JSONResponse(content, headers={"cache-control": "no-store"})

    routes: list[BaseRoute] = [
        Route(PAID_PATH, PaidEndpoint(state)),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/readyz", state.readyz, methods=["GET"]),
        *buyer_routes(state),
    ]
    return [*routes, Mount("/", app=site)] if site else routes


@contextlib.asynccontextmanager
async def _lifespan(state: GatewayState, http: Http | None) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        if http is None:
            # While the facilitator verifies a payment, a node is asked about it.
            http = await stack.enter_async_context(Http(connections=2 * state.settings.payments_at_once))
        await state.start(http)
        stack.push_async_callback(state.stop)
        yield


def _problem_for(request: Request, status: int, headers: dict[str, str] | None = None) -> Response:
    state: GatewayState = request.app.state.gateway
    return state.problem(request.url.path, status, f"{PROBLEMS[status][1]}.", headers)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405 and request.method == "OPTIONS":
        return preflight()
    headers = {"allow": ALLOWED_METHODS} if status == 405 else None
    return _problem_for(request, status if status in PROBLEMS else 400, headers)


async def _internal_error(request: Request, _error: Exception) -> Response:
    # The text is fixed: an exception's own words may hold what does not belong outside.
    return _problem_for(request, 500, {"vary": VARY.decode()})


def serve(settings: GatewaySettings, preview: bool = False) -> None:  # noqa: FBT001, FBT002 - agreed with the CLI
    """Run the gateway, the preview on loopback only, until SIGINT or SIGTERM; a failure is one line and exit code 1."""
    try:
        _check_complete(settings)
        app = build_app(settings, preview=preview)
        # Opened once beforehand: a bad file is one line, not a failed start with a traceback.
        Ledger(settings.ledger_where).close()
        with _listening(settings.host, settings.port) as listener:
            _serve_metrics(settings, app.state.gateway)
            log.info("gateway listening", origin=settings.origin, network=settings.network, payee=settings.payee)
            with contextlib.suppress(KeyboardInterrupt):
                # A payment under way may take verify and settle; it is never cut.
                grace_s = int(settings.verify_timeout_seconds + settings.settle_timeout_seconds) + 5
                http_server(app, grace_s, app.state.gateway).run(sockets=[listener])
    except GatewayError as error:
        sys.stderr.write(f"emi gateway: {error}\n")
        raise SystemExit(1) from None


def _listening(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port)
    except OSError as error:
        raise GatewayError(f"cannot listen on {host}:{port}: {error.strerror}") from error


def _check_complete(settings: GatewaySettings) -> None:
    for name in ("facilitator_url", "algod_url"):
        if getattr(settings, name) is None:
            raise GatewayError(f"EMI_{name.upper()} is not set: without it no payment can be settled or proven")


def _serve_metrics(settings: GatewaySettings, state: GatewayState) -> None:
    if settings.metrics_port is None:
        return
    try:
        start_http_server(settings.metrics_port, addr="127.0.0.1", registry=state.metrics.registry)
    except OSError as error:
        raise GatewayError(f"EMI_METRICS_PORT {settings.metrics_port} cannot be used: {error.strerror}") from error
