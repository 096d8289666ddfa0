"""The composition root: settings in, a Starlette application or a running server out."""

import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from typing import Any, Final

import structlog
from prometheus_client import start_http_server
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from gateway.app.loops import repeat, running, say_alive_forever
from gateway.app.preview import Preview
from gateway.app.server import (
    BROWSER_OPENS,
    CONNECTIONS,
    MAX_OPEN_PER_ADDRESS,
    Connection,
    Connections,
    http_server,
    listen,
)
from gateway.app.state import GatewayState, open_state
from gateway.buyer.free_vote import FORGET_EVERY_S, FreeVote
from gateway.buyer.page import buyer_routes, load_templates
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.http.answers import ALLOWED_METHODS, PROBLEMS, VARY, preflight
from gateway.http.limits import Guard, own_names
from gateway.http.metrics import Metrics
from gateway.http.request_id import RequestIds
from gateway.ledger.store import Ledger
from gateway.payments.endpoint import PaidEndpoint
from gateway.payments.purchase import Step, no_step
from gateway.settings import GatewaySettings
from gateway.upstream.http_client import Http
from gateway.vault.bucket import vault_files
from gateway.wire.loopback import is_loopback
from gateway.wire.notify import READY, STOPPING, notify_supervisor
from gateway.wire.program import this_program

PAID_PATH: Final = "/api/x402-{name}.php"
# The first pages are seen within a second of the first vault, and name what is sold.
VAULT_LOOK_S: Final = 0.2
log = structlog.get_logger("gateway")


def build_app(
    settings: GatewaySettings,
    *,
    clock: Clock | None = None,
    http: Http | None = None,
    metrics: Metrics | None = None,
    preview: bool = False,
    step: Step = no_step,
) -> Starlette:
    """Build the gateway; its lifespan opens everything, and sets `state.gateway` to the `GatewayState`.

    Args:
        settings: checked settings.
        clock: for tests; the machine's clock by default.
        http: the client of every outgoing call; opened and closed by the lifespan by default.
        metrics: to be served elsewhere too; new ones by default.
        preview: also serve the published site; GatewayError beyond loopback.
        step: for tests; called at each step of a purchase, see `gateway.payments.purchase`.

    Raises:
        VaultUnreadable: the environment lacks what the vault's object store needs.
    """
    if preview and not is_loopback(settings.host):
        raise GatewayError(f"--preview serves loopback only; HOST is {settings.host}")
    clock = clock or Clock()
    metrics = metrics or Metrics()
    files = vault_files(settings.vault_dir, settings.vault_bucket)
    load_templates()  # here, so that an incomplete installation fails before a port is taken

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Mapping[str, Any]]:
        async with contextlib.AsyncExitStack() as stack:
            client = http
            if client is None:
                # While the facilitator verifies a payment, a node is asked about it.
                client = await stack.enter_async_context(Http(connections=2 * settings.payments_at_once))

            gateway = await stack.enter_async_context(
                open_state(settings, clock=clock, http=client, metrics=metrics, files=files, step=step)
            )
            free_vote = FreeVote(settings.inbox_path, settings.free_vote_path, clock, settings.free_votes_per_address)
            connections = Connections(
                quotes=gateway.quotes.current,
                clients=gateway.clients,
                malformed=metrics.malformed,
                payments=settings.payments_at_once,
                per_address=max(MAX_OPEN_PER_ADDRESS, BROWSER_OPENS * settings.free_votes_per_address),
            )

            app.state.gateway = gateway
            app.router.routes[:] = _routes(gateway, free_vote, step, preview=preview)
            await stack.enter_async_context(running(_loops(gateway, free_vote, connections)))
            notify_supervisor(READY)
            yield {CONNECTIONS: connections}
            notify_supervisor(STOPPING)

    app = Starlette(
        middleware=[
            Middleware(RequestIds),
            Middleware(
                Guard,
                project=settings.project,
                names=own_names(settings.host, settings.origin) if preview else None,
            ),
        ],
        exception_handlers={HTTPException: _http_error, Exception: _internal_error},
        lifespan=lifespan,
    )
    # A redirect would name whatever Host the request did.
    app.router.redirect_slashes = False
    return app


def _routes(gateway: GatewayState, free_vote: FreeVote, step: Step, *, preview: bool) -> list[BaseRoute]:
    paid = PaidEndpoint(
        settings=gateway.settings,
        vault=gateway.vault,
        quotes=gateway.quotes,
        purchases=gateway.purchases,
        ledger=gateway.ledger,
        clients=gateway.clients,
        rate=gateway.rate,
        metrics=gateway.metrics,
        problems=gateway.problems,
        step=step,
    )
    pages = buyer_routes(
        settings=gateway.settings,
        clock=gateway.clock,
        http=gateway.http,
        vault=gateway.vault,
        chain=gateway.chain,
        quotes=gateway.quotes,
        clients=gateway.clients,
        problems=gateway.problems,
        free_vote=free_vote,
    )
    routes: list[BaseRoute] = [
        Route(PAID_PATH, paid),
        Route("/healthz", gateway.readiness.healthz, methods=["GET"]),
        Route("/readyz", gateway.readiness.readyz, methods=["GET"]),
        *pages,
    ]
    if preview:
        routes.append(Mount("/", app=Preview(gateway.settings.site_path, gateway.settings.project)))
    return routes


def _loops(gateway: GatewayState, free_vote: FreeVote, connections: Connections) -> Iterator[Coroutine[Any, Any, None]]:
    async def measure() -> None:
        gateway.readiness.measure()

    yield repeat(measure, "readiness could not be measured")
    yield repeat(gateway.ledger.run_maintenance, "the payments ledger could not be tended")
    yield repeat(gateway.take_vault, "the vault could not be taken", VAULT_LOOK_S)
    yield repeat(gateway.take_offer, "the offer could not be taken")
    yield repeat(gateway.reconciler.step, "unknown payments cannot be looked up")
    yield repeat(
        free_vote.forget_closed_rounds, "what was counted of free ballots could not be removed", FORGET_EVERY_S
    )
    yield say_alive_forever()
    yield connections.sweep_forever()


def _problem_for(request: Request, status: int, headers: dict[str, str] | None = None) -> Response:
    gateway: GatewayState = request.app.state.gateway
    return gateway.problems.make(request.url.path, status, f"{PROBLEMS[status][1]}.", headers)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405 and request.method == "OPTIONS":
        return preflight()
    if status == 405:
        return _problem_for(request, 405, {"allow": ALLOWED_METHODS})
    if status not in PROBLEMS:
        return _problem_for(request, 400)
    return _problem_for(request, status)


async def _internal_error(request: Request, _error: Exception) -> Response:
    # The text is fixed: an exception's own words may hold what does not belong outside.
    return _problem_for(request, 500, {"vary": VARY.decode()})


def serve(settings: GatewaySettings, preview: bool = False) -> None:  # noqa: FBT001, FBT002 - agreed with the CLI
    """Run the gateway, the preview on loopback only, until SIGINT or SIGTERM; a failure is one line and exit code 1."""
    try:
        _check_complete(settings)
        metrics = Metrics(this_program())
        app = build_app(settings, metrics=metrics, preview=preview)
        # Opened once beforehand: a bad file is one line, not a failed start with a traceback.
        Ledger(settings.ledger_where).close()
        with _listening(settings.host, settings.port) as listener:
            _serve_metrics(settings.metrics_port, metrics)
            log.info("gateway listening", origin=settings.origin, network=settings.network, payee=settings.payee)
            with contextlib.suppress(KeyboardInterrupt):
                # A payment in flight may take verify and settle; it is never cut.
                grace_s = int(settings.verify_timeout_seconds + settings.settle_timeout_seconds) + 5
                http_server(app, grace_s, Connection).run(sockets=[listener])
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


def _serve_metrics(port: int | None, metrics: Metrics) -> None:
    if port is None:
        return
    try:
        start_http_server(port, addr="127.0.0.1", registry=metrics.registry)
    except OSError as error:
        raise GatewayError(f"EMI_METRICS_PORT {port} cannot be used: {error.strerror}") from error
