"""The part of an indexer's REST interface that proves what is, and what is not, on the chain."""

import base64
import binascii
import struct
from collections.abc import Mapping
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
ROLES: Final = ("", "sender", "receiver")


class BadQueryError(ValueError):
    """A parameter that an indexer does not take; the message names it."""


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
            kind, prefix = _kind(query), _prefix(query)
        except BadQueryError as problem:
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
    address, role = query.get("address", ""), query.get("address-role", "")
    if not encoding.is_valid_address(address):
        raise BadQueryError("unable to parse address: 'address'")
    if role not in ROLES:
        raise BadQueryError(f"unknown address role: '{role}'")
    largest = _number(query, "max-round", MAX_NUMBER)
    return Search(address, role, _number(query, "min-round", 0), largest, _after(query.get("next")))


def _after(token: str | None) -> tuple[int, int] | None:
    if not token:
        return None
    try:
        at_round, position = struct.unpack("<QI", base64.urlsafe_b64decode(token))
    except (struct.error, binascii.Error, ValueError):
        raise BadQueryError("unable to parse next token: 'next'") from None
    return at_round, position


def _kind(query: Mapping[str, str]) -> str:
    kind = query.get("tx-type", "")
    if kind and kind not in FIELDS:
        raise BadQueryError(f"unknown tx-type: '{kind}'")
    return kind


def _prefix(query: Mapping[str, str]) -> bytes:
    try:
        return base64.b64decode(query.get("note-prefix", ""), validate=True)
    except binascii.Error:
        raise BadQueryError("unable to parse base64 data: 'note-prefix'") from None


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not text.isascii() or not text.isdigit() or int(text[:20]) > MAX_NUMBER:
        raise BadQueryError(f"invalid format for parameter {name}")
    return int(text)


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
