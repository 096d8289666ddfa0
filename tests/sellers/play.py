"""Play one seller against a buyer who tries several times, is killed on the way, and waits."""

import asyncio
import contextlib
import io
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gateway.devnet.keys import Key, new_key
from gateway.settings import DEMO_PAYEE
from generator.client.buying.purchase import MOST_SENDS, Bought, Context, Order, purchase
from generator.client.buying.purchases import PurchaseFolder
from generator.client.buying.web import WebAnswer
from generator.errors import GeneratorError
from tests.sellers.kinds import Kind
from tests.sellers.seller import ORIGIN, PATH, PRICE, PRODUCT, Seller, item_of
from tests.support.devnet_app import DevnetApp, devnet_app, pass_rounds

DEVNET: Final = "http://localhost:8403"
RUNS: Final = 4
DEATH_RATE: Final = 0.03
WAITS: Final = (0, 1, 30, 109, 112, 1_200)
"""Rounds between two runs: at once, before and after the payment has expired."""


class Killed(BaseException):
    """The power went: nothing after this line ran."""


@dataclass
class WebOfTheTest:
    """Devnet and seller in this process; every other origin is a place where no buyer may go."""

    seller: Seller
    devnet: DevnetApp
    dice: random.Random
    death_rate: float = 0.0
    elsewhere: list[str] = field(default_factory=list)

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> WebAnswer:
        """Answer, and now and then let the buyer die before or after."""
        self._die()
        answer = self._answer(url, dict(headers or {}))
        self._die()
        return answer

    def _answer(self, url: str, headers: dict[str, str]) -> WebAnswer:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin == ORIGIN:
            return self.seller.get(url, headers)
        if origin != DEVNET:
            self.elsewhere.append(url)
            return WebAnswer(404, (), b"")
        found = self.devnet.client.get(url.removeprefix(DEVNET))
        return WebAnswer(found.status_code, (), found.content)

    def _die(self) -> None:
        if self.dice.random() < self.death_rate:
            raise Killed


@dataclass
class Play:
    """What became of one seller and one buyer.

    Args:
        spent: atomic units that left the wallet, to whomever.
        astray: of these, what went to somebody else than the payee of before.
        signed: payments that the seller was handed.
        bought: purchases that ended as settled.
        believed: ends as settled while something did not agree.
        strayed: requests to a place that the seller named.
        sends: requests with a payment, at most, in one run.
        ends: how the runs ended, in words.
    """

    spent: int = 0
    astray: int = 0
    signed: int = 0
    bought: int = 0
    believed: int = 0
    strayed: int = 0
    sends: int = 0
    ends: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Atomic units beyond those for the documents that came and for one that did not, and whatever went astray."""
        return max(self.astray, self.spent - PRICE * (self.bought + 1), 0)


@contextmanager
def stage(folder: Path) -> Iterator[DevnetApp]:
    """Open a devnet for many plays."""
    with devnet_app(folder) as devnet:
        yield devnet


Run = Callable[["WebOfTheTest", Key, Path, "Play"], None]
"""Tries to buy once, and notes in the play how it ended."""


def play(kind: Kind, seed: int, devnet: DevnetApp, folder: Path, run: Run | None = None) -> Play:
    """Let a buyer with a new wallet and an empty folder try to buy from one seller, `RUNS` times."""
    run = run or run_command
    dice = random.Random(f"{kind.name} {seed}")
    seller = kind.seller(devnet.client, devnet.fee_payer, dice)
    web = WebOfTheTest(seller, devnet, dice, 0.0 if kind.honest else DEATH_RATE)
    key, result = new_key(), Play()
    shutil.rmtree(folder, ignore_errors=True)
    for _ in range(RUNS):
        before = seller.answered
        run(web, key, folder, result)
        result.sends = max(result.sends, seller.answered - before)
        if dice.random() < 0.3:
            seller.broadcast()
        pass_rounds(devnet.clock, dice.choice(WAITS))

    seller.broadcast()
    result.spent = spent_by(key, devnet, "")
    result.astray = spent_by(key, devnet, DEMO_PAYEE)
    result.signed = len(seller.handed)
    result.strayed = len(web.elsewhere)
    return result


def run_command(web: WebOfTheTest, key: Key, folder: Path, result: Play) -> None:
    """Run `emi buy` once."""
    clock = web.devnet.clock
    context = Context(web, PurchaseFolder(folder / "purchases"), clock.sleep, clock.monotonic)
    order = Order(ORIGIN + PATH, PRODUCT, DEVNET, DEVNET, key, PRICE, own_payee=DEMO_PAYEE)
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            bought = asyncio.run(purchase(order, context))
        except GeneratorError as error:
            result.ends.append(str(error))
        except Killed:
            result.ends.append("killed")
        else:
            context.purchases.keep(bought.purchase)
            result.ends.append("settled")
            result.bought += 1
            result.believed += not is_true(bought, web.seller)


def is_true(bought: Bought, seller: Seller) -> bool:
    """Return whether what was called settled is what an honest seller would have delivered."""
    honest = Seller(seller.devnet, seller.fee_payer, seller.dice)
    payment = bought.purchase.header
    receipt = bought.purchase.receipt or {}
    agreed = receipt.get("success") is True and receipt.get("transaction") == item_of(payment).txid
    return agreed and bought.content == honest.body() and seller.has(payment) and bought.purchase.payee == DEMO_PAYEE


def spent_by(key: Key, devnet: DevnetApp, but_to: str) -> int:
    """Return what the ledger moved away from an address, but for what went to one payee."""
    items = [one.item for one in devnet.ledger.search(key.address, "sender")]
    return sum(item.fields.get("aamt", 0) for item in items if item.receiver != but_to)


@dataclass
class Row:
    """All plays of one kind."""

    kind: Kind
    plays: Sequence[Play]

    @property
    def wrong(self) -> list[str]:
        """Say what must not be."""
        found = []
        if any(one.lost for one in self.plays):
            found.append("lost money")
        if any(one.believed for one in self.plays):
            found.append("believed a lie")
        if any(one.strayed for one in self.plays):
            found.append("went where the seller sent it")
        if any(one.sends > MOST_SENDS for one in self.plays):
            found.append("sent too often")
        if not self.kind.signs and any(one.signed or one.spent for one in self.plays):
            found.append("signed")
        if self.kind.honest and any((one.bought, one.spent) != (RUNS, RUNS * PRICE) for one in self.plays):
            found.append("did not buy")
        return found


def play_kind(kind: Kind, seeds: Sequence[int], folder: Path, run: Run | None = None) -> Row:
    """Play one kind with every seed on a devnet of its own."""
    folder.mkdir(parents=True)
    with stage(folder) as devnet:
        return Row(kind, [play(kind, seed, devnet, folder / "buyer", run) for seed in seeds])


HEAD: Final = "kind                             plays  signed  spent  delivered  believed  lost beyond one payment"


def show(rows: Sequence[Row]) -> str:
    """Return the table."""
    return "\n".join([HEAD, *map(_line, rows)])


def _line(row: Row) -> str:
    plays = row.plays
    signed, bought, believed = (sum(getattr(one, name) for one in plays) for name in ("signed", "bought", "believed"))
    spent, lost = sum(one.spent for one in plays) // PRICE, sum(one.lost for one in plays)
    return f"{row.kind.name:<32} {len(plays):>5} {signed:>7} {spent:>6} {bought:>10} {believed:>9} {lost:>10}"
