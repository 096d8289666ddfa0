"""The official x402 client for MCP buys through the tool, over a shim for what the official SDK names otherwise."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from algosdk import encoding
from x402 import x402Client
from x402.schemas import PaymentRequirements

from gateway.devnet.keys import Key, new_key
from gateway.devnet.transactions import parse_item, signed
from gateway.wire.algorand import MIN_FEE
from gateway.wire.groups import payment_group
from gateway.wire.networks import DEVNET
from tests.agent.harness import connected, shopping
from tests.agent.plays import BUY
from tests.sellers.play import WebOfTheTest, spent_by, stage
from tests.sellers.seller import PRICE, Seller
from tests.support.devnet_app import START_ROUND, DevnetApp
from tests.support.gateway_app import in_loop

if TYPE_CHECKING:
    from mcp import Client

ROUNDS = (START_ROUND, START_ROUND + 900)


@pytest.fixture
def devnet(tmp_path: Path) -> Iterator[DevnetApp]:
    with stage(tmp_path) as running:
        yield running


class ExactAlgorand:
    """The scheme that the official package does not have: docs/howto/build.md has one for a node."""

    scheme = "exact"

    def __init__(self, key: Key) -> None:
        self._key = key

    def create_payment_payload(self, terms: PaymentRequirements) -> dict[str, Any]:
        accepted = terms.model_dump(by_alias=True)
        parts = payment_group(accepted, self._key.address, DEVNET, ROUNDS, MIN_FEE, b"official")
        fee, transfer = [parse_item(base64.b64decode(encoding.msgpack_encode(part))) for part in parts]
        items = (fee, signed(transfer, self._key.secret))
        return {"paymentGroup": [base64.b64encode(item.wire).decode() for item in items], "paymentIndex": 1}


class Shim:
    """Calls with one dictionary, and answers in camel case: what x402.mcp expects of a client of the SDK."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call_tool(self, params: dict[str, Any], **_: Any) -> SimpleNamespace:
        result = await self._client.call_tool(params["name"], params["arguments"], meta=params.get("_meta"))
        names = {"structuredContent": result.structured_content, "isError": result.is_error, "_meta": result.meta}
        return SimpleNamespace(content=result.content, **names)


@in_loop
async def test_the_official_client_pays_the_demand_and_gets_the_settlement(devnet: DevnetApp, tmp_path: Path) -> None:
    from x402.mcp import x402MCPClient

    key = new_key()
    devnet.fund(key.address)
    dice = random.Random(1)
    web = WebOfTheTest(Seller(devnet.client, devnet.fee_payer, dice), devnet, dice)
    usdc = {"network": "algorand:*", "asset": str(DEVNET.asset_id), "max_amount_per_payment": str(PRICE)}
    controls: Any = {"allowed_assets": [usdc]}
    payer = x402Client().set_spend_controls(controls)
    payer.register("algorand:*", ExactAlgorand(key))

    async with connected(shopping(web, tmp_path / "state", None)) as client:
        bought = await x402MCPClient(Shim(client), payer).call_tool("buy", BUY | {"purchase_id": "official-1"})

    assert (bought.payment_made, bought.is_error) == (True, False), bought.content
    assert bought.payment_response is not None
    assert bought.payment_response.success
    assert spent_by(key, devnet, "") == PRICE
