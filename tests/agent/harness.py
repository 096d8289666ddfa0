"""A published site and a seller for the tools, in this process, and the tools over them.

The SDK of MCP is imported where it is used: with it, collecting takes every worker half a second longer.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gateway.devnet.keys import Key
from gateway.settings import DEMO_PAYEE
from generator.catalog.links import reasoning_path
from generator.client.agent.buying import Wallet
from generator.client.agent.spending import Caps, Spending
from generator.client.buying.purchase import Context
from generator.client.buying.purchases import PurchaseFolder
from generator.client.buying.web import Unanswered, Web, WebAnswer
from tests.sellers.play import DEVNET, WebOfTheTest
from tests.sellers.seller import ORIGIN, PRICE
from tests.support.bodies import published
from tests.support.builders import NOW_MS

if TYPE_CHECKING:
    from mcp import Client

    from generator.client.agent.server import AgentServer

FRESH: Final = datetime.fromtimestamp(NOW_MS / 1000, UTC) + timedelta(seconds=30)
STALE: Final = FRESH + timedelta(minutes=10)
LIFE: Final = 30 * PRICE


class SiteWeb:
    """Answers with what one composed state publishes; `faults` replaces the answer of a path."""

    def __init__(self, state: str = "full") -> None:
        self.bodies: dict[str, Any] = dict(published(state))
        self.faults: dict[str, WebAnswer | None] = {}

    async def get(self, url: str, _headers: Mapping[str, str] | None = None) -> WebAnswer:
        path = url.removeprefix(ORIGIN)
        if path in self.faults:
            fault = self.faults[path]
            if fault is None:
                raise Unanswered("timeout")
            return fault
        if path not in self.bodies:
            return WebAnswer(404, (), b'{"detail": "There is nothing at this path."}')
        return WebAnswer(200, (), json.dumps(self.bodies[path]).encode())


class Interleaved:
    """The web of a seller, with other calls in between."""

    def __init__(self, web: WebOfTheTest) -> None:
        self._web = web

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> WebAnswer:
        for _ in range(self._web.dice.randrange(3)):
            await asyncio.sleep(0)
        answer = await self._web.get(url, headers)
        await asyncio.sleep(0)
        return answer


def reading(web: Web, folder: Path, now: datetime = FRESH) -> AgentServer:
    """Return tools that read, without a wallet."""
    from generator.client.agent.service import agent_server

    return agent_server(web, ORIGIN, folder, None, now=lambda: now)


def shopping(web: WebOfTheTest, folder: Path, key: Key | None, life: int = LIFE) -> AgentServer:
    """Return tools that buy at a seller of tests/sellers, as one more process with the same state would."""
    from generator.client.agent.service import agent_server

    clock = web.devnet.clock
    wallet = None if key is None else Wallet(key, DEVNET, Spending(folder, Caps(PRICE, life, life)), DEMO_PAYEE)
    between = Interleaved(web)
    context = Context(between, PurchaseFolder(folder), clock.sleep, clock.monotonic)
    return agent_server(between, ORIGIN, folder, wallet, now=clock.now, context=context)


def dice_of(seed: int) -> random.Random:
    return random.Random(f"agent {seed}")


@asynccontextmanager
async def connected(server: AgentServer) -> AsyncIterator[Client]:
    """Connect the SDK's own client, as an agent's program does."""
    from mcp import Client

    async with Client(server.build("test", b"<svg/>")) as client:
        await client.list_tools()
        yield client


ASSET_PATHS: Final = tuple(map(reasoning_path, ("BTC", "ETH")))
