"""A real MCP client starts `emi mcp`, reads, verifies, buys, and buys nothing twice."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from gateway.devnet.keys import load_or_make
from generator.catalog.money import usdc_amount
from tests.support.processes import REPOSITORY, clean_environment, emi_up
from tests.support.vaults import PRICES

pytestmark = pytest.mark.outside
PRICE = PRICES["x402-market-regime"]


async def talk(folder: Path, origin: str, wallet: Path) -> dict[str, Any]:
    """Start the server as an agent's program does, and use it."""
    arguments = [
        "mcp",
        "--url",
        origin,
        "--wallet",
        str(wallet),
        "--state",
        str(folder / "agent"),
        "--cap-life",
        usdc_amount(2 * PRICE),
    ]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "generator.cli", *arguments],
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(REPOSITORY)),
    )
    buy = {
        "product": "market-regime",
        "cap": usdc_amount(PRICE),
        "purchase_id": "first-purchase",
    }
    async with Client(server, read_timeout_seconds=60) as client:
        return {
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "now": (await client.call_tool("market_now", {"asset": "BTC"})).structured_content,
            "checked": (await client.call_tool("verify", {})).structured_content,
            "bought": (await client.call_tool("buy", buy)).structured_content,
            "again": (await client.call_tool("buy", buy)).structured_content,
            "second": (await client.call_tool("buy", buy | {"purchase_id": "second-purchase"})).structured_content,
            "third": (await client.call_tool("buy", buy | {"purchase_id": "third-purchase"})).structured_content,
        }


def test_a_real_client_reads_verifies_buys_and_is_held_by_its_cap(tmp_path: Path) -> None:
    wallet = tmp_path / "buyer.key"
    load_or_make(wallet)
    with emi_up(tmp_path) as up:
        up.wait_answer()

        said = asyncio.run(talk(tmp_path, up.origin, wallet))

    assert len(said["tools"]) == 8
    assert said["now"]["source_mode"] == "simulated"
    assert "This proves" in said["checked"]["proves"]
    assert (said["bought"]["paid_now"], said["again"]) == (True, said["bought"] | {"paid_now": False})
    assert said["second"]["transaction"] != said["bought"]["transaction"]
    assert said["third"]["error"] == "cap_exceeded"
