"""A loopback server that stands in for every venue, and a ccxt factory that points there.

Bodies are synthetic (`synthetic_bodies`) or, when asked, the recorded ones of the shared folder, whose
timestamps are moved to the test's clock. Faults are set for each venue.
"""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aiohttp import web

from generator.market.live.client import open_exchange
from tests.support.ports import free_port
from tests.support.synthetic_bodies import HOSTS, Query, SyntheticMarket

SHARED = Path(__file__).parents[3] / "shared" / "market-data" / "exchange-responses"


@dataclass(frozen=True)
class Ask:
    """One request to one venue."""

    venue: str
    path: str
    query: Query


# a body, or None to let the synthetic body answer
Override = Callable[[Ask], Any]


@dataclass
class Venues:
    """The running server: its market, its faults, and what it was asked."""

    market: SyntheticMarket
    port: int = 0
    slow_s: dict[str, float] = field(default_factory=dict)
    status: dict[str, int] = field(default_factory=dict)
    retry_after: str | None = None
    garbage: dict[str, str] = field(default_factory=dict)
    slow_paths: dict[str, float] = field(default_factory=dict)  # part of a path -> seconds
    dead: set[str] = field(default_factory=set)
    override: Override | None = None
    date: str | None = None  # the Date header; None for the market's time
    held: int = 0  # requests that wait a minute or longer
    asked: Counter[str] = field(default_factory=Counter)
    paths: list[tuple[str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request as the venue in its first path segment would."""
        host, _, path = request.path.lstrip("/").partition("/")
        venue, body_of = HOSTS[host]
        path, query = "/" + path, _query(request)
        self.asked[venue] += 1
        self.paths.append((venue, path))
        waits = [seconds for part, seconds in self.slow_paths.items() if part in path]
        wait_s = max([self.slow_s.get(venue, 0.0), *waits])
        self.held += wait_s >= 60
        await asyncio.sleep(wait_s)
        if venue in self.status:
            wait = {"Retry-After": self.retry_after} if self.retry_after else None
            if venue in self.garbage:
                return web.Response(text=self.garbage[venue], content_type="text/html", status=self.status[venue])
            return web.json_response({"error": ["slow down"]}, status=self.status[venue], headers=wait)
        if venue in self.garbage:
            return web.Response(text=self.garbage[venue], content_type="text/html")
        body = self.override(Ask(venue, path, query)) if self.override is not None else None
        body = body_of(path, query, self.market) if body is None else body
        if body is None:
            return web.json_response({"message": f"no {path}"}, status=404)
        date = format_datetime(datetime.fromtimestamp(self.market.now_ms / 1000, UTC), usegmt=True)
        return web.json_response(body, headers={"Date": self.date or date})

    async def settle(self) -> None:
        """Return once a request is held and no other has come for ten rounds of the event loop."""
        quiet, seen = 0, -1
        while quiet < 10 or not self.held:
            quiet, seen = (quiet + 1 if len(self.paths) == seen else 0), len(self.paths)
            await asyncio.sleep(0.02)

    def factory(self, ccxt_id: str, config: dict[str, Any]) -> Any:
        """Make the real ccxt exchange, with every address of its API moved to this server."""
        # No spacing of requests and no wait for TLS sockets at close: there is neither a limit nor TLS here.
        exchange = open_exchange(ccxt_id, {**config, "rateLimit": 0.01, "verify": False})
        port = free_port() if ccxt_id in self.dead else self.port
        exchange.urls["api"] = _moved(exchange.urls["api"], port)
        exchange.timeout_on_exit = 0
        return exchange


def _query(request: web.Request) -> Query:
    return parse_qs(urlsplit(request.raw_path).query, keep_blank_values=True)


def _moved(urls: Any, port: int) -> Any:
    if isinstance(urls, dict):
        return {name: _moved(url, port) for name, url in urls.items()}
    return urls.replace("https://", f"http://127.0.0.1:{port}/") if isinstance(urls, str) else urls


@asynccontextmanager
async def serving(market: SyntheticMarket) -> AsyncIterator[Venues]:
    """Serve `market` on a free port of the loopback."""
    venues = Venues(market)
    app = web.Application()
    app.router.add_get("/{tail:.*}", venues.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    venues.port = runner.addresses[0][1]
    try:
        yield venues
    finally:
        await runner.cleanup()


def recorded(name: str) -> Any:
    """Read one recorded body."""
    file = SHARED / name
    text = gzip.decompress(file.read_bytes()) if name.endswith(".gz") else file.read_bytes()
    return json.loads(text)["response"]
