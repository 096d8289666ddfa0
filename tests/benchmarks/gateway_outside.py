"""What is outside of the gateway in its benchmark. Run: -m tests.benchmarks.gateway_outside PORT [SETTLE_SECONDS]."""

import asyncio
import base64
import json
import sys
from typing import Any, Final

import msgpack
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.wire.networks import TESTNET
from tests.support.fake_upstream import FEE_PAYER, payment_txid

ROUND: Final = 5_000
SUPPORTED: Final = {
    "kinds": [{"x402Version": 2, "scheme": "exact", "network": TESTNET.full, "extra": {"feePayer": FEE_PAYER}}],
    "extensions": [],
    "signers": {"algorand:*": [FEE_PAYER]},
}
ANSWERS: Final[dict[str, Any]] = {
    "/supported": SUPPORTED,
    "/verify": {"isValid": True, "payer": FEE_PAYER},
    "/settle": {"success": True, "transaction": "T" * 52, "network": TESTNET.full, "payer": FEE_PAYER},
    "/v2/status": {"last-round": ROUND},
    "/health": {"round": ROUND},
}
PENDING: Final = "/v2/transactions/pending/"
# As algod shows one, with the members that a client reads and more.
CONFIRMED: Final = {
    "confirmed-round": ROUND + 1,
    "pool-error": "",
    "sender-rewards": 0,
    "txn": {"sig": "A" * 88, "txn": {"aamt": 10_000, "fv": 5_000, "lv": 5_500, "snd": FEE_PAYER, "type": "axfer"}},
}


def outside(settle_s: float = 0.0) -> ASGIApp:
    """Make a facilitator, an algod and an indexer in one, which knows a transaction from the second query on.

    The first query is the gateway's before it accepts a payment, the second the one after settle.
    """
    looked_up: set[str] = set()
    signed: dict[str, Any] = {}

    def content_of(path: str) -> Any:
        if path.startswith(PENDING) and path not in looked_up:
            looked_up.add(path)
            return None
        return CONFIRMED if path.startswith(PENDING) else ANSWERS.get(path)

    def keep(body: bytes) -> None:
        payload = json.loads(body)["paymentPayload"]["payload"]
        signed[payment_txid(payload)] = msgpack.unpackb(
            base64.b64decode(payload["paymentGroup"][payload["paymentIndex"]])
        )

    def packed(txid: str) -> bytes:
        return bytes(msgpack.packb({**CONFIRMED, "txn": signed[txid]}))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        more, sent = scope["method"] == "POST", b""
        while more:
            message = await receive()
            sent += message.get("body", b"")
            more = message.get("more_body", False)
        if scope["path"] == "/settle":
            keep(sent)
            await asyncio.sleep(settle_s)
        content = content_of(scope["path"])
        body = json.dumps(content or {"message": "not found"}).encode()
        if scope["query_string"] == b"format=msgpack":
            body = packed(scope["path"].removeprefix(PENDING))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200 if content else 404, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


if __name__ == "__main__":
    uvicorn.run(
        outside(*map(float, sys.argv[2:])),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_config=None,
        access_log=False,
        server_header=False,
    )
