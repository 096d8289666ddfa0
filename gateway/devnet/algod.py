"""The part of a node's REST interface that wallets, facilitators and gateways use."""

import asyncio
import base64
from typing import Any, Final

import msgpack
from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.devnet.errors import LedgerRefusal, Malformed
from gateway.devnet.ledger import Account, Ledger
from gateway.devnet.routing import mounted, refusal
from gateway.devnet.rules import MIN_FEE
from gateway.devnet.transactions import Item, parse_group, parse_item

MEMORY_ROUNDS: Final = 1_000
"""A node forgets a transaction after this many rounds; the indexer keeps it."""
CONSENSUS: Final = "emi-devnet"
MAX_WAIT_S: Final = 60.0
MAX_BODY: Final = 1_000_000


def algod_routes(ledger: Ledger) -> list[BaseRoute]:
    """Return the node's routes, below /algod and at the root.

    The official JavaScript client asks for /v2 at the root of a node's origin whatever path its URL has.
    """
    return [mounted("/algod", _node_routes(ledger)), *_node_routes(ledger)]


def _node_routes(ledger: Ledger) -> list[BaseRoute]:
    algod = _Algod(ledger)
    transactions = [
        Route("/params", algod.params),
        Route("/simulate", algod.simulate, methods=["POST"]),
        Route("/pending/{txid}", algod.pending),
    ]
    return [
        Route("/health", algod.health),
        Route("/v2/status", algod.status),
        Route("/v2/status/wait-for-block-after/{after:int}", algod.wait),
        Route("/v2/transactions", algod.send, methods=["POST"]),
        mounted("/v2/transactions", transactions),
        Route("/v2/accounts/{address}", algod.account),
        Route("/v2/accounts/{address}/assets/{asset:int}", algod.holding),
    ]


class _Algod:
    """Handlers over one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def health(self, _request: Request) -> Response:
        return JSONResponse(None)

    async def status(self, _request: Request) -> Response:
        return JSONResponse(self._status())

    async def wait(self, request: Request) -> Response:
        target = request.path_params["after"] + 1
        await asyncio.sleep(min(self._ledger.rounds.seconds_to(target), MAX_WAIT_S))
        return JSONResponse(self._status())

    async def params(self, _request: Request) -> Response:
        identity = self._ledger.identity
        genesis = {"genesis-hash": identity.genesis_hash, "genesis-id": identity.genesis_id}
        last = self._ledger.rounds.current()
        return JSONResponse(
            {"consensus-version": CONSENSUS, "fee": 0, "min-fee": MIN_FEE, "last-round": last, **genesis}
        )

    async def send(self, request: Request) -> Response:
        try:
            items = parse_group(await _body(request))
            self._ledger.submit(items)
        except LedgerRefusal as problem:
            return refusal(400, f"TransactionPool.Remember: {problem}")
        return JSONResponse({"txId": items[0].txid})

    async def simulate(self, request: Request) -> Response:
        try:
            items = _simulated_items(await _body(request))
        except Malformed as problem:
            return refusal(400, str(problem))
        packed = request.query_params.get("format") == "msgpack"
        shown = [_raw(item) if packed else _shown(item) for item in items]
        group: dict[str, Any] = {"txn-results": [{"txn-result": {"pool-error": "", "txn": one}} for one in shown]}
        try:
            self._ledger.simulate(items)
        except LedgerRefusal as problem:
            group |= {"failure-message": str(problem), "failed-at": [0]}
        content = {"version": 2, "last-round": self._ledger.rounds.current(), "txn-groups": [group]}
        return _msgpack(content) if packed else JSONResponse(content)

    async def pending(self, request: Request) -> Response:
        found = self._ledger.transaction(request.path_params["txid"])
        if found is None or self._ledger.rounds.current() - found.round > MEMORY_ROUNDS:
            return refusal(
                404, "could not find the transaction in the transaction pool or in the last 1000 confirmed rounds"
            )
        if request.query_params.get("format") == "msgpack":
            return _msgpack({"confirmed-round": found.round, "pool-error": "", "txn": _raw(found.item)})
        return JSONResponse({"confirmed-round": found.round, "pool-error": "", "txn": _shown(found.item)})

    async def account(self, request: Request) -> Response:
        address = request.path_params["address"]
        if not encoding.is_valid_address(address):
            return refusal(400, "failed to parse the address")
        return JSONResponse(shown_account(address, self._ledger))

    async def holding(self, request: Request) -> Response:
        account = self._ledger.account(request.path_params["address"])
        holdings = _holdings(account, self._ledger.identity.asset_id)
        found = [holding for holding in holdings if holding["asset-id"] == request.path_params["asset"]]
        if not found:
            return refusal(404, "account asset info not found")
        return JSONResponse({"round": self._ledger.rounds.current(), "asset-holding": found[0]})

    def _status(self) -> dict[str, Any]:
        current = self._ledger.rounds.current()
        versions = {"last-version": CONSENSUS, "next-version": CONSENSUS, "next-version-round": current + 1}
        flags = {"next-version-supported": True, "stopped-at-unsupported-round": False, "catchup-time": 0}
        return {
            "last-round": current,
            "time-since-last-round": self._ledger.rounds.since_round_ns(),
            **versions,
            **flags,
        }


def shown_account(address: str, ledger: Ledger) -> dict[str, Any]:
    """Return an account in the node's words; the indexer says the same."""
    account = ledger.account(address)
    balances = {
        "amount": account.micro_algos,
        "amount-without-pending-rewards": account.micro_algos,
        "min-balance": account.min_balance,
        "pending-rewards": 0,
        "rewards": 0,
    }
    assets = _holdings(account, ledger.identity.asset_id)
    totals = {
        "total-assets-opted-in": len(assets),
        "total-apps-opted-in": 0,
        "total-created-apps": 0,
        "total-created-assets": 0,
    }
    return {
        "address": address,
        **balances,
        "assets": assets,
        **totals,
        "round": ledger.rounds.current(),
        "status": "Offline",
    }


def _holdings(account: Account, asset: int) -> list[dict[str, Any]]:
    if account.asset_amount is None:
        return []
    return [{"asset-id": asset, "amount": account.asset_amount, "is-frozen": False}]


def _shown(item: Item) -> dict[str, Any]:
    """Return a transaction as the node's JSON shows it: byte fields as addresses or base64."""
    addresses = {"snd", "rcv", "arcv"}
    fields = {
        key: encoding.encode_address(value) if key in addresses else _text(value) for key, value in item.fields.items()
    }
    return {**{key: _text(value) for key, value in item.envelope.items()}, "txn": fields}


def _raw(item: Item) -> Any:
    return msgpack.unpackb(item.wire, raw=False)


def _msgpack(content: dict[str, Any]) -> Response:
    return Response(msgpack.packb(content), media_type="application/msgpack")


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _text(part) for key, part in value.items()}
    return [_text(part) for part in value] if isinstance(value, list) else value


def _simulated_items(raw: bytes) -> list[Item]:
    try:
        groups = msgpack.unpackb(raw, raw=False)["txn-groups"]
        transactions = groups[0]["txns"]
        return [parse_item(base64.b64decode(encoding.msgpack_encode(one))) for one in transactions]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as problem:
        raise Malformed(f"failed to decode the simulate request: {problem}") from problem


async def _body(request: Request) -> bytes:
    raw = bytearray()
    async for part in request.stream():
        raw += part
        if len(raw) > MAX_BODY:
            raise Malformed("request body is too large")
    return bytes(raw)
