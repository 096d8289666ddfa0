"""Real `emi mcp` processes that share one state, buy at once and are killed: each id is paid once, within the cap."""

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gateway.devnet.keys import load_or_make
from generator.catalog.money import usdc_amount
from tests.support.processes import REPOSITORY, clean_environment, emi_up, get
from tests.support.vaults import PRICES

pytestmark = pytest.mark.outside
PROCESSES = 3
BUYS = 25
CAP = 10
PRICE = PRICES["x402-market-regime"]
BUY = {"product": "market-regime", "cap": usdc_amount(PRICE)}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def line(method: str, number: int | None, params: dict[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
    return json.dumps(message).encode() + b"\n"


async def life(folder: Path, arguments: list[str], names: list[str], seconds: float | None) -> dict[str, str]:
    """Start a server, ask for purchases all at once, kill it after some seconds; return how those that ended did."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "generator.cli", "mcp", *arguments,
        cwd=folder, env=clean_environment(PYTHONPATH=str(REPOSITORY)),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        limit=2**20,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line("initialize", 0, HELLO))
    await process.stdout.readline()
    process.stdin.write(line("notifications/initialized", None, {}))
    for number, name in enumerate(names, 1):
        call = {"name": "buy", "arguments": BUY | {"purchase_id": name}}
        process.stdin.write(line("tools/call", number, call))

    ends: dict[str, str] = {}
    try:
        async with asyncio.timeout(seconds):
            for _ in names:
                answer = json.loads(await process.stdout.readline())
                content = answer["result"].get("structuredContent") or {}
                end = "settled" if not answer["result"]["isError"] else str(content.get("error"))
                ends[names[answer["id"] - 1]] = end
    except TimeoutError:
        pass
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    return ends


async def many_lives(folder: Path, arguments: list[str]) -> dict[str, str]:
    """Let several processes buy the same purchases, die and start again; the last one is left alone."""
    dice = random.Random(26)
    names = [f"purchase-{number}" for number in range(BUYS)]
    ends: dict[str, str] = {}
    for _ in range(3):
        lives = [life(folder, arguments, names, dice.uniform(0.05, 1.5)) for _ in range(PROCESSES)]
        for found in await asyncio.gather(*lives):
            ends |= {name: end for name, end in found.items() if end == "settled"}
    return ends | await life(folder, arguments, names, None)


def test_processes_that_share_a_state_and_are_killed_pay_each_id_once_within_the_cap(tmp_path: Path) -> None:
    wallet, state = tmp_path / "buyer.key", tmp_path / "agent"
    load_or_make(wallet)
    with emi_up(tmp_path) as up:
        up.wait_answer()
        arguments = [
            "--url",
            up.origin,
            "--wallet",
            str(wallet),
            "--state",
            str(state),
            "--cap-life",
            usdc_amount(CAP * PRICE),
        ]

        ends = asyncio.run(many_lives(tmp_path, arguments))

        port = int(up.origin.rsplit(":", 1)[1]) + 1
        landed = Counter[str]()
        for file in state.glob("purchases/*/*/payments/*.json"):
            found = get(f"http://127.0.0.1:{port}/indexer/v2/transactions/{file.stem}")[0] == 200
            landed[file.parents[1].name] += found

    assert Counter(ends.values()) == {"settled": CAP, "cap_exceeded": BUYS - CAP}
    assert {name for name, count in landed.items() if count} == {name for name, end in ends.items() if end == "settled"}
    assert max(landed.values()) == 1
    assert sum(landed.values()) == CAP
