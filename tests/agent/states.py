"""`emi mcp` over standard input and output in one state of the service, for clients that others wrote.

Usage: python -m tests.agent.states STATE FOLDER [ORIGIN], where ORIGIN serves a record for the tool that verifies.
The server and its tools are the real ones; what they ask, a published site and a seller, answers in this process.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcp.server.stdio import stdio_server

from gateway.devnet.keys import load_or_make
from gateway.settings import DEMO_PAYEE
from generator.client.agent.buying import Buyer, Wallet
from generator.client.agent.reading import Reader
from generator.client.agent.server import AgentServer
from generator.client.agent.service import fetched
from generator.client.agent.spending import Caps, Spending
from generator.client.buying.purchase import Context
from generator.client.buying.purchases import PurchaseFolder
from generator.client.buying.web import Unanswered, WebAnswer
from tests.agent.harness import FRESH, STALE, SiteWeb
from tests.sellers.play import DEVNET, WebOfTheTest, stage
from tests.sellers.seller import ORIGIN, PRICE, Seller

STATES: Final = ("fresh", "stale", "down", "unpaid", "above the cap", "lost answer")
NOWHERE: Final = "http://127.0.0.1:1"
LOST: Final = 12


class LosesAnswers(Seller):
    """Settles every payment, and loses its answers for as long as one call of the tool asks again."""

    def paid(self, payment: str) -> WebAnswer:
        answer = super().paid(payment)
        if self.answered <= LOST:
            raise Unanswered("reset by peer")
        return answer


class Service:
    """A published site and a seller at one origin; `is_down`: neither answers."""

    def __init__(self, site: SiteWeb, shop: WebOfTheTest, *, is_down: bool) -> None:
        self._site = site
        self._shop = shop
        self._is_down = is_down

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> WebAnswer:
        if url.startswith(ORIGIN) and self._is_down:
            raise Unanswered("connection refused")
        if url.startswith(ORIGIN) and "/x402-" not in url:
            return await self._site.get(url, headers)
        return await self._shop.get(url, headers)


async def serve(state: str, folder: Path, record: str) -> None:
    """Serve until standard input ends."""
    with stage(folder / "devnet") as devnet:
        kind = LosesAnswers if state == "lost answer" else Seller
        dice = random.Random(state)
        shop = WebOfTheTest(kind(devnet.client, devnet.fee_payer, dice), devnet, dice)
        web = Service(SiteWeb(), shop, is_down=state == "down")
        clock = devnet.clock
        context = Context(web, PurchaseFolder(folder), clock.sleep, clock.monotonic)

        life = PRICE - 1 if state == "above the cap" else 100 * PRICE
        key = load_or_make(folder / "buyer.key")
        devnet.fund(key.address)
        wallet = Wallet(key, DEVNET, Spending(folder, Caps(10 * PRICE, life, life)), DEMO_PAYEE)
        buyer = Buyer(ORIGIN, folder, context, None if state == "unpaid" else wallet, clock.now)
        now = STALE if state == "stale" else FRESH
        reader = Reader(fetched(web, ORIGIN), lambda: now)
        server = AgentServer(reader, buyer, NOWHERE if state == "down" else record, folder / "seen").build(
            "test", b"<svg/>"
        )
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    place = Path(sys.argv[2])
    (place / "devnet").mkdir(parents=True, exist_ok=True)
    asyncio.run(serve(sys.argv[1], place, sys.argv[3] if len(sys.argv) > 3 else NOWHERE))
