"""Applications on real sockets of this process: a devnet, a gateway over a small vault, a seller with faults."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from gateway.app.application import build_app
from gateway.devnet.app import build_devnet
from gateway.devnet.ledger import DevnetLedger
from gateway.devnet.settings import DevnetSettings
from gateway.settings import GatewaySettings
from gateway.wire.networks import DEVNET, Network
from tests.support.vaults import write_sample_vault


@contextmanager
def serving(app: Starlette, listener: socket.socket | None = None) -> Iterator[str]:
    """Serve an application in a thread until the context ends; gives its origin."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, lifespan="on", ws="none"))
    with running(server, listener or open_port()) as origin:
        yield origin


@contextmanager
def running(server: uvicorn.Server, listener: socket.socket) -> Iterator[str]:
    """Run a server in a thread until the context ends; gives its origin."""
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until and thread.is_alive():
            time.sleep(0.01)
        assert server.started
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        listener.close()


@contextmanager
def answering(answer: Callable[[str, bytes | None], tuple[int, bytes]]) -> Iterator[str]:
    """Serve what a function answers to (path, body of a POST) until the context ends; gives its origin."""

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])) if self.command == "POST" else None
            status, content = answer(self.path, body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def open_port() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


@dataclass(frozen=True)
class Shop:
    """A gateway and its devnet."""

    gateway: str
    devnet: str
    ledger: DevnetLedger
    state: Path


@contextmanager
def devnet_at(folder: Path, identity: Network = DEVNET) -> Iterator[tuple[str, DevnetLedger]]:
    app = build_devnet(DevnetSettings(folder / "devnet.sqlite3", identity))
    with serving(app) as origin:
        yield origin, app.state.ledger


@contextmanager
def shop(folder: Path, *, preview: bool = False, identity: Network = DEVNET, **given: Any) -> Iterator[Shop]:
    """Run both over a small vault; `preview` serves the site's files in the folder too; the rest are settings."""
    write_sample_vault(folder / "vault")
    with devnet_at(folder, identity) as (devnet, ledger):
        listener = open_port()
        settings = GatewaySettings(
            state_dir=folder,
            port=listener.getsockname()[1],
            network=identity.name,
            facilitator_url=f"{devnet}/facilitator",
            algod_url=f"{devnet}/algod",
            indexer_url=f"{devnet}/indexer",
            **given,
        )
        with serving(build_app(settings, preview=preview), listener) as gateway:
            yield Shop(gateway, devnet, ledger, folder)
