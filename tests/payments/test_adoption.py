"""Payments that only the chain knows: the operator takes them in, their payers get what they paid for."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import GatewayError
from gateway.ledger.record import KEEP_ROUNDS
from gateway.ledger.store import Ledger
from gateway.payments.adoption import adopt
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from tests.support.clock import ManualClock
from tests.support.gateway_app import BRAIN, REGIME, GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed
from tests.support.indexers import Nodes, row, settings_in
from tests.support.intents import INTENT
from tests.support.vaults import GENERATION, PRICES, START, body_of, write_vault

PRODUCT = "x402-market-regime"
TXID = "T" * 52
INDEXED = {"transaction": row(10, 10_000, id=TXID, last_valid=1_100)}
PENDING = {
    "confirmed-round": 1_010,
    "pool-error": "",
    "txn": {
        "txn": {
            "snd": "P" * 58,
            "arcv": DEMO_PAYEE,
            "xaid": DEVNET.asset_id,
            "aamt": 10_000,
            "lv": 1_100,
            "gh": DEVNET.genesis_hash,
        }
    },
}


def changed(indexed: Mapping[str, Any], **transfer: Any) -> dict[str, Any]:
    row = indexed["transaction"]
    return {"transaction": {**row, "asset-transfer-transaction": {**row["asset-transfer-transaction"], **transfer}}}


@pytest.mark.parametrize("nodes", [Nodes(indexed=INDEXED), Nodes(pending=PENDING)])
@in_loop
async def test_a_payment_on_the_chain_is_taken_in_as_settled(nodes: Nodes, tmp_path: Path) -> None:
    settings = settings_in(tmp_path)

    payer = await adopt(settings, nodes, TXID, PRODUCT, ManualClock())

    record = Ledger(settings.ledger_where).find(TXID)
    assert payer == "P" * 58
    assert record is not None
    assert record == replace(ADOPTED, txid=TXID, owner=record.owner)
    assert record.awaits_body


@pytest.mark.parametrize(
    ("nodes", "product", "reason"),
    [
        (Nodes(), PRODUCT, "shows no confirmed asset transfer"),
        (Nodes(indexed={"transaction": {"confirmed-round": True}}), PRODUCT, "shows no confirmed asset transfer"),
        (Nodes(pending={**PENDING, "confirmed-round": 0}), PRODUCT, "shows no confirmed asset transfer"),
        (Nodes(indexed=changed(INDEXED, amount=9_999)), PRODUCT, "its amount is 9999, not 10000"),
        (Nodes(indexed=changed(INDEXED, receiver="Q" * 58)), PRODUCT, "its receiver is Q"),
        (Nodes(indexed=changed(INDEXED, **{"asset-id": 1})), PRODUCT, "its asset is 1,"),
        (Nodes(indexed=INDEXED), "x402-atlas", "its amount is 10000, not 20000"),
        (Nodes(indexed=INDEXED), "gold", "does not sell 'gold'"),
    ],
)
@in_loop
async def test_a_transfer_that_does_not_pay_for_the_product_is_not_adopted(
    nodes: Nodes, product: str, reason: str, tmp_path: Path
) -> None:
    settings = settings_in(tmp_path)

    with pytest.raises(GatewayError, match=reason):
        await adopt(settings, nodes, TXID, product, ManualClock())

    assert Ledger(settings.ledger_where).find(TXID) is None


@in_loop
async def test_nothing_is_asked_with_an_invalid_transaction_id(tmp_path: Path) -> None:
    with pytest.raises(GatewayError, match="not a transaction id"):
        await adopt(settings_in(tmp_path), Nodes(indexed=INDEXED), "../" + TXID, PRODUCT, ManualClock())


@in_loop
async def test_a_ledger_that_does_not_take_it_is_one_clear_line(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    ledger = Ledger(settings.ledger_where)
    with ledger._writer.begin():
        ledger._writer.exec_driver_sql(
            "create trigger full before insert on payments begin select raise(abort, 'no room'); end"
        )
    ledger.close()

    with pytest.raises(GatewayError, match="does not take it: no room"):
        await adopt(settings, Nodes(indexed=INDEXED), TXID, PRODUCT, ManualClock())


@in_loop
async def test_a_payment_that_the_ledger_knows_is_left_as_it_is(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    await adopt(settings, Nodes(indexed=INDEXED), TXID, PRODUCT, ManualClock())

    with pytest.raises(GatewayError, match="ledger knows TTT"):
        await adopt(settings, Nodes(indexed=INDEXED), TXID, PRODUCT, ManualClock())


ADOPTED = replace(
    INTENT,
    state="settled",
    product=PRODUCT,
    path=REGIME,
    cache_control="private, max-age=60",
    snapshot_id="",
    sha256="",
    price_atomic=10_000,
    network=DEVNET.full,
    settles=0,
    evidence="adopted",
    closed_at=START.timestamp(),
    intent_round=None,
    watched_round=None,
    content=None,
)


def adopted(home: GatewayHarness, payment: Signed) -> None:
    """Settle a payment on the chain and adopt it, as after the loss of the ledger that knew it."""
    home.upstream.land(payment.txid)
    home.state.ledger.ledger.adopt(
        replace(ADOPTED, txid=payment.txid, payer=payment.payer, last_valid=5_500, keep_round=5_500 + KEEP_ROUNDS)
    )


@pytest.mark.parametrize(("quoted", "delivered"), [("000000000006", "000000000006"), ("000000000001", GENERATION)])
@in_loop
async def test_an_adopted_payment_gets_the_snapshot_it_quotes_else_the_newest(
    quoted: str, delivered: str, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, vault=lambda folder: write_vault(folder, older={"000000000006": START})) as home:
        payment = home.buyer.pay(snapshot=quoted)
        home.upstream.land(payment.txid)
        refused = await home.send(payment)
        adopted(home, payment)

        first = await home.send(payment)
        write_vault(home.folder / "vault", generation="000000000009", at=START)
        await home.state.refresh()
        await home.restart()
        again = await home.send(payment)

    assert (refused.status_code, refused.json()["reason"]) == (409, "payment_already_on_chain")
    assert (first.status_code, first.content) == (200, body_of(PRODUCT, delivered))
    assert (again.content, again.headers["PAYMENT-RESPONSE"]) == (first.content, first.headers["PAYMENT-RESPONSE"])


@in_loop
async def test_an_adopted_payment_buys_one_product_and_settles_nothing(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        adopted(home, payment)

        other = await home.send(payment, BRAIN)
        own = await home.send(payment)

    assert (other.status_code, own.status_code) == (402, 200)
    assert home.upstream.asked("/settle") == []
    assert home.upstream.asked("/verify") == []


@in_loop
async def test_an_adopted_payment_waits_while_there_is_nothing_to_deliver(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None) as home:
        payment = home.buyer.pay()
        adopted(home, payment)

        answer = await home.send(payment)

    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("The payment is settled, and there is nothing to deliver yet;")
    assert answer.json()["detail"].endswith("the same one works later.")
    assert "PAYMENT-REQUIRED" not in answer.headers


@in_loop
async def test_the_body_of_an_adopted_payment_is_kept_as_long_as_that_of_a_new_one(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.round = 90_000
        payment = home.buyer.pay()
        adopted(home, payment)

        await home.send(payment)

        record = home.state.ledger.ledger.find(payment.txid)
    assert record is not None
    assert record.keep_round == 90_000 + KEEP_ROUNDS


def test_of_two_gateways_that_choose_a_body_the_first_counts(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "payments.sqlite3")
    ledger.adopt(ADOPTED)

    chosen = [
        ledger.attach_body(replace(ADOPTED, snapshot_id=name, sha256=name * 64, content=name.encode(), receipt=name))
        for name in ("1", "2")
    ]

    record = ledger.find(ADOPTED.txid)
    assert chosen == [True, False]
    assert record is not None
    assert (record.content, record.receipt) == (b"1", "1")
    assert replace(record, sha256="").awaits_body


@pytest.mark.parametrize(("path", "status"), [(REGIME, 200), (BRAIN, 402)])
@in_loop
async def test_a_payment_adopted_in_flight_is_delivered_for_its_product_alone(
    path: str, status: int, tmp_path: Path
) -> None:
    def step(name: str) -> None:
        if name == "verified":
            adopted(home, payment)

    async with gateway_app(tmp_path, step=step) as home:
        payment = home.buyer.pay(PRICES["x402-market-regime" if path == REGIME else "x402-main-brain"])

        answer = await home.send(payment, path)

    assert (answer.status_code, home.upstream.asked("/settle")) == (status, [])
    assert answer.content == body_of(PRODUCT, GENERATION) or status == 402
