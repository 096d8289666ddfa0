"""What wallets, facilitators and gateways ask of a node and of an indexer."""

import base64
import struct
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

import msgpack
from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router

from gateway.devnet.errors import LedgerRefusal, Malformed
from gateway.devnet.ledger import MAX_NUMBER, Committed, DevnetLedger, started_at
from gateway.devnet.transactions import Item, parse_group, parse_item
from gateway.wire.algorand import (
    MIN_FEE,
    pack,
)
from gateway.wire.foreign import read_msgpack

MEMORY_ROUNDS: Final = 1_000
"""A node forgets a transaction after this many rounds; the indexer keeps it."""
PAGE: Final = 1_000
ADDRESSES: Final = frozenset({"snd", "rcv", "arcv"})


def node_routes(ledger: DevnetLedger) -> list[BaseRoute]:
    """Return the indexer's routes, and the node's below /algod and at the root.

    The official JavaScript client asks for /v2 at the root of a node's origin whatever path its URL has.
    """
    node = _Node(ledger)
    algod = [
        Route("/v2/status", node.status),
        Route("/v2/transactions", node.send, methods=["POST"]),
        Route("/v2/transactions/params", node.params),
        Route("/v2/transactions/simulate", node.simulate, methods=["POST"]),
        Route("/v2/transactions/pending/{txid}", node.pending),
        Route("/v2/accounts/{address}", node.account),
        Route("/v2/accounts/{address}/assets/{asset:int}", node.holding),
    ]

    indexer = _Indexer(ledger)
    indexed = [
        Route("/health", indexer.health),
        Route("/v2/transactions", indexer.transactions),
        Route("/v2/transactions/{txid}", indexer.transaction),
        Route("/v2/blocks/{number:int}", indexer.block),
    ]
    return [mounted("/indexer", indexed), mounted("/algod", algod), *algod]


def mounted(path: str, routes: Sequence[BaseRoute]) -> Mount:
    """Return the routes below a path, without Starlette's redirect between a path with and without its last slash."""
    return Mount(path, app=Router(routes, redirect_slashes=False))


def refusal(status: int, message: str) -> Response:
    """Refuse a request in a node's way: a JSON object with one message."""
    return JSONResponse({"message": message}, status_code=status)


class _Node:
    """A node's handlers."""

    def __init__(self, ledger: DevnetLedger) -> None:
        self._ledger = ledger

    async def status(self, _request: Request) -> Response:
        current = self._ledger.rounds.current()
        return JSONResponse({"last-round": current, "time-since-last-round": 0, "catchup-time": 0})

    async def params(self, _request: Request) -> Response:
        identity = self._ledger.identity
        genesis = {"genesis-hash": identity.genesis_hash, "genesis-id": identity.genesis_id}
        last = self._ledger.rounds.current()
        return JSONResponse(
            {"consensus-version": "emi-devnet", "fee": 0, "min-fee": MIN_FEE, "last-round": last} | genesis
        )

    async def send(self, request: Request) -> Response:
        try:
            items = parse_group(await request.body())
            self._ledger.submit(items)
        except LedgerRefusal as problem:
            return refusal(400, f"TransactionPool.Remember: {problem}")
        return JSONResponse({"txId": items[0].txid})

    async def simulate(self, request: Request) -> Response:
        try:
            transactions = read_msgpack(await request.body())["txn-groups"][0]["txns"]
            items = [parse_item(pack(transaction)) for transaction in transactions]
        except (ValueError, TypeError, LookupError, AttributeError, Malformed) as problem:
            return refusal(400, f"failed to decode the simulate request: {problem}")

        results = [{"txn-result": {"pool-error": "", "txn": _shown(request, item)}} for item in items]
        group: dict[str, Any] = {"txn-results": results}
        try:
            self._ledger.simulate(items)
        except LedgerRefusal as problem:
            group |= {"failure-message": str(problem), "failed-at": [0]}

        return _answer(request, {"version": 2, "last-round": self._ledger.rounds.current(), "txn-groups": [group]})

    async def pending(self, request: Request) -> Response:
        committed = self._ledger.transaction(request.path_params["txid"])
        if committed is None or self._ledger.rounds.current() - committed.round > MEMORY_ROUNDS:
            return refusal(404, "could not find the transaction in the pool or in the last 1000 confirmed rounds")

        transaction = _shown(request, committed.item)
        return _answer(request, {"confirmed-round": committed.round, "pool-error": "", "txn": transaction})

    async def account(self, request: Request) -> Response:
        address = request.path_params["address"]
        if not encoding.is_valid_address(address):
            return refusal(400, "failed to parse the address")
        content = {"address": address, "amount": self._ledger.micro_algos(address), "assets": self._holdings(address)}
        return JSONResponse(content | {"round": self._ledger.rounds.current()})

    async def holding(self, request: Request) -> Response:
        for held in self._holdings(request.path_params["address"]):
            if held["asset-id"] == request.path_params["asset"]:
                return JSONResponse({"round": self._ledger.rounds.current(), "asset-holding": held})
        return refusal(404, "account asset info not found")

    def _holdings(self, address: str) -> list[dict[str, Any]]:
        amount = self._ledger.holding(address)
        if amount is None:
            return []
        return [{"asset-id": self._ledger.identity.asset_id, "amount": amount, "is-frozen": False}]


def _shown(request: Request, item: Item) -> Any:
    """Return a transaction as a node shows it: as it was signed, or in JSON with byte fields as addresses or base64."""
    if _packed(request):
        return read_msgpack(item.wire)

    fields = {}
    for key, value in item.fields.items():
        fields[key] = encoding.encode_address(value) if key in ADDRESSES else _text(value)
    return {"sig": _text(item.signature), "txn": fields}


def _answer(request: Request, content: dict[str, Any]) -> Response:
    if _packed(request):
        return Response(msgpack.packb(content), media_type="application/msgpack")
    return JSONResponse(content)


def _packed(request: Request) -> bool:
    return request.query_params.get("format") == "msgpack"


def _text(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _fits(item: Item, kind: str | None, note_prefix: bytes) -> bool:
    """Return whether a transaction is of the type asked for, if any, and its note begins so."""
    return kind in {None, item.fields["type"]} and item.fields.get("note", b"").startswith(note_prefix)


class _Indexer:
    """An indexer's handlers; it is never behind its node."""

    def __init__(self, ledger: DevnetLedger) -> None:
        self._ledger = ledger

    async def health(self, _request: Request) -> Response:
        return JSONResponse({"round": self._ledger.rounds.current()})

    async def transaction(self, request: Request) -> Response:
        txid = request.path_params["txid"]
        committed = self._ledger.transaction(txid)
        if committed is None:
            return refusal(404, f"no transaction found for transaction id: {txid}")
        return self._current({"transaction": self._row(committed)})

    async def transactions(self, request: Request) -> Response:
        query = request.query_params
        try:
            if not encoding.is_valid_address(query.get("address", "")):
                raise ValueError("unable to parse address: 'address'")
            token = query.get("next")
            after = struct.unpack("<QI", base64.urlsafe_b64decode(token)) if token else (MAX_NUMBER, 0)
            since = int(query.get("min-round", 0))
            limit = int(query.get("limit", PAGE))
            prefix = base64.b64decode(query.get("note-prefix", ""), validate=True)
            kind = query.get("tx-type")

            rows = self._ledger.search(query["address"], query.get("address-role", ""), since, after)
            fitting = (row for row in rows if _fits(row.item, kind, prefix))
            page = list(islice(fitting, min(limit, PAGE)))
        except (ValueError, OverflowError, struct.error) as problem:
            return refusal(400, f"invalid input: {problem}")

        content: dict[str, Any] = {"transactions": [self._row(row) for row in page]}
        # After the last page too, as indexers do: only an empty one has none.
        if page:
            place = struct.pack("<QI", page[-1].round, page[-1].position)
            content["next-token"] = base64.urlsafe_b64encode(place).decode()
        return self._current(content)

    async def block(self, request: Request) -> Response:
        """Answer with the header alone, whatever was asked."""
        number = request.path_params["number"]
        if not 0 < number <= self._ledger.rounds.current():
            return refusal(404, f"error while looking up block for round '{number}'")
        return JSONResponse({"round": number, "timestamp": int(started_at(number))})

    def _current(self, content: dict[str, Any]) -> Response:
        return JSONResponse({"current-round": self._ledger.rounds.current(), **content})

    def _row(self, committed: Committed) -> dict[str, Any]:
        """Return a committed transaction in the indexer's words; only what was signed."""
        item = committed.item
        fields = item.fields
        content: dict[str, Any] = {
            "id": item.txid,
            "tx-type": fields["type"],
            "sender": item.sender,
            "fee": fields.get("fee", 0),
            "first-valid": fields.get("fv", 0),
            "last-valid": fields["lv"],
            "confirmed-round": committed.round,
            "round-time": int(started_at(committed.round)),
            "genesis-hash": self._ledger.identity.genesis_hash,
            "signature": {"sig": _text(item.signature)},
        }
        names = {"gen": "genesis-id", "grp": "group", "note": "note", "lx": "lease"}
        content |= {name: _text(fields[key]) for key, name in names.items() if key in fields}

        moved = {"receiver": item.receiver, "close-amount": 0}
        if fields["type"] == "pay":
            return content | {"payment-transaction": {"amount": fields.get("amt", 0), **moved}}
        moved |= {"amount": fields.get("aamt", 0), "asset-id": fields["xaid"]}
        return content | {"asset-transfer-transaction": moved}
