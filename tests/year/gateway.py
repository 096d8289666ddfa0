"""The gateway's process: production's application on the virtual clock, one request for each command."""

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import structlog

from gateway.app.application import build_app
from gateway.app.state import GatewayState
from gateway.payments.adoption import adopt
from tests.faults.harness import PATIENT_TIMEOUT_S, outside
from tests.support.lifespans import RunningApp
from tests.year.clock import YearClock
from tests.year.process import Commands, full_disk, killed_after, resident_mb

STEPS: Final = ("decoded", "verified", "intent_written", "settle_answered", "settled_written", "delivered")


@dataclass(frozen=True)
class Request:
    """One request, and what befalls the process meanwhile.

    Args:
        path: of the product.
        headers: of the request.
        dies_at: step of a purchase at which the process is killed.
        limit: bytes that a file may have at most: the disk is full.
    """

    path: str
    headers: dict[str, str] = field(default_factory=dict)
    dies_at: str | None = None
    limit: int | None = None


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


def gateway(folder: Path, url: str, clock: YearClock, kill_s: float | None = None) -> Callable[[Commands], None]:
    """Return the work of a gateway.

    Args:
        folder: its state.
        url: where the outside answers.
        clock: of the year.
        kill_s: processor time of the start after which it is killed.
    """

    def work(commands: Commands) -> None:
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
        asyncio.run(_Gateway(commands, clock).serve(folder, url, kill_s))

    return work


class _Gateway:
    def __init__(self, commands: Commands, clock: YearClock) -> None:
        self._commands = commands
        self._clock = clock
        self._dies_at: str | None = None

    async def serve(self, folder: Path, url: str, kill_s: float | None) -> None:
        """Open everything, and answer one command after the other."""
        with killed_after(kill_s):
            app = build_app(outside(folder, url), clock=self._clock, step=self._step)
            running = RunningApp(app)
            await running.start()
        running.state.chain.quick_timeout_s = PATIENT_TIMEOUT_S
        transport = httpx2.ASGITransport(app=app, client=("203.0.113.9", 40_000), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client:
            self._commands.done()
            for name, *arguments in self._commands:
                try:
                    self._commands.done(await self._do(running.state, client, name, *arguments))
                except Exception as error:  # noqa: BLE001  the player decides what it means
                    self._commands.refused(f"{type(error).__name__}: {error}")
        await running.stop()

    async def _do(self, state: GatewayState, client: httpx2.AsyncClient, name: str, *arguments: Any) -> Any:
        if name == "get":
            await _look(state)
            return await self._get(client, *arguments)
        if name == "adopt":
            txid, product = arguments
            return await adopt(state.settings, state.http, txid, product, self._clock)
        await _look(state)
        await state.reconciler.step()
        return resident_mb()

    async def _get(self, client: httpx2.AsyncClient, what: Request) -> Answer:
        self._dies_at = what.dies_at
        with full_disk(what.limit):
            found = await client.get(what.path, headers=what.headers)
        return Answer(found.status_code, dict(found.headers), found.content)

    def _step(self, name: str) -> None:
        if name == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)


async def _look(state: GatewayState) -> None:
    """Do what the loops do within seconds."""
    await state.refresh()
    await state.ledger.run_maintenance()
