"""A whole gateway in one event loop: its outside faked at the transport, its clients in process."""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec

import httpx2

from gateway.app.application import build_app
from gateway.app.state import GatewayState
from gateway.payments.purchase import Step, no_step
from gateway.settings import GatewaySettings
from gateway.wire.networks import DEVNET
from tests.support.clock import ManualClock
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_wallet import Buyer, Signed
from tests.support.lifespans import RunningApp
from tests.support.vaults import PATHS, write_vault

P = ParamSpec("P")
PATIENCE_S = 100  # a hang is ended, a slow machine is not
REGIME = PATHS["x402-market-regime"]
BRAIN = PATHS["x402-main-brain"]
PUBLIC_CLIENT = ("203.0.113.9", 40_000)


def in_loop(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test in a loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), PATIENCE_S))

    return run


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what a thread does."""
    while not holds():  # noqa: ASYNC110 - threads set no events of a loop
        await asyncio.sleep(0.001)


@dataclass
class GatewayHarness:
    """The parts that a test touches."""

    running: RunningApp
    upstream: FakeUpstream
    clock: ManualClock
    client: httpx2.AsyncClient
    buyer: Buyer
    folder: Path

    @property
    def state(self) -> GatewayState:
        return self.running.state

    async def get(self, path: str = REGIME, **headers: str) -> httpx2.Response:
        wire = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.get(path, headers=wire)

    async def send(self, payment: Signed, path: str = REGIME) -> httpx2.Response:
        return await self.client.get(path, headers={"PAYMENT-SIGNATURE": payment.header})

    async def refresh(self) -> None:
        """Do what the loops do within seconds: look for a new vault and offer, and write to the ledger."""
        await self.state.refresh()
        await self.state.ledger.run_maintenance()

    async def restart(self) -> None:
        """Stop and start the gateway on the same disk, as after a clean end or a crash."""
        await self.running.restart()


@asynccontextmanager
async def gateway_app(
    folder: Path,
    *,
    upstream: FakeUpstream | None = None,
    vault: Callable[[Path], Any] | None = write_vault,
    indexer: bool = True,
    client: tuple[str, int] = PUBLIC_CLIENT,
    step: Step = no_step,
    clock: ManualClock | None = None,
    **settings: Any,
) -> AsyncIterator[GatewayHarness]:
    """Open a gateway in an empty folder; with `vault` None, on what is there."""
    upstream = upstream or FakeUpstream(DEVNET.full)
    (folder / "vault").mkdir(exist_ok=True)
    if vault is not None:
        vault(folder / "vault")
    clock = clock or ManualClock()
    async with upstream.running():
        checked = GatewaySettings(
            state_dir=folder,
            facilitator_url=f"{upstream.url}/f",
            algod_url=f"{upstream.url}/a",
            indexer_url=f"{upstream.url}/i" if indexer else None,
            **settings,
        )
        app = build_app(checked, clock=clock, step=step)
        transport = httpx2.ASGITransport(app=app, client=client, raise_app_exceptions=False)
        async with (
            RunningApp(app) as running,
            httpx2.AsyncClient(transport=transport, base_url="http://gateway") as http,
        ):
            yield GatewayHarness(running, upstream, clock, http, Buyer(), folder)


@asynccontextmanager
async def second_gateway(home: GatewayHarness, step: Step = no_step) -> AsyncIterator[httpx2.AsyncClient]:
    """Open another gateway on the same ledger, vault and outside, and a client of it."""
    app = build_app(home.state.settings, clock=home.clock, step=step)
    transport = httpx2.ASGITransport(app=app, client=PUBLIC_CLIENT)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://other") as client,
    ):
        yield client
