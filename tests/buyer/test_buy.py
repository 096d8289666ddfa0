import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from typer.testing import CliRunner
from x402.extensions.payment_identifier import declare_payment_identifier_extension

from gateway.devnet.keys import load_or_make
from gateway.ledger.store import Ledger
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET, MAINNET
from generator.catalog.products import PRODUCTS
from generator.cli import application
from generator.cli._buying import Order, Purchase, Purchases, purchase
from generator.errors import GeneratorError
from tests.support.local_servers import Shop, devnet_at, serving, shop

PRICE = 10_000


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop(tmp_path_factory.mktemp("shop")) as open_shop:
        yield open_shop


def emi(shop: Shop, *arguments: str) -> str:
    """Run `emi buy` as at a prompt and return what it prints on standard output."""
    environment = {"EMI_STATE_DIR": str(shop.state), "EMI_FACILITATOR_URL": f"{shop.devnet}/facilitator"}
    done = CliRunner().invoke(application(), ["buy", *arguments, "--url", shop.gateway], env=environment)
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.buy_name)
def test_emi_buy_prints_settled_txid_network_and_then_the_body(running: Shop, product: Any) -> None:
    had = running.ledger.holding(DEMO_PAYEE) or 0

    lines = emi(running, product.buy_name).splitlines()

    txid = lines[1].split()[1]
    assert lines[0] == "settled"
    assert lines[2].split() == ["network", DEVNET.full]
    assert json.loads("\n".join(lines[5:]))["endpoint"] == product.id
    assert running.ledger.is_committed(txid)
    assert (running.ledger.holding(DEMO_PAYEE) or 0) - had == product.price_atomic
    kept = json.loads((running.state / "purchases" / f"{txid}.json").read_text())
    assert (kept["status"], kept["receipt"]["success"], kept["receipt"]["transaction"]) == ("settled", True, txid)


def test_emi_payments_adopt_takes_in_what_another_ledger_sold(running: Shop, tmp_path: Path) -> None:
    txid = emi(running, "atlas").splitlines()[1].split()[1]
    nodes = {"EMI_ALGOD_URL": f"{running.devnet}/algod", "EMI_INDEXER_URL": f"{running.devnet}/indexer"}
    ledger = {"EMI_STATE_DIR": str(running.state), "EMI_LEDGER_URL": f"sqlite:///{tmp_path}/new.sqlite3"}

    adopting = ["payments", "adopt", txid, "--product", "atlas"]
    done = CliRunner().invoke(application(), adopting, env=nodes | ledger)

    record = Ledger(tmp_path / "new.sqlite3").find(txid)
    assert done.exit_code == 0, done.exception
    assert record is not None
    assert (record.state, record.evidence, record.price_atomic) == ("settled", "adopted", 20_000)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("atlas", "--max-price", "19999"), "above the limit of 19999"),
        (("everything",), "not for sale; products are market-regime, main-brain"),
        (("atlas", "--devnet-url", "http://devnet.example"), "loopback devnet only"),
        (("atlas", "--devnet-url", "http://127.0.0.1:1"), "nothing was paid: the devnet at"),
    ],
)
def test_what_cannot_be_bought_is_one_clear_line_and_nothing_is_paid(
    running: Shop, arguments: tuple[str, ...], words: str
) -> None:
    had = running.ledger.holding(DEMO_PAYEE)

    with pytest.raises(GeneratorError, match=words):
        emi(running, *arguments)

    assert running.ledger.holding(DEMO_PAYEE) == had


@dataclass
class Seller:
    """A seller that answers paid requests from a list, and keeps what it was sent."""

    fee_payer: str
    answers: list[int]
    changes: dict[str, Any] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        payment = request.headers.get("payment-signature")
        if payment is None:
            return JSONResponse({"error": "pay"}, 402, {"PAYMENT-REQUIRED": encode(self.challenge())})
        self.sent.append(payment)
        status = self.answers.pop(0)
        if status == 0:
            return Response(b"{", headers={"content-length": "99"})  # the server cuts a body that is too short
        receipt = {
            "success": status == 200,
            "errorReason": "insufficient_funds",
            "transaction": "",
            "network": DEVNET.full,
        }
        headers = {"PAYMENT-RESPONSE": encode(receipt)} if status in {200, 402, 410} else {"Retry-After": "0"}
        return JSONResponse({"detail": "busy", "thing": 1}, status, headers)

    def challenge(self) -> dict[str, Any]:
        offer = {
            "scheme": "exact",
            "network": DEVNET.full,
            "asset": str(DEVNET.asset_id),
            "amount": str(PRICE),
            "payTo": DEMO_PAYEE,
            "maxTimeoutSeconds": 60,
            "extra": {"feePayer": self.fee_payer},
        }
        extensions = {"payment-identifier": declare_payment_identifier_extension()}
        return {"x402Version": 2, "accepts": [offer | self.changes], "extensions": extensions}


def encode(value: dict[str, Any]) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


@dataclass
class Market:
    """A devnet, and one seller at a time."""

    devnet: str
    origin: str = ""
    seller: Seller | None = None

    def app(self) -> Starlette:
        async def answer(request: Request) -> Response:
            assert self.seller is not None
            return await self.seller.answer(request)

        return Starlette(routes=[Route("/thing", answer)])

    def buy_from(
        self, seller: Seller, folder: Path, *, patience_s: float = 5.0, times: int = 1
    ) -> list[Purchase | GeneratorError]:
        """Buy some times in a row from this seller, as separate runs of `emi buy` would."""
        self.seller = seller
        ended: list[Purchase | GeneratorError] = []
        order = Order(
            f"{self.origin}/thing", self.devnet, load_or_make(folder / "keys" / "buyer.key"), PRICE, patience_s
        )
        for _ in range(times):
            try:
                ended.append(asyncio.run(purchase(order, Purchases(folder / "purchases"))))
            except GeneratorError as error:
                ended.append(error)
        return ended


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with devnet_at(tmp_path_factory.mktemp("devnet")) as (devnet, _ledger):
        found = Market(devnet)
        with serving(found.app()) as found.origin:
            yield found


def test_the_same_payment_is_sent_again_after_503_429_and_a_broken_answer(market: Market, tmp_path: Path) -> None:
    seller = Seller(DEMO_PAYEE, [503, 429, 0, 500, 200])

    ended = market.buy_from(seller, tmp_path, patience_s=20)

    assert isinstance(ended[0], Purchase)
    assert (ended[0].status, ended[0].body) == ("settled", {"detail": "busy", "thing": 1})
    assert (len(seller.sent), len(set(seller.sent))) == (5, 1)


def test_a_payment_without_an_answer_is_kept_and_sent_again_by_the_next_run(market: Market, tmp_path: Path) -> None:
    seller = Seller(DEMO_PAYEE, [503, 200, 200])

    first, second, third = market.buy_from(seller, tmp_path, patience_s=0.0, times=3)

    assert isinstance(first, GeneratorError)
    assert "not known yet" in str(first)
    assert isinstance(second, Purchase)
    assert isinstance(third, Purchase)
    assert seller.sent[0] == seller.sent[1] != seller.sent[2]


def test_a_refused_payment_is_final_and_says_why(market: Market, tmp_path: Path) -> None:
    seller = Seller(DEMO_PAYEE, [402, 200])

    refused, bought = market.buy_from(seller, tmp_path, times=2)

    assert isinstance(refused, GeneratorError)
    assert "refused and nothing was paid: insufficient_funds" in str(refused)
    assert isinstance(bought, Purchase)
    assert seller.sent[0] != seller.sent[1]


def test_every_payment_carries_an_identifier_of_its_own_that_no_one_can_guess(market: Market, tmp_path: Path) -> None:
    seller = Seller(DEMO_PAYEE, [200, 200])

    market.buy_from(seller, tmp_path, times=2)

    sent = [json.loads(base64.b64decode(header)) for header in seller.sent]
    identifiers = {one["extensions"]["payment-identifier"]["info"]["id"] for one in sent}
    assert len(identifiers) == 2
    assert all(len(identifier) >= 32 for identifier in identifiers)


def test_a_payment_whose_answer_is_gone_is_settled_and_not_sent_again(market: Market, tmp_path: Path) -> None:
    seller = Seller(DEMO_PAYEE, [410, 200])

    gone, bought = market.buy_from(seller, tmp_path, times=2)

    assert isinstance(gone, GeneratorError)
    assert "refused" not in str(gone)
    assert isinstance(bought, Purchase)
    assert seller.sent[0] != seller.sent[1]
    assert Purchases(tmp_path / "purchases").unanswered(bought.url) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"network": MAINNET.full}, "this throwaway wallet pays only on"),
        ({"asset": "7"}, "asset 7"),
        ({"amount": "10001"}, "above the limit"),
        ({"amount": "-5"}, "malformed"),
        ({"payTo": "SOMEONE"}, "malformed"),
    ],
)
def test_an_offer_outside_the_limits_is_never_signed(
    market: Market, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    seller = Seller(DEMO_PAYEE, [200], changes)

    (ended,) = market.buy_from(seller, tmp_path)

    assert isinstance(ended, GeneratorError)
    assert words in str(ended)
    assert seller.sent == []
    assert not (tmp_path / "purchases").exists()


def test_a_payment_that_cannot_be_kept_is_never_sent(market: Market, tmp_path: Path) -> None:
    (tmp_path / "purchases").write_text("a file where the folder should be")
    seller = Seller(DEMO_PAYEE, [200])

    (refused,) = market.buy_from(seller, tmp_path)

    assert "cannot be kept" in str(refused)
    assert seller.sent == []


def test_a_purchase_file_that_cannot_be_read_stops_before_another_is_signed(tmp_path: Path) -> None:
    (tmp_path / "purchases").mkdir()
    (tmp_path / "purchases" / "X.json").write_text("{")

    with pytest.raises(GeneratorError, match="not a readable purchase"):
        Purchases(tmp_path / "purchases").unanswered("http://127.0.0.1/thing")


def test_the_commands_load_nothing_heavy_before_they_run() -> None:
    found = "import sys, generator.cli.buy, generator.cli.devnet; print([name for name in sys.modules if name in %r])"
    heavy = ["aiohttp", "algosdk", "gateway", "nacl", "numpy", "pydantic", "x402"]

    done = subprocess.run([sys.executable, "-c", found % heavy], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
