"""A facilitator, an algod and an indexer on loopback, over one chain in memory that counts its transfers."""

import asyncio
import base64
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgpack
from aiohttp import web
from algosdk.encoding import checksum, encode_address

FEE_PAYER = encode_address(checksum(b"fee payer of the tests"))
OTHER_SIGNER = encode_address(checksum(b"another signer of the tests"))


class FakeUpstream:
    """What the outside does; tests set the fields and read the counts."""

    def __init__(self, network: str) -> None:
        self.supported: Any = {
            "kinds": [{"x402Version": 2, "scheme": "exact", "network": network, "extra": {"feePayer": FEE_PAYER}}],
            "extensions": [],
            "signers": {"algorand:*": [FEE_PAYER, OTHER_SIGNER]},
        }
        self.verify: Any = {"isValid": True}
        self.settle = "ok"
        self.settle_delay_s = 0.0
        self.hold: asyncio.Event | None = None
        self.supported_delay_s = 0.0
        self.lookup_down = False
        self.genesis_hash: str | None = None
        self.round = 5_000
        self.rounds_a_look = 0
        self.status: dict[str, Any] = {}
        self.behind_looks = 0
        self.pool_error: str | None = None
        self.pooled: set[str] = set()
        self.algod_forgets = False
        self.broadcasts_in_verify = False
        self.confirmed: dict[str, int] = {}
        self.signed: dict[str, Any] = {}
        self.shown = 0
        self.transfers: Counter[str] = Counter()
        self.looks: Counter[str] = Counter()
        self.calls: list[tuple[str, Any]] = []
        self.headers: list[Any] = []
        self.url = ""
        self.settling = asyncio.Event()

    def asked(self, path: str) -> list[Any]:
        return [body for called, body in self.calls if called == path]

    def land(self, txid: str) -> None:
        """Commit once; a second commit of the same group is impossible on the chain."""
        if txid not in self.confirmed:
            self.confirmed[txid] = self.round + 1
            self.transfers[txid] += 1

    async def _facilitator(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/f")
        body = await request.json() if request.method == "POST" else None
        self.calls.append((path, body))
        self.headers.append(request.headers.copy())
        if path == "/supported":
            await asyncio.sleep(self.supported_delay_s)
        if path == "/settle":
            return await self._settle(body)
        if path == "/verify" and body is not None and self.broadcasts_in_verify:
            self.land(payment_txid(body["paymentPayload"]["payload"]))
        answer = self.supported if path == "/supported" else self.verify
        return _answer(answer)

    async def _settle(self, body: Any) -> web.StreamResponse:
        self.settling.set()
        await asyncio.sleep(self.settle_delay_s)
        if self.hold is not None:
            await self.hold.wait()
        payload = body["paymentPayload"]["payload"]
        txid = payment_txid(payload)
        self.signed[txid] = msgpack.unpackb(base64.b64decode(payload["paymentGroup"][payload["paymentIndex"]]))
        network = body["paymentRequirements"]["network"]
        mode = self.settle
        if mode == "ok":
            mode = "simulation" if txid in self.confirmed else mode
            self.land(txid)
        return _answer(SETTLE_ANSWERS[mode](network))

    async def _algod(self, request: web.Request) -> web.Response:
        if self.lookup_down:
            return web.Response(status=502, text="<html>bad gateway</html>")
        if request.path.endswith("/params"):
            known = self.genesis_hash is not None
            return web.json_response({"genesis-hash": self.genesis_hash}, status=200 if known else 404)
        if request.path.endswith("/status"):
            self.round += self.rounds_a_look
            return web.json_response({"last-round": self.round, **self.status})
        txid = request.match_info["txid"]
        return self._show(txid) if request.query.get("format") == "msgpack" else self._pending(txid)

    def _pending(self, txid: str) -> web.Response:
        self.looks[txid] += 1
        if txid in self.pooled:
            return web.json_response({"confirmed-round": 0, "pool-error": ""})
        if self.algod_forgets or self._hides(txid):
            return web.json_response({"message": "not found"}, status=404)
        if self.pool_error is not None:
            return web.json_response({"confirmed-round": 0, "pool-error": self.pool_error})
        return web.json_response({"confirmed-round": self.confirmed[txid], "pool-error": ""})

    def _show(self, txid: str) -> web.Response:
        """Answer in msgpack, with the transaction that settle was asked about."""
        known = txid in self.confirmed and txid in self.signed and not self.algod_forgets
        if not known or self.behind_looks > 0 or self.pool_error is not None:
            return web.json_response({"message": "not found"}, status=404)
        self.looks[txid] += 1
        self.shown += 1
        content = {"confirmed-round": self.confirmed[txid], "pool-error": "", "txn": self.signed[txid]}
        return web.Response(body=msgpack.packb(content))

    def _hides(self, txid: str) -> bool:
        """Answer as a node that is behind: it does not have what is on the chain until it was asked so often."""
        if txid not in self.confirmed:
            return True
        self.behind_looks -= 1
        return self.behind_looks >= 0

    async def _indexer(self, request: web.Request) -> web.Response:
        if self.lookup_down:
            return web.Response(status=502)
        if request.path.endswith("/health"):
            return web.json_response({"round": self.round})
        txid = request.match_info["txid"]
        if txid not in self.confirmed or self.behind_looks > 0:
            return web.json_response({"message": "no transaction found"}, status=404)
        return web.json_response({"transaction": {"confirmed-round": self.confirmed[txid]}})

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_route("*", "/f/{tail:.*}", self._facilitator)
        app.router.add_get("/a/v2/status", self._algod)
        app.router.add_get("/a/v2/transactions/params", self._algod)
        app.router.add_get("/a/v2/transactions/pending/{txid}", self._algod)
        app.router.add_get("/i/health", self._indexer)
        app.router.add_get("/i/v2/transactions/{txid}", self._indexer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield
        finally:
            await runner.cleanup()


def _failure(reason: str) -> Any:
    return lambda network: {"success": False, "errorReason": reason, "transaction": "", "network": network}


SETTLE_ANSWERS: dict[str, Any] = {
    "ok": lambda network: {"success": True, "transaction": "ANOTHERTRANSACTIONOFTHEGROUP", "network": network},
    "lie": lambda network: {"success": True, "transaction": "NOTRANSACTIONATALL", "network": network},
    "simulation": _failure("transaction_simulation_failed"),
    "insufficient": _failure("insufficient_funds"),
    "500": lambda _network: 500,
    "garbage": lambda _network: "<html>hello</html>",
}


def _answer(content: Any) -> web.Response:
    if isinstance(content, int):
        return web.json_response({"error": "server"}, status=content)
    if isinstance(content, str):
        return web.Response(text=content, content_type="text/html")
    return web.json_response(content)


def payment_txid(payload: Any) -> str:
    signed = msgpack.unpackb(base64.b64decode(payload["paymentGroup"][payload["paymentIndex"]]))
    packed = msgpack.packb(signed["txn"], use_bin_type=True)
    return base64.b32encode(checksum(b"TX" + packed)).decode().rstrip("=")
