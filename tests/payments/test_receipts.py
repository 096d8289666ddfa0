"""Signed receipts: one a payment, made when it settles, the same on each replay, gone with its body."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.errors import GatewayError
from gateway.http.answers import MAX_HEADER_BYTES, header_bytes
from gateway.ledger.record import Settle
from gateway.payments.purchase import Step
from gateway.wire.networks import DEVNET
from gateway.wire.receipts import ReceiptKey, SignedReceipt, write_key
from tests.payments.test_reconcile import unknown
from tests.support.gateway_app import REGIME, gateway_app, in_loop, second_gateway
from tests.support.gateway_wallet import decode_header
from tests.support.intents import INTENT
from tests.support.vaults import GENERATION, PATHS, PRICES, START, write_vault

KEY = ReceiptKey(bytes(32))
HEAD = {"origin": "example.org/log", "size": 12, "root": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
ADOPTED = replace(
    INTENT,
    state="settled",
    evidence="adopted",
    product="x402-market-regime",
    path=REGIME,
    network=DEVNET.full,
    snapshot_id="",
    sha256="",
    content=None,
)
LONG_ORIGIN = f"https://{'a' * 56}.example.org"


def write_sold(folder: Path) -> None:
    """Write a vault with a head of the log, and the key that signs receipts next to it."""
    write_vault(folder, checkpoint=HEAD)
    write_key(folder.parent / "keys" / "receipt.key", KEY, [KEY.public])


def receipt_of(answer: httpx2.Response) -> str:
    said = decode_header(answer.headers["PAYMENT-RESPONSE"])
    signature: str = said["extensions"]["offer-receipt"]["info"]["receipt"]["signature"]
    return signature


def claims_of(answer: httpx2.Response) -> dict[str, Any]:
    receipt = SignedReceipt.read(receipt_of(answer))
    assert receipt.is_signed_by(KEY.public)
    return dict(receipt.claims)


@in_loop
async def test_a_settled_payment_has_a_receipt_of_what_was_paid_and_delivered(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=write_sold) as home:
        payment = home.buyer.pay()

        answer = await home.send(payment)

    assert claims_of(answer) == {
        "version": 1,
        "network": DEVNET.caip2,
        "resourceUrl": "http://127.0.0.1:8402" + REGIME,
        "payer": payment.payer,
        "issuedAt": int(START.timestamp()),
        "transaction": payment.txid,
        "bodySha256": hashlib.sha256(answer.content).hexdigest(),
        "snapshotId": GENERATION,
        "checkpoint": HEAD,
    }
    assert SignedReceipt.read(receipt_of(answer)).key_id == f"did:web:127.0.0.1%3A8402#{KEY.public.name}"


@in_loop
async def test_without_a_key_there_is_no_receipt(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=lambda folder: write_vault(folder, checkpoint=HEAD)) as home:
        answer = await home.send(home.buyer.pay())

    assert "extensions" not in decode_header(answer.headers["PAYMENT-RESPONSE"])


@in_loop
async def test_every_replay_has_the_same_receipt_also_after_a_restart_with_another_key(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=write_sold) as home:
        payment = home.buyer.pay()
        first = await home.send(payment)
        home.clock.step(60)
        again = await home.send(payment)

        other = ReceiptKey(b"1" * 32)
        write_key(tmp_path / "keys" / "receipt.key", other, [other.public, KEY.public])
        await home.restart()
        restarted = await home.send(payment)

    said = {answer.headers["PAYMENT-RESPONSE"] for answer in (first, again, restarted)}
    assert said == {first.headers["PAYMENT-RESPONSE"]}
    assert claims_of(first)["issuedAt"] == int(START.timestamp())


def dies_once_at(wanted: str, died: list[str]) -> Step:
    def step(name: str) -> None:
        if name == wanted and not died:
            died.append(name)
            raise RuntimeError(wanted)

    return step


@pytest.mark.parametrize("wanted", ["intent_written", "settle_answered", "settled_written", "delivered"])
@in_loop
async def test_a_death_at_any_step_leaves_one_receipt(wanted: str, tmp_path: Path) -> None:
    died: list[str] = []
    async with gateway_app(tmp_path, vault=write_sold, step=dies_once_at(wanted, died)) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.land(payment.txid)
        home.clock.step(60)
        await home.restart()

        said = [await home.send(payment) for _ in range(2)]
        record = home.state.ledger.ledger.find(payment.txid)

    assert died == [wanted]
    assert record is not None
    assert [receipt_of(answer) for answer in said] == [record.receipt] * 2


@in_loop
async def test_a_payment_that_is_found_without_its_payer_gets_its_receipt_then(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=write_sold) as home:
        payment = await unknown(home)
        home.upstream.land(payment.txid)
        await home.state.reconciler.step()
        found_at = int(home.clock.now().timestamp())
        home.clock.step(600)

        answer = await home.send(payment)

    assert claims_of(answer)["issuedAt"] == found_at


@in_loop
async def test_two_gateways_that_settle_one_payment_deliver_the_same_receipt(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=write_sold) as home, second_gateway(home) as other:
        payment = await unknown(home)
        home.upstream.land(payment.txid)

        one = await home.send(payment)
        home.clock.step(5)
        two = await other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header})

    assert (one.status_code, two.status_code) == (200, 200)
    assert one.headers["PAYMENT-RESPONSE"] == two.headers["PAYMENT-RESPONSE"]


@in_loop
async def test_where_another_process_settled_first_its_receipt_is_the_one(tmp_path: Path) -> None:
    theirs = KEY.sign({"made": "by another process"}, "did:web:example.org")

    def step(name: str) -> None:
        if name == "settle_answered":
            home.state.ledger.ledger.apply(payment.txid, Settle("chain", theirs), START)

    async with gateway_app(tmp_path, vault=write_sold, step=step) as home:
        payment = home.buyer.pay()

        answer = await home.send(payment)

    assert receipt_of(answer) == theirs


@in_loop
async def test_an_adopted_payment_gets_its_receipt_with_its_body(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=write_sold) as home:
        payment = home.buyer.pay()
        home.state.ledger.ledger.adopt(replace(ADOPTED, txid=payment.txid, payer=payment.payer))

        first = await home.send(payment)
        home.clock.step(60)
        again = await home.send(payment)

    assert claims_of(first)["snapshotId"] == GENERATION
    assert first.headers["PAYMENT-RESPONSE"] == again.headers["PAYMENT-RESPONSE"]


@pytest.mark.parametrize("product", PATHS)
@in_loop
async def test_headers_with_a_receipt_stay_under_4096_bytes(product: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=write_sold, base_url=LONG_ORIGIN, network="devnet", play=True) as home:
        payment = home.buyer.pay(PRICES[product])

        answer = await home.send(payment, PATHS[product])

    assert claims_of(answer)["resourceUrl"] == LONG_ORIGIN + PATHS[product]
    assert 1_500 < header_bytes(answer.headers.raw) < MAX_HEADER_BYTES


@in_loop
async def test_a_key_that_others_can_read_stops_the_start(tmp_path: Path) -> None:
    write_sold(tmp_path / "vault")
    (tmp_path / "keys" / "receipt.key").chmod(0o644)

    with pytest.raises(GatewayError, match="can be read by others"):
        async with gateway_app(tmp_path):
            pass
