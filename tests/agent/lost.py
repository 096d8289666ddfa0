"""Answers lost on the way to the tool, within it, and on the way to whoever called: how often an id is paid twice.

Usage: python -m tests.agent.lost [PURCHASES], else 1,000; half of them are paid by the tool's wallet, half by the
caller in `_meta`. An answer is lost by a connection that breaks before or after the seller settled, by a process that
dies, or after the tool has answered. Whoever called asks again with the same id, until one answer arrives.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gateway.devnet.keys import Key, new_key
from gateway.devnet.wallet import pay
from gateway.wire.networks import DEVNET
from generator.client.buying.web import Unanswered, WebAnswer
from tests.agent.harness import shopping
from tests.agent.plays import BUY
from tests.sellers.play import Killed, WebOfTheTest, spent_by, stage
from tests.sellers.seller import PRICE, Seller
from tests.support.devnet_app import DevnetApp

if TYPE_CHECKING:
    from mcp import types

PURCHASES: Final = 1_000
MOST_CALLS: Final = 200
OF_ONE_DEVNET: Final = 250
"""Its fee payer has no more to give after some 800."""
LOSS: Final = 0.8
"""Of the answers of the seller; the tool asks up to a dozen times in one call."""


class LosesAnswers(Seller):
    """Loses most answers: before it settled, or after."""

    def get(self, url: str, headers: dict[str, str]) -> WebAnswer:
        if "PAYMENT-SIGNATURE" not in headers or self.dice.random() > LOSS:
            return super().get(url, headers)
        if self.dice.random() < 0.5:
            super().get(url, headers)
        raise Unanswered("reset by peer")


@dataclass
class Lost:
    """What became of purchases whose answers were lost.

    Args:
        lost: calls without an answer, or with one that says that the outcome is not known.
        settled: ids with an answer in the end.
        twice: ids for which more than PRICE left the wallet.
        unpaid: ids for which less than PRICE left the wallet.
        words: the first words of each answer that was no delivery.
    """

    lost: int = 0
    settled: int = 0
    twice: int = 0
    unpaid: int = 0
    words: Counter[str] = field(default_factory=Counter)


def lose(purchases: int, seed: int, devnet: DevnetApp, folder: Path) -> Lost:
    """Make purchases one after the other, each with a wallet of its own, until each has an answer."""
    dice = random.Random(f"lost {seed}")
    found = Lost()
    for number in range(purchases):
        key = new_key()
        web = WebOfTheTest(LosesAnswers(devnet.client, devnet.fee_payer, dice), devnet, dice)
        is_own = number % 2 == 0
        if not is_own:
            devnet.fund(key.address)

        found.settled += _asked_until_answered(web, key, folder / str(number), is_own, found)
        spent = spent_by(key, devnet, "")
        found.twice += spent > PRICE
        found.unpaid += spent < PRICE
    return found


def _asked_until_answered(web: WebOfTheTest, key: Key, folder: Path, is_own: bool, found: Lost) -> bool:
    """Call `buy` with one id as a host does that loses answers too; say whether one arrived."""
    meta: dict[str, Any] = {}
    for _ in range(MOST_CALLS):
        web.death_rate = 0.05
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                tools = shopping(web, folder, key if is_own else None)
                answer = asyncio.run(tools.call("buy", BUY | {"purchase_id": "purchase-1"}, meta))
        except Killed:
            found.lost += 1
            continue

        # A payment is signed again for each demand that arrives: nothing but the tool keeps it from being sent.
        meta = _payment(answer, key, web.devnet) if answer.is_error and answer.structured_content else {}
        if web.dice.random() < 0.3:
            found.lost += 1
            meta = {}
        elif not answer.is_error:
            return True
        else:
            found.words[" ".join(answer.content[0].text.split()[:3])[:40]] += 1  # type: ignore[union-attr]
            found.lost += not meta
    return False


def _payment(answer: types.CallToolResult, key: Key, devnet: DevnetApp) -> dict[str, Any]:
    if "accepts" not in answer.structured_content:
        return {}
    header = base64.b64encode(json.dumps(answer.structured_content).encode()).decode()
    last_round = devnet.client.get("/algod/v2/status").json()["last-round"]
    payment = pay(header, key, DEVNET, last_round, PRICE).header
    return {"x402/payment": json.loads(base64.b64decode(payment))}


def main() -> int:
    """Print what became of so many purchases; 1 if one was paid twice or has no answer."""
    purchases = int(sys.argv[1]) if len(sys.argv) > 1 else PURCHASES
    parts: list[Lost] = []
    with tempfile.TemporaryDirectory() as name:
        for first in range(0, purchases, OF_ONE_DEVNET):
            folder = Path(name) / str(first)
            (folder / "devnet").mkdir(parents=True)
            with stage(folder / "devnet") as devnet:
                parts.append(lose(min(OF_ONE_DEVNET, purchases - first), first, devnet, folder))

    lost, settled, twice, unpaid = (
        sum(getattr(part, name) for part in parts) for name in ("lost", "settled", "twice", "unpaid")
    )
    words = sum((part.words for part in parts), Counter[str]())
    print(
        f"{purchases:,} purchases, {lost:,} answers lost: {settled:,} answered in the end, {twice} paid twice, "
        f"{unpaid} not paid; {dict(words)}"
    )
    return 0 if (settled, twice, unpaid) == (purchases, 0, 0) else 1


if __name__ == "__main__":
    sys.exit(main())
