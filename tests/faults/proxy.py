"""What is between a gateway and the devnet's ledger: it passes requests on, or does what a fault says."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from aiohttp import web
from starlette.applications import Starlette

from tests.support.fake_upstream import payment_txid
from tests.support.inline_client import ask_app

PLACES = {"f": "facilitator", "a": "algod", "i": "indexer"}


@dataclass(frozen=True)
class Asked:
    """One request of the gateway, and ways to what really answers it, to give its body elsewhere, to ask more.

    `hoard` keeps the body to be broadcast later; `over` is set as soon as the fault under which it came is over.
    """

    request: web.Request
    pass_on: Callable[[], Awaitable[web.Response]]
    hand: Callable[[str], Awaitable[httpx2.Response]]
    ask: Callable[[str], Awaitable[httpx2.Response]]
    nth: int
    hoard: Callable[[], None]
    over: asyncio.Event


Behaviour = Callable[[Asked], Coroutine[None, None, web.StreamResponse]]


async def honest(asked: Asked) -> web.StreamResponse:
    """Do what was asked and answer truly."""
    return await asked.pass_on()


class FaultProxy:
    """Facilitator, algod and indexer as a gateway sees them.

    Args:
        devnet: what really verifies, settles and remembers.
    """

    def __init__(self, devnet: Starlette) -> None:
        self._app = devnet
        self._devnet = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=devnet), base_url="http://localhost")
        self._faults: Mapping[str, Behaviour] = {}
        self._over = asyncio.Event()
        self.calls: Counter[str] = Counter()
        self.settles: Counter[str] = Counter()
        self._handed: dict[str, bytes] = {}
        self._working: set[asyncio.Task[web.StreamResponse]] = set()
        self.url = ""

    def fault(self, faults: Mapping[str, Behaviour]) -> None:
        """Behave so from now on; what is not named is honest.

        Args:
            faults: by `supported`, `verify`, `settle`, `algod`, `indexer`.
        """
        self._faults = faults
        self._over.set()
        self._over = asyncio.Event()

    async def broadcast(self) -> None:
        """Settle whatever was handed over for settling, as a facilitator may long after its answer."""
        for body in self._handed.values():
            await self._devnet.post("/facilitator/settle", content=body)

    async def send(self, group: bytes) -> None:
        """Hand signed transactions to the node, as anyone can."""
        answer = await self._devnet.post("/algod/v2/transactions", content=group)
        assert answer.status_code == 200, answer.text

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        place, tail = request.match_info["place"], request.match_info["tail"]
        body = await request.read()
        name = tail if place == "f" else PLACES[place]
        self.calls[name] += 1

        async def pass_on() -> web.Response:
            path = f"/{PLACES[place]}/{tail}"
            status, headers, content = await ask_app(self._app, request.method, path, request.query_string, body)
            content_type = headers[b"content-type"].decode().split(";")[0]
            return web.Response(status=status, body=content, content_type=content_type)

        async def hand(what: str) -> httpx2.Response:
            return await self._devnet.post(f"/facilitator/{what}", content=body)

        def hoard() -> None:
            asked = json.loads(body)
            self._handed[payment_txid(asked["paymentPayload"]["payload"])] = body

        nth = 1
        if name == "settle":
            txid = payment_txid((await request.json())["paymentPayload"]["payload"])
            self.settles[txid] += 1
            nth = self.settles[txid]
            hoard()
        # A task of its own: a facilitator continues when its client hangs up.
        work = asyncio.ensure_future(
            self._faults.get(name, honest)(Asked(request, pass_on, hand, self._devnet.get, nth, hoard, self._over))
        )
        self._working.add(work)
        work.add_done_callback(self._working.discard)
        return await asyncio.shield(work)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen on a free port for as long as the context lasts."""
        app = web.Application()
        app.router.add_route("*", "/{place:[fai]}/{tail:.*}", self._serve)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield
        finally:
            for work in self._working:
                work.cancel()
            await asyncio.gather(*self._working, return_exceptions=True)
            await runner.cleanup()
            await self._devnet.aclose()
