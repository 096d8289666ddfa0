"""Servers next to the gateway: its outside, and plain routes to compare with. Run: -m ...gateway_servers ROLE PORT."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.wire.networks import TESTNET
from tests.support.fake_upstream import FEE_PAYER

ROUND: Final = 5_000
SUPPORTED: Final = {
    "kinds": [{"x402Version": 2, "scheme": "exact", "network": TESTNET.full, "extra": {"feePayer": FEE_PAYER}}],
    "extensions": [],
    "signers": {"algorand:*": [FEE_PAYER]},
}
ANSWERS: Final[dict[str, tuple[int, Any, float]]] = {
    "/supported": (200, SUPPORTED, 0.0),
    "/verify": (200, {"isValid": True, "payer": FEE_PAYER}, 0.02),
    "/settle": (200, {"success": True, "transaction": "T" * 52, "network": TESTNET.full, "payer": FEE_PAYER}, 0.2),
    # What a gateway that adds nothing would take; shows what the machine adds by itself.
    "/api/x402-market-regime.php": (200, {}, 0.02 + 0.2),
    "/v2/status": (200, {"last-round": ROUND}, 0.0),
    "/health": (200, {"round": ROUND}, 0.0),
}
"""Path to status, answer, and the seconds it takes in the slow role."""
PENDING: Final = "/v2/transactions/pending/"
# As algod shows one, with the members that a client reads and more.
CONFIRMED: Final = {
    "confirmed-round": ROUND + 1,
    "pool-error": "",
    "sender-rewards": 0,
    "txn": {"sig": "A" * 88, "txn": {"aamt": 10_000, "fv": 5_000, "lv": 5_500, "snd": FEE_PAYER, "type": "axfer"}},
}
FACILITATOR_S: Final = 0.02 + 0.2


def outside(*, slow: bool) -> ASGIApp:
    """Make a facilitator, an algod and an indexer in one, which knows a transaction from the second query on.

    The first query is the gateway's before it accepts a payment, the second the one after settle.
    """
    ready = {path: (status, json.dumps(content).encode(), wait) for path, (status, content, wait) in ANSWERS.items()}
    missing = (404, b'{"message":"not found"}', 0.0)
    confirmed = (200, json.dumps(CONFIRMED).encode(), 0.0)
    looked_up: set[str] = set()

    def transaction(path: str) -> tuple[int, bytes, float]:
        if path in looked_up:
            return confirmed
        looked_up.add(path)
        return missing

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        more = scope["method"] == "POST"
        while more:
            more = (await receive()).get("more_body", False)
        path = scope["path"]
        status, body, wait_s = transaction(path) if path.startswith(PENDING) else ready.get(path, missing)
        if slow and wait_s:
            await asyncio.sleep(wait_s)
        await _send(send, status, [(b"content-type", b"application/json")], body)

    return app


def plain(path: str, status: int, headers: dict[str, str], body: bytes) -> ASGIApp:
    """Make a plain Starlette route that returns the bytes."""

    async def answer(_request: Request) -> Response:
        return Response(body, status, headers)

    return Starlette(routes=[Route(path, answer, methods=["GET"])])


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve one role until ended; the answer to repeat is read from a file that the benchmark wrote."""
    role, port = sys.argv[1], int(sys.argv[2])
    if role in {"outside", "slow"}:
        app = outside(slow=role == "slow")
    else:
        stated = json.loads(Path(sys.argv[3]).read_text())
        app = plain(stated["path"], 402, dict(stated["headers"]), stated["body"].encode())
    uvicorn.run(app, host="127.0.0.1", port=port, log_config=None, access_log=False, server_header=False)


if __name__ == "__main__":
    main()
