"""The part of an indexer's REST interface that proves what is, and what is not, on the chain."""

from __future__ import annotations

import base64
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from gateway.devnet.algod import shown_account
from gateway.devnet.ledger import Committed, Ledger
from gateway.devnet.rounds import started_at
from gateway.devnet.transactions import address_of


def indexer_routes(ledger: Ledger) -> Mount:
    """Return the routes below /indexer; this indexer is never behind its node."""

    async def health(_request: Request) -> Response:
        current = ledger.rounds.current()
        state = {"db-available": True, "is-migrating": False, "message": str(current), "version": "emi-devnet"}
        return JSONResponse({"round": current, **state})

    async def transaction(request: Request) -> Response:
        txid = request.path_params["txid"]
        found = ledger.transaction(txid)
        if found is None:
            return JSONResponse({"message": f"no transaction found for transaction id: {txid}"}, status_code=404)
        told = _shown(found, ledger)
        return JSONResponse({"current-round": ledger.rounds.current(), "transaction": told})

    async def account(request: Request) -> Response:
        address = request.path_params["address"]
        seen = ledger.account(address)
        if seen.micro_algos == 0 and seen.asset_amount is None:
            return JSONResponse({"message": f"no accounts found for address: {address}"}, status_code=404)
        return JSONResponse({"current-round": ledger.rounds.current(), "account": shown_account(address, ledger)})

    paths = [
        Route("/health", health),
        Route("/v2/transactions/{txid}", transaction),
        Route("/v2/accounts/{address}", account),
    ]
    return Mount("/indexer", routes=paths)


def _shown(found: Committed, ledger: Ledger) -> dict[str, Any]:
    """Return a committed transaction in the indexer's words."""
    fields, identity = found.item.fields, ledger.identity
    told: dict[str, Any] = {
        "id": found.item.txid,
        "tx-type": fields["type"],
        "sender": found.item.sender,
        "fee": fields.get("fee", 0),
        "first-valid": fields.get("fv", 0),
        "last-valid": fields["lv"],
        "confirmed-round": found.round,
        "intra-round-offset": found.position,
        "round-time": int(started_at(found.round)),
        "genesis-hash": identity.genesis_hash,
        "genesis-id": identity.genesis_id,
    }
    told |= {
        name: base64.b64encode(fields[key]).decode()
        for name, key in (("group", "grp"), ("note", "note"))
        if key in fields
    }
    if fields["type"] == "pay":
        receiver = address_of(fields.get("rcv", bytes(32)))
        return told | {"payment-transaction": {"amount": fields.get("amt", 0), "receiver": receiver, "close-amount": 0}}
    receiver = address_of(fields.get("arcv", bytes(32)))
    moved = {"amount": fields.get("aamt", 0), "asset-id": fields["xaid"], "receiver": receiver, "close-amount": 0}
    return told | {"asset-transfer-transaction": moved}
