"""A devnet in this process and gateways in processes of their own, on one vault and one payments ledger."""

import asyncio
import contextlib
import http.client
import multiprocessing
import os
import socket
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.parse import urlsplit

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response

from gateway.devnet.app import build_devnet
from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.settings import DevnetSettings
from gateway.devnet.wallet import SignedPayment, pay
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from generator.catalog.products import PRODUCTS
from tests.faults import runner
from tests.faults.runner import ARMED
from tests.support.local_servers import serving
from tests.support.ports import free_port
from tests.support.processes import clean_environment, get
from tests.support.vaults import write_sample_vault

REPOSITORY = Path(__file__).parents[2]
PRODUCT = PRODUCTS[0]
READY_S = 60.0
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.runner"])


@dataclass
class Market:
    """What a test touches."""

    devnet: str
    ledger: DevnetLedger
    folder: Path
    settle_delay_s: float = 0.0
    settles: int = 0
    buyer: Key = field(default_factory=new_key)

    def sign(self, gateway: str) -> SignedPayment:
        """Ask a gateway for its price and sign a payment of it."""
        self.ledger.fund(self.buyer.address, 1_000_000, 100 * PRODUCT.price_atomic)
        header = get(gateway + PRODUCT.path)[1]["payment-required"]
        return pay(header, self.buyer, DEVNET, self.ledger.rounds.current(), PRODUCT.price_atomic)

    def arm(self) -> None:
        """Let gateways die from now on."""
        (self.folder / ARMED).touch()

    def disarm(self) -> None:
        """Let them live."""
        (self.folder / ARMED).unlink(missing_ok=True)

    def transfers(self) -> int:
        """Count the prices that the payee got."""
        return (self.ledger.holding(DEMO_PAYEE) or 0) // PRODUCT.price_atomic


@dataclass(frozen=True)
class Gateway:
    """One gateway process."""

    process: ForkServerProcess
    origin: str
    log: Path

    def present(self, payment: SignedPayment) -> tuple[int, dict[str, str], bytes]:
        """Send a payment; raises OSError or HTTPException when the process dies meanwhile."""
        return get(self.origin + PRODUCT.path, {"PAYMENT-SIGNATURE": payment.header})

    def present_to_death(self, payment: SignedPayment) -> int:
        """Send a payment that kills the process; return its exit code."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.present(payment)
        self.process.join(20)
        return self.process.exitcode or 0

    def hang_up(self, payment: SignedPayment) -> None:
        """Send a payment and close the connection without waiting for anything."""
        where = urlsplit(self.origin)
        with socket.create_connection((str(where.hostname), int(where.port or 0))) as wire:
            head = f"GET {PRODUCT.path} HTTP/1.1\r\nHost: x\r\nPAYMENT-SIGNATURE: {payment.header}\r\n\r\n"
            wire.sendall(head.encode())


@contextmanager
def market(folder: Path) -> Iterator[Market]:
    """Run a devnet whose settles are counted and can be slow."""
    write_sample_vault(folder / "vault")
    opened: list[Market] = []

    async def dispatch(request: Request, answer: RequestResponseEndpoint) -> Response:
        if request.url.path != "/facilitator/settle":
            return await answer(request)
        opened[0].settles += 1
        answered = await answer(request)
        await asyncio.sleep(opened[0].settle_delay_s)
        return answered

    app = build_devnet(DevnetSettings(folder / "devnet.sqlite3"))
    app.add_middleware(BaseHTTPMiddleware, dispatch=dispatch)
    with serving(app) as origin:
        opened.append(Market(origin, app.state.ledger, folder))
        yield opened[0]


@contextmanager
def gateway(on: Market, *options: str, **settings: str) -> Iterator[Gateway]:
    """Run one gateway process; `options` are those of the runner."""
    port = free_port(and_next=1)
    log = on.folder / f"gateway-{port}.log"
    environment = clean_environment(
        EMI_STATE_DIR=str(on.folder),
        EMI_PORT=str(port),
        EMI_FACILITATOR_URL=f"{on.devnet}/facilitator",
        EMI_ALGOD_URL=f"{on.devnet}/algod",
        EMI_INDEXER_URL=f"{on.devnet}/indexer",
        PYTHONPATH=str(REPOSITORY),
        **settings,
    )
    process = FORKS.Process(target=_run, args=(on.folder, environment, log, options))
    process.start()
    running = Gateway(process, f"http://127.0.0.1:{port}", log)
    try:
        _wait(running)
        yield running
    finally:
        process.terminate()
        process.join(30)


def _run(folder: Path, environment: Mapping[str, str], log: Path, options: Sequence[str]) -> None:
    """Run in a process that was forked from one which has imported the gateway, and nothing more."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    runner.main(*options)


def _wait(running: Gateway) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until and running.process.is_alive():
        with contextlib.suppress(OSError), urllib.request.urlopen(running.origin + "/healthz", timeout=5):
            return
        time.sleep(0.02)
    raise AssertionError(f"the gateway never answered:\n{running.log.read_text(errors='replace')[-2_000:]}")
