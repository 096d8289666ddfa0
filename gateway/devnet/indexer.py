"""The part of an indexer's REST interface that proves what is, and what is not, on the chain."""

import base64
import struct
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, Final

from algosdk import encoding
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from gateway.devnet.ledger import Committed, Ledger, Search, started_at
from gateway.devnet.routing import mounted, refusal
from gateway.devnet.transactions import FIELDS

DEFAULT_LIMIT: Final = 1_000
MAX_LIMIT: Final = 10_000
MAX_NUMBER: Final = 2**63 - 1


def indexer_routes(ledger: Ledger) -> Mount:
    """Return the routes below /indexer; this indexer is never behind its node."""
    asked = _Indexer(ledger)
    paths = [
        Route("/health", asked.health),
        Route("/v2/transactions", asked.transactions),
        Route("/v2/transactions/{txid}", asked.transaction),
        Route("/v2/blocks/{number:int}", asked.block),
    ]
    return mounted("/indexer", paths)


class _Indexer:
    """Handlers over one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def health(self, _request: Request) -> Response:
        current = self._ledger.rounds.current()
        state = {"db-available": True, "is-migrating": False, "message": str(current), "version": "emi-devnet"}
        return JSONResponse({"round": current, **state})

    async def transaction(self, request: Request) -> Response:
        txid = request.path_params["txid"]
        found = self._ledger.transaction(txid)
        if found is None:
            return refusal(404, f"no transaction found for transaction id: {txid}")
        content = _shown(found, self._ledger)
        return JSONResponse({"current-round": self._ledger.rounds.current(), "transaction": content})

    async def transactions(self, request: Request) -> Response:
        query = request.query_params
        try:
            wanted, limit = _search(query), min(_number(query, "limit", DEFAULT_LIMIT), MAX_LIMIT)
            prefix = base64.b64decode(query.get("note-prefix", ""), validate=True)
            kind = _one_of(query, "tx-type", FIELDS)
        except (ValueError, struct.error) as problem:
            return refusal(400, f"invalid input: {problem}")
        fitting = (
            found
            for found in self._ledger.search(wanted)
            if kind in {"", found.item.fields["type"]} and found.item.fields.get("note", b"").startswith(prefix)
        )
        page = list(islice(fitting, limit))
        content = {
            "current-round": self._ledger.rounds.current(),
            "transactions": [_shown(one, self._ledger) for one in page],
        }
        if page:  # after the last page too: only an empty one has none
            content["next-token"] = next_token(page[-1].round, page[-1].position)
        return JSONResponse(content)

    async def block(self, request: Request) -> Response:
        """Answer with the header alone, whatever was asked."""
        number = request.path_params["number"]
        if not 0 < number <= self._ledger.rounds.current():
            return refusal(404, f"error while looking up block for round '{number}'")
        identity = self._ledger.identity
        content = {
            "round": number,
            "timestamp": int(started_at(number)),
            "genesis-hash": identity.genesis_hash,
            "genesis-id": identity.genesis_id,
        }
        return JSONResponse(content)


def next_token(at_round: int, position: int) -> str:
    """Write the place of a page's last transaction as indexers do: round and offset, little endian, base64url."""
    return base64.urlsafe_b64encode(struct.pack("<QI", at_round, position)).decode()


def _search(query: Mapping[str, str]) -> Search:
    address, token = query.get("address", ""), query.get("next", "")
    if not encoding.is_valid_address(address):
        raise ValueError("unable to parse address: 'address'")
    after = struct.unpack("<QI", base64.urlsafe_b64decode(token)) if token else None
    rounds = _number(query, "min-round", 0), _number(query, "max-round", MAX_NUMBER)
    return Search(address, _one_of(query, "address-role", ("sender", "receiver")), *rounds, after)


def _one_of(query: Mapping[str, str], name: str, known: Collection[str]) -> str:
    value = query.get(name, "")
    if value and value not in known:
        raise ValueError(f"unknown {name}: '{value}'")
    return value


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    value = int(query.get(name, default))
    if not 0 <= value <= MAX_NUMBER:
        raise ValueError(f"invalid format for parameter {name}")
    return value


def _shown(found: Committed, ledger: Ledger) -> dict[str, Any]:
    """Return a committed transaction in the indexer's words; only what was signed."""
    item, fields = found.item, found.item.fields
    content: dict[str, Any] = {
        "id": item.txid,
        "tx-type": fields["type"],
        "sender": item.sender,
        "fee": fields.get("fee", 0),
        "first-valid": fields.get("fv", 0),
        "last-valid": fields["lv"],
        "confirmed-round": found.round,
        "intra-round-offset": found.position,
        "round-time": int(started_at(found.round)),
        "genesis-hash": ledger.identity.genesis_hash,
        "signature": {"sig": base64.b64encode(item.envelope["sig"]).decode()},
    }
    if "gen" in fields:
        content["genesis-id"] = fields["gen"]
    content |= {
        name: base64.b64encode(fields[key]).decode()
        for name, key in (("group", "grp"), ("note", "note"), ("lease", "lx"))
        if key in fields
    }
    if fields["type"] == "pay":
        moved = {"amount": fields.get("amt", 0), "receiver": item.receiver, "close-amount": 0}
        return content | {"payment-transaction": moved}
    moved = {"amount": fields.get("aamt", 0), "asset-id": fields["xaid"], "receiver": item.receiver, "close-amount": 0}
    return content | {"asset-transfer-transaction": moved}
