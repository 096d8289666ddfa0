"""A devnet in memory of the test: a manual clock, keys, and groups to tamper with."""

import base64
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from algosdk import encoding, transaction
from x402.schemas import PaymentRequired, PaymentRequirements

from gateway.devnet.app import build_devnet
from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import FIRST_ROUND_AT, DevnetLedger
from gateway.devnet.settings import DevnetSettings
from gateway.devnet.transactions import Item, parse_item, signed
from gateway.devnet.wallet import SignedPayment
from gateway.devnet.wallet import sign as sign_payment
from gateway.settings import DEMO_PAYEE
from gateway.wire.algorand import ROUND_S
from gateway.wire.networks import DEVNET
from tests.support.clock import ManualClock
from tests.support.inline_client import inline_client
from tests.support.vaults import PRICES

START_ROUND = 20_000_000
PRICE = PRICES["x402-market-regime"]


def clock_at_start() -> ManualClock:
    """Return a clock at the round where these tests begin."""
    return ManualClock(datetime.fromtimestamp(FIRST_ROUND_AT + ROUND_S * (START_ROUND - 1) + 0.1, UTC))


def pass_rounds(clock: ManualClock, count: int) -> None:
    clock.step(count * ROUND_S)


@contextmanager
def ledger_at(path: Path, clock: ManualClock) -> Iterator[DevnetLedger]:
    ledger = DevnetLedger(path / "devnet.sqlite3", DEVNET, clock.unix)
    try:
        yield ledger
    finally:
        ledger.close()


@dataclass
class DevnetApp:
    """A devnet behind a client that never waits, with one funded buyer."""

    client: httpx2.Client
    ledger: DevnetLedger
    clock: ManualClock
    fee_payer: str
    buyer: Key = field(default_factory=new_key)

    def fund(self, address: str | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.get(
            "/wallet/fund", params={"address": address or self.buyer.address}
        ).json()
        return answer

    def offer(self, **changes: Any) -> dict[str, Any]:
        found = {
            "scheme": "exact",
            "network": DEVNET.full,
            "asset": str(DEVNET.asset_id),
            "amount": str(PRICE),
            "payTo": DEMO_PAYEE,
            "maxTimeoutSeconds": 60,
            "extra": {"feePayer": self.fee_payer, "decimals": 6},
        }
        return found | changes

    def payment(self, **changes: Any) -> SignedPayment:
        offer = PaymentRequirements.model_validate(self.offer(**changes))
        return sign_payment(PaymentRequired(accepts=[offer]), offer, self.buyer, DEVNET, self.ledger.rounds.current())

    def ask(self, what: str, payload: dict[str, Any], requirements: dict[str, Any] | None = None) -> dict[str, Any]:
        body = {"x402Version": 2, "paymentPayload": payload, "paymentRequirements": requirements or self.offer()}
        answer: dict[str, Any] = self.client.post(f"/facilitator/{what}", json=body).json()
        return answer


@contextmanager
def devnet_app(path: Path, clock: ManualClock | None = None) -> Iterator[DevnetApp]:
    clock = clock or clock_at_start()
    app = build_devnet(DevnetSettings(path / "devnet.sqlite3"), now=clock.unix)
    with closing(app.state.ledger), inline_client(app, "http://localhost") as client:
        yield DevnetApp(client, app.state.ledger, clock, app.state.fee_payer)


def pay(sender: Key, amount: int, receiver: str, first: int, **changes: Any) -> Item:
    """Return one signed ALGO payment, fee and genesis right unless changed."""
    found = {"fee": 1_000, "last": first + 1_000, "gh": DEVNET.genesis_hash, "gen": DEVNET.genesis_id}
    found |= {name: changes.pop(name) for name in tuple(changes) if name in found}
    params = transaction.SuggestedParams(first=first, flat_fee=True, **found)
    return sign(transaction.PaymentTxn(sender.address, params, receiver, amount, **changes), sender)


def send_asset(sender: Key, amount: int, receiver: str, first: int, asset: int = DEVNET.asset_id) -> Item:
    """Return one signed asset transfer."""
    params = transaction.SuggestedParams(
        1_000, first, first + 1_000, DEVNET.genesis_hash, DEVNET.genesis_id, flat_fee=True
    )
    return sign(transaction.AssetTransferTxn(sender.address, params, receiver, amount, asset), sender)


def group(*parts: tuple[Any, Key]) -> list[Item]:
    """Return unsigned SDK transactions as one signed atomic group."""
    transaction.assign_group_id([part for part, _key in parts])
    return [sign(part, key) for part, key in parts]


def sign(part: Any, key: Key) -> Item:
    return signed(parse_item(base64.b64decode(encoding.msgpack_encode(part))), key.secret)
