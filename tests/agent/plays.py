"""Purchases through the tool: against sellers that lie, and a hundred at once with deaths and restarts."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import generator.client.agent
import generator.client.buying
from gateway.devnet.keys import Key, new_key
from generator.catalog.money import usdc_amount
from generator.client.buying.purchase import Bought
from tests.agent.harness import LIFE, shopping
from tests.sellers.play import Killed, Play, WebOfTheTest, is_true, spent_by
from tests.sellers.seller import PRICE, PRODUCT, Seller
from tests.support.devnet_app import DevnetApp, pass_rounds

if TYPE_CHECKING:
    from generator.client.agent.server import AgentServer

BUY: Final = {"product": PRODUCT.removeprefix("x402-"), "cap": usdc_amount(PRICE)}
BUYS: Final = 100
DEATH_RATE: Final = 0.01
MOST_LIVES: Final = 400
LINES: Final = 20_000
"""Of the buying code, at most, between two deaths: a hundred purchases run about 12,000."""
HOMES: Final = tuple(str(next(iter(package.__path__))) for package in (generator.client.agent, generator.client.buying))


def run_tool(web: WebOfTheTest, key: Key, folder: Path, result: Play) -> None:
    """Call `buy` once, as an agent does that keeps its id until it has the answer."""
    tools = shopping(web, folder, key)
    arguments = BUY | {"purchase_id": f"purchase-{result.bought}"}
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            answer = asyncio.run(tools.call("buy", arguments, {}))
        except Killed:
            result.ends.append("killed")
            return
    if answer.is_error:
        result.ends.append(answer.content[0].text)  # type: ignore[union-attr]
        return

    made = answer.structured_content
    result.ends.append("settled")
    result.bought += 1
    purchase = next(done for name, done in tools._buyer.bought() if name == made["purchase_id"])
    result.believed += not is_true(Bought(purchase, Path(made["path"]).read_bytes()), web.seller)


@dataclass
class Crowd:
    """What became of many purchases at once.

    Args:
        spent: atomic units that left the wallet.
        twice: ids for which more than one payment landed.
        ends: how the ids ended, counted by their first word.
        lives: how often the process was started.
    """

    spent: int = 0
    twice: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    lives: int = 0


def crowd(seed: int, devnet: DevnetApp, folder: Path, life: int = LIFE, buys: int = BUYS) -> Crowd:
    """Make many purchases at once in one process that dies again and again, until each has an end."""
    dice = random.Random(f"crowd {seed}")
    seller = Seller(devnet.client, devnet.fee_payer, dice)
    web = WebOfTheTest(seller, devnet, dice, DEATH_RATE)
    key, found = new_key(), Crowd()
    waiting = [f"purchase-{number}" for number in range(buys)]
    ends: dict[str, str] = {}

    while waiting and found.lives < MOST_LIVES:
        found.lives += 1
        tools = shopping(web, folder, key, life)
        with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Killed), dying(dice.randrange(LINES)):
            asyncio.run(_buy_all(tools, waiting, ends, dice))
        waiting = [name for name in waiting if name not in ends]
        pass_rounds(devnet.clock, dice.choice((0, 1, 30)))

    found.ends = Counter(ends.get(name, "none") for name in (f"purchase-{number}" for number in range(buys)))
    found.spent = spent_by(key, devnet, "")
    found.twice = _paid_twice(folder, seller)
    return found


async def _buy_all(tools: AgentServer, names: Sequence[str], ends: dict[str, str], dice: random.Random) -> None:
    """Call each purchase, some of them twice at once; note how those ended that gave an end."""

    async def one(name: str) -> None:
        answer = await tools.call("buy", BUY | {"purchase_id": name}, {})
        content: Any = answer.structured_content or {}
        if not answer.is_error:
            ends[name] = "settled"
        elif content.get("error") == "cap_exceeded":
            ends[name] = "cap_exceeded"

    twice = [name for name in names if dice.random() < 0.2]
    await asyncio.gather(*(one(name) for name in (*names, *twice)))


@contextmanager
def dying(lines: int) -> Iterator[None]:
    """Let the process die at the line of the buying code that comes after so many others."""
    left = lines

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(HOMES):
            return None
        if event == "line":
            left -= 1
            if left < 0:
                raise Killed
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _paid_twice(folder: Path, seller: Seller) -> int:
    """Count ids of which more than one signed payment is on the chain."""
    landed = Counter[str]()
    for file in folder.glob("purchases/*/*/payments/*.json"):
        landed[file.parents[1].name] += seller.has(json.loads(file.read_text())["header"])
    return sum(count > 1 for count in landed.values())


def is_paid_once(found: Crowd, life: int = LIFE) -> bool:
    """Return whether nothing was paid twice or above the cap, and every id that ended well was paid."""
    settled = found.ends["settled"]
    return found.twice == 0 and found.spent == PRICE * settled <= life and found.ends["none"] == 0
